//===- CommandAccess.cpp - what a command reads and writes ----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/CommandAccess.h"

#include <algorithm>

using namespace tilewright;

CommandAccess tilewright::accessOf(const format::CommandT &command) {
  CommandAccess access;
  auto add = [](std::vector<uint32_t> &list, const std::vector<int32_t> &some) {
    for (int32_t value : some) {
      if (value >= 0) {
        list.push_back(static_cast<uint32_t>(value));
      }
    }
  };
  if (const format::LaunchT *launch = command.body.AsLaunch()) {
    size_t results = std::min<size_t>(launch->results, launch->args.size());
    auto firstResult = launch->args.end() - static_cast<ptrdiff_t>(results);
    access.reads.assign(launch->args.begin(), firstResult);
    access.writes.assign(firstResult, launch->args.end());
  } else if (const format::BuiltinT *builtin = command.body.AsBuiltin()) {
    add(access.reads, builtin->inputs);
    add(access.writes, builtin->outputs);
  } else if (const format::CopyT *copy = command.body.AsCopy()) {
    access.reads.push_back(copy->from);
    access.writes.push_back(copy->to);
  } else if (const format::ReadSizesT *read = command.body.AsReadSizes()) {
    access.reads.push_back(read->from);
  } else if (const format::WriteSizesT *write = command.body.AsWriteSizes()) {
    access.writes.push_back(write->to);
  } else {
    access.isBarrier = true;
  }
  return access;
}
