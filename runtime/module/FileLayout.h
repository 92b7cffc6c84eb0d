//===- FileLayout.h - the bytes around a module's FlatBuffer ----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// docs/design/module-file.md describes this layout. All numbers are
// little-endian.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>

namespace tilewright {

constexpr char moduleMagic[8] = {'T', 'W', 'M', 'O', 'D', 'U', 'L', 'E'};

/// Of the bytes around the FlatBuffer and of the plan's meaning alike. A module
/// of another version is refused.
constexpr uint32_t moduleFormatVersion = 3;

/// A checksum covers this many bytes of the payload.
constexpr uint64_t checksumChunk = uint64_t(1) << 20;

/// The payload and each segment in it begin at a multiple of this.
constexpr uint64_t segmentAlignment = 64;

/// The first bytes of a module file.
struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t headerBytes;      ///< sizeof(FileHeader)
  uint64_t fileBytes;        ///< of the whole file
  uint64_t chunks;           ///< entries of the checksum table after the header
  uint64_t payloadOffset;    ///< where the payload begins, to the file's end
  uint64_t flatbufferOffset; ///< within the payload
  uint64_t flatbufferBytes;
  uint64_t reserved[7]; ///< zero
  uint64_t tableHash;   ///< XXH3 from the header's end to the payload
  uint64_t headerHash;  ///< XXH3 of the header's bytes before this field
};

static_assert(sizeof(FileHeader) == 128 &&
                  offsetof(FileHeader, headerHash) == 120,
              "the layout is part of the format");

/// \returns XXH3, 64 bits, without a seed.
uint64_t checksum(const void *data, size_t size);

} // namespace tilewright
