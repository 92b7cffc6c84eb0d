//===- NpyTest.cpp - tensors in NumPy's file format -------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/support/Npy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace tilewright;

namespace {

class Npy : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tilewright-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    path = folder / "a.npy";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// Writes a file of that version, header and elements.
  void write(const std::string &header, const std::string &elements,
             char version = 1) {
    std::ofstream file(path, std::ios::binary);
    file << "\x93NUMPY" << version << '\0' << char(header.size()) << '\0';
    if (version > 1) {
      file << '\0' << '\0';
    }
    file << header << elements;
  }

  void writeArray(const std::string &descriptor, const std::string &shape,
                  const std::string &elements,
                  const std::string &fortran = "False") {
    write("{'descr': '" + descriptor + "', 'fortran_order': " + fortran +
              ", 'shape': (" + shape + "), }\n",
          elements);
  }

  template <typename Element> std::vector<Element> read(DType dtype) {
    Result<Tensor> tensor = readNpy(path, dtype);
    EXPECT_TRUE(tensor.isOk()) << tensor.status().message();
    if (!tensor) {
      return {};
    }
    shape = tensor->shape();
    auto *begin = tensor->as<Element>();
    return {begin, begin + tensor->bytes() / sizeof(Element)};
  }

  void expectRefused(DType dtype, ErrorCode code, const std::string &text) {
    Result<Tensor> tensor = readNpy(path, dtype);
    ASSERT_FALSE(tensor.isOk());
    EXPECT_EQ(tensor.status().code(), code) << tensor.status().message();
    EXPECT_NE(tensor.status().message().find(text), std::string::npos)
        << "no '" << text << "' in: " << tensor.status().message();
  }

  std::filesystem::path folder, path;
  std::vector<int64_t> shape;
};

TEST_F(Npy, ReadsWhatItWrites) {
  for (unsigned type = 0; type < dtypeCount; ++type) {
    auto dtype = static_cast<DType>(type);
    if (dtype == DType::String) {
      continue;
    }
    std::vector<int64_t> dims = {2, 3};
    Result<Tensor> tensor = Tensor::create(dtype, dims);
    ASSERT_TRUE(tensor.isOk());
    for (int64_t at = 0; at < tensor->bytes(); ++at) {
      tensor->as<char>()[at] = char(at % 2); // valid in every type
    }
    Status status = writeNpy(path, tensor->view());
    ASSERT_TRUE(status.isOk()) << status.message();
    Result<Tensor> again = readNpy(path, dtype);
    ASSERT_TRUE(again.isOk()) << nameOf(dtype) << again.status().message();
    EXPECT_EQ(again->shape(), dims);
    EXPECT_EQ(std::memcmp(again->data(), tensor->data(), tensor->bytes()), 0);
  }
}

TEST_F(Npy, WritesScalarsVectorsAndNothing) {
  for (std::vector<int64_t> dims :
       {std::vector<int64_t>{}, {3}, {0}, {2, 0, 4}}) {
    Result<Tensor> tensor = Tensor::create(DType::U8, dims);
    ASSERT_TRUE(tensor.isOk());
    std::memset(tensor->data(), 1, size_t(tensor->bytes()));
    ASSERT_TRUE(writeNpy(path, tensor->view()).isOk());
    EXPECT_EQ(std::filesystem::file_size(path) % 64,
              size_t(tensor->bytes()) % 64);
    read<uint8_t>(DType::U8);
    EXPECT_EQ(shape, dims);
  }
}

TEST_F(Npy, UsesNumpysDescriptors) {
  EXPECT_EQ(npyDescriptor(DType::F32), "<f4");
  EXPECT_EQ(npyDescriptor(DType::Bool), "|b1");
  EXPECT_EQ(npyDescriptor(DType::I8), "|i1");
  EXPECT_EQ(npyDescriptor(DType::C64), "<c8");
  EXPECT_EQ(npyDescriptor(DType::BF16), "<V2");
  EXPECT_EQ(npyDescriptor(DType::F8E5M2), "<V1");
  EXPECT_EQ(npyDescriptor(DType::F8E4M3FN), "<V1");
  EXPECT_EQ(npyDescriptor(DType::I4), "<V1");
}

TEST_F(Npy, KnowsItsVersions) {
  std::string header =
      "{'shape': (1,), 'descr': '|u1', 'fortran_order': False}";
  for (char version : {1, 2, 3}) {
    write(header, "\x07", version);
    EXPECT_EQ(read<uint8_t>(DType::U8), std::vector<uint8_t>{7});
  }
  write(header, "\x07", 4);
  expectRefused(DType::U8, ErrorCode::InputUnreadable, "version 4");
}

TEST_F(Npy, TransposesFortranOrder) {
  // [[0 1 2] [3 4 5]], column by column.
  writeArray("|u1", "2, 3", std::string("\0\3\1\4\2\5", 6), "True");
  EXPECT_EQ(read<uint8_t>(DType::U8), (std::vector<uint8_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(shape, (std::vector<int64_t>{2, 3}));
}

TEST_F(Npy, SwapsBigEndian) {
  writeArray(">i4", "2,", std::string("\0\0\1\2\xff\xff\xff\xff", 8));
  EXPECT_EQ(read<int32_t>(DType::I32), (std::vector<int32_t>{258, -1}));
  writeArray(">c8", "1,", std::string("\x3f\x80\0\0\x40\0\0\0", 8));
  EXPECT_EQ(read<float>(DType::C64), (std::vector<float>{1, 2}));
}

TEST_F(Npy, LetsTheDeclaredTypeDecide) {
  writeArray("<V1", "2,", "\x0f\xf1");
  EXPECT_EQ(read<uint8_t>(DType::I4), (std::vector<uint8_t>{0x0f, 0x01}));
  EXPECT_EQ(read<uint8_t>(DType::F8E4M3FN), (std::vector<uint8_t>{0x0f, 0xf1}));
  expectRefused(DType::U8, ErrorCode::InputType, "'<V1'");
  writeArray("<f1", "1,", "\x3c");
  EXPECT_EQ(read<uint8_t>(DType::F8E5M2), std::vector<uint8_t>{0x3c});
  writeArray("<V2", "1,", "\x80\x3f");
  EXPECT_EQ(read<uint16_t>(DType::BF16), std::vector<uint16_t>{0x3f80});
  expectRefused(DType::F16, ErrorCode::InputType, "'<V2'");
}

TEST_F(Npy, MakesTrueOne) {
  writeArray("|b1", "3,", std::string("\0\1\2", 3));
  EXPECT_EQ(read<uint8_t>(DType::Bool), (std::vector<uint8_t>{0, 1, 1}));
}

TEST_F(Npy, RefusesOtherTypes) {
  writeArray("<f8", "1,", "12345678");
  expectRefused(DType::F32, ErrorCode::InputType, "'<f8'");
  expectRefused(DType::String, ErrorCode::UnsupportedType, "strings");
  writeArray("|O", "1,", "x");
  expectRefused(DType::I64, ErrorCode::InputType, "'|O'");
  writeArray("<U1", "1,", "abcd");
  expectRefused(DType::I32, ErrorCode::InputType, "'<U1'");
}

TEST_F(Npy, RefusesDamage) {
  expectRefused(DType::F32, ErrorCode::InputUnreadable, "No such file");
  std::ofstream(path) << "text";
  expectRefused(DType::F32, ErrorCode::InputUnreadable, "not a .npy");
  writeArray("|u1", "3,", "ab");
  expectRefused(DType::U8, ErrorCode::InputUnreadable, "2 are there");
  writeArray("|u1", "4611686018427387904, 4611686018427387904", "ab");
  expectRefused(DType::U8, ErrorCode::InputUnreadable, "too many");
  writeArray("|u1", "-3,", "ab");
  expectRefused(DType::U8, ErrorCode::InputUnreadable, "sizes");
  for (const char *header :
       {"", "{", "{'descr'", "{'descr': '|u1'}", "{'descr': [('a', '<f4')]}",
        "{'descr': '|u1', 'fortran_order': 7, 'shape': ()}", "{'x': 1}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (1"}) {
    write(header, "");
    expectRefused(DType::U8, ErrorCode::InputUnreadable, "header");
  }
  path = folder;
  expectRefused(DType::U8, ErrorCode::InputUnreadable, "regular");
}

TEST_F(Npy, LeavesNoPartialFile) {
  Result<Tensor> tensor = Tensor::create(DType::U8, {2});
  ASSERT_TRUE(tensor.isOk());
  Status status = writeNpy(folder / "missing" / "a.npy", tensor->view());
  EXPECT_EQ(status.code(), ErrorCode::OutputUnwritable);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

} // namespace
