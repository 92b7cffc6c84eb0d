//===- LibraryProduct.cpp - cuBLASLt beside the kernels -------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/LibraryProduct.h"

#include <algorithm>

namespace tilewright::gpucheck {

static ProductShape shapeOf(const MatrixProduct &product, DType result) {
  ProductShape shape;
  shape.m = product.m;
  shape.n = product.n;
  shape.k = product.k;
  shape.transposedB = product.transposedB;
  shape.tf32 = product.tf32;
  shape.a = {product.operand, product.k, 0};
  shape.b = {product.operand, product.transposedB ? product.k : product.n, 0};
  shape.d = {result, product.n, 0};
  return shape;
}

Result<double> multiplyByLibrary(const Session &session,
                                 const CublasLt &library,
                                 const MatrixProduct &product, const Tensor &a,
                                 const Tensor &b, Tensor &c, int runs) {
  const Driver &driver = session.gpu->driver;
  TW_RETURN_IF_ERROR(session.gpu->makeCurrent());
  Result<LibraryProduct> prepared =
      library.prepare(shapeOf(product, c.view().dtype));
  TW_RETURN_IF_ERROR(prepared.status());
  auto bytes = [](const Tensor &tensor) {
    return static_cast<size_t>(tensor.bytes());
  };
  DeviceBuffer buffers[4];
  size_t sizes[] = {bytes(a), bytes(b), bytes(c),
                    static_cast<size_t>(prepared->workspaceBytes())};
  for (size_t i = 0; i < 4; ++i) {
    Result<DeviceBuffer> buffer =
        DeviceBuffer::create(*session.gpu, std::max<size_t>(sizes[i], 1));
    TW_RETURN_IF_ERROR(buffer.status());
    buffers[i] = std::move(*buffer);
  }
  Stopwatch stopwatch;
  TW_RETURN_IF_ERROR(stopwatch.open(*session.gpu));
  CUstream stream = stopwatch.stream();
  ProductOperands operands;
  operands.a = buffers[0].pointer();
  operands.b = buffers[1].pointer();
  operands.d = buffers[2].pointer();
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    for (const auto &[tensor, buffer] :
         {std::pair(&a, &buffers[0]), {&b, &buffers[1]}}) {
      TW_RETURN_IF_ERROR(
          driver.check(driver.memcpyHtoDAsync(buffer->address(), tensor->data(),
                                              bytes(*tensor), stream),
                       "copying an operand"));
    }
    Result<double> milliseconds = stopwatch.time(
        [&] { return prepared->run(operands, buffers[3].pointer(), stream); });
    if (!milliseconds) {
      return milliseconds;
    }
    best = i == 0 ? *milliseconds : std::min(best, *milliseconds);
  }
  TW_RETURN_IF_ERROR(driver.check(
      driver.memcpyDtoHAsync(c.data(), buffers[2].address(), bytes(c), stream),
      "copying the product"));
  TW_RETURN_IF_ERROR(
      driver.check(driver.streamSynchronize(stream), "copying the product"));
  return best;
}

} // namespace tilewright::gpucheck
