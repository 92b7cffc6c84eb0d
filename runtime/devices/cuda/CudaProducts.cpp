//===- CudaProducts.cpp - launches that cuBLASLt does ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A launch that is a product of matrices is left to the library. Where that
// cannot be opened or has no algorithm for the product's sizes, the launch's
// kernel runs, and the context's statistics say why.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/CudaDevice.h"

#include <algorithm>

using namespace tilewright;

// Shapes whose algorithms are kept for a launch.
static constexpr size_t mostPrepared = 8;

static bool hasProduct(const format::CommandT *command) {
  return command->body.AsLaunch()->product != nullptr;
}

/// Opens the library if a launch has a use for it.
void CudaDevice::openLibrary() {
  if (std::none_of(launches.begin(), launches.end(), hasProduct)) {
    return;
  }
  Result<std::unique_ptr<CublasLt>> opened = CublasLt::open(gpu);
  if (opened) {
    library = std::move(*opened);
  } else {
    refusal = opened.status().message();
  }
}

ProductShape CudaDevice::productShape(const LaunchRequest &request) const {
  const format::ProductT &product = *request.launch.product;
  const std::vector<int64_t> &sizes = request.productSizes;
  ProductShape shape;
  shape.batches = sizes[0];
  shape.m = sizes[1];
  shape.n = sizes[2];
  shape.k = sizes[3];
  auto matrix = [&](uint32_t argument, size_t at) -> ProductShape::Matrix {
    const format::ValueT &value = *plan->values[request.launch.args[argument]];
    return {static_cast<DType>(value.dtype), sizes[at], sizes[at + 1]};
  };
  shape.a = matrix(product.a, 4);
  shape.b = matrix(product.b, 6);
  shape.d = matrix(static_cast<uint32_t>(request.launch.args.size() - 1), 10);
  shape.hasC = product.c >= 0;
  if (shape.hasC) {
    shape.c = matrix(static_cast<uint32_t>(product.c), 8);
  }
  shape.hasBias = product.bias >= 0;
  shape.transposedA = product.transposed_a;
  shape.transposedB = product.transposed_b;
  shape.tf32 = product.tf32;
  shape.alpha = product.alpha;
  shape.activation = static_cast<ProductActivation>(product.activation);
  return shape;
}

/// \returns the product as the library does it for these sizes, or null: it has
/// no algorithm for them.
const LibraryProduct *
CudaDevice::preparedProduct(const LaunchRequest &request) {
  ProductShape shape = productShape(request);
  std::vector<PreparedProduct> &known = prepared[&request.launch];
  for (const PreparedProduct &entry : known) {
    if (entry.shape == shape) {
      return entry.product ? &*entry.product : nullptr;
    }
  }
  if (known.size() == mostPrepared) {
    known.erase(known.begin());
  }
  known.push_back({shape, std::nullopt});
  Result<LibraryProduct> product = library->prepare(shape);
  if (!product) {
    refusal = product.status().message();
    return nullptr;
  }
  known.back().product = std::move(*product);
  return &*known.back().product;
}

Result<bool> CudaDevice::launchProduct(const LaunchRequest &request) {
  if (!library || !request.launch.product) {
    return false;
  }
  const LibraryProduct *product = preparedProduct(request);
  if (!product) {
    return false;
  }
  Block *workspace = nullptr;
  TW_RETURN_IF_ERROR(growWorkspace(product->workspaceBytes(), workspace));
  const format::ProductT &described = *request.launch.product;
  auto operand = [&](int32_t argument) -> const void * {
    return argument < 0 ? nullptr
                        : request.buffers[static_cast<size_t>(argument)];
  };
  ProductOperands operands;
  operands.a = request.buffers[described.a];
  operands.b = request.buffers[described.b];
  operands.c = operand(described.c);
  operands.bias = operand(described.bias);
  operands.d = request.buffers.back();
  if (driver.simulator) {
    driver.simulator->labelLaunch(
        places.find(&request.launch)->second.label.c_str());
  }
  Status status = product->run(
      operands, workspace ? workspace->data() : nullptr, streams->current());
  if (!status) {
    refusal = status.message();
    return false;
  }
  ++productCount;
  return true;
}
