//===- ModuleWriter.cpp - making module files -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/ModuleWriter.h"

#include "runtime/module/FileLayout.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <new>
#include <unistd.h>

using namespace tilewright;

namespace {

/// The file as a list of pieces in order, none of them copied.
class Pieces {
public:
  /// Appends `bytes` at the next aligned offset and returns that offset.
  uint64_t append(std::string_view bytes) {
    static constexpr char zeros[segmentAlignment] = {};
    uint64_t padding =
        (segmentAlignment - total % segmentAlignment) % segmentAlignment;
    add(std::string_view(zeros, padding));
    uint64_t offset = total;
    add(bytes);
    return offset;
  }

  uint64_t size() const { return total; }
  const std::vector<std::string_view> &list() const { return pieces; }

  /// \returns the checksum of each chunk.
  std::vector<uint64_t> checksums() const {
    std::vector<uint64_t> table;
    std::string buffer; // a chunk that spans pieces
    for (std::string_view piece : pieces) {
      while (!piece.empty()) {
        if (buffer.empty() && piece.size() >= checksumChunk) {
          table.push_back(checksum(piece.data(), checksumChunk));
          piece.remove_prefix(checksumChunk);
          continue;
        }
        size_t take =
            std::min<size_t>(checksumChunk - buffer.size(), piece.size());
        buffer.append(piece.data(), take);
        piece.remove_prefix(take);
        if (buffer.size() == checksumChunk) {
          table.push_back(checksum(buffer.data(), buffer.size()));
          buffer.clear();
        }
      }
    }
    if (!buffer.empty()) {
      table.push_back(checksum(buffer.data(), buffer.size()));
    }
    return table;
  }

private:
  void add(std::string_view bytes) {
    if (!bytes.empty()) {
      pieces.push_back(bytes);
      total += bytes.size();
    }
  }

  std::vector<std::string_view> pieces;
  uint64_t total = 0;
};

/// All bytes of a module file: `front`, then the payload's pieces.
struct Assembled {
  flatbuffers::FlatBufferBuilder builder;
  Pieces payload;
  std::string front;
};

} // namespace

static std::unique_ptr<format::Segment> makeSegment(Pieces &payload,
                                                    std::string_view bytes) {
  uint64_t offset = payload.append(bytes);
  return std::make_unique<format::Segment>(offset, bytes.size());
}

static std::unique_ptr<format::Segment>
makeSegmentUnlessEmpty(Pieces &payload, std::string_view bytes) {
  return bytes.empty() ? nullptr : makeSegment(payload, bytes);
}

/// Appends the code of a variant's kernels for CUDA.
static bool placeDeviceCode(format::VariantT &variant,
                            const std::vector<DeviceCode> &code,
                            Pieces &payload) {
  if (code.size() != variant.device_kernels.size()) {
    return false;
  }
  for (size_t i = 0; i < code.size(); ++i) {
    format::DeviceKernelT &kernel = *variant.device_kernels[i];
    kernel.cubin = makeSegmentUnlessEmpty(payload, code[i].cubin);
    kernel.ptx = makeSegmentUnlessEmpty(payload, code[i].ptx);
    kernel.source = makeSegmentUnlessEmpty(payload, code[i].source);
  }
  return true;
}

static Status assemble(const ModuleContents &contents, Assembled &out) {
  format::ModuleT &module = *contents.module;
  auto mismatch = [] {
    return Status(ErrorCode::Internal,
                  "the module's constants or variants do not match their data");
  };
  if (contents.constants.size() != module.constants.size() ||
      contents.code.size() != module.variants.size() ||
      (!contents.deviceCode.empty() &&
       contents.deviceCode.size() != module.variants.size())) {
    return mismatch();
  }
  module.format_version = moduleFormatVersion;
  for (size_t i = 0; i < module.variants.size(); ++i) {
    module.variants[i]->code =
        makeSegmentUnlessEmpty(out.payload, contents.code[i]);
    if (!placeDeviceCode(*module.variants[i],
                         contents.deviceCode.empty() ? std::vector<DeviceCode>()
                                                     : contents.deviceCode[i],
                         out.payload)) {
      return mismatch();
    }
  }
  for (size_t i = 0; i < module.constants.size(); ++i) {
    module.constants[i]->data = makeSegment(out.payload, contents.constants[i]);
  }

  out.builder.Finish(format::Module::Pack(out.builder, &module),
                     format::ModuleIdentifier());
  std::string_view description(
      reinterpret_cast<const char *>(out.builder.GetBufferPointer()),
      out.builder.GetSize());

  FileHeader header = {};
  std::memcpy(header.magic, moduleMagic, sizeof moduleMagic);
  header.version = moduleFormatVersion;
  header.headerBytes = sizeof header;
  header.flatbufferOffset = out.payload.append(description);
  header.flatbufferBytes = description.size();

  std::vector<uint64_t> table = out.payload.checksums();
  uint64_t tableEnd = sizeof header + table.size() * sizeof(uint64_t);
  header.chunks = table.size();
  header.payloadOffset =
      (tableEnd + segmentAlignment - 1) / segmentAlignment * segmentAlignment;
  header.fileBytes = header.payloadOffset + out.payload.size();

  out.front.assign(header.payloadOffset, '\0');
  std::memcpy(&out.front[sizeof header], table.data(),
              table.size() * sizeof(uint64_t));
  header.tableHash =
      checksum(&out.front[sizeof header], out.front.size() - sizeof header);
  header.headerHash = checksum(&header, offsetof(FileHeader, headerHash));
  std::memcpy(&out.front[0], &header, sizeof header);
  return Status::ok();
}

Result<std::vector<std::byte>>
tilewright::moduleToBytes(const ModuleContents &contents) {
  try {
    Assembled file;
    TW_RETURN_IF_ERROR(assemble(contents, file));
    std::vector<std::byte> bytes;
    bytes.reserve(file.front.size() + file.payload.size());
    auto append = [&](std::string_view piece) {
      const auto *data = reinterpret_cast<const std::byte *>(piece.data());
      bytes.insert(bytes.end(), data, data + piece.size());
    };
    append(file.front);
    for (std::string_view piece : file.payload.list()) {
      append(piece);
    }
    return bytes;
  } catch (const std::bad_alloc &) {
    return Status(ErrorCode::OutOfMemory,
                  "the module does not fit into memory");
  }
}

static bool writeAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// Creates a file beside `path` that did not exist; its name goes to `name`.
static int createBeside(const std::string &path, std::string &name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = path + "." + std::to_string(getpid()) + "-" +
           std::to_string(attempt) + ".tmp";
    int descriptor =
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) {
      return descriptor;
    }
  }
  return -1;
}

Status tilewright::writeModule(const ModuleContents &contents,
                               const std::string &path) {
  auto unwritable = [&] {
    return Status(ErrorCode::OutputUnwritable,
                  "the module file '" + path +
                      "' cannot be written: " + std::strerror(errno));
  };
  try {
    Assembled file;
    TW_RETURN_IF_ERROR(assemble(contents, file));
    std::string temporary;
    int descriptor = createBeside(path, temporary);
    if (descriptor < 0) {
      return unwritable();
    }
    bool good = writeAll(descriptor, file.front);
    for (std::string_view piece : file.payload.list()) {
      good = good && writeAll(descriptor, piece);
    }
    Status failure = good ? Status::ok() : unwritable();
    if (close(descriptor) != 0 && good) {
      failure = unwritable();
    }
    if (failure.isOk() && std::rename(temporary.c_str(), path.c_str()) != 0) {
      failure = unwritable();
    }
    if (!failure.isOk()) {
      unlink(temporary.c_str());
    }
    return failure;
  } catch (const std::bad_alloc &) {
    return Status(ErrorCode::OutOfMemory,
                  "the module does not fit into memory");
  }
}
