//===- CrashHandler.cpp - a fault of ours as an error ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/CrashHandler.h"

#include "tools/tilewright/Report.h"
#include "llvm/Support/ErrorHandling.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TILEWRIGHT_HAS_SANITIZER 1
#endif
#endif

namespace tilewright {

/// Prints the parts of a message; safe within a signal handler.
static void print(const char *const *parts, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0) {
      return;
    }
  }
}

[[noreturn]] static void endWith(const char *what) {
  const char *parts[] = {
      "error TW9001: internal error: ", what,
      "\n  this is a fault of Tilewright, not of the model; please report it "
      "with the model and the command;\n  `tilewright compile MODEL "
      "--dump-phases DIR …` shows how far the compiler came\n"};
  print(parts, std::size(parts));
  _exit(InternalError);
}

#ifndef TILEWRIGHT_HAS_SANITIZER
static void onSignal(int number) {
  switch (number) {
  case SIGSEGV:
    endWith("the program read or wrote where it must not, or its stack was "
            "too small");
  case SIGBUS:
    endWith("a file became shorter while it was being read");
  case SIGFPE:
    endWith("an impossible integer division");
  case SIGILL:
    endWith("an instruction that this processor does not have");
  default:
    endWith("the program gave up");
  }
}
#endif

void installCrashHandler() {
  llvm::install_fatal_error_handler(
      [](void *, const char *reason, bool) { endWith(reason); });
#ifndef TILEWRIGHT_HAS_SANITIZER
  // A stack of its own, for when the stack is what overflowed.
  static char stack[64 * 1024];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(number, &action, nullptr);
  }
#endif
}

} // namespace tilewright
