//===- Cases.cpp - the list of node tests ---------------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/Cases.h"

#include <fstream>
#include <sstream>

namespace tilewright::conformance {

static Status unreadable(const std::filesystem::path &path,
                         const std::string &why) {
  return Status(ErrorCode::InputUnreadable, "'" + path.string() + "': " + why);
}

Result<std::vector<Case>> readCases(const std::filesystem::path &folder) {
  std::filesystem::path index = folder / "cases.txt";
  std::ifstream file(index);
  std::vector<Case> cases;
  Case read;
  while (file >> read.name >> read.tolerance.relative >>
         read.tolerance.absolute) {
    read.folder = folder / read.name;
    cases.push_back(read);
  }
  if (!file.eof() || cases.empty()) {
    return unreadable(index, "no list of cases; run make_cases.py");
  }
  return cases;
}

Result<Reasons> readReasons(const std::filesystem::path &path) {
  std::ifstream file(path);
  if (!file) {
    return unreadable(path, "cannot be read");
  }
  Reasons reasons;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, reason;
    if (!(words >> name)) {
      continue;
    }
    if (!std::getline(words >> std::ws, reason)) {
      return unreadable(path, name + " has no reason");
    }
    if (!reasons.emplace(name, reason).second) {
      return unreadable(path, name + " is there twice");
    }
  }
  return reasons;
}

Status writeReasons(const std::filesystem::path &path, const Reasons &reasons) {
  std::string head, line;
  std::ifstream old(path);
  while (std::getline(old, line) && !line.empty() && line[0] == '#') {
    head += line + "\n";
  }
  std::ofstream file(path);
  file << head;
  for (const auto &[name, reason] : reasons) {
    file << name << "  " << reason << "\n";
  }
  if (!file.flush()) {
    return Status(ErrorCode::OutputUnwritable,
                  "cannot write '" + path.string() + "'");
  }
  return Status::ok();
}

} // namespace tilewright::conformance
