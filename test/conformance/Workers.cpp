//===- Workers.cpp - jobs in processes that may crash ---------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/Workers.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tilewright::conformance {
namespace {

using Clock = std::chrono::steady_clock;
using Job = std::function<std::string(size_t)>;

/// A worker process. Numbers of jobs go out over its socket; for each, the
/// size and the bytes of its text come back.
struct Worker {
  pid_t process = -1;
  int socket = -1;
  bool busy = false;
  size_t job = 0;
  Clock::time_point deadline;
};

bool readAll(int socket, void *data, size_t size) {
  return size == 0 ||
         recv(socket, data, size, MSG_WAITALL) == static_cast<ssize_t>(size);
}

bool writeAll(int socket, const void *data, size_t size) {
  return send(socket, data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

/// What a worker process does until its socket closes.
[[noreturn]] void serve(int socket, const Job &job) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  uint64_t number = 0;
  while (readAll(socket, &number, sizeof(number))) {
    // Longer texts help nobody, and these fit into the socket's buffer.
    std::string text = job(number).substr(0, 1000);
    uint64_t size = text.size();
    if (!writeAll(socket, &size, sizeof(size)) ||
        !writeAll(socket, text.data(), size)) {
      break;
    }
  }
  _exit(0);
}

bool start(Worker &worker, const Job &job) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return false;
  }
  fflush(nullptr);
  worker.process = fork();
  if (worker.process == 0) {
    close(ends[0]);
    serve(ends[1], job);
  }
  close(ends[1]);
  worker.socket = ends[0];
  return worker.process > 0;
}

/// Gives the job `number` to a worker, which is started if need be.
bool give(Worker &worker, size_t number, const WorkerOptions &options,
          const Job &job) {
  if (worker.process < 0 && !start(worker, job)) {
    return false;
  }
  worker.busy = true;
  worker.job = number;
  worker.deadline = Clock::now() + options.timeout;
  uint64_t message = number;
  // A worker that died meanwhile is found when its answer is read.
  writeAll(worker.socket, &message, sizeof(message));
  return true;
}

/// Ends the worker's process. \returns how it ended.
std::string finish(Worker &worker, bool overdue) {
  kill(worker.process, overdue ? SIGKILL : SIGTERM);
  close(worker.socket);
  int status = 0;
  waitpid(worker.process, &status, 0);
  worker = {};
  if (overdue) {
    return "ran out of time";
  }
  if (WIFSIGNALED(status)) {
    return std::string("crashed: ") + strsignal(WTERMSIG(status));
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

/// Reads the result that `worker` has, or finds that it died.
JobResult receive(Worker &worker) {
  JobResult result;
  uint64_t size = 0;
  if (readAll(worker.socket, &size, sizeof(size))) {
    result.text.resize(size);
    result.finished = readAll(worker.socket, result.text.data(), size);
  }
  if (!result.finished) {
    result.text = finish(worker, false);
  }
  return result;
}

} // namespace

bool runJobs(size_t count, const WorkerOptions &options, const Job &job,
             const std::function<void(size_t, const JobResult &)> &done) {
  std::vector<Worker> workers(options.workers);
  size_t next = 0, finished = 0;
  while (finished < count) {
    std::vector<pollfd> sockets;
    for (Worker &worker : workers) {
      if (!worker.busy && next < count && !give(worker, next++, options, job)) {
        return false;
      }
      sockets.push_back({worker.busy ? worker.socket : -1, POLLIN, 0});
    }
    poll(sockets.data(), sockets.size(), 100);
    for (size_t i = 0; i < workers.size(); ++i) {
      Worker &worker = workers[i];
      bool answered = sockets[i].revents != 0;
      if (!worker.busy || (!answered && Clock::now() < worker.deadline)) {
        continue;
      }
      size_t number = worker.job;
      worker.busy = false;
      JobResult result;
      if (answered) {
        result = receive(worker);
      } else {
        result.text = finish(worker, true);
      }
      ++finished;
      done(number, result);
    }
  }
  for (Worker &worker : workers) {
    if (worker.process > 0) {
      finish(worker, false);
    }
  }
  return true;
}

} // namespace tilewright::conformance
