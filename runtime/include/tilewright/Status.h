//===- Status.h - errors as values ------------------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// No exception crosses Tilewright's API. A function that can fail returns a
// Status, or a Result<T>. The same two types serve the compiler and the
// runtime, so that an error reaches the user in one form.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace tilewright {

/// Who has to act on an error. See docs/errors/.
enum class ErrorKind { User, Unsupported, Internal };

/// Stable error numbers, `TWnnnn` in messages.
enum class ErrorCode : int {
  Ok = 0,
#define TW_ERROR(id, number, kind, title) id = number,
#include "tilewright/Errors.def"
};

/// \returns the kind of `code`, which decides the exit code of the tools.
ErrorKind kindOf(ErrorCode code);

/// \returns the one-line title of `code`, as its page in docs/errors/ has it.
const char *titleOf(ErrorCode code);

/// Success, or an error with its number and a message that says where, what
/// was expected, what was found and what to do.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(ErrorCode code, std::string message)
      : errorCode(code), text(std::move(message)) {}

  static Status ok() { return {}; }

  bool isOk() const { return errorCode == ErrorCode::Ok; }
  explicit operator bool() const { return isOk(); }
  ErrorCode code() const { return errorCode; }
  ErrorKind kind() const { return kindOf(errorCode); }
  const std::string &message() const { return text; }

  /// \returns e.g. "error TW1101: there is no input 'y'; the inputs are 'x'".
  std::string toString() const;

private:
  ErrorCode errorCode = ErrorCode::Ok;
  std::string text;
};

/// A value of type T, or the error that prevented it.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::move(value)) {}
  Result(Status status) : failure(std::move(status)) {
    assert(!failure.isOk() && "a Result without a value needs an error");
  }

  bool isOk() const { return storage.has_value(); }
  explicit operator bool() const { return isOk(); }
  const Status &status() const { return failure; }

  T &value() { return *storage; }
  const T &value() const { return *storage; }
  T &operator*() { return *storage; }
  const T &operator*() const { return *storage; }
  T *operator->() { return &*storage; }
  const T *operator->() const { return &*storage; }

private:
  std::optional<T> storage;
  Status failure;
};

} // namespace tilewright

/// Returns from the enclosing function when `expr` is an error.
#define TW_RETURN_IF_ERROR(expr)                                               \
  do {                                                                         \
    if (::tilewright::Status twStatus = (expr); !twStatus.isOk())              \
      return twStatus;                                                         \
  } while (false)
