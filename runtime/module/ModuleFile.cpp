//===- ModuleFile.cpp - a module's bytes ----------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/module/ModuleFile.h"

#include "runtime/ThreadPool.h"
#include "runtime/module/FileLayout.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tilewright;

// Below this many chunks, starting threads takes longer than hashing.
static constexpr uint64_t chunksPerThread = 8;

static Status damaged(const std::string &what) {
  return Status(ErrorCode::ModuleDamaged,
                "the module is damaged or is not a Tilewright module: " + what +
                    "; compile the model again");
}

ModuleFile::ModuleFile(ModuleFile &&other) noexcept
    : data(std::exchange(other.data, nullptr)), bytes(other.bytes),
      mapped(std::exchange(other.mapped, false)), copy(std::move(other.copy)),
      module(other.module) {}

ModuleFile &ModuleFile::operator=(ModuleFile &&other) noexcept {
  std::swap(data, other.data);
  std::swap(bytes, other.bytes);
  std::swap(mapped, other.mapped);
  std::swap(copy, other.copy);
  std::swap(module, other.module);
  return *this;
}

ModuleFile::~ModuleFile() {
  if (mapped) {
    munmap(const_cast<char *>(data), bytes);
  }
}

Result<ModuleFile> ModuleFile::open(const std::string &path, unsigned threads) {
  auto unreadable = [&](const std::string &why) {
    return Status(ErrorCode::ModuleUnreadable,
                  "the module file '" + path + "' cannot be read: " + why);
  };
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return unreadable(std::strerror(errno));
  }
  struct stat info = {};
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(descriptor);
    return unreadable("it is not a regular file");
  }
  if (info.st_size == 0) {
    close(descriptor);
    return damaged("the file is empty");
  }
  size_t size = static_cast<size_t>(info.st_size);
  void *memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  int error = errno;
  close(descriptor);
  if (memory == MAP_FAILED) {
    return unreadable(std::strerror(error));
  }
  ModuleFile file;
  file.data = static_cast<const char *>(memory);
  file.bytes = size;
  file.mapped = true;
  TW_RETURN_IF_ERROR(file.verify(threads));
  return file;
}

Result<ModuleFile> ModuleFile::fromBytes(const void *source, size_t size,
                                         unsigned threads) {
  if (size > static_cast<size_t>(INT64_MAX)) {
    return damaged("its size is impossible");
  }
  Result<Block> block = Block::allocate(static_cast<int64_t>(size));
  if (!block) {
    return block.status();
  }
  if (size > 0) {
    std::memcpy(block->data(), source, size);
  }
  ModuleFile file;
  file.copy = std::move(*block);
  file.data = file.copy.data();
  file.bytes = size;
  TW_RETURN_IF_ERROR(file.verify(threads));
  return file;
}

static FileHeader readHeader(const char *data) {
  FileHeader header;
  std::memcpy(&header, data, sizeof header);
  return header;
}

/// Whether structs of 64 bits lie where they may: FlatBuffers' verifier asks
/// that of the vectors around them alone.
static bool areAligned(const format::Module &module) {
  for (const format::Variant *variant : *module.variants()) {
    const format::Plan *plan = variant->plan();
    const auto *expressions = plan ? plan->expressions() : nullptr;
    if (expressions && reinterpret_cast<uintptr_t>(expressions->Data()) %
                               alignof(format::Expr) !=
                           0) {
      return false;
    }
  }
  return true;
}

Status ModuleFile::verify(unsigned threads) {
  if (bytes < sizeof(FileHeader)) {
    return damaged("it has only " + std::to_string(bytes) + " bytes");
  }
  FileHeader header = readHeader(data);
  if (std::memcmp(header.magic, moduleMagic, sizeof moduleMagic) != 0) {
    return damaged("it does not begin as a module does");
  }
  if (header.version != moduleFormatVersion) {
    return Status(
        ErrorCode::ModuleVersion,
        "the module has format version " + std::to_string(header.version) +
            ", and this runtime reads version " +
            std::to_string(moduleFormatVersion) + "; compile the model again");
  }
  if (header.headerBytes != sizeof(FileHeader) ||
      header.headerHash != checksum(data, offsetof(FileHeader, headerHash))) {
    return damaged("its header has changed");
  }
  if (header.fileBytes != bytes) {
    return damaged("it should have " + std::to_string(header.fileBytes) +
                   " bytes and has " + std::to_string(bytes));
  }
  // From here on `bytes` bounds every number, so that sums cannot overflow.
  uint64_t payload = header.payloadOffset;
  if (payload > bytes || payload % segmentAlignment != 0 ||
      payload < sizeof(FileHeader) ||
      header.chunks > (payload - sizeof(FileHeader)) / sizeof(uint64_t) ||
      header.chunks != (bytes - payload + checksumChunk - 1) / checksumChunk) {
    return damaged("its header contradicts itself");
  }
  if (header.tableHash !=
      checksum(data + sizeof(FileHeader), payload - sizeof(FileHeader))) {
    return damaged("its table of checksums has changed");
  }
  uint64_t payloadBytes = bytes - payload;
  if (header.flatbufferOffset > payloadBytes ||
      header.flatbufferBytes > payloadBytes - header.flatbufferOffset ||
      header.flatbufferOffset % segmentAlignment != 0 ||
      header.flatbufferBytes > FLATBUFFERS_MAX_BUFFER_SIZE) {
    return damaged("its description lies outside the file");
  }
  TW_RETURN_IF_ERROR(verifyChecksums(threads));

  const auto *buffer = reinterpret_cast<const uint8_t *>(
      data + payload + header.flatbufferOffset);
  // No more tables than could lie in the buffer without overlap.
  flatbuffers::Verifier verifier(
      buffer, header.flatbufferBytes, /*_max_depth=*/64,
      /*_max_tables=*/
      static_cast<flatbuffers::uoffset_t>(header.flatbufferBytes / 4 + 1));
  if (header.flatbufferBytes < 16 || !format::VerifyModuleBuffer(verifier)) {
    return damaged("its description is not well-formed");
  }
  module = format::GetModule(buffer);
  return !module->variants() || areAligned(*module)
             ? Status::ok()
             : damaged("its description is not well-formed");
}

Status ModuleFile::verifyChecksums(unsigned threads) const {
  FileHeader header = readHeader(data);
  const char *payload = data + header.payloadOffset;
  uint64_t payloadBytes = bytes - header.payloadOffset;
  const char *table = data + sizeof(FileHeader);
  std::atomic<uint64_t> firstBad{UINT64_MAX};

  auto verifyChunks = [&](int64_t begin, int64_t end, int) {
    for (uint64_t i = begin; i < static_cast<uint64_t>(end); ++i) {
      uint64_t offset = i * checksumChunk;
      uint64_t expected = 0;
      std::memcpy(&expected, table + i * sizeof expected, sizeof expected);
      uint64_t size = std::min(checksumChunk, payloadBytes - offset);
      if (checksum(payload + offset, size) != expected) {
        firstBad.store(i);
        return;
      }
    }
  };
  unsigned wanted = threads ? threads : usableProcessors();
  wanted = static_cast<unsigned>(std::min<uint64_t>(
      wanted, std::max<uint64_t>(header.chunks / chunksPerThread, 1)));
  if (wanted == 1) {
    verifyChunks(0, static_cast<int64_t>(header.chunks), 0);
  } else {
    ThreadPool pool(wanted);
    pool.forEach(static_cast<int64_t>(header.chunks), 1, verifyChunks);
  }
  if (firstBad != UINT64_MAX) {
    return damaged(
        "its bytes from " +
        std::to_string(header.payloadOffset + firstBad * checksumChunk) +
        " on do not match their checksum");
  }
  return Status::ok();
}

const char *ModuleFile::segment(const format::Segment &segment) const {
  FileHeader header = readHeader(data);
  uint64_t payloadBytes = bytes - header.payloadOffset;
  if (segment.offset() > payloadBytes ||
      segment.bytes() > payloadBytes - segment.offset() ||
      segment.offset() % segmentAlignment != 0) {
    return nullptr;
  }
  return data + header.payloadOffset + segment.offset();
}
