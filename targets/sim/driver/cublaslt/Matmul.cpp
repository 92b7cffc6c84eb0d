//===- Matmul.cpp - a product on the processor ----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Sums are computed in f64 and rounded to f32 before the epilogue: the library
// leaves their order open.
//
//===----------------------------------------------------------------------===//

#include "runtime/builtins/Elements.h"
#include "targets/sim/driver/cublaslt/Problem.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tilewright::cublaslt;

namespace tilewright::sim {

/// \param exponentBits, \param bias of an 8-bit float.
static double float8(uint8_t bits, int exponentBits, int bias) {
  int fractionBits = 7 - exponentBits;
  int exponent = (bits & 0x7F) >> fractionBits;
  int fraction = bits & ((1 << fractionBits) - 1);
  double value = exponent == 0 ? std::ldexp(fraction, 1 - bias - fractionBits)
                               : std::ldexp(fraction + (1 << fractionBits),
                                            exponent - bias - fractionBits);
  return bits & 0x80 ? -value : value;
}

static double fromFloat8E4M3(uint8_t bits) {
  return (bits & 0x7F) == 0x7F ? NAN : float8(bits, 4, 7);
}

static double fromFloat8E5M2(uint8_t bits) {
  int magnitude = bits & 0x7F;
  if (magnitude > 0x7C) {
    return NAN;
  }
  double value = magnitude == 0x7C ? INFINITY : float8(bits & 0x7F, 5, 15);
  return bits & 0x80 ? -value : value;
}

static double load(DataType type, const uint8_t *at) {
  auto as = [&](auto element) {
    std::memcpy(&element, at, sizeof element);
    return static_cast<double>(keyOf(element));
  };
  switch (type) {
  case Real32F:
    return as(float());
  case Real16F:
    return as(Half());
  case Real16BF:
    return as(BFloat());
  case Real8I:
    return as(int8_t());
  case Real32I:
    return as(int32_t());
  case Real8FE4M3:
    return fromFloat8E4M3(*at);
  case Real8FE5M2:
    return fromFloat8E5M2(*at);
  }
  return 0;
}

static void store(DataType type, double value, uint8_t *at) {
  auto as = [&](auto element) {
    element = elementFromDouble<decltype(element)>(value);
    std::memcpy(at, &element, sizeof element);
  };
  switch (type) {
  case Real32F:
    return as(float());
  case Real16F:
    return as(Half());
  case Real16BF:
    return as(BFloat());
  default:
    return as(int32_t());
  }
}

/// A float with the 10 bits of fraction of a tf32, to nearest.
static double toTf32(double value) {
  uint32_t bits = bitsFromFloat(static_cast<float>(value));
  bool isFinite = (bits & 0x7F800000) != 0x7F800000;
  return isFinite ? floatFromBits((bits + 0x1000) & ~uint32_t(0x1FFF)) : value;
}

static double gelu(double x) {
  constexpr double scale = 0.7978845608028654, cubic = 0.044715;
  return 0.5 * x * (1 + std::tanh(scale * (x + cubic * x * x * x)));
}

namespace {

/// One run of a product, until an access fails.
class Multiplication {
public:
  Multiplication(const Matmul &matmul, Context &context)
      : matmul(matmul), context(context), memory(*context.memory) {}

  void run() {
    scribble();
    const MatmulProblem &problem = matmul.problem;
    for (int32_t batch = 0; batch < problem.d.batches && isFine(); ++batch) {
      multiply(batch);
    }
  }

private:
  bool isFine() const { return context.error == CUDA_SUCCESS; }

  /// Whether [address, address + bytes) is in one live buffer.
  bool isLive(CUdeviceptr address, uint64_t bytes, const char *what) {
    BufferRange range = memory.lookup(address);
    if (range.live && bytes <= range.end - address) {
      return true;
    }
    context.fail(CUDA_ERROR_ILLEGAL_ADDRESS,
                 "cuBLASLt would access " + std::to_string(bytes) +
                     " bytes of " + what + " beyond " +
                     (range.live ? "the end of " : "live memory, near ") +
                     range.label + inLabel());
    return false;
  }

  std::string inLabel() const {
    return matmul.label.empty() ? "" : ", in the product for " + matmul.label;
  }

  /// The workspace is the algorithm's: what it held is gone.
  void scribble() {
    uint64_t bytes = matmul.problem.workspaceBytes();
    if (bytes > 0 && isLive(matmul.workspace, bytes, "the workspace")) {
      memory.fill(matmul.workspace, 0xA5, 1, bytes);
    }
  }

  /// \returns a batch of a matrix, without gaps between its columns.
  std::vector<double> read(CUdeviceptr begin, const MatrixLayout &matrix,
                           int32_t batch, const char *name) {
    size_t size = bytesOf(matrix.type);
    std::vector<double> values(matrix.rows * matrix.columns);
    std::vector<uint8_t> column(matrix.rows * size);
    for (uint64_t j = 0; j < matrix.columns && isFine(); ++j) {
      CUdeviceptr at = address(begin, matrix, batch, j);
      if (!isLive(at, column.size(), name)) {
        break;
      }
      Status status = memory.read(column.data(), at, column.size(),
                                  context.settings.checks);
      if (!status) {
        context.fail(CUDA_ERROR_LAUNCH_FAILED,
                     "cuBLASLt reads " + std::string(name) + ": " +
                         status.message() + inLabel());
        break;
      }
      for (uint64_t i = 0; i < matrix.rows; ++i) {
        values[j * matrix.rows + i] =
            load(matrix.type, column.data() + i * size);
      }
    }
    return values;
  }

  static CUdeviceptr address(CUdeviceptr begin, const MatrixLayout &matrix,
                             int32_t batch, uint64_t column) {
    int64_t offset = batch * matrix.batchStride +
                     static_cast<int64_t>(column) * matrix.leading;
    return begin + static_cast<uint64_t>(offset) * bytesOf(matrix.type);
  }

  /// \returns op(A) with the depth side by side, op(B) likewise.
  static std::vector<double> alongDepth(std::vector<double> values,
                                        const MatrixLayout &matrix,
                                        bool isAlready) {
    if (isAlready) {
      return values;
    }
    std::vector<double> turned(values.size());
    for (uint64_t j = 0; j < matrix.columns; ++j) {
      for (uint64_t i = 0; i < matrix.rows; ++i) {
        turned[i * matrix.columns + j] = values[j * matrix.rows + i];
      }
    }
    return turned;
  }

  void multiply(int32_t batch) {
    const MatmulProblem &p = matmul.problem;
    const MatmulDescription &how = p.description;
    std::vector<double> a =
        alongDepth(read(matmul.a, p.a, batch, "the first matrix"), p.a,
                   how.transposeA == Transposed);
    std::vector<double> b =
        alongDepth(read(matmul.b, p.b, batch, "the second matrix"), p.b,
                   how.transposeB != Transposed);
    if (how.compute == Compute32FFastTf32) {
      std::transform(a.begin(), a.end(), a.begin(), toTf32);
      std::transform(b.begin(), b.end(), b.begin(), toTf32);
    }
    std::vector<double> c, bias;
    if (matmul.beta != 0) {
      c = read(matmul.c, p.c, batch, "the matrix that is added");
    }
    if (how.epilogue & BiasEpilogue) {
      MatrixLayout vector{p.d.type, p.d.rows, 1,
                          static_cast<int64_t>(p.d.rows)};
      bias =
          read(reinterpret_cast<CUdeviceptr>(how.bias), vector, 0, "the bias");
    }
    uint64_t rows = p.d.rows, depth = p.depth();
    size_t size = bytesOf(p.d.type);
    std::vector<uint8_t> column(rows * size);
    for (uint64_t j = 0; j < p.d.columns && isFine(); ++j) {
      for (uint64_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (uint64_t k = 0; k < depth; ++k) {
          sum += a[i * depth + k] * b[j * depth + k];
        }
        sum = matmul.alpha * rounded(sum);
        sum += c.empty() ? 0 : matmul.beta * c[j * rows + i];
        sum += bias.empty() ? 0 : bias[i];
        store(p.d.type, activate(sum), column.data() + i * size);
      }
      write(address(matmul.d, p.d, batch, j), column);
    }
  }

  double rounded(double sum) const {
    return matmul.problem.description.compute == Compute32I
               ? sum
               : static_cast<double>(static_cast<float>(sum));
  }

  double activate(double x) const {
    int epilogue = matmul.problem.description.epilogue;
    return epilogue & ReluEpilogue   ? std::max(x, 0.0)
           : epilogue & GeluEpilogue ? gelu(x)
                                     : x;
  }

  void write(CUdeviceptr at, const std::vector<uint8_t> &column) {
    if (isLive(at, column.size(), "the result")) {
      memory.write(at, column.data(), column.size());
    }
  }

  const Matmul &matmul;
  Context &context;
  DeviceMemory &memory;
};

} // namespace

void Matmul::run(Context &context) const {
  Multiplication(*this, context).run();
}

} // namespace tilewright::sim
