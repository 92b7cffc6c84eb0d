//===- ChildProcess.cpp - another program's output ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/ChildProcess.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tilewright {

static Status cannotRun(const std::string &program, int error) {
  return Status(ErrorCode::Internal, "cannot run '" + program +
                                         "': " + std::strerror(error) +
                                         "; it belongs beside tilewright");
}

static std::string readAll(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return text;
    }
    text.append(buffer, static_cast<size_t>(count));
  }
}

Result<ChildResult> runProgram(const std::string &program,
                               const std::vector<std::string> &arguments) {
  std::vector<char *> argv{const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments) {
    argv.push_back(const_cast<char *>(argument.c_str()));
  }
  argv.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return cannotRun(program, errno);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  int error = posix_spawn(&child, program.c_str(), &actions, nullptr,
                          argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return cannotRun(program, error);
  }
  ChildResult result;
  result.output = readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status)) {
    return Status(ErrorCode::Internal, "'" + program + "' ended by signal " +
                                           std::to_string(WTERMSIG(status)));
  }
  result.exitCode = WEXITSTATUS(status);
  return result;
}

std::string siblingProgram(const std::string &name) {
  std::error_code error;
  std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / name).string();
}

} // namespace tilewright
