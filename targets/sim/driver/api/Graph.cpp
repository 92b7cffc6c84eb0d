//===- Graph.cpp - graphs of the driver API -------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "targets/sim/driver/Context.h"

using namespace tilewright::sim;

CUresult CUDAAPI cuStreamBeginCapture(CUstream handle,
                                      CUstreamCaptureMode mode) {
  return withContext([&](Context &context) -> CUresult {
    Stream *stream = context.stream(handle);
    if (!stream) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (stream == context.defaultStream) {
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (stream->capture || mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    stream->capture = std::make_shared<Capture>();
    stream->capture->origin = stream;
    stream->capture->streams = {stream};
    stream->captureEnds.clear();
    return CUDA_SUCCESS;
  });
}

/// Whether all that the streams have recorded comes before the origin's last.
static bool isJoined(const Capture &capture) {
  std::vector<bool> joined = capture.graph.before(capture.origin->captureEnds);
  for (const Stream *stream : capture.streams) {
    for (size_t end : stream->captureEnds) {
      if (!joined[end]) {
        return false;
      }
    }
  }
  return true;
}

CUresult CUDAAPI cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  return withContextAnyway([&](Context &context) -> CUresult {
    Stream *stream = context.stream(handle);
    if (!stream || !graph) {
      return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    }
    *graph = nullptr;
    std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) {
      return CUDA_ERROR_ILLEGAL_STATE;
    }
    if (capture->origin != stream) {
      return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    bool joined = isJoined(*capture);
    for (Stream *member : capture->streams) {
      member->capture = nullptr;
      member->captureEnds.clear();
    }
    if (capture->isInvalid) {
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (!joined) {
      return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    }
    *graph = reinterpret_cast<CUgraph>(
        context.graphs.add(std::make_unique<Graph>(std::move(capture->graph))));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *executable,
                                             CUgraph graph,
                                             unsigned long long flags) {
  return withContext([&](Context &context) -> CUresult {
    Graph *found = context.graphs.find(graph);
    if (!found) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!executable || flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *executable = reinterpret_cast<CUgraphExec>(
        context.executables.add(std::make_unique<std::shared_ptr<const Graph>>(
            std::make_shared<Graph>(*found))));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return withContext([&](Context &context) -> CUresult {
    auto *found = context.executables.find(executable);
    Stream *target = context.stream(stream);
    if (!found || !target) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (target->capture) {
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return context.submit(target, [&context, graph = *found] {
      graph->run([&](size_t n) { return context.scheduler.draw(n); });
    });
  });
}

CUresult CUDAAPI cuGraphDestroy(CUgraph graph) {
  return withContextAnyway([&](Context &context) -> CUresult {
    return context.graphs.remove(graph) ? CUDA_SUCCESS
                                        : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec executable) {
  return withContextAnyway([&](Context &context) -> CUresult {
    return context.executables.remove(executable) ? CUDA_SUCCESS
                                                  : CUDA_ERROR_INVALID_HANDLE;
  });
}
