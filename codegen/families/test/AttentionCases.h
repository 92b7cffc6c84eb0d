//===- AttentionCases.h - attention to test ---------------------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// out = 2 · softmax(score(q kT)) v, as one region with what it may differ in.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tilewright::test {

/// What a region differs in.
struct AttentionVariety {
  int group = 2; ///< heads of queries that share one of keys and values
  std::string heads = "4", queries = "M", keys = "N";
  int depth = 21, width = 37; ///< elements of a key, of values
  bool keysLast = false;      ///< keys lie as [head, depth, key]
  bool reciprocal = false;    ///< weights are exponentials times 1 / sum
  bool clearsRows = false;    ///< the second query has no weights
  bool separateExp = false;   ///< exponentials are a map of their own
  /// The lines between %s, a sum of products, and %x, the score.
  std::string mask = "%x = arith.mulf %s, %scale : f32";
  std::string element = "f32"; ///< of queries, keys and values
  bool roundsScores = false;   ///< to that
  bool roundsWeights = false;  ///< to that
  bool tf32 = false;           ///< products may round f32
};

/// \returns a module with the region.
std::string attentionModule(const AttentionVariety &variety);

/// Scores are -inf but where `see`, lines that set %see, says otherwise.
AttentionVariety seeing(const std::string &see);

/// As in a decoder: the lowest number is added to scores of later keys, of
/// those more than 23 positions ago in a `window`, and of those whose element
/// in the first row of %m is zero.
AttentionVariety paddedDecoder(bool window);

/// One problem and its plain solution.
struct AttentionProblemCase {
  static constexpr int headCount = 4;

  AttentionProblemCase(int queries, int keys, const AttentionVariety &variety);

  /// \param score of a product, for a query, a key and the mask's element.
  std::vector<float>
  expected(const std::function<float(float, int, int, float)> &score) const;
  float key(int head, int position, int r) const;

  int queries, keys, depth, width, group;
  bool keysLast;
  std::vector<float> q, k, v, mask, out;
};

/// Pads the first keys of a problem of paddedDecoder. \returns its scores.
std::function<float(float, int, int, float)>
decoderScore(AttentionProblemCase &problem, int padded, bool window);

} // namespace tilewright::test
