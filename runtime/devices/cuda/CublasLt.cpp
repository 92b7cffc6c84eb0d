//===- CublasLt.cpp - products of matrices by cuBLASLt --------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// The library's matrices are column-major. A row-major product D = A B is the
// column-major D' = B' A', whose operands lie in memory as they are: ours in
// the other order.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/CublasLt.h"

#include <cstdlib>
#include <dlfcn.h>
#include <vector>

using namespace tilewright;
using namespace tilewright::cublaslt;

// What the library's documentation advises for this generation of GPUs.
static constexpr uint64_t mostWorkspaceBytes = uint64_t(32) << 20;

// Of all buffers of a launch: docs/design/module-file.md.
static constexpr uint32_t bufferAlignment = 16;

static Status check(int status, const char *what) {
  return status == success
             ? Status::ok()
             : Status(ErrorCode::DeviceUnsupported,
                      "cuBLASLt: " + std::string(what) + " failed with " +
                          std::to_string(status));
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

/// \returns where the library may lie, in this order.
static std::vector<std::string> libraryPaths() {
  if (const char *given = std::getenv("TILEWRIGHT_CUBLASLT_LIBRARY")) {
    return {given};
  }
  std::vector<std::string> folders = {""}, paths;
  if (const char *toolkit = std::getenv("TILEWRIGHT_CUDA_PATH")) {
    folders.push_back(std::string(toolkit) + "/lib64/");
    folders.push_back(std::string(toolkit) + "/lib/");
  }
  folders.push_back("/usr/local/cuda/lib64/");
  for (const std::string &folder : folders) {
    for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
      paths.push_back(folder + name);
    }
  }
  return paths;
}

static Result<void *> openLibrary(const Driver &driver) {
  if (driver.simulator) {
    return driver.library;
  }
  std::string reasons;
  for (const std::string &path : libraryPaths()) {
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return library;
    }
    const char *error = dlerror();
    reasons += (reasons.empty() ? "" : "; ") +
               std::string(error ? error : "unknown reason");
  }
  return Status(ErrorCode::DeviceUnsupported,
                "cuBLASLt cannot be opened: " + reasons);
}

Result<std::unique_ptr<CublasLt>>
CublasLt::open(std::shared_ptr<const Gpu> gpu) {
  Result<void *> opened = openLibrary(gpu->driver);
  TW_RETURN_IF_ERROR(opened.status());
  std::unique_ptr<CublasLt> result(new CublasLt(std::move(gpu)));
  std::string missing;
#define TILEWRIGHT_CUBLASLT_GET(name, type, parameters)                        \
  result->library.name =                                                       \
      reinterpret_cast<type(*) parameters>(dlsym(*opened, "cublasLt" #name));  \
  missing += result->library.name ? "" : " cublasLt" #name;
  TILEWRIGHT_CUBLASLT_FUNCTIONS(TILEWRIGHT_CUBLASLT_GET)
#undef TILEWRIGHT_CUBLASLT_GET
  if (!missing.empty()) {
    return Status(ErrorCode::DeviceUnsupported, "cuBLASLt lacks" + missing);
  }
  TW_RETURN_IF_ERROR(result->gpu->makeCurrent());
  TW_RETURN_IF_ERROR(check(result->library.Create(&result->handle), "opening"));
  return result;
}

CublasLt::~CublasLt() {
  if (handle && gpu->makeCurrent().isOk()) {
    library.Destroy(handle);
  }
}

std::string CublasLt::version() const {
  size_t number = library.GetVersion();
  return std::to_string(number / 10000) + "." +
         std::to_string(number % 10000 / 100) + "." +
         std::to_string(number % 100);
}

Result<LibraryProduct> CublasLt::prepare(const ProductShape &shape) const {
  LibraryProduct result(*this, shape);
  TW_RETURN_IF_ERROR(result.describe());
  TW_RETURN_IF_ERROR(result.choose());
  return result;
}

//===----------------------------------------------------------------------===//
// A product
//===----------------------------------------------------------------------===//

bool ProductShape::operator==(const ProductShape &other) const {
  return a == other.a && b == other.b && c == other.c && d == other.d &&
         batches == other.batches && m == other.m && n == other.n &&
         k == other.k && transposedA == other.transposedA &&
         transposedB == other.transposedB && hasC == other.hasC &&
         hasBias == other.hasBias && tf32 == other.tf32 &&
         activation == other.activation && alpha == other.alpha;
}

static Result<DataType> dataType(DType type) {
  switch (type) {
  case DType::F32:
    return Real32F;
  case DType::F16:
    return Real16F;
  case DType::BF16:
    return Real16BF;
  case DType::I8:
    return Real8I;
  case DType::I32:
    return Real32I;
  case DType::F8E4M3FN:
    return Real8FE4M3;
  case DType::F8E5M2:
    return Real8FE5M2;
  default:
    return Status(ErrorCode::DeviceUnsupported,
                  "cuBLASLt multiplies no " + std::string(nameOf(type)));
  }
}

static ComputeType computeType(const ProductShape &shape) {
  return shape.a.dtype == DType::I8 ? Compute32I
         : shape.tf32               ? Compute32FFastTf32
                                    : Compute32F;
}

static Epilogue epilogueOf(const ProductShape &shape) {
  int epilogue = shape.activation == ProductActivation::Relu   ? ReluEpilogue
                 : shape.activation == ProductActivation::Gelu ? GeluEpilogue
                                                               : 0;
  epilogue |= shape.hasBias ? BiasEpilogue : 0;
  return epilogue == 0 ? NoEpilogue : static_cast<Epilogue>(epilogue);
}

LibraryProduct::~LibraryProduct() {
  if (!owner) {
    return;
  }
  for (Layout layout : {first, second, sums, added}) {
    if (layout) {
      owner->library.MatrixLayoutDestroy(layout);
    }
  }
  if (product) {
    owner->library.MatmulDescDestroy(product);
  }
}

void LibraryProduct::swap(LibraryProduct &other) {
  std::swap(owner, other.owner);
  std::swap(described, other.described);
  std::swap(product, other.product);
  std::swap(first, other.first);
  std::swap(second, other.second);
  std::swap(sums, other.sums);
  std::swap(added, other.added);
  std::swap(heuristic, other.heuristic);
}

/// Describes a matrix whose stored rows have `columns` elements.
static Status describeMatrix(const Library &library, Layout &layout,
                             const ProductShape::Matrix &matrix, int64_t rows,
                             int64_t columns, int64_t batches) {
  Result<DataType> type = dataType(matrix.dtype);
  TW_RETURN_IF_ERROR(type.status());
  TW_RETURN_IF_ERROR(check(
      library.MatrixLayoutCreate(&layout, *type, static_cast<uint64_t>(columns),
                                 static_cast<uint64_t>(rows), matrix.row),
      "describing a matrix"));
  auto count = static_cast<int32_t>(batches);
  if (count == 1) {
    return Status::ok();
  }
  TW_RETURN_IF_ERROR(check(library.MatrixLayoutSetAttribute(
                               layout, BatchCount, &count, sizeof count),
                           "describing batches"));
  return check(library.MatrixLayoutSetAttribute(
                   layout, BatchStride, &matrix.batch, sizeof matrix.batch),
               "describing batches");
}

Status LibraryProduct::describe() {
  const Library &library = owner->library;
  const ProductShape &s = described;
  if (s.batches > INT32_MAX) {
    return Status(ErrorCode::DeviceUnsupported, "cuBLASLt takes no " +
                                                    std::to_string(s.batches) +
                                                    " batches");
  }
  DataType scale = s.a.dtype == DType::I8 ? Real32I : Real32F;
  TW_RETURN_IF_ERROR(
      check(library.MatmulDescCreate(&product, computeType(s), scale),
            "describing a product"));
  Result<DataType> biasType = dataType(s.d.dtype);
  TW_RETURN_IF_ERROR(biasType.status());
  Operation ofFirst = s.transposedB ? Transposed : NotTransposed;
  Operation ofSecond = s.transposedA ? Transposed : NotTransposed;
  Epilogue epilogue = epilogueOf(s);
  auto set = [&](MatmulAttribute which, const auto &value) {
    return check(
        library.MatmulDescSetAttribute(product, which, &value, sizeof value),
        "describing a product");
  };
  TW_RETURN_IF_ERROR(set(TransposeA, ofFirst));
  TW_RETURN_IF_ERROR(set(TransposeB, ofSecond));
  TW_RETURN_IF_ERROR(set(EpilogueKind, epilogue));
  if (s.hasBias) {
    TW_RETURN_IF_ERROR(set(BiasType, *biasType));
  }
  TW_RETURN_IF_ERROR(describeMatrix(library, first, s.b,
                                    s.transposedB ? s.n : s.k,
                                    s.transposedB ? s.k : s.n, s.batches));
  TW_RETURN_IF_ERROR(describeMatrix(library, second, s.a,
                                    s.transposedA ? s.k : s.m,
                                    s.transposedA ? s.m : s.k, s.batches));
  TW_RETURN_IF_ERROR(
      describeMatrix(library, added, s.hasC ? s.c : s.d, s.m, s.n, s.batches));
  return describeMatrix(library, sums, s.d, s.m, s.n, s.batches);
}

Status LibraryProduct::choose() {
  const Library &library = owner->library;
  Preference preference = nullptr;
  TW_RETURN_IF_ERROR(check(library.MatmulPreferenceCreate(&preference),
                           "making a preference"));
  auto set = [&](PreferenceAttribute which, const auto &value) {
    return check(library.MatmulPreferenceSetAttribute(preference, which, &value,
                                                      sizeof value),
                 "making a preference");
  };
  auto ask = [&]() -> Status {
    TW_RETURN_IF_ERROR(set(MaxWorkspaceBytes, mostWorkspaceBytes));
    TW_RETURN_IF_ERROR(set(ReductionSchemes, reductionInComputeType));
    for (PreferenceAttribute which :
         {AlignmentA, AlignmentB, AlignmentC, AlignmentD}) {
      TW_RETURN_IF_ERROR(set(which, bufferAlignment));
    }
    int found = 0;
    int status = library.MatmulAlgoGetHeuristic(owner->handle, product, first,
                                                second, added, sums, preference,
                                                1, &heuristic, &found);
    bool isKnown = status == success && found > 0 && heuristic.state == success;
    return isKnown || (status != success && status != notSupported)
               ? check(status, "choosing an algorithm")
               : Status(ErrorCode::DeviceUnsupported,
                        "cuBLASLt has no algorithm for this product");
  };
  Status status = ask();
  library.MatmulPreferenceDestroy(preference);
  return status;
}

Status LibraryProduct::run(const ProductOperands &operands, void *workspace,
                           CUstream stream) const {
  const Library &library = owner->library;
  if (described.hasBias) {
    TW_RETURN_IF_ERROR(
        check(library.MatmulDescSetAttribute(
                  product, BiasPointer, &operands.bias, sizeof operands.bias),
              "describing a product"));
  }
  float alpha = described.alpha, beta = described.hasC ? 1.0f : 0.0f;
  int32_t integerAlpha = 1, integerBeta = described.hasC ? 1 : 0;
  bool isInteger = described.a.dtype == DType::I8;
  return check(
      library.Matmul(owner->handle, product,
                     isInteger ? static_cast<void *>(&integerAlpha) : &alpha,
                     operands.b, first, operands.a, second,
                     isInteger ? static_cast<void *>(&integerBeta) : &beta,
                     described.hasC ? operands.c : operands.d, added,
                     operands.d, sums, &heuristic.algorithm, workspace,
                     heuristic.workspaceBytes, stream),
      "a product");
}
