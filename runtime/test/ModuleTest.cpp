//===- ModuleTest.cpp -------------------------------------------------------
//===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/LoadedModule.h"
#include "runtime/module/FileLayout.h"
#include "runtime/test/TestModule.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::test;

/// y = scale(x) + nothing, with a constant of `constantBytes` bytes beside.
static TestModule smallModule(size_t constantBytes = 256) {
  TestModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t x = b.parameter(0, "x", format::DType_F32, {dim});
  b.function(0).binds = {format::Bind(x, 0, n)};
  b.function(0).evaluate = {dim};
  b.constant("c", format::DType_U8, {b.size(int64_t(constantBytes))},
             std::string(constantBytes, 'c'));
  uint32_t y = b.owned("y", format::DType_F32, {dim});
  auto &launch = b.command<format::LaunchT>(0);
  launch.kernel = b.kernel("scale");
  launch.args = {x, y};
  launch.sizes = {b.size(3)};
  launch.tasks = dim;
  launch.workspace = b.size(0);
  b.result(0, y);
  return b;
}

static Status statusOf(const std::vector<std::byte> &bytes) {
  return Module::fromBytes(bytes).status();
}

TEST(Module, OpensAndDescribesItself) {
  auto module = smallModule().open();
  ASSERT_TRUE(module) << module.status().toString();
  EXPECT_EQ((*module)->name(), "hand-made");
  EXPECT_EQ((*module)->compiler(), "test");
  EXPECT_EQ((*module)->level(), CpuLevel::V2);
  ASSERT_EQ((*module)->inputs().size(), 1u);
  EXPECT_EQ((*module)->inputs()[0].name, "x");
  EXPECT_EQ((*module)->outputs()[0].dtype, DType::F32);
}

TEST(Module, WritesTheSameBytesTwice) {
  EXPECT_EQ(smallModule().bytes(), smallModule().bytes());
}

TEST(Module, EveryFlippedByteIsFound) {
  std::vector<std::byte> bytes = smallModule().bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> changed = bytes;
    changed[i] ^= std::byte(1 << (i % 8));
    Status status = statusOf(changed);
    bool version = i >= 8 && i < 12;
    EXPECT_EQ(status.code(),
              version ? ErrorCode::ModuleVersion : ErrorCode::ModuleDamaged)
        << "byte " << i;
  }
}

TEST(Module, EveryTruncationIsFound) {
  std::vector<std::byte> bytes = smallModule().bytes();
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 50) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + size);
    EXPECT_EQ(statusOf(cut).code(), ErrorCode::ModuleDamaged) << size;
  }
  bytes.push_back(std::byte(0));
  EXPECT_EQ(statusOf(bytes).code(), ErrorCode::ModuleDamaged);
}

/// Makes all checksums right again, so that what lies behind them is tested.
static void reseal(std::vector<std::byte> &bytes) {
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (uint64_t i = 0; i < header.chunks; ++i) {
    uint64_t offset = header.payloadOffset + i * checksumChunk;
    uint64_t hash = checksum(bytes.data() + offset,
                             std::min(checksumChunk, bytes.size() - offset));
    std::memcpy(bytes.data() + sizeof header + i * 8, &hash, 8);
  }
  header.tableHash = checksum(bytes.data() + sizeof header,
                              header.payloadOffset - sizeof header);
  header.headerHash = checksum(&header, offsetof(FileHeader, headerHash));
  std::memcpy(bytes.data(), &header, sizeof header);
}

TEST(Module, DamageBehindRightChecksums) {
  std::vector<std::byte> bytes = smallModule().bytes();
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  size_t begin = header.payloadOffset + header.flatbufferOffset;
  std::mt19937 random(1);
  unsigned refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> changed = bytes;
    for (int edit = 0; edit < 1 + round % 3; ++edit) {
      size_t at = begin + random() % header.flatbufferBytes;
      changed[at] = std::byte(round % 2 ? random() : random() % 4);
    }
    reseal(changed);
    auto module = Module::fromBytes(changed);
    if (!module) {
      ++refused;
      continue;
    }
    // Still a module: then it must run, or say why not. Its kernel has to be
    // the same: code is trusted with the sizes that the plan gives it.
    auto context = Context::create(*module, {1});
    ASSERT_TRUE(context);
  }
  EXPECT_GT(refused, 500u);
}

/// x: f32[N], k: i64[1]; if any: top k of x, through arena, alias and copies.
static TestModule moduleWithoutCode() {
  TestModule b;
  uint32_t n = b.symbol("N");
  uint32_t dim = b.expr(n);
  uint32_t one = b.size(1);
  uint32_t bytes = b.expr(format::ExprOp_Mul, dim, b.size(4));
  uint32_t x = b.parameter(0, "x", format::DType_F32, {dim});
  uint32_t k = b.parameter(0, "k", format::DType_I64, {one});
  uint32_t go = b.parameter(0, "go", format::DType_Bool, {});
  b.function(0).binds = {format::Bind(x, 0, n)};
  b.function(0).evaluate = {dim, bytes};
  b.function(0).buffers = {format::Buffer(bytes, 0, 1)};
  uint32_t h = b.value("h", format::DType_F32, {dim}, format::Storage_Arena, 0);
  uint32_t row =
      b.value("row", format::DType_F32, {one, dim}, format::Storage_Alias, h);
  b.copy(0, x, h);

  size_t then = b.addFunction("then");
  uint32_t s = b.symbol("k");
  uint32_t count = b.expr(s);
  uint32_t best = b.owned("best", format::DType_F32, {one, count});
  auto &topk = b.command<format::BuiltinT>(then);
  topk.name = "topk";
  topk.inputs = {int32_t(row), int32_t(k)};
  topk.outputs = {int32_t(best), -1};
  topk.ints = {1, 1, 1};
  topk.defines = {s};
  b.lastCommand(then).evaluate = {count};
  b.result(then, best);
  size_t otherwise = b.addFunction("otherwise");
  uint32_t same = b.owned("same", format::DType_F32, {one, dim});
  b.copy(otherwise, row, same);
  b.result(otherwise, same);

  uint32_t w = b.symbol("width");
  uint32_t width = b.expr(w);
  uint32_t y = b.owned("y", format::DType_F32, {one, width});
  auto &branch = b.command<format::IfT>(0);
  branch.condition = go;
  branch.then = uint32_t(then);
  branch.otherwise = uint32_t(otherwise);
  branch.outputs = {y};
  b.lastCommand(0).binds = {format::Bind(y, 1, w)};
  b.lastCommand(0).evaluate = {width};
  uint32_t shape = b.owned("shape", format::DType_I64, {b.size(2)});
  auto &write = b.command<format::WriteSizesT>(0);
  write.to = shape;
  write.sizes = {one, width};
  b.result(0, y);
  b.result(0, shape);
  return b;
}

TEST(Module, DamagedPlansRunOrSayWhyNot) {
  std::vector<std::byte> bytes = moduleWithoutCode().bytes();
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  size_t begin = header.payloadOffset + header.flatbufferOffset;
  Tensor x = tensor<float>(DType::F32, {5}, {1, 5, 2, 4, 3});
  Tensor k = tensor<int64_t>(DType::I64, {1}, {2});
  std::mt19937 random(2);
  unsigned ran = 0;
  for (int round = 0; round < 6000; ++round) {
    std::vector<std::byte> changed = bytes;
    for (int edit = 0; edit < round % 4; ++edit) {
      size_t at = begin + random() % header.flatbufferBytes;
      changed[at] = std::byte(random() % (round % 2 ? 256 : 12));
    }
    reseal(changed);
    auto module = Module::fromBytes(changed);
    if (!module) {
      continue;
    }
    auto context = std::move(*Context::create(*module, {1}));
    for (uint8_t go : {0, 1}) {
      Tensor flag = tensor<uint8_t>(DType::Bool, {}, {go});
      auto outputs = context->run({x.view(), k.view(), flag.view()});
      ran += outputs.isOk();
    }
  }
  EXPECT_GT(ran, 3000u); // every fourth is unchanged, many names are
}

TEST(Module, LargeOnesAreVerifiedInParallel) {
  std::vector<std::byte> bytes = smallModule(40 << 20).bytes();
  OpenOptions options;
  options.threads = 4;
  EXPECT_TRUE(Module::fromBytes(bytes, options));
  bytes[bytes.size() / 2] ^= std::byte(1);
  EXPECT_EQ(Module::fromBytes(bytes, options).status().code(),
            ErrorCode::ModuleDamaged);
}

TEST(Module, FilesAreMappedAndReplaced) {
  std::string path = testing::TempDir() + "tilewright-module-test.twm";
  TestModule b = smallModule();
  ModuleContents contents;
  contents.module = &b.module;
  contents.constants = {b.constants[0]};
  contents.code = {b.code};
  ASSERT_TRUE(writeModule(contents, path).isOk());
  auto first = Module::open(path);
  ASSERT_TRUE(first) << first.status().toString();
  // Replacing the file leaves the mapped one as it was.
  ASSERT_TRUE(writeModule(contents, path).isOk());
  EXPECT_TRUE(Module::open(path));
  EXPECT_EQ((*first)->loaded().constants[0].data[0], 'c');
  std::remove(path.c_str());

  EXPECT_EQ(Module::open(path).status().code(), ErrorCode::ModuleUnreadable);
  EXPECT_EQ(Module::open("/").status().code(), ErrorCode::ModuleUnreadable);
  EXPECT_EQ(writeModule(contents, "/no/such/folder/m.twm").code(),
            ErrorCode::OutputUnwritable);
}

TEST(Module, NoPartialFileWhenTheTargetIsAFolder) {
  std::string folder = testing::TempDir() + "tilewright-module-folder";
  mkdir(folder.c_str(), 0755);
  TestModule b = smallModule();
  ModuleContents contents;
  contents.module = &b.module;
  contents.constants = {b.constants[0]};
  contents.code = {b.code};
  EXPECT_EQ(writeModule(contents, folder).code(), ErrorCode::OutputUnwritable);
  std::string temporary = folder + "." + std::to_string(getpid()) + "-0.tmp";
  EXPECT_NE(access(temporary.c_str(), F_OK), 0);
  rmdir(folder.c_str());
}

TEST(Module, AnotherVersionIsRefused) {
  std::vector<std::byte> bytes = smallModule().bytes();
  bytes[8] = std::byte(99);
  EXPECT_EQ(statusOf(bytes).code(), ErrorCode::ModuleVersion);
}

TEST(Module, ChoosesTheBestLevel) {
  TestModule b = smallModule();
  for (const char *level : {"avx512", "avx2", "future"}) {
    auto copy = std::make_unique<format::VariantT>();
    copy->target = "cpu";
    copy->level = level;
    copy->plan = std::move(smallModule().module.variants[0]->plan);
    b.module.variants.push_back(std::move(copy));
  }
  std::vector<std::byte> bytes = b.bytes();
  auto best = Module::fromBytes(bytes);
  ASSERT_TRUE(best) << best.status().toString();
  EXPECT_EQ((*best)->level(), *hostCpuLevel());
  OpenOptions options;
  options.level = CpuLevel::V2;
  EXPECT_EQ((*Module::fromBytes(bytes, options))->level(), CpuLevel::V2);
}

TEST(Module, NothingForThisMachine) {
  TestModule b = smallModule();
  b.module.variants[0]->target = "cuda";
  Status status = b.open().status();
  EXPECT_EQ(status.code(), ErrorCode::ModuleTarget);
  EXPECT_NE(status.message().find("cuda:x86-64-v2"), std::string::npos);
  OpenOptions options;
  options.level = CpuLevel::Avx512;
  EXPECT_EQ(Module::fromBytes(smallModule().bytes(), options).status().code(),
            ErrorCode::ModuleTarget);
}

TEST(CodeImage, RefusesWhatAKernelImageIsNot) {
  EXPECT_TRUE(checkCodeImage(kernelImage()).isOk());
  EXPECT_EQ(checkCodeImage(readFile(TILEWRIGHT_TEST_IMPORTING)).code(),
            ErrorCode::ModuleDamaged);
  EXPECT_EQ(checkCodeImage("").code(), ErrorCode::ModuleDamaged);
  EXPECT_EQ(checkCodeImage(std::string(5000, 'x')).code(),
            ErrorCode::ModuleDamaged);
  std::string image = kernelImage();
  for (size_t size = 0; size < image.size(); size += 97) {
    (void)checkCodeImage(std::string_view(image).substr(0, size));
  }
}

TEST(CodeImage, MissingKernel) {
  TestModule b = smallModule();
  b.plan().kernels = {"no_such_kernel"};
  EXPECT_EQ(b.open().status().code(), ErrorCode::ModuleDamaged);
}
