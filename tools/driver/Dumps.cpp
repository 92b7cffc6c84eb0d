//===- Dumps.cpp - the IR after each phase, as files ----------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/driver/Dumps.h"
#include "ir/TwDialect.h"
#include "passes/plan/PlanBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilewright::tw;

namespace tilewright {

static constexpr llvm::StringLiteral sideFile = "constants.bin";
static constexpr size_t hashLength = 32;

static std::string inFolder(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static Status unwritable(const std::string &path, std::error_code error) {
  return Status(ErrorCode::OutputUnwritable,
                "cannot write '" + path + "': " + error.message());
}

Status writeConstants(const std::string &folder, mlir::MLIRContext &context) {
  ConstantStore &store = context.getLoadedDialect<TwDialect>()->getConstants();
  std::string path = inFolder(folder, sideFile);
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error) {
    return unwritable(path, error);
  }
  store.forEach([&](llvm::StringRef hash, llvm::ArrayRef<char> bytes) {
    char size[8];
    llvm::support::endian::write64le(size, bytes.size());
    os << hash << llvm::StringRef(size, sizeof size)
       << llvm::StringRef(bytes.data(), bytes.size());
  });
  os.close();
  if (os.has_error()) {
    error = os.error();
    os.clear_error();
    return unwritable(path, error);
  }
  return Status::ok();
}

Status writeFile(const std::string &folder, llvm::StringRef name,
                 llvm::StringRef text) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
    return unwritable(folder, error);
  }
  std::string path = inFolder(folder, name);
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error) {
    return unwritable(path, error);
  }
  os << text;
  os.close();
  if (os.has_error()) {
    error = os.error();
    os.clear_error();
    return unwritable(path, error);
  }
  return Status::ok();
}

Status writeDump(const std::string &folder, Phase phase, llvm::StringRef text) {
  std::string name = llvm::formatv("{0:2}-{1}.mlir", static_cast<size_t>(phase),
                                   nameOf(phase));
  return writeFile(folder, name, text);
}

Status readConstants(const std::string &path, mlir::MLIRContext &context) {
  std::string side = inFolder(llvm::sys::path::parent_path(path), sideFile);
  auto buffer = llvm::MemoryBuffer::getFile(side, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    return Status::ok();
  }
  std::shared_ptr<llvm::MemoryBuffer> owner = std::move(*buffer);
  ConstantStore &store = context.getLoadedDialect<TwDialect>()->getConstants();
  llvm::StringRef rest = owner->getBuffer();
  while (!rest.empty()) {
    uint64_t size =
        rest.size() < hashLength + 8
            ? UINT64_MAX
            : llvm::support::endian::read64le(rest.data() + hashLength);
    if (size > rest.size() || rest.size() - size < hashLength + 8) {
      return Status(ErrorCode::ModelMalformed, "'" + side + "' is cut off");
    }
    rest = rest.drop_front(hashLength + 8);
    store.add(llvm::ArrayRef(rest.data(), size), owner);
    rest = rest.drop_front(size);
  }
  return Status::ok();
}

std::string planAsComment(const format::PlanT &plan) {
  std::string text, commented;
  llvm::raw_string_ostream os(text);
  plan::printPlan(plan, os);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    commented += "// " + line.str() + "\n";
  }
  return commented;
}

} // namespace tilewright
