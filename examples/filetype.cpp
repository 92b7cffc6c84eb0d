//===- filetype.cpp - tells the types of files ------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A program that links the runtime alone and runs a compiled model: magika,
// which knows some two hundred types of files from their first and last bytes.
//
//   tilewright compile magika.onnx -o magika.twm
//   filetype magika.twm magika_config.json FILE...
//
//===----------------------------------------------------------------------===//

#include "tilewright/Context.h"
#include "tilewright/Module.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

using namespace tilewright;

namespace {

/// What the model's configuration says of its input and output.
struct Config {
  size_t beginBytes, endBytes; ///< bytes of the file that the model sees
  size_t blockBytes;           ///< bytes read at either end, before stripping
  size_t fewestBytes;          ///< a shorter file is not worth asking about
  int32_t padding;
  std::vector<std::string> labels;
};

Result<Config> readConfig(const std::string &path) {
  try {
    std::ifstream file(path);
    nlohmann::json json = nlohmann::json::parse(file);
    return Config{json.at("beg_size"),      json.at("end_size"),
                  json.at("block_size"),    json.at("min_file_size_for_dl"),
                  json.at("padding_token"), json.at("target_labels_space")};
  } catch (const nlohmann::json::exception &error) {
    return Status(ErrorCode::InputUnreadable,
                  "'" + path +
                      "' is no configuration of magika: " + error.what());
  }
}

constexpr std::string_view whiteSpace = " \t\n\r\v\f";

/// The model's input: the first bytes of the file without leading white space,
/// padded behind, then the last bytes without trailing white space, padded in
/// front. \returns nothing when there are too few bytes.
std::vector<int32_t> features(std::string_view content, const Config &config) {
  std::string_view begin = content.substr(0, config.blockBytes);
  begin.remove_prefix(
      std::min(begin.find_first_not_of(whiteSpace), begin.size()));
  begin = begin.substr(0, config.beginBytes);
  if (begin.size() < config.fewestBytes) {
    return {};
  }

  std::string_view end = content;
  end.remove_prefix(end.size() - std::min(end.size(), config.blockBytes));
  end = end.substr(0, end.find_last_not_of(whiteSpace) + 1);
  end.remove_prefix(end.size() - std::min(end.size(), config.endBytes));

  std::vector<int32_t> result(config.beginBytes + config.endBytes,
                              config.padding);
  auto byte = [](char c) { return static_cast<unsigned char>(c); };
  std::transform(begin.begin(), begin.end(), result.begin(), byte);
  std::transform(end.begin(), end.end(), result.end() - end.size(), byte);
  return result;
}

Status tellType(Context &context, const Config &config,
                const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Status(ErrorCode::InputUnreadable, "cannot read '" + path + "'");
  }
  std::string content{std::istreambuf_iterator<char>(file), {}};
  std::vector<int32_t> input = features(content, config);
  if (input.empty()) {
    std::printf("%-36s too short to tell\n", path.c_str());
    return Status::ok();
  }

  std::vector<int64_t> shape = {1, static_cast<int64_t>(input.size())};
  auto start = std::chrono::steady_clock::now();
  auto outputs =
      context.run(std::vector{TensorView(DType::I32, shape, input.data())});
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  if (!outputs) {
    return outputs.status();
  }

  const Tensor &scores = outputs->front();
  if (scores.dtype() != DType::F32 ||
      scores.elements() != static_cast<int64_t>(config.labels.size())) {
    return Status(ErrorCode::InputShape,
                  "the model's scores do not fit the configuration's labels");
  }
  const float *first = scores.as<float>();
  const float *best = std::max_element(first, first + config.labels.size());
  std::printf("%-36s %-14s %5.1f %%  %7.2f ms\n", path.c_str(),
              config.labels[best - first].c_str(), 100 * *best,
              elapsed.count());
  return Status::ok();
}

Status run(const std::vector<std::string> &arguments) {
  if (arguments.size() < 3) {
    return Status(ErrorCode::OptionInvalid,
                  "usage: filetype MAGIKA.twm MAGIKA_CONFIG.json FILE...");
  }
  auto config = readConfig(arguments[1]);
  if (!config) {
    return config.status();
  }
  auto module = Module::open(arguments[0]);
  if (!module) {
    return module.status();
  }
  auto context = Context::create(*module);
  if (!context) {
    return context.status();
  }
  for (size_t i = 2; i < arguments.size(); ++i) {
    TW_RETURN_IF_ERROR(tellType(**context, *config, arguments[i]));
  }
  return Status::ok();
}

} // namespace

int main(int argc, char **argv) {
  Status status = run({argv + 1, argv + argc});
  if (!status) {
    std::fprintf(stderr, "%s\n", status.toString().c_str());
    return static_cast<int>(status.kind()) + 2;
  }
  return 0;
}
