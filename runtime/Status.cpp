//===- Status.cpp - errors as values --------------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tilewright/Status.h"

using namespace tilewright;

ErrorKind tilewright::kindOf(ErrorCode code) {
  switch (code) {
#define TW_ERROR(id, number, kind, title)                                      \
  case ErrorCode::id:                                                          \
    return ErrorKind::kind;
#include "tilewright/Errors.def"
  case ErrorCode::Ok:
    break;
  }
  return ErrorKind::Internal;
}

const char *tilewright::titleOf(ErrorCode code) {
  switch (code) {
#define TW_ERROR(id, number, kind, title)                                      \
  case ErrorCode::id:                                                          \
    return title;
#include "tilewright/Errors.def"
  case ErrorCode::Ok:
    break;
  }
  return "success";
}

std::string Status::toString() const {
  if (isOk()) {
    return "success";
  }
  std::string out = "error TW" + std::to_string(static_cast<int>(errorCode));
  return out + ": " + (text.empty() ? titleOf(errorCode) : text);
}
