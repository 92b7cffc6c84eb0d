//===- CublasLtTest.cpp - products that cuBLASLt computes -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/devices/cuda/CublasLt.h"
#include "runtime/builtins/Elements.h"
#include "runtime/devices/cuda/test/GpuModule.h"

#include <cmath>
#include <cstring>

using namespace tilewright;
using namespace tilewright::test;

using D = tilewright::DType;

namespace {

/// Memory of the simulated GPU.
struct Buffer {
  Buffer(const Driver &driver, size_t bytes) : driver(driver) {
    EXPECT_EQ(driver.memAlloc(&address, bytes), CUDA_SUCCESS);
  }
  ~Buffer() { driver.memFree(address); }
  void *data() const { return reinterpret_cast<void *>(address); }
  const Driver &driver;
  CUdeviceptr address = 0;
};

class Library : public testing::Test {
protected:
  void open(const char *architecture) {
    Result<const Driver *> found = Driver::openSimulator("");
    ASSERT_TRUE(found) << found.status().toString();
    driver = *found;
    auto opened =
        Gpu::openSimulated(*driver, *GpuArchitecture::parse(architecture));
    ASSERT_TRUE(opened) << opened.status().toString();
    gpu = *opened;
    ASSERT_TRUE(gpu->makeCurrent());
    auto result = CublasLt::open(gpu);
    ASSERT_TRUE(result) << result.status().toString();
    library = std::move(*result);
    ASSERT_EQ(driver->streamCreate(&stream, CU_STREAM_NON_BLOCKING),
              CUDA_SUCCESS);
  }
  void SetUp() override { open("sm_80"); }
  void TearDown() override {
    if (gpu && gpu->makeCurrent()) {
      driver->streamDestroy(stream);
    }
    library.reset();
    gpu.reset();
  }

  /// Multiplies small whole numbers, which every type holds. \returns what is
  /// wrong, or "".
  std::string multiply(const ProductShape &shape);

  const Driver *driver = nullptr;
  std::shared_ptr<const Gpu> gpu;
  std::unique_ptr<CublasLt> library;
  CUstream stream = nullptr;
};

double number(size_t i) { return static_cast<double>(i * 7 % 5) - 2; }

void put(D type, double value, std::vector<char> &bytes, int64_t index) {
  auto as = [&](auto element) {
    std::memcpy(bytes.data() + static_cast<size_t>(index) * sizeof element,
                &element, sizeof element);
  };
  auto isFloat8 = [&](int one) { // 0, ±1 and ±2
    int magnitude = value == 0 ? 0 : one + (std::fabs(value) > 1 ? 8 : 0);
    as(static_cast<uint8_t>(magnitude | (value < 0 ? 0x80 : 0)));
  };
  switch (type) {
  case D::F32:
    return as(static_cast<float>(value));
  case D::F16:
    return as(elementFromDouble<Half>(value));
  case D::BF16:
    return as(elementFromDouble<BFloat>(value));
  case D::I8:
    return as(static_cast<int8_t>(value));
  case D::F8E4M3FN:
    return isFloat8(0x38);
  default:
    return as(static_cast<int32_t>(value));
  }
}

double get(D type, const std::vector<char> &bytes, int64_t index) {
  auto as = [&](auto element) {
    std::memcpy(&element,
                bytes.data() + static_cast<size_t>(index) * sizeof element,
                sizeof element);
    return static_cast<double>(keyOf(element));
  };
  return type == D::F32    ? as(float())
         : type == D::F16  ? as(Half())
         : type == D::BF16 ? as(BFloat())
                           : as(int32_t());
}

/// A matrix of the test, on both sides.
struct TestMatrix {
  TestMatrix(const Driver &driver, const ProductShape::Matrix &matrix,
             int64_t rows, int64_t columns, int64_t batches)
      : matrix(matrix),
        bytes(static_cast<size_t>((batches - 1) * matrix.batch +
                                  (rows - 1) * matrix.row + columns) *
              sizeOf(matrix.dtype)),
        buffer(driver, bytes.size()) {
    size_t count = bytes.size() / sizeOf(matrix.dtype);
    for (size_t i = 0; i < count; ++i) {
      put(matrix.dtype, number(i), bytes, static_cast<int64_t>(i));
    }
  }
  double at(int64_t batch, int64_t row, int64_t column) const {
    return number(
        static_cast<size_t>(batch * matrix.batch + row * matrix.row + column));
  }
  ProductShape::Matrix matrix;
  std::vector<char> bytes;
  Buffer buffer;
};

double activated(ProductActivation activation, double x) {
  return activation == ProductActivation::Relu ? std::max(x, 0.0)
         : activation == ProductActivation::Gelu
             ? 0.5 * x *
                   (1 +
                    std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)))
             : x;
}

std::string Library::multiply(const ProductShape &s) {
  Result<LibraryProduct> product = library->prepare(s);
  if (!product) {
    return product.status().message();
  }
  TestMatrix a(*driver, s.a, s.transposedA ? s.k : s.m,
               s.transposedA ? s.m : s.k, s.batches),
      b(*driver, s.b, s.transposedB ? s.n : s.k, s.transposedB ? s.k : s.n,
        s.batches),
      c(*driver, s.d, s.m, s.n, s.batches),
      d(*driver, s.d, s.m, s.n, s.batches),
      bias(*driver, {s.d.dtype, s.n, 0}, 1, s.n, 1);
  for (TestMatrix *matrix : {&a, &b, &c, &d, &bias}) {
    driver->memcpyHtoDAsync(matrix->buffer.address, matrix->bytes.data(),
                            matrix->bytes.size(), stream);
  }
  Buffer workspace(*driver, static_cast<size_t>(product->workspaceBytes()) + 1);
  ProductOperands operands;
  operands.a = a.buffer.data();
  operands.b = b.buffer.data();
  operands.c = s.hasC ? c.buffer.data() : nullptr;
  operands.bias = s.hasBias ? bias.buffer.data() : nullptr;
  operands.d = d.buffer.data();
  Status status = product->run(operands, workspace.data(), stream);
  if (!status) {
    return status.message();
  }
  driver->memcpyDtoHAsync(d.bytes.data(), d.buffer.address, d.bytes.size(),
                          stream);
  CUresult result = driver->streamSynchronize(stream);
  if (result != CUDA_SUCCESS) {
    return driver->describe(result);
  }
  for (int64_t batch = 0; batch < s.batches; ++batch) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < s.k; ++k) {
          sum += (s.transposedA ? a.at(batch, k, i) : a.at(batch, i, k)) *
                 (s.transposedB ? b.at(batch, j, k) : b.at(batch, k, j));
        }
        sum = s.alpha * sum + (s.hasC ? c.at(batch, i, j) : 0) +
              (s.hasBias ? bias.at(0, 0, j) : 0);
        double expected = activated(s.activation, sum);
        double found =
            get(s.d.dtype, d.bytes, batch * s.d.batch + i * s.d.row + j);
        if (!(std::fabs(found - expected) <=
              std::fabs(expected) * 0.004 + 1e-6)) {
          return "[" + std::to_string(batch) + ", " + std::to_string(i) + ", " +
                 std::to_string(j) + "] is " + std::to_string(found) +
                 " instead of " + std::to_string(expected);
        }
      }
    }
  }
  return "";
}

/// A dense product of 5 x 12 x 16.
ProductShape shape(D operand, D result, bool transposedB = false) {
  ProductShape s;
  s.m = 5;
  s.n = 12;
  s.k = 16;
  s.transposedB = transposedB;
  s.a = {operand, s.k, 0};
  s.b = {operand, transposedB ? s.k : s.n, 0};
  s.d = {result, s.n, 0};
  return s;
}

} // namespace

TEST_F(Library, MultipliesEveryType) {
  for (auto [operand, result] : {std::pair(D::F32, D::F32),
                                 {D::F16, D::F16},
                                 {D::F16, D::F32},
                                 {D::BF16, D::BF16},
                                 {D::BF16, D::F32}}) {
    EXPECT_EQ(multiply(shape(operand, result)), "") << nameOf(operand);
    EXPECT_EQ(multiply(shape(operand, result, true)), "") << nameOf(operand);
  }
  EXPECT_EQ(multiply(shape(D::I8, D::I32, true)), "");
  ProductShape tf32 = shape(D::F32, D::F32);
  tf32.tf32 = true;
  EXPECT_EQ(multiply(tf32), "");
}

TEST_F(Library, MultipliesBytesAsFloats) {
  const char *none = "cuBLASLt has no algorithm for this product";
  ProductShape s = shape(D::F8E4M3FN, D::F32, true);
  s.n = s.d.row = 16;
  EXPECT_EQ(multiply(s), none); // from sm_89 on
  TearDown();
  open("sm_89");
  EXPECT_EQ(multiply(s), "");
  EXPECT_EQ(multiply(shape(D::F8E4M3FN, D::F32)), none);
}

TEST_F(Library, TransposesBatchesAndRowsWithGaps) {
  ProductShape s = shape(D::F32, D::F32);
  s.transposedA = true;
  s.a.row = 7;
  s.b.row = 13;
  s.d.row = 20;
  EXPECT_EQ(multiply(s), "");
  s.batches = 3;
  s.a.batch = 150;
  s.b.batch = 0; // the same for all
  s.d.batch = 101;
  EXPECT_EQ(multiply(s), "");
}

TEST_F(Library, Epilogues) {
  for (ProductActivation activation :
       {ProductActivation::None, ProductActivation::Relu,
        ProductActivation::Gelu}) {
    for (bool hasBias : {false, true}) {
      for (bool hasC : {false, true}) {
        ProductShape s = shape(D::F16, D::F16);
        s.activation = activation;
        s.hasBias = hasBias;
        s.hasC = hasC;
        s.c = s.d;
        s.alpha = 0.5f;
        EXPECT_EQ(multiply(s), "") << hasBias << hasC;
      }
    }
  }
}

TEST_F(Library, RefusesWhatItCannotDo) {
  const char *none = "cuBLASLt has no algorithm for this product";
  EXPECT_EQ(multiply(shape(D::I8, D::I32)), none);
  ProductShape s = shape(D::F32, D::F32);
  s.k = 0;
  EXPECT_NE(multiply(s), "");
  EXPECT_EQ(multiply(shape(D::F64, D::F64)), "cuBLASLt multiplies no f64");
}

TEST_F(Library, TheSimulatorFindsWhatIsOutOfBounds) {
  ProductShape s = shape(D::F32, D::F32);
  Result<LibraryProduct> product = library->prepare(s);
  ASSERT_TRUE(product) << product.status().toString();
  {
    Buffer a(*driver, 5 * 16 * 4), b(*driver, 16 * 12 * 4 - 4),
        d(*driver, 5 * 12 * 4);
    for (const Buffer *buffer : {&a, &b}) {
      driver->memsetD8Async(buffer->address, 0, 5 * 16 * 4, stream);
    }
    driver->memsetD8Async(b.address, 0, 16 * 12 * 4 - 4, stream);
    ASSERT_TRUE(product->run({a.data(), b.data(), nullptr, nullptr, d.data()},
                             nullptr, stream));
    CUresult result = driver->streamSynchronize(stream);
    EXPECT_EQ(result, CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_NE(driver->describe(result).find("cuBLASLt would access 48 bytes"),
              std::string::npos)
        << driver->describe(result);
  }
}
