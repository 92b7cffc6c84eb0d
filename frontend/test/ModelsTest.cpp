//===- ModelsTest.cpp - importing the real models -------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Imports every ONNX file of a folder, and expects no size of a result to be
// known only at run time.
//
//===----------------------------------------------------------------------===//

#include "frontend/Importer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

using namespace tilewright;

namespace {

std::vector<std::filesystem::path> modelFiles() {
  std::vector<std::filesystem::path> files;
  const char *folder = std::getenv("TILEWRIGHT_MODELS");
  std::error_code error;
  if (folder) {
    for (const auto &entry :
         std::filesystem::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".onnx") {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(ImportModels, AllOfThem) {
  std::vector<std::filesystem::path> files = modelFiles();
  if (files.empty()) {
    GTEST_SKIP() << "no models: scripts/fetch_models.py puts them where "
                    "TILEWRIGHT_MODELS points";
  }
  for (const auto &file : files) {
    SCOPED_TRACE(file.string());
    Result<LoadedModel> loaded = loadModel(file);
    ASSERT_TRUE(loaded.isOk()) << loaded.status().toString();
    mlir::MLIRContext context;
    auto module = frontend::importModel(
        context, std::make_shared<const LoadedModel>(std::move(*loaded)));
    ASSERT_TRUE(module.isOk()) << module.status().toString();
    (*module)->walk([](mlir::func::FuncOp function) {
      std::string types;
      llvm::raw_string_ostream stream(types);
      for (mlir::Type type : function.getResultTypes()) {
        stream << type << "\n";
      }
      EXPECT_EQ(types.find("[u0"), std::string::npos) << types;
    });
  }
}

} // namespace
