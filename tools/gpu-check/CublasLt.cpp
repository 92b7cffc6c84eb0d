//===- CublasLt.cpp - products of matrices by cuBLASLt --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The library's matrices are column-major. A row-major product C = A B is the
// column-major C' = B' A', whose operands lie in memory as they are: ours in
// the other order.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/CublasLt.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

using namespace tilewright::cublaslt;

namespace tilewright::gpucheck {

// What the library's documentation advises for this generation of GPUs.
static constexpr size_t workspaceBytes = size_t(32) << 20;

namespace {

/// Destroys what the library has created.
struct Plan {
  explicit Plan(const Library &library) : library(library) {}
  ~Plan() {
    for (Layout layout : {a, b, c}) {
      if (layout) {
        library.MatrixLayoutDestroy(layout);
      }
    }
    if (preference) {
      library.MatmulPreferenceDestroy(preference);
    }
    if (product) {
      library.MatmulDescDestroy(product);
    }
  }
  const Library &library;
  MatmulDesc product = nullptr;
  Layout a = nullptr, b = nullptr, c = nullptr;
  Preference preference = nullptr;
  Heuristic heuristic = {};
};

struct Types {
  ComputeType compute;
  DataType scale, operand, result;
};

} // namespace

static Types typesOf(const MatrixProduct &product) {
  switch (product.operand) {
  case DType::F16:
    return {Compute32F, Real32F, Real16F, Real16F};
  case DType::BF16:
    return {Compute32F, Real32F, Real16BF, Real16BF};
  case DType::I8:
    return {Compute32I, Real32I, Real8I, Real32I};
  case DType::F8E4M3FN:
    return {Compute32F, Real32F, Real8FE4M3, Real32F};
  default:
    return {product.tf32 ? Compute32FFastTf32 : Compute32F, Real32F, Real32F,
            Real32F};
  }
}

static Status check(int status, const char *what) {
  return status == success
             ? Status::ok()
             : Status(ErrorCode::DeviceUnsupported,
                      "cuBLASLt: " + std::string(what) + " failed with " +
                          std::to_string(status));
}

Result<std::unique_ptr<CublasLt>> CublasLt::open(const Session &session) {
  std::vector<std::string> paths;
  if (const char *given = std::getenv("TILEWRIGHT_CUBLASLT_LIBRARY")) {
    paths = {given};
  } else {
    for (const char *folder : {"", "/usr/local/cuda/lib64/"}) {
      for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
        paths.push_back(std::string(folder) + name);
      }
    }
    if (session.isSimulated()) {
      return Status(ErrorCode::DeviceUnsupported,
                    "the simulator does not run cuBLASLt's kernels");
    }
  }
  void *opened = nullptr;
  std::string reasons;
  for (size_t i = 0; i < paths.size() && !opened; ++i) {
    opened = dlopen(paths[i].c_str(), RTLD_NOW | RTLD_LOCAL);
    const char *error = opened ? nullptr : dlerror();
    reasons += (i ? "; " : "") + std::string(error ? error : "");
  }
  if (!opened) {
    return Status(ErrorCode::DeviceUnsupported,
                  "cuBLASLt cannot be opened: " + reasons);
  }
  std::unique_ptr<CublasLt> result(new CublasLt(session));
  std::string missing;
#define TILEWRIGHT_CUBLASLT_GET(name, type, parameters)                        \
  result->library.name =                                                       \
      reinterpret_cast<type(*) parameters>(dlsym(opened, "cublasLt" #name));   \
  missing += result->library.name ? "" : " cublasLt" #name;
  TILEWRIGHT_CUBLASLT_FUNCTIONS(TILEWRIGHT_CUBLASLT_GET)
#undef TILEWRIGHT_CUBLASLT_GET
  if (!missing.empty()) {
    return Status(ErrorCode::DeviceUnsupported, "cuBLASLt lacks" + missing);
  }
  TW_RETURN_IF_ERROR(session.gpu->makeCurrent());
  TW_RETURN_IF_ERROR(check(result->library.Create(&result->handle), "opening"));
  return result;
}

CublasLt::~CublasLt() {
  if (handle) {
    library.Destroy(handle);
  }
}

std::string CublasLt::version() const {
  size_t number = library.GetVersion();
  return std::to_string(number / 10000) + "." +
         std::to_string(number % 10000 / 100) + "." +
         std::to_string(number % 100);
}

/// Describes C' = B' A' to the library and asks for its algorithm.
static Status describe(const MatrixProduct &product, Handle handle,
                       Plan &plan) {
  const Library &library = plan.library;
  Types types = typesOf(product);
  auto m = static_cast<uint64_t>(product.m),
       n = static_cast<uint64_t>(product.n),
       k = static_cast<uint64_t>(product.k);
  Operation first = product.transposedB ? Transposed : NotTransposed,
            second = NotTransposed;
  TW_RETURN_IF_ERROR(
      check(library.MatmulDescCreate(&plan.product, types.compute, types.scale),
            "describing a product"));
  TW_RETURN_IF_ERROR(check(library.MatmulDescSetAttribute(
                               plan.product, TransposeA, &first, sizeof first),
                           "describing a product"));
  TW_RETURN_IF_ERROR(
      check(library.MatmulDescSetAttribute(plan.product, TransposeB, &second,
                                           sizeof second),
            "describing a product"));
  uint64_t rows = product.transposedB ? k : n;
  TW_RETURN_IF_ERROR(
      check(library.MatrixLayoutCreate(&plan.a, types.operand, rows,
                                       product.transposedB ? n : k,
                                       static_cast<int64_t>(rows)),
            "describing a matrix"));
  TW_RETURN_IF_ERROR(
      check(library.MatrixLayoutCreate(&plan.b, types.operand, k, m, product.k),
            "describing a matrix"));
  TW_RETURN_IF_ERROR(
      check(library.MatrixLayoutCreate(&plan.c, types.result, n, m, product.n),
            "describing a matrix"));
  TW_RETURN_IF_ERROR(check(library.MatmulPreferenceCreate(&plan.preference),
                           "making a preference"));
  TW_RETURN_IF_ERROR(check(library.MatmulPreferenceSetAttribute(
                               plan.preference, MaxWorkspaceBytes,
                               &workspaceBytes, sizeof workspaceBytes),
                           "making a preference"));
  int found = 0;
  TW_RETURN_IF_ERROR(
      check(library.MatmulAlgoGetHeuristic(handle, plan.product, plan.a, plan.b,
                                           plan.c, plan.c, plan.preference, 1,
                                           &plan.heuristic, &found),
            "choosing an algorithm"));
  return found > 0 ? Status::ok()
                   : Status(ErrorCode::DeviceUnsupported,
                            "cuBLASLt has no algorithm for this product");
}

Result<double> CublasLt::multiply(const MatrixProduct &product, const Tensor &a,
                                  const Tensor &b, Tensor &c, int runs) {
  const Driver &driver = session.gpu->driver;
  Plan plan(library);
  TW_RETURN_IF_ERROR(session.gpu->makeCurrent());
  TW_RETURN_IF_ERROR(describe(product, handle, plan));
  auto bytes = [](const Tensor &tensor) {
    return static_cast<size_t>(tensor.bytes());
  };
  DeviceBuffer buffers[4];
  size_t sizes[] = {bytes(a), bytes(b), bytes(c), workspaceBytes};
  for (size_t i = 0; i < 4; ++i) {
    Result<DeviceBuffer> buffer = DeviceBuffer::create(*session.gpu, sizes[i]);
    TW_RETURN_IF_ERROR(buffer.status());
    buffers[i] = std::move(*buffer);
  }
  Stopwatch stopwatch;
  TW_RETURN_IF_ERROR(stopwatch.open(*session.gpu));
  CUstream stream = stopwatch.stream();
  float oneFloat = 1, noFloat = 0;
  int32_t oneInteger = 1, noInteger = 0;
  bool isInteger = product.operand == DType::I8;
  const void *alpha = isInteger ? static_cast<void *>(&oneInteger) : &oneFloat;
  const void *beta = isInteger ? static_cast<void *>(&noInteger) : &noFloat;
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    for (const auto &[tensor, buffer] :
         {std::pair(&a, &buffers[0]), {&b, &buffers[1]}}) {
      TW_RETURN_IF_ERROR(
          driver.check(driver.memcpyHtoDAsync(buffer->address(), tensor->data(),
                                              bytes(*tensor), stream),
                       "copying an operand"));
    }
    Result<double> milliseconds = stopwatch.time([&] {
      return check(
          library.Matmul(handle, plan.product, alpha, buffers[1].pointer(),
                         plan.a, buffers[0].pointer(), plan.b, beta,
                         buffers[2].pointer(), plan.c, buffers[2].pointer(),
                         plan.c, &plan.heuristic.algorithm,
                         buffers[3].pointer(), workspaceBytes, stream),
          "a product");
    });
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
