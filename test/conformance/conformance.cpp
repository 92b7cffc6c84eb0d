//===- conformance.cpp - ONNX's node tests through the compiler -----------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Runs the cases that make_cases.py wrote and holds the failures against
// expected_failures.txt. The test fails when another case fails, when a listed
// one passes, and when any crashes or hangs, listed or not.
//
//===----------------------------------------------------------------------===//

#include "CLI/CLI.hpp"
#include "targets/TargetSpec.h"
#include "test/conformance/Cases.h"
#include "test/conformance/RunCase.h"
#include "test/conformance/Workers.h"

#include <cstdio>

using namespace tilewright;
using namespace tilewright::conformance;

namespace {

struct Arguments {
  std::string folder;
  std::string list;
  std::string moreList;
  std::string target;
  std::string filter;
  unsigned workers = 2;
  bool reference = false;
  bool strict = false;
  bool writeList = false;
};

/// What came of the cases.
struct Tally {
  size_t passed = 0;
  size_t expected = 0; ///< failed as the list says
  size_t failed = 0;   ///< and are not in the list
  size_t stale = 0;    ///< passed in spite of the list
  size_t crashed = 0;
  Reasons failures; ///< all that failed, with the list's reason or the message
};

/// Counts one result, and says what is not as it should be.
void judge(const Case &test, const JobResult &result, const Reasons &reasons,
           Tally &tally) {
  auto listed = reasons.find(test.name);
  bool isListed = listed != reasons.end();
  if (!result.finished) {
    ++tally.crashed;
    printf("CRASHED %s: %s\n", test.name.c_str(), result.text.c_str());
  } else if (result.text.empty()) {
    ++tally.passed;
    if (isListed) {
      ++tally.stale;
      printf("PASSES  %s: remove it from the list\n", test.name.c_str());
    }
    return;
  } else if (isListed) {
    ++tally.expected;
  } else {
    ++tally.failed;
    printf("FAILED  %s: %s\n", test.name.c_str(), result.text.c_str());
  }
  tally.failures[test.name] = isListed ? listed->second : result.text;
}

int fail(const Status &status) {
  fprintf(stderr, "%s\n", status.toString().c_str());
  return 1;
}

int run(const Arguments &arguments) {
  Result<std::vector<Case>> all = readCases(arguments.folder);
  if (!all) {
    return fail(all.status());
  }
  Result<Reasons> reasons = readReasons(arguments.list);
  if (!reasons) {
    return fail(reasons.status());
  }
  if (!arguments.moreList.empty()) {
    Result<Reasons> more = readReasons(arguments.moreList);
    if (!more) {
      return fail(more.status());
    }
    reasons->insert(more->begin(), more->end());
  }
  CompileOptions options;
  options.threads = 1;
  options.reference = arguments.reference;
  options.strict = arguments.strict;
  if (!arguments.target.empty()) {
    options.target = findTarget(arguments.target);
    if (!options.target ||
        (!options.target->isGpu() && !runsOnHost(*options.target))) {
      printf("skipped: this machine cannot run code for %s\n",
             arguments.target.c_str());
      return 77;
    }
    options.simulated = options.target->isGpu();
  }
  Reasons unknown = *reasons;
  std::vector<Case> cases;
  for (Case &test : *all) {
    unknown.erase(test.name);
    if (test.name.find(arguments.filter) != std::string::npos) {
      cases.push_back(std::move(test));
    }
  }
  if (!unknown.empty()) {
    return fail(Status(ErrorCode::InputName, "there is no case '" +
                                                 unknown.begin()->first +
                                                 "', which is listed"));
  }

  Tally tally;
  WorkerOptions workers;
  workers.workers = arguments.workers;
  bool started = runJobs(
      cases.size(), workers,
      [&](size_t i) { return runCase(cases[i], options); },
      [&](size_t i, const JobResult &result) {
        judge(cases[i], result, *reasons, tally);
        fflush(stdout);
      });
  if (!started) {
    return fail(Status(ErrorCode::OutOfMemory, "cannot start processes"));
  }
  if (arguments.writeList) {
    if (Status status = writeReasons(arguments.list, tally.failures); !status) {
      return fail(status);
    }
  }
  printf("%zu of %zu cases pass, %zu fail as expected, %zu fail, %zu pass in "
         "spite of the list, %zu crash or hang\n",
         tally.passed, cases.size(), tally.expected, tally.failed, tally.stale,
         tally.crashed);
  return tally.failed + tally.stale + tally.crashed == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  CLI::App app("Runs ONNX's node tests through the compiler");
  app.add_option("cases", arguments.folder, "What make_cases.py wrote")
      ->required();
  app.add_option("list", arguments.list, "The expected failures")->required();
  CLI::Option *more =
      app.add_option("--more", arguments.moreList,
                     "Failures that are expected besides, of one target");
  app.add_option("--target", arguments.target,
                 "A CPU level, or a GPU, which the simulator plays; the best "
                 "CPU level else");
  CLI::Option *filter = app.add_option("--filter", arguments.filter,
                                       "Only cases with this in their names");
  app.add_option("--workers", arguments.workers, "Processes at a time")
      ->check(CLI::Range(1, 64));
  app.add_flag("--reference", arguments.reference,
               "Compile as --reference does");
  app.add_flag("--strict", arguments.strict, "Compile as --strict does");
  app.add_flag(
         "--write-list", arguments.writeList,
         "Rewrite the list: without cases that pass, with those that fail "
         "and their messages as reasons. For maintainers")
      ->excludes(filter)
      ->excludes(more);
  CLI11_PARSE(app, argc, argv);
  return run(arguments);
}
