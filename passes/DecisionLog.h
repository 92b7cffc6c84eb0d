//===- DecisionLog.h - why the compiler did what it did ---------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Every pass is handed this log. It records what was done to which ONNX nodes,
// and what was refused with the reason, by stable reason codes:
// TWNnnn normalize, TWLnnn layout, TWFnnn fuse, TWTnnn tile, TWPnnn plan.
// `tilewright explain` prints it; a module carries it as JSON.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "ir/Locations.h"
#include <map>
#include <string>
#include <vector>

namespace tilewright {

struct Decision {
  std::string code;               // "TWF003"
  bool refused = false;           // something that was considered and not done
  std::string message;            // "epilogue of conv1"
  std::vector<std::string> nodes; // ONNX nodes, the one acted on first
  std::map<std::string, double> numbers; // "bytes_saved" → 25690112
};

class DecisionLog {
public:
  /// Records what was done at `loc`.
  void did(llvm::StringRef code, mlir::Location loc, std::string message,
           std::map<std::string, double> numbers = {}) {
    add(code, false, loc, std::move(message), std::move(numbers));
  }
  /// Records what was considered at `loc` and not done, and why.
  void refused(llvm::StringRef code, mlir::Location loc, std::string message,
               std::map<std::string, double> numbers = {}) {
    add(code, true, loc, std::move(message), std::move(numbers));
  }

  /// Records what another log has, after what this one has.
  void append(const DecisionLog &other) {
    decisions.insert(decisions.end(), other.decisions.begin(),
                     other.decisions.end());
  }

  const std::vector<Decision> &all() const { return decisions; }

private:
  void add(llvm::StringRef code, bool isRefusal, mlir::Location loc,
           std::string message, std::map<std::string, double> numbers) {
    llvm::SmallVector<std::string> nodes = tw::nodeNames(loc);
    decisions.push_back({code.str(), isRefusal, std::move(message),
                         std::vector<std::string>(nodes.begin(), nodes.end()),
                         std::move(numbers)});
  }

  std::vector<Decision> decisions;
};

} // namespace tilewright
