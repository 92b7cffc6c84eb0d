//===- StreamSchedule.cpp - streams over time -----------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/tilewright/StreamSchedule.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace tilewright {

static std::string nameOf(const format::PlanT &plan,
                          const format::CommandT &command) {
  if (const format::LaunchT *launch = command.body.AsLaunch()) {
    return plan.kernels[launch->kernel];
  }
  if (const format::BuiltinT *builtin = command.body.AsBuiltin()) {
    return builtin->name;
  }
  return format::EnumNameCommandBody(command.body.type);
}

std::vector<ScheduledCommand> scheduleOf(const format::PlanT &plan,
                                         const format::FunctionT &function) {
  std::vector<ScheduledCommand> result;
  std::vector<double> free(function.streams);
  std::map<uint32_t, uint32_t> recorder; // event → command
  for (const auto &command : function.commands) {
    ScheduledCommand own;
    own.name = nameOf(plan, *command);
    for (uint32_t node : command->nodes) {
      own.nodes += (own.nodes.empty() ? "" : ", ") + plan.nodes[node];
    }
    own.stream = command->stream;
    own.begin = free[own.stream];
    for (uint32_t event : command->waits) {
      uint32_t before = recorder[event];
      own.waitsFor.push_back(before);
      own.begin = std::max(own.begin, result[before].end);
    }
    own.end = own.begin + command->microseconds;
    free[own.stream] = own.end;
    if (command->records >= 0) {
      recorder[static_cast<uint32_t>(command->records)] =
          static_cast<uint32_t>(result.size());
    }
    result.push_back(std::move(own));
  }
  return result;
}

std::string streamTable(const format::PlanT &plan) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &function : plan.functions) {
    std::vector<ScheduledCommand> schedule = scheduleOf(plan, *function);
    double sum = 0, end = 0;
    for (const ScheduledCommand &command : schedule) {
      sum += command.end - command.begin;
      end = std::max(end, command.end);
    }
    os << "streams   " << function->name << ": " << function->streams
       << (function->streams == 1 ? " stream, " : " streams, ")
       << function->events << (function->events == 1 ? " event" : " events")
       << llvm::format(", estimated %.1f µs, one after the other %.1f µs\n",
                       end, sum);
    for (size_t i = 0; i < schedule.size(); ++i) {
      const ScheduledCommand &command = schedule[i];
      os << llvm::format("  %3zu stream %u %9.1f µs %s", i, command.stream,
                         command.begin, command.name.c_str());
      for (size_t k = 0; k < command.waitsFor.size(); ++k) {
        os << (k ? ", " : " after ") << command.waitsFor[k];
      }
      os << (command.nodes.empty() ? "" : "  // " + command.nodes) << "\n";
    }
  }
  return text;
}

static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text) {
    switch (c) {
    case '<':
      result += "&lt;";
      break;
    case '&':
      result += "&amp;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return result;
}

std::string streamPicture(const format::PlanT &plan) {
  constexpr double width = 1200, left = 80, rowHeight = 44, boxHeight = 28;
  const format::FunctionT &main = *plan.functions.front();
  std::vector<ScheduledCommand> schedule = scheduleOf(plan, main);
  double end = 1e-9;
  for (const ScheduledCommand &command : schedule) {
    end = std::max(end, command.end);
  }
  auto x = [&](double time) { return left + time / end * (width - left - 10); };
  auto y = [&](uint32_t stream) { return 30 + stream * rowHeight; };
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                     "height=\"%.0f\" font-family=\"sans-serif\" "
                     "font-size=\"12\">\n",
                     width, y(main.streams) + 10)
     << llvm::format("<text x=\"%.0f\" y=\"18\">estimated %.1f µs</text>\n",
                     left, end);
  for (uint32_t stream = 0; stream < main.streams; ++stream) {
    os << llvm::format("<text x=\"6\" y=\"%.0f\">stream %u</text>\n",
                       y(stream) + boxHeight / 2 + 4, stream);
  }
  for (const ScheduledCommand &command : schedule) {
    os << llvm::format("<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" "
                       "height=\"%.0f\" fill=\"#9ecae1\" stroke=\"#3182bd\" "
                       "stroke-width=\"0.5\"><title>",
                       x(command.begin), y(command.stream),
                       x(command.end) - x(command.begin), boxHeight)
       << escaped(command.name) << "\n"
       << escaped(command.nodes)
       << llvm::format("\n%.1f to %.1f µs</title></rect>\n", command.begin,
                       command.end);
    for (uint32_t before : command.waitsFor) {
      const ScheduledCommand &other = schedule[before];
      os << llvm::format("<line x1=\"%.2f\" y1=\"%.0f\" x2=\"%.2f\" "
                         "y2=\"%.0f\" stroke=\"#e6550d\"/>\n",
                         x(other.end), y(other.stream) + boxHeight / 2,
                         x(command.begin), y(command.stream) + boxHeight / 2);
    }
  }
  os << "</svg>\n";
  return text;
}

} // namespace tilewright
