//===- ReadModel.cpp - from a file to a ModelProto --------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "frontend/model/ReadModel.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright {
namespace {

Status unreadable(const std::filesystem::path &path, const std::string &why) {
  return Status(ErrorCode::ModelUnreadable,
                "cannot read '" + path.string() + "': " + why);
}

Status malformed(const std::filesystem::path &path, const std::string &why) {
  return Status(ErrorCode::ModelMalformed, "'" + path.string() + "' " + why);
}

/// Keeps protobuf from writing to stderr while it parses; our message says
/// more. Protobuf has one handler per process, hence the mutex.
class QuietProtobuf {
public:
  QuietProtobuf()
      : lock(mutex()), previous(google::protobuf::SetLogHandler(nullptr)) {}
  ~QuietProtobuf() { google::protobuf::SetLogHandler(previous); }

private:
  static std::mutex &mutex() {
    static std::mutex instance;
    return instance;
  }
  std::lock_guard<std::mutex> lock;
  google::protobuf::LogHandler *previous;
};

class File {
public:
  explicit File(int descriptor) : descriptor(descriptor) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() { ::close(descriptor); }
  int get() const { return descriptor; }

private:
  int descriptor;
};

/// \returns what the first bytes of a file say that it is, when that is
/// something that people take for an ONNX model; else "".
std::string knownKind(std::string_view head) {
  auto begins = [&](std::string_view magic, size_t at = 0) {
    return head.size() >= at + magic.size() &&
           head.substr(at, magic.size()) == magic;
  };
  if (begins("PK\x03\x04")) {
    return "is a ZIP archive (a PyTorch .pt file or a .npz?); export the model "
           "to ONNX first";
  }
  if (head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) {
    return "is a Python pickle (an old PyTorch file?); export the model to "
           "ONNX first";
  }
  if (head.substr(0, 64).find("TWM1") != std::string_view::npos) {
    return "is a compiled Tilewright module, not an ONNX model";
  }
  if (begins("\x89HDF")) {
    return "is an HDF5 file (Keras?); convert the model to ONNX first";
  }
  if (begins("TFL3", 4)) {
    return "is a TensorFlow Lite model; convert it to ONNX first";
  }
  if (begins("GGUF")) {
    return "is a GGUF file, not an ONNX model";
  }
  if (begins("\x93NUMPY")) {
    return "is a NumPy array, not an ONNX model";
  }
  if (begins("\x1f\x8b")) {
    return "is compressed with gzip; unpack it first";
  }
  if (begins("\x7f"
             "ELF")) {
    return "is a program or a shared library, not an ONNX model";
  }
  if (begins("version https://git-lfs")) {
    return "is a Git LFS pointer, not the model itself; run 'git lfs pull'";
  }
  if (begins("{\"", 8)) {
    return "is a safetensors file: it holds weights, but no graph";
  }
  return "";
}

/// \returns whether the file's beginning is ASCII text, which no ONNX
/// model is: those begin with the field tag 0x08, or another control byte.
bool looksLikeText(std::string_view head) {
  for (unsigned char byte : head) {
    bool space = byte == '\n' || byte == '\r' || byte == '\t';
    if (!space && (byte < 0x20 || byte >= 0x7f)) {
      return false;
    }
  }
  return !head.empty();
}

} // namespace

Result<std::unique_ptr<onnx::ModelProto>>
readModel(const std::filesystem::path &path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return unreadable(path, std::strerror(errno));
  }
  File file(descriptor);
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0) {
    return unreadable(path, std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) {
    return unreadable(path, "it is a folder; give the .onnx file inside it");
  }
  if (!S_ISREG(info.st_mode)) {
    return unreadable(path, "it is not a regular file");
  }
  if (info.st_size == 0) {
    return malformed(path, "is empty, so there is no model to parse");
  }
  if (info.st_size > INT_MAX) {
    return unreadable(
        path, "it has " + std::to_string(info.st_size) +
                  " bytes, and protobuf, ONNX's file format, ends at 2 GiB "
                  "(2147483647 bytes); store the weights as external data");
  }

  char buffer[256];
  ssize_t headSize = ::pread(descriptor, buffer, sizeof(buffer), 0);
  if (headSize < 0) {
    return unreadable(path, std::strerror(errno));
  }
  std::string_view head(buffer, static_cast<size_t>(headSize));
  if (std::string kind = knownKind(head); !kind.empty()) {
    return malformed(path, kind);
  }

  auto model = std::make_unique<onnx::ModelProto>();
  bool parsed = false;
  {
    QuietProtobuf quiet;
    google::protobuf::io::FileInputStream stream(descriptor);
    google::protobuf::io::CodedInputStream coded(&stream);
    coded.SetTotalBytesLimit(INT_MAX);
    parsed =
        model->ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
    if (stream.GetErrno() != 0) {
      return unreadable(path, std::strerror(stream.GetErrno()));
    }
  }
  if (!parsed) {
    if (looksLikeText(head)) {
      return malformed(path, "is a text file; an ONNX model is a binary "
                             "protobuf message, which this does not parse as");
    }
    return malformed(
        path, "does not parse as a protobuf message: it is truncated or "
              "damaged (" +
                  std::to_string(info.st_size) +
                  " bytes; an interrupted download?), or not an ONNX model");
  }
  if (!model->has_graph()) {
    return malformed(path, "parses as a protobuf message but holds no graph: "
                           "it is truncated, or not an ONNX model");
  }
  return model;
}

} // namespace tilewright
