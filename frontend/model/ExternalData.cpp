//===- ExternalData.cpp - where a tensor's file data lies -------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A model comes from anywhere, so its locations are hostile until shown to be
// harmless: nothing is opened before its resolved path is known to lie in the
// model's folder, and offsets are compared without adding them up.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/ExternalData.h"

#include <algorithm>
#include <charconv>

namespace tilewright {
namespace {

Status failure(const onnx::TensorProto &tensor, const std::string &why) {
  return Status(ErrorCode::ExternalData,
                "external data of tensor '" + tensor.name() + "': " + why);
}

std::optional<uint64_t> parseNumber(const std::string &text) {
  uint64_t value = 0;
  const char *end = text.data() + text.size();
  auto [last, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || last != end) {
    return std::nullopt;
  }
  return value;
}

/// \returns whether `path` is `folder` with something appended.
bool liesIn(const std::filesystem::path &path,
            const std::filesystem::path &folder) {
  auto mismatch =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return mismatch.first == folder.end() && mismatch.second != path.end();
}

} // namespace

bool isExternal(const onnx::TensorProto &tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

Result<ExternalRange> externalRange(const onnx::TensorProto &tensor) {
  ExternalRange range;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    if (entry.key() == "location") {
      range.location = entry.value();
      continue;
    }
    if (entry.key() != "offset" && entry.key() != "length") {
      continue; // "checksum" and what else exporters add
    }
    std::optional<uint64_t> number = parseNumber(entry.value());
    if (!number) {
      return failure(tensor, entry.key() + " '" + entry.value() +
                                 "' is not a number of bytes");
    }
    (entry.key() == "offset" ? range.offset : range.length.emplace()) = *number;
  }
  const std::string &location = range.location;
  if (location.empty()) {
    return failure(tensor, "there is no location");
  }
  std::filesystem::path path(location);
  bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  if (path.is_absolute() || climbs ||
      location.find('\0') != std::string::npos) {
    return failure(tensor, "location '" + location +
                               "' must be a path inside the model's folder, "
                               "without '..'; the file was not opened");
  }
  return range;
}

Result<std::filesystem::path>
resolveExternal(const onnx::TensorProto &tensor, const ExternalRange &range,
                const std::filesystem::path &folder) {
  if (folder.empty()) {
    return failure(tensor, "location '" + range.location +
                               "' has no meaning for a model that was not read "
                               "from a file");
  }
  std::error_code error;
  std::filesystem::path root = std::filesystem::canonical(folder, error);
  if (error) {
    return failure(tensor, "the model's folder '" + folder.string() +
                               "' is not there: " + error.message());
  }
  std::filesystem::path file =
      std::filesystem::canonical(root / range.location, error);
  if (error) {
    return failure(tensor, "location '" + range.location +
                               "' is not there: " + error.message() +
                               "; it is looked for in '" + root.string() + "'");
  }
  if (!liesIn(file, root)) {
    return failure(tensor, "location '" + range.location + "' leads to '" +
                               file.string() +
                               "', outside the model's folder '" +
                               root.string() + "'; the file was not opened");
  }
  return file;
}

Status checkExternalRange(const onnx::TensorProto &tensor,
                          const ExternalRange &range, uint64_t fileSize,
                          uint64_t needed) {
  uint64_t length = range.length.value_or(needed);
  if (range.offset > fileSize || length > fileSize - range.offset) {
    return failure(tensor, "offset " + std::to_string(range.offset) +
                               " and length " + std::to_string(length) +
                               " reach beyond the end of '" + range.location +
                               "', whose size is " + std::to_string(fileSize) +
                               " bytes");
  }
  if (length != needed) {
    return failure(tensor,
                   "length " + std::to_string(length) + " (offset " +
                       std::to_string(range.offset) + " of '" + range.location +
                       "', size " + std::to_string(fileSize) +
                       " bytes) differs from the " + std::to_string(needed) +
                       " bytes that its type and sizes need");
  }
  return Status::ok();
}

} // namespace tilewright
