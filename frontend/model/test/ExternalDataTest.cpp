//===- ExternalDataTest.cpp - data in other files ---------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/test/ModelBuilder.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace tilewright;
using namespace tilewright::test;

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

class ExternalData : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tilewright-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root = pattern;
    std::filesystem::create_directory(root / "model");
    write(root / "model" / "w.bin", "0123456789abcdef");
    write(root / "secret.bin", "0123456789abcdef");
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  static void write(const std::filesystem::path &path,
                    const std::string &content) {
    std::ofstream(path, std::ios::binary) << content;
  }

  /// A model with a weight of 12 bytes that lies where `entries` say.
  Result<LoadedModel> load(const Entries &entries) {
    auto built = model({node("Relu", {"x"}, {"y"})});
    onnx::TensorProto &weight = *built.mutable_graph()->add_initializer();
    weight = tensor("w", {3}, onnx::TensorProto::FLOAT, "");
    weight.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto &[key, text] : entries) {
      auto *entry = weight.add_external_data();
      entry->set_key(key);
      entry->set_value(text);
    }
    return loadModel(std::move(built), root / "model");
  }

  void expectRefused(const Entries &entries, const Strings &texts) {
    Result<LoadedModel> loaded = load(entries);
    ASSERT_FALSE(loaded.isOk());
    EXPECT_EQ(loaded.status().code(), ErrorCode::ExternalData);
    for (const std::string &text : texts) {
      EXPECT_NE(loaded.status().message().find(text), std::string::npos)
          << "no '" << text << "' in: " << loaded.status().message();
    }
  }

  std::filesystem::path root;
};

TEST_F(ExternalData, IsMapped) {
  auto loaded =
      load({{"location", "w.bin"}, {"offset", "4"}, {"length", "12"}});
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  auto bytes = loaded->data(loaded->graph().initializer(0));
  ASSERT_TRUE(bytes.isOk());
  EXPECT_EQ(
      std::string(reinterpret_cast<const char *>(bytes->data), bytes->size),
      "456789abcdef");
}

TEST_F(ExternalData, IsReadByShapeInference) {
  write(root / "model" / "shape.bin", std::string("\2\0\0\0\0\0\0\0", 8));
  auto built = model({node("Reshape", {"x", "s"}, {"y"})});
  onnx::TensorProto &shape = *built.mutable_graph()->add_initializer();
  shape = tensor("s", {1}, onnx::TensorProto::INT64, "");
  shape.set_data_location(onnx::TensorProto::EXTERNAL);
  auto *entry = shape.add_external_data();
  entry->set_key("location");
  entry->set_value("shape.bin");
  auto loaded = loadModel(std::move(built), root / "model");
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_EQ(loaded->data(loaded->graph().initializer(0))->size, 8u);
}

TEST_F(ExternalData, StaysInItsFileWhenLarge) {
  write(root / "model" / "large.bin", std::string(4096, '\1'));
  auto built = model({node("Relu", {"x"}, {"y"})});
  onnx::TensorProto &weight = *built.mutable_graph()->add_initializer();
  weight = tensor("w", {1024}, onnx::TensorProto::FLOAT, "");
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  auto *entry = weight.add_external_data();
  entry->set_key("location");
  entry->set_value("large.bin");
  auto loaded = loadModel(std::move(built), root / "model");
  ASSERT_TRUE(loaded.isOk()) << loaded.status().message();
  EXPECT_TRUE(loaded->graph().initializer(0).raw_data().empty());
  auto bytes = loaded->data(loaded->graph().initializer(0));
  ASSERT_TRUE(bytes.isOk()) << bytes.status().message();
  EXPECT_EQ(bytes->size, 4096u);
  EXPECT_EQ(bytes->data[4095], std::byte{1});
}

TEST_F(ExternalData, NeedsNoLength) {
  EXPECT_TRUE(load({{"location", "w.bin"}}).isOk());
}

TEST_F(ExternalData, MustReachToItsLength) {
  expectRefused({{"location", "w.bin"}, {"offset", "8"}, {"length", "12"}},
                {"'w'", "offset 8", "length 12", "w.bin", "16 bytes"});
  expectRefused({{"location", "w.bin"}, {"length", "8"}},
                {"length 8", "12 bytes"});
  expectRefused({{"location", "w.bin"},
                 {"offset", "18446744073709551608"},
                 {"length", "12"}},
                {"offset 18446744073709551608", "16 bytes"});
  expectRefused({{"location", "w.bin"}, {"offset", "-1"}}, {"offset '-1'"});
  expectRefused({{"location", "w.bin"}, {"offset", "99999999999999999999"}},
                {"offset '99999999999999999999'"});
}

TEST_F(ExternalData, StaysInTheFolder) {
  expectRefused({{"location", "../secret.bin"}},
                {"../secret.bin", "not opened"});
  expectRefused({{"location", "a/../../secret.bin"}}, {"not opened"});
  expectRefused({{"location", (root / "secret.bin").string()}}, {"not opened"});
  expectRefused({{"location", ""}}, {"no location"});
  expectRefused({}, {"no location"});
}

TEST_F(ExternalData, StaysInTheFolderThroughLinks) {
  std::filesystem::create_symlink(root / "secret.bin",
                                  root / "model" / "l.bin");
  expectRefused({{"location", "l.bin"}}, {"outside", "not opened"});
  std::filesystem::create_directory_symlink(root, root / "model" / "up");
  expectRefused({{"location", "up/secret.bin"}}, {"outside", "not opened"});
  std::filesystem::create_symlink("w.bin", root / "model" / "inside.bin");
  EXPECT_TRUE(load({{"location", "inside.bin"}}).isOk());
}

TEST_F(ExternalData, MustBeAFile) {
  expectRefused({{"location", "missing.bin"}}, {"missing.bin"});
  std::filesystem::create_directory(root / "model" / "folder");
  expectRefused({{"location", "folder"}}, {"folder"});
}

TEST(ExternalDataInMemory, HasNoFolder) {
  auto built = model({node("Relu", {"x"}, {"y"})});
  onnx::TensorProto &weight = *built.mutable_graph()->add_initializer();
  weight = tensor("w", {3}, onnx::TensorProto::FLOAT, "");
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  auto *entry = weight.add_external_data();
  entry->set_key("location");
  entry->set_value("w.bin");
  test::expectRefused(built, ErrorCode::ExternalData, {"not read from a file"});
}

} // namespace
