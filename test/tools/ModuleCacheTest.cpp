//===- ModuleCacheTest.cpp ------------------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/ModuleCache.h"

#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <thread>

namespace fs = std::filesystem;
using namespace tilewright;

namespace {

class ModuleCacheTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) /
             testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Pretends that an entry was last used `hours` ago.
  void age(const fs::path &file, int hours) {
    fs::last_write_time(file, fs::file_time_type::clock::now() -
                                  std::chrono::hours(hours));
  }

  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder),
                                             fs::directory_iterator()));
  }

  fs::path folder;
  std::vector<std::byte> bytes = std::vector<std::byte>(100, std::byte(7));
};

} // namespace

TEST_F(ModuleCacheTest, FindsWhatItStored) {
  ModuleCache cache(folder);
  EXPECT_FALSE(cache.find("key"));
  cache.store("key", bytes);
  auto file = cache.find("key");
  ASSERT_TRUE(file);
  EXPECT_EQ(fs::file_size(*file), bytes.size());
  EXPECT_EQ(files(), 1U);
}

TEST_F(ModuleCacheTest, RemovesWhatWasNotUsedForLongest) {
  ModuleCache cache(folder, /*limit=*/250);
  cache.store("a", bytes);
  cache.store("b", bytes);
  age(folder / "a.twm", 3);
  age(folder / "b.twm", 2);
  EXPECT_TRUE(cache.find("a")); // used now
  cache.store("c", bytes);
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
}

TEST_F(ModuleCacheTest, KeepsNothingAboveTheLimit) {
  ModuleCache cache(folder, /*limit=*/50);
  cache.store("a", bytes);
  EXPECT_FALSE(cache.find("a"));
}

TEST_F(ModuleCacheTest, RemovesWhatOthersLeftUnfinished) {
  fs::create_directories(folder);
  std::ofstream(folder / "old.1.0.part") << "x";
  std::ofstream(folder / "new.1.0.part") << "x";
  age(folder / "old.1.0.part", 5);
  ModuleCache(folder).store("a", bytes);
  EXPECT_FALSE(fs::exists(folder / "old.1.0.part"));
  EXPECT_TRUE(fs::exists(folder / "new.1.0.part"));
}

TEST_F(ModuleCacheTest, WorksWithoutAFolder) {
  ModuleCache none("");
  none.store("a", bytes);
  EXPECT_FALSE(none.find("a"));
  std::ofstream file(folder); // a file where the folder should be
  ModuleCache blocked(folder / "compiled");
  blocked.store("a", bytes);
  EXPECT_FALSE(blocked.find("a"));
}

TEST_F(ModuleCacheTest, ServesManyAtOnce) {
  ModuleCache cache(folder, /*limit=*/450);
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      for (int i = 0; i < 50; ++i) {
        std::string key = std::to_string((number + i) % 6);
        cache.store(key, bytes);
        if (auto file = cache.find(key)) {
          std::error_code gone;
          uint64_t size = fs::file_size(*file, gone);
          EXPECT_TRUE(gone || size == bytes.size());
        }
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_LE(files(), 4U);
}

TEST_F(ModuleCacheTest, KeysDependOnModelAndOptions) {
  fs::create_directories(folder);
  std::string model = (folder / "model.onnx").string();
  std::ofstream(model) << "one";
  CompileOptions options;
  auto key = cacheKey(model, options);
  ASSERT_TRUE(key) << key.status().toString();
  EXPECT_EQ(key->size(), 32U);
  EXPECT_EQ(*cacheKey(model, options), *key);
  options.threads = 7; // changes no byte of the module
  EXPECT_EQ(*cacheKey(model, options), *key);
  CompileOptions reference, strict, shapes, target;
  reference.reference = strict.strict = true;
  shapes.shapes = {{"x", {1, 2}}};
  target.target = findTarget("x86-64-v2");
  std::set<std::string> keys{*key};
  for (const CompileOptions &other : {reference, strict, shapes}) {
    EXPECT_TRUE(keys.insert(*cacheKey(model, other)).second);
  }
  if (hostTarget() != target.target) {
    EXPECT_TRUE(keys.insert(*cacheKey(model, target)).second);
  }
  std::ofstream(model) << "two";
  EXPECT_TRUE(keys.insert(*cacheKey(model, options)).second);
  EXPECT_EQ(cacheKey((folder / "missing").string(), options).status().code(),
            ErrorCode::ModelUnreadable);
}
