//===- ReadModelTest.cpp - files of all kinds -------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/test/ModelBuilder.h"

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>

using namespace tilewright;
using namespace tilewright::test;

namespace {

class ReadModel : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tilewright-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void expectRefused(const std::string &content, ErrorCode code,
                     const std::string &text) {
    std::ofstream(folder / "m.onnx", std::ios::binary) << content;
    expectPathRefused(folder / "m.onnx", code, text);
  }

  void expectPathRefused(const std::filesystem::path &path, ErrorCode code,
                         const std::string &text) {
    testing::internal::CaptureStderr();
    Result<LoadedModel> loaded = loadModel(path);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    ASSERT_FALSE(loaded.isOk());
    EXPECT_EQ(loaded.status().code(), code);
    EXPECT_NE(loaded.status().message().find(text), std::string::npos)
        << "no '" << text << "' in: " << loaded.status().message();
  }

  std::filesystem::path folder;
};

TEST_F(ReadModel, ReadsAModel) {
  std::ofstream(folder / "m.onnx", std::ios::binary)
      << model({node("Relu", {"x"}, {"y"})}).SerializeAsString();
  Result<LoadedModel> loaded = loadModel(folder / "m.onnx");
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_EQ(loaded->folder(), folder);
  EXPECT_EQ(loaded->opset(""), 18);
  EXPECT_EQ(loaded->opset("ai.onnx.ml"), 0);
}

TEST_F(ReadModel, SaysWhatTheFileIs) {
  expectRefused("", ErrorCode::ModelMalformed, "empty");
  expectRefused("PK\x03\x04 and so on", ErrorCode::ModelMalformed, "ZIP");
  expectRefused("\x80\x02}q", ErrorCode::ModelMalformed, "pickle");
  expectRefused("import torch\nprint(1)\n", ErrorCode::ModelMalformed, "text");
  expectRefused(std::string("\x10\0\0\0TWM1", 8) + std::string(100, '\0'),
                ErrorCode::ModelMalformed, "Tilewright module");
  expectRefused(std::string(100, '\xff'), ErrorCode::ModelMalformed,
                "truncated");
  expectRefused(std::string("\x08\x09", 2), ErrorCode::ModelMalformed,
                "no graph");
}

TEST_F(ReadModel, EndsOnEndlessNumbers) {
  expectRefused("\x08" + std::string(1000, '\x80'), ErrorCode::ModelMalformed,
                "parse");
}

TEST_F(ReadModel, SaysWhyItCannotRead) {
  expectPathRefused(folder / "none.onnx", ErrorCode::ModelUnreadable,
                    "No such");
  expectPathRefused(folder, ErrorCode::ModelUnreadable, "folder");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expectPathRefused(folder / "pipe", ErrorCode::ModelUnreadable, "regular");
}

TEST_F(ReadModel, ExplainsTheSizeLimit) {
  std::ofstream(folder / "m.onnx", std::ios::binary) << "x";
  std::filesystem::resize_file(folder / "m.onnx", uint64_t{3} << 30);
  expectPathRefused(folder / "m.onnx", ErrorCode::ModelUnreadable, "2 GiB");
}

} // namespace
