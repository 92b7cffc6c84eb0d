//===- Kernels.cpp - kernels of the executor's tests ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Linked on its own into an image that imports nothing, as the compiler's are.
//
//===----------------------------------------------------------------------===//

#include "runtime/Kernel.h"

using namespace tilewright;

extern "C" {

/// buffers: x, y; y[i] = x[i] * sizes[0] + 1. A task is an element.
void scale(const KernelArgs *args, int64_t begin, int64_t end, int32_t) {
  const float *x = static_cast<const float *>(args->buffers[0]);
  float *y = static_cast<float *>(args->buffers[1]);
  for (int64_t i = begin; i < end; ++i) {
    y[i] = x[i] * static_cast<float>(args->sizes[0]) + 1;
  }
}

/// buffers: data, index, y; sizes: elements of data. Clamps a bad index and
/// says so. Its workspace holds the clamped index.
void gather(const KernelArgs *args, int64_t begin, int64_t end, int32_t) {
  const float *data = static_cast<const float *>(args->buffers[0]);
  const int64_t *index = static_cast<const int64_t *>(args->buffers[1]);
  float *y = static_cast<float *>(args->buffers[2]);
  int64_t *at = static_cast<int64_t *>(args->workspace);
  for (int64_t i = begin; i < end; ++i) {
    *at = index[i];
    if (*at < 0 || *at >= args->sizes[0]) {
      *at = 0;
      *args->status = KernelIndexOutOfRange;
    }
    y[i] = data[*at];
  }
}
}
