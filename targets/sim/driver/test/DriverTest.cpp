//===- DriverTest.cpp - the driver API's entry points ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include <cstring>
#include <cuda.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {
/// A context on the first device.
class SimDriver : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr memory = 0;
    EXPECT_EQ(cuMemAlloc(&memory, bytes), CUDA_SUCCESS);
    return memory;
  }
  CUstream stream() {
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return stream;
  }
  CUevent event(unsigned flags = CU_EVENT_DISABLE_TIMING) {
    CUevent event = nullptr;
    EXPECT_EQ(cuEventCreate(&event, flags), CUDA_SUCCESS);
    return event;
  }

  CUcontext context = nullptr;
};
} // namespace

TEST_F(SimDriver, DevicesAndAttributes) {
  int count = 0;
  ASSERT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_GE(count, 6);
  std::vector<int> capabilities;
  for (int i = 0; i < count; ++i) {
    CUdevice device = -1;
    ASSERT_EQ(cuDeviceGet(&device, i), CUDA_SUCCESS);
    int major = 0, minor = 0, shared = 0;
    EXPECT_EQ(cuDeviceGetAttribute(
                  &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
              CUDA_SUCCESS);
    EXPECT_EQ(cuDeviceGetAttribute(
                  &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
              CUDA_SUCCESS);
    EXPECT_EQ(cuDeviceGetAttribute(
                  &shared,
                  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                  device),
              CUDA_SUCCESS);
    EXPECT_GT(shared, 48 * 1024);
    capabilities.push_back(major * 10 + minor);
  }
  EXPECT_EQ(capabilities[0], 80);
  CUdevice device = 0;
  EXPECT_EQ(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  char name[5];
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "simu");
}

TEST_F(SimDriver, FindsItsFunctions) {
  for (const char *symbol : {"cuInit", "cuLaunchKernel", "cuMemAlloc"}) {
    void *address = nullptr;
    CUdriverProcAddressQueryResult found;
    EXPECT_EQ(cuGetProcAddress(symbol, &address, 12000,
                               CU_GET_PROC_ADDRESS_DEFAULT, &found),
              CUDA_SUCCESS);
    EXPECT_NE(address, nullptr) << symbol;
    EXPECT_EQ(found, CU_GET_PROC_ADDRESS_SUCCESS);
  }
  void *address = nullptr;
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &address, 12000, 0, nullptr),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(cuGetProcAddress("cuInit", &address, 11000, 0, nullptr),
            CUDA_ERROR_NOT_FOUND);
}

TEST_F(SimDriver, CopiesInTheOrderOfStreamsAndEvents) {
  CUdeviceptr a = allocate(4);
  CUdeviceptr b = allocate(4);
  CUstream first = stream();
  CUstream second = stream();
  CUevent copied = event();
  void *pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, 8), CUDA_SUCCESS);
  int *values = static_cast<int *>(pinned);
  values[0] = 7;
  EXPECT_EQ(cuMemcpyHtoDAsync(a, &values[0], 4, first), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoDAsync(b, a, 4, first), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(copied, first), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(second, copied, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoHAsync(&values[1], b, 4, second), CUDA_SUCCESS);
  // Page-locked memory is read when the stream gets there.
  values[0] = 8;
  EXPECT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(values[1], 8);
  EXPECT_EQ(cuEventQuery(copied), CUDA_SUCCESS);
  // Other memory when the copy is asked for.
  int local = 9;
  EXPECT_EQ(cuMemcpyHtoDAsync(a, &local, 4, first), CUDA_SUCCESS);
  local = 10;
  EXPECT_EQ(cuMemcpyDtoHAsync(&values[1], a, 4, first), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(first), CUDA_SUCCESS);
  EXPECT_EQ(values[1], 9);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(SimDriver, TheDefaultStreamWaitsForBlockingStreams) {
  CUdeviceptr a = allocate(4);
  CUstream blocking = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(a, 1, 4, blocking), CUDA_SUCCESS);
  int value = 0;
  EXPECT_EQ(cuMemcpyDtoH(&value, a, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 0x01010101);
}

TEST_F(SimDriver, EventsMeasureTime) {
  CUstream s = stream();
  CUevent begin = event(CU_EVENT_DEFAULT);
  CUevent end = event(CU_EVENT_DEFAULT);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(begin, s), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(end, s), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end),
            CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0);
}

TEST_F(SimDriver, GraphsOfSeveralStreams) {
  CUdeviceptr a = allocate(4);
  CUdeviceptr b = allocate(4);
  CUstream first = stream();
  CUstream second = stream();
  CUevent forked = event();
  CUevent joined = event();
  ASSERT_EQ(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(a, 3, 4, first), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(forked, first), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(second, forked, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoDAsync(b, a, 4, second), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(second, &graph),
            CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(cuEventRecord(joined, second), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(joined), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(cuStreamWaitEvent(first, joined, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(first, &graph), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, first), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(first), CUDA_SUCCESS);
  int value = 0;
  EXPECT_EQ(cuMemcpyDtoH(&value, b, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 0x03030303);
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(executable, first), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(SimDriver, RecordingsThatFail) {
  CUdeviceptr a = allocate(4);
  CUstream first = stream();
  CUstream second = stream();
  CUevent e = event();
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(first, &graph), CUDA_ERROR_ILLEGAL_STATE);
  // A stream that is not joined.
  ASSERT_EQ(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(a, 0, 4, first), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(e, first), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(second, e, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(a, 1, 4, second), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamEndCapture(first, &graph),
            CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  // Waiting for it.
  ASSERT_EQ(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(first), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(cuStreamEndCapture(first, &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // An event of outside.
  EXPECT_EQ(cuEventRecord(e, second), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(first, e, 0),
            CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(cuStreamEndCapture(first, &graph), CUDA_SUCCESS);
}

TEST_F(SimDriver, WrongHandles) {
  CUdeviceptr a = allocate(4);
  auto nothing = reinterpret_cast<CUstream>(0x1234);
  auto noEvent = reinterpret_cast<CUevent>(0x1234);
  EXPECT_EQ(cuMemsetD8Async(a, 0, 4, nothing), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(nothing), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(nothing), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(noEvent, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(reinterpret_cast<CUmodule>(0x1234)),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(0x1234), 1, 1, 1, 1, 1,
                           1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuGraphDestroy(reinterpret_cast<CUgraph>(0x1234)),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(SimDriver, FailedWorkStaysFailed) {
  CUdeviceptr a = allocate(16);
  CUstream s = stream();
  EXPECT_EQ(cuMemsetD8Async(a, 0, 1 << 20, s), CUDA_SUCCESS); // out of bounds
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr other = 0;
  EXPECT_EQ(cuMemAlloc(&other, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  const char *name = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name), CUDA_SUCCESS);
  EXPECT_STREQ(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &name),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(SimDriver, ReadsOfWhatNobodyWroteFail) {
  CUdeviceptr a = allocate(16);
  int value = 0;
  EXPECT_NE(cuMemcpyDtoH(&value, a, 4), CUDA_SUCCESS);
}

TEST_F(SimDriver, MachineCodeAndBadPtx) {
  CUmodule module = nullptr;
  std::string binary("\x7f"
                     "ELF....",
                     8);
  EXPECT_EQ(cuModuleLoadDataEx(&module, binary.data(), 0, nullptr, nullptr),
            CUDA_ERROR_NO_BINARY_FOR_GPU);
  for (const char *text : {"", "x", "no PTX at all"}) {
    char log[100] = "before";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    EXPECT_EQ(cuModuleLoadDataEx(&module, text, 2, options, values),
              CUDA_ERROR_INVALID_PTX);
    EXPECT_STRNE(log, "before");
    EXPECT_GT(std::strlen(log), 0u);
  }
}

TEST(SimDriverWithoutContext, SaysSo) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}
