//===- AttentionAlone.cpp - one query of attention ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// A decoder has one query for all the keys that came before, and reads keys and
// values once. Lanes run along the products' axis for the scores, along the
// keys for softmax, along the value axis for the values.
//
//===----------------------------------------------------------------------===//

#include "codegen/families/attention/AttentionKernel.h"
#include "codegen/families/nest/TaskLoop.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace tilewright::tw;

namespace tilewright::families {

namespace {

class QueryAlone {
public:
  QueryAlone(AttentionKernel &kernel, const Lanes &query)
      : kernel(kernel), frame(kernel.frame), b(kernel.b), form(kernel.form),
        width(kernel.parameters.width), query(query) {}

  Status run();

private:
  using Values = SmallVector<Value>;
  /// Gets the first position, the number of vectors, the mask of the lanes that
  /// exist (null: all), and what is carried.
  using VectorBody = llvm::function_ref<Result<Values>(const Lanes &, int64_t,
                                                       Value, ArrayRef<Value>)>;

  Result<Values> overVectors(const Lanes &count, int64_t unroll,
                             ArrayRef<Value> initial, VectorBody body);
  Status packQuery();
  Result<Values> sums(const Lanes &key, int64_t tile);
  Status scores(const Lanes &start, const Lanes &count);
  Result<Value> finishScores(const Lanes &start, const Lanes &count, Value max);
  Result<Value> exponentials(const Lanes &count, Value max, Value sum);
  Status addValues(const Lanes &start, const Lanes &count, Value factor);
  Result<Values> block(Value start, ArrayRef<Value> state);
  Status finish(Value max, Value sum);

  Value across(vector::CombiningKind kind, Value vector) {
    return b.create<vector::ReductionOp>(kind, vector);
  }

  AttentionKernel &kernel;
  KernelFrame &frame;
  LaneBuilder &b;
  const AttentionForm &form;
  int64_t width;
  Lanes query;
  AttentionBuffers buffers;
};

} // namespace

/// Whole vectors, `unroll` at a time, then one at a time, then the rest under a
/// mask.
Result<SmallVector<Value>> QueryAlone::overVectors(const Lanes &count,
                                                   int64_t unroll,
                                                   ArrayRef<Value> initial,
                                                   VectorBody body) {
  Lanes whole = b.floorDiv(count, Lanes::index(width));
  auto main =
      tiledLoop(b, Lanes::index(0), whole, unroll, initial,
                [&](Value number, int64_t vectors, ArrayRef<Value> carried) {
                  Lanes position =
                      b.mul(Lanes::index(number), Lanes::index(width));
                  return body(position, vectors, Value(), carried);
                });
  TW_RETURN_IF_ERROR(main.status());
  if (count.isConstantIndex() && count.offset % width == 0) {
    return main;
  }
  Lanes position = b.mul(whole, Lanes::index(width));
  Value rest = b.first(b.sub(count, position));
  Value mask = b.create<vector::CreateMaskOp>(b.vectorOf(b.getI1Type()), rest);
  // A loop of one round, or none: what it carries needs no branches.
  return carryingLoop(b, b.first(position), b.first(count), width, *main,
                      [&](Value, ArrayRef<Value> carried) {
                        return body(position, 1, mask, carried);
                      });
}

Status QueryAlone::packQuery() {
  Block &body = ReduceOp(form.scores).getBody().front();
  auto done = overVectors(
      kernel.depth(), 1, {},
      [&](const Lanes &depth, int64_t, Value mask,
          ArrayRef<Value>) -> Result<Values> {
        Result<Lanes> factor =
            BodyEmitter(frame, body, mask)
                .emitFor(
                    0,
                    kernel.product(query, Lanes::index(0), kernel.along(depth)),
                    form.queryFactor);
        TW_RETURN_IF_ERROR(factor.status());
        kernel.storeVector(b.asVector(*factor), buffers.queries, depth);
        return Values();
      });
  return done.status();
}

/// The sums of products of `tile` keys.
Result<SmallVector<Value>> QueryAlone::sums(const Lanes &key, int64_t tile) {
  Block &body = ReduceOp(form.scores).getBody().front();
  auto vectors = overVectors(
      kernel.depth(), 1, Values(tile, kernel.splatFloat(0)),
      [&](const Lanes &depth, int64_t, Value mask,
          ArrayRef<Value> carried) -> Result<Values> {
        Values next;
        Value own = kernel.loadVector(buffers.queries, depth);
        BodyEmitter emitter(frame, body, mask);
        for (int64_t n = 0; n < tile; ++n) {
          Result<Lanes> factor =
              emitter.emitFor(n,
                              kernel.product(query, b.add(key, Lanes::index(n)),
                                             kernel.along(depth)),
                              form.keyFactor);
          TW_RETURN_IF_ERROR(factor.status());
          Value sum = kernel.multiplyAdd(own, b.asVector(*factor), carried[n]);
          next.push_back(
              mask ? Value(b.create<arith::SelectOp>(mask, sum, carried[n]))
                   : sum);
        }
        return next;
      });
  TW_RETURN_IF_ERROR(vectors.status());
  Values result;
  for (Value vector : *vectors) {
    result.push_back(across(vector::CombiningKind::ADD, vector));
  }
  return result;
}

Status QueryAlone::scores(const Lanes &start, const Lanes &count) {
  constexpr int64_t tile = 4; // loads of that many keys are under way at once
  auto done = tiledLoop(
      b, Lanes::index(0), count, tile, {},
      [&](Value position, int64_t keys, ArrayRef<Value>) -> Result<Values> {
        Result<Values> own = sums(b.add(start, Lanes::index(position)), keys);
        TW_RETURN_IF_ERROR(own.status());
        for (int64_t n = 0; n < keys; ++n) {
          Value place = b.first(b.add(Lanes::index(position), Lanes::index(n)));
          b.create<memref::StoreOp>((*own)[n], buffers.scores, place);
        }
        return Values();
      });
  return done.status();
}

/// Runs the maps over the scores of a block. \returns the greatest score, of
/// `max` and these.
Result<Value> QueryAlone::finishScores(const Lanes &start, const Lanes &count,
                                       Value max) {
  Value none = kernel.splatFloat(-std::numeric_limits<float>::infinity());
  auto greatest = overVectors(
      count, 1, Values{b.splat(max)},
      [&](const Lanes &position, int64_t, Value mask,
          ArrayRef<Value> carried) -> Result<Values> {
        std::vector<BodyEmitter> maps = kernel.scoreEmitters(mask);
        Result<Value> score = kernel.finishScore(
            0, kernel.loadVector(buffers.scores, position),
            kernel.score(query, kernel.along(b.add(start, position))), maps);
        TW_RETURN_IF_ERROR(score.status());
        Value own = mask ? Value(b.create<arith::SelectOp>(mask, *score, none))
                         : *score;
        kernel.storeVector(own, buffers.scores, position);
        return Values{kernel.greater(own, carried[0])};
      });
  TW_RETURN_IF_ERROR(greatest.status());
  return across(vector::CombiningKind::MAXNUMF, greatest->front());
}

Result<Value> QueryAlone::exponentials(const Lanes &count, Value max,
                                       Value sum) {
  Value least = b.splat(max);
  auto sums = overVectors(
      count, 1, Values{sum},
      [&](const Lanes &position, int64_t, Value mask,
          ArrayRef<Value> carried) -> Result<Values> {
        Result<Value> power = kernel.exponential(
            kernel.loadVector(buffers.scores, position), least, mask);
        TW_RETURN_IF_ERROR(power.status());
        kernel.storeVector(*power, buffers.scores, position);
        return Values{b.create<arith::AddFOp>(carried[0], *power)};
      });
  TW_RETURN_IF_ERROR(sums.status());
  return sums->front();
}

Status QueryAlone::addValues(const Lanes &start, const Lanes &count,
                             Value factor) {
  constexpr int64_t unroll = 4;
  Block &body = ReduceOp(form.values).getBody().front();
  auto done = overVectors(
      kernel.valueSize(), unroll, {},
      [&](const Lanes &value, int64_t vectors, Value mask,
          ArrayRef<Value>) -> Result<Values> {
        Values old;
        auto place = [&](int64_t n) {
          return b.add(value, Lanes::index(n * width));
        };
        for (int64_t n = 0; n < vectors; ++n) {
          Value sum = kernel.loadVector(buffers.values, place(n));
          old.push_back(b.create<arith::MulFOp>(sum, factor));
        }
        auto added = carryingLoop(
            b, b.constantIndex(0), b.first(count), 1, old,
            [&](Value position, ArrayRef<Value> carried) -> Result<Values> {
              Values next;
              Value weight =
                  b.splat(b.create<memref::LoadOp>(buffers.scores, position));
              BodyEmitter emitter(frame, body, mask);
              for (int64_t n = 0; n < vectors; ++n) {
                Result<Lanes> factor = emitter.emitFor(
                    n,
                    kernel.weighted(query, kernel.along(place(n)),
                                    b.add(start, Lanes::index(position))),
                    form.valueFactor);
                TW_RETURN_IF_ERROR(factor.status());
                next.push_back(kernel.multiplyAdd(weight, b.asVector(*factor),
                                                  carried[n]));
              }
              return next;
            });
        TW_RETURN_IF_ERROR(added.status());
        for (int64_t n = 0; n < vectors; ++n) {
          kernel.storeVector((*added)[n], buffers.values, place(n));
        }
        return Values();
      });
  return done.status();
}

/// The keys from `start` on. The state is the greatest score, a scalar, and the
/// sum, in parts along the lanes.
Result<SmallVector<Value>> QueryAlone::block(Value start,
                                             ArrayRef<Value> state) {
  int64_t blockKeys = kernel.parameters.keys;
  Lanes from = Lanes::index(start, blockKeys);
  Lanes count = b.min(b.sub(kernel.keys(), from), Lanes::index(blockKeys));
  TW_RETURN_IF_ERROR(scores(from, count));
  Result<Value> max = finishScores(from, count, state[0]);
  TW_RETURN_IF_ERROR(max.status());
  Result<Value> factor =
      kernel.exponential(b.splat(state[0]), b.splat(*max), Value());
  TW_RETURN_IF_ERROR(factor.status());
  Result<Value> sum =
      exponentials(count, *max, b.create<arith::MulFOp>(state[1], *factor));
  TW_RETURN_IF_ERROR(sum.status());
  TW_RETURN_IF_ERROR(addValues(from, count, *factor));
  return Values{*max, *sum};
}

Status QueryAlone::finish(Value max, Value sum) {
  Value total = b.splat(across(vector::CombiningKind::ADD, sum));
  Result<AttentionScale> scale =
      kernel.scale(total, b.splat(max), query, Value());
  TW_RETURN_IF_ERROR(scale.status());
  auto done =
      overVectors(kernel.valueSize(), 1, {},
                  [&](const Lanes &value, int64_t, Value mask,
                      ArrayRef<Value>) -> Result<Values> {
                    Value own = kernel.loadVector(buffers.values, value);
                    TW_RETURN_IF_ERROR(kernel.store(
                        kernel.scaled(own, *scale),
                        kernel.result(query, kernel.along(value)), mask));
                    return Values();
                  });
  return done.status();
}

Status QueryAlone::run() {
  b.setWidth(width);
  buffers = kernel.buffers();
  TW_RETURN_IF_ERROR(packQuery());
  auto cleared = overVectors(kernel.valueSize(), 1, {},
                             [&](const Lanes &value, int64_t, Value,
                                 ArrayRef<Value>) -> Result<Values> {
                               kernel.storeVector(kernel.splatFloat(0),
                                                  buffers.values, value);
                               return Values();
                             });
  TW_RETURN_IF_ERROR(cleared.status());
  // The least finite number: see QueriesInLanes::run.
  Value least = b.create<arith::ConstantOp>(
      b.getF32FloatAttr(std::numeric_limits<float>::lowest()));
  auto end = overVisibleBlocks(
      kernel, b.first(query), b.first(query), {least, kernel.splatFloat(0)},
      [&](Value start, ArrayRef<Value> state) { return block(start, state); },
      [&](ArrayRef<Value> after) {
        return anyUnsettled(kernel, after.take_front(1), {});
      });
  TW_RETURN_IF_ERROR(end.status());
  TW_RETURN_IF_ERROR(finish((*end)[0], (*end)[1]));
  frame.clearRegisters();
  b.setWidth(1);
  return Status::ok();
}

Status emitQueryAlone(AttentionKernel &kernel, const Lanes &query) {
  return QueryAlone(kernel, query).run();
}

} // namespace tilewright::families
