//===- AttentionLanes.cpp - many queries of attention at once -------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// Queries lie along the lanes. A register tile holds the scores of some keys,
// or some elements of the values, for all queries of the task. Queries, masks
// and results, which memory holds query by query, are turned around by squares
// of as many queries as there are lanes.
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

class QueriesInLanes {
public:
  QueriesInLanes(AttentionKernel &kernel, int64_t vectors, Value first,
                 Value left)
      : kernel(kernel), frame(kernel.frame), b(kernel.b), form(kernel.form),
        parameters(kernel.parameters), vectors(vectors), first(first),
        left(left), masks(turnedMasks(form, parameters.width)),
        packsKeys(readsRows(form.scores, form.keyFactor,
                            ReduceOp(form.scores).getParallelRank(),
                            parameters.width)),
        packsValues(readsRows(form.values, form.valueFactor, form.valueAxis,
                              parameters.width)) {}

  Status run();

private:
  using Vectors = SmallVector<Value>;

  void makeQueries();
  Status
  turnIn(const Lanes &count, Value target,
         llvm::function_ref<Result<Value>(const Lanes &, const Lanes &, Value)>
             row);
  Status packQueries();
  Status packRows(
      const Lanes &count, const Lanes &extent,
      llvm::function_ref<Result<Lanes>(const Lanes &, const Lanes &, Value)>
          read);
  Status packKeys(const Lanes &start, const Lanes &count);
  Status packValues(const Lanes &start, const Lanes &count);
  Value packed(const Lanes &extent, const Lanes &key, const Lanes &element);
  Status packMasks(const Lanes &start, const Lanes &count);
  void loadMasks(const Lanes &position, int64_t v, unsigned copy);
  Result<Vectors> block(Value start, ArrayRef<Value> state);
  Result<Vectors> scores(Lanes start, Lanes count, ArrayRef<Value> max);
  Result<Vectors> scoreTile(Lanes key, Value position, int64_t tile,
                            ArrayRef<Value> max);
  Result<Vectors> exponentials(Lanes count, ArrayRef<Value> max,
                               ArrayRef<Value> sum);
  Status addValues(Lanes start, Lanes count, ArrayRef<Value> factor);
  Status finish(ArrayRef<Value> state);

  /// The place of vector `v` at `position` of a buffer.
  Lanes place(const Lanes &position, int64_t v) {
    return b.add(b.mul(position, Lanes::index(parameters.rows())),
                 Lanes::index(v * parameters.width));
  }
  /// Memory for a square, free while a block has no scores.
  Value square() { return buffers.scores; }
  /// Starts a sum of products in each register of a tile.
  Vectors zeros(int64_t tile) {
    return Vectors(tile * vectors, kernel.splatFloat(0));
  }

  AttentionKernel &kernel;
  KernelFrame &frame;
  LaneBuilder &b;
  const AttentionForm &form;
  const AttentionParameters &parameters;
  int64_t vectors;
  Value first, left;
  SmallVector<Lanes> queries;
  SmallVector<Value> active; // lanes with a query
  AttentionBuffers buffers;
  SmallVector<LoadOp> masks;
  bool packsKeys, packsValues; // they lie in rows
};

} // namespace

void QueriesInLanes::makeQueries() {
  int64_t width = parameters.width;
  for (int64_t v = 0; v < vectors; ++v) {
    queries.push_back(
        b.add(Lanes::coordinate(first, width), Lanes::index(v * width)));
    Value count = b.create<arith::SubIOp>(left, b.constantIndex(v * width));
    active.push_back(
        b.create<vector::CreateMaskOp>(b.vectorOf(b.getI1Type()), count));
  }
}

/// Evaluates squares of `count` elements by queries: `row` gives a vector along
/// the elements from a position on. Vectors along the queries go to `target`.
Status QueriesInLanes::turnIn(
    const Lanes &count, Value target,
    llvm::function_ref<Result<Value>(const Lanes &, const Lanes &, Value)>
        row) {
  int64_t width = parameters.width;
  Lanes last =
      b.sub(b.add(Lanes::index(first), Lanes::index(left)), Lanes::index(1));
  return emitLoop(b, b.constantIndex(0), b.first(count), width, [&](Value at) {
    Lanes position = Lanes::index(at, width);
    Value mask = kernel.lanesBelow(position, count);
    for (int64_t v = 0; v < vectors; ++v) {
      TW_RETURN_IF_ERROR(emitLoop(
          b, b.constantIndex(0), b.constantIndex(width), 1, [&](Value number) {
            // Where queries end, the last one fills the square.
            Lanes query =
                b.min(b.add(b.add(Lanes::index(first), Lanes::index(v * width)),
                            Lanes::index(number)),
                      last);
            Result<Value> elements = row(query, position, mask);
            TW_RETURN_IF_ERROR(elements.status());
            kernel.storeVector(
                *elements, square(),
                b.mul(Lanes::index(number), Lanes::index(width)));
            return Status::ok();
          }));
      Vectors rows;
      for (int64_t i = 0; i < width; ++i) {
        rows.push_back(kernel.loadVector(square(), Lanes::index(i * width)));
      }
      for (auto [i, column] : llvm::enumerate(transpose(b, rows))) {
        kernel.storeVector(column, target,
                           place(b.add(position, Lanes::index(i)), v));
      }
    }
    return Status::ok();
  });
}

/// Evaluates the queries' factor once for each element.
Status QueriesInLanes::packQueries() {
  Block &body = ReduceOp(form.scores).getBody().front();
  return turnIn(
      kernel.depth(), buffers.queries,
      [&](const Lanes &query, const Lanes &depth, Value mask) -> Result<Value> {
        Result<Lanes> factor =
            BodyEmitter(frame, body, mask)
                .emitFor(
                    0,
                    kernel.product(query, Lanes::index(0), kernel.along(depth)),
                    form.queryFactor);
        TW_RETURN_IF_ERROR(factor.status());
        return b.asVector(*factor);
      });
}

/// Copies rows of a block of keys, where neighbours share no cache lines and
/// pages with what else is read. `read` gives a vector along a row.
Status QueriesInLanes::packRows(
    const Lanes &count, const Lanes &extent,
    llvm::function_ref<Result<Lanes>(const Lanes &, const Lanes &, Value)>
        read) {
  Lanes stride = kernel.wholeVectors(extent);
  return emitLoop(b, b.constantIndex(0), b.first(count), 1, [&](Value key) {
    return emitLoop(
        b, b.constantIndex(0), b.first(extent), parameters.width,
        [&](Value at) {
          Lanes position = Lanes::index(at, parameters.width);
          Result<Lanes> row = read(Lanes::index(key), kernel.along(position),
                                   kernel.lanesBelow(position, extent));
          TW_RETURN_IF_ERROR(row.status());
          kernel.storeVector(b.asVector(*row), buffers.block,
                             b.add(b.mul(Lanes::index(key), stride), position));
          return Status::ok();
        });
  });
}

Status QueriesInLanes::packKeys(const Lanes &start, const Lanes &count) {
  Block &body = ReduceOp(form.scores).getBody().front();
  return packRows(
      count, kernel.depth(),
      [&](const Lanes &key, const Lanes &depth, Value mask) {
        return BodyEmitter(frame, body, mask)
            .emitFor(0,
                     kernel.product(queries.front(), b.add(start, key), depth),
                     form.keyFactor);
      });
}

Status QueriesInLanes::packValues(const Lanes &start, const Lanes &count) {
  Block &body = ReduceOp(form.values).getBody().front();
  return packRows(
      count, kernel.valueSize(),
      [&](const Lanes &key, const Lanes &value, Value mask) {
        return BodyEmitter(frame, body, mask)
            .emitFor(0,
                     kernel.weighted(queries.front(), value, b.add(start, key)),
                     form.valueFactor);
      });
}

/// An element of a packed row, in all lanes.
Value QueriesInLanes::packed(const Lanes &extent, const Lanes &key,
                             const Lanes &element) {
  Lanes at = b.add(b.mul(key, kernel.wholeVectors(extent)), element);
  return b.splat(b.create<memref::LoadOp>(buffers.block, b.first(at)));
}

/// Reads the masks of a block of keys.
Status QueriesInLanes::packMasks(const Lanes &start, const Lanes &count) {
  for (auto [load, target] : llvm::zip(masks, buffers.masks)) {
    Operation *map = load->getParentOp();
    Value scalar = load.getResult();
    TW_RETURN_IF_ERROR(turnIn(
        count, target,
        [&](const Lanes &query, const Lanes &key, Value mask) -> Result<Value> {
          Result<Lanes> element =
              BodyEmitter(frame, map->getRegion(0).front(), mask)
                  .emitFor(0,
                           kernel.score(query, kernel.along(b.add(start, key))),
                           scalar);
          TW_RETURN_IF_ERROR(element.status());
          Value vector = b.asVector(*element);
          return scalar.getType().isInteger(1)
                     ? Value(b.create<arith::UIToFPOp>(
                           b.vectorOf(b.getF32Type()), vector))
                     : vector;
        }));
  }
  return Status::ok();
}

/// Lets the maps over scores find the masks in registers.
void QueriesInLanes::loadMasks(const Lanes &position, int64_t v,
                               unsigned copy) {
  for (auto [load, source] : llvm::zip(masks, buffers.masks)) {
    Value mask = kernel.loadVector(source, place(position, v));
    if (load.getResult().getType().isInteger(1)) {
      mask = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, mask,
                                     kernel.splatFloat(0));
    }
    frame.setRegister(stripReshapes(load.getSource()), copy,
                      Lanes::vector(mask));
  }
}

/// Sums of products for `tile` keys, finished by the maps, into the buffer.
/// \returns the greatest scores, of `max` and these.
Result<SmallVector<Value>> QueriesInLanes::scoreTile(Lanes key, Value position,
                                                     int64_t tile,
                                                     ArrayRef<Value> max) {
  Block &body = ReduceOp(form.scores).getBody().front();
  auto sums = carryingLoop(
      b, b.constantIndex(0), b.first(kernel.depth()), 1, zeros(tile),
      [&](Value depth, ArrayRef<Value> carried) -> Result<Vectors> {
        Vectors next, query;
        for (int64_t v = 0; v < vectors; ++v) {
          query.push_back(kernel.loadVector(buffers.queries,
                                            place(Lanes::index(depth), v)));
        }
        BodyEmitter emitter(frame, body, Value());
        for (int64_t n = 0; n < tile; ++n) {
          Lanes element = Lanes::index(depth), number = Lanes::index(n);
          Value splat;
          if (packsKeys) {
            splat = packed(kernel.depth(),
                           b.add(Lanes::index(position), number), element);
          } else {
            Result<Lanes> factor = emitter.emitFor(
                n, kernel.product(queries.front(), b.add(key, number), element),
                form.keyFactor);
            TW_RETURN_IF_ERROR(factor.status());
            splat = b.asVector(*factor);
          }
          for (int64_t v = 0; v < vectors; ++v) {
            next.push_back(
                kernel.multiplyAdd(query[v], splat, carried[n * vectors + v]));
          }
        }
        return next;
      });
  TW_RETURN_IF_ERROR(sums.status());
  Vectors greatest(max);
  for (int64_t v = 0; v < vectors; ++v) {
    std::vector<BodyEmitter> maps = kernel.scoreEmitters(active[v]);
    for (int64_t n = 0; n < tile; ++n) {
      loadMasks(b.add(Lanes::index(position), Lanes::index(n)), v,
                n * vectors + v);
      Result<Value> score = kernel.finishScore(
          n * vectors + v, (*sums)[n * vectors + v],
          kernel.score(queries[v], b.add(key, Lanes::index(n))), maps);
      TW_RETURN_IF_ERROR(score.status());
      kernel.storeVector(
          *score, buffers.scores,
          place(b.add(Lanes::index(position), Lanes::index(n)), v));
      greatest[v] = kernel.greater(*score, greatest[v]);
    }
  }
  return greatest;
}

Result<SmallVector<Value>> QueriesInLanes::scores(Lanes start, Lanes count,
                                                  ArrayRef<Value> max) {
  return tiledLoop(b, Lanes::index(0), count, parameters.tile, max,
                   [&](Value position, int64_t tile, ArrayRef<Value> carried) {
                     return scoreTile(b.add(start, Lanes::index(position)),
                                      position, tile, carried);
                   });
}

/// Replaces the scores by their exponentials. \returns the sums.
Result<SmallVector<Value>> QueriesInLanes::exponentials(Lanes count,
                                                        ArrayRef<Value> max,
                                                        ArrayRef<Value> sum) {
  return carryingLoop(
      b, b.constantIndex(0), b.first(count), 1, sum,
      [&](Value position, ArrayRef<Value> carried) -> Result<Vectors> {
        Vectors next;
        for (int64_t v = 0; v < vectors; ++v) {
          Lanes own = place(Lanes::index(position), v);
          Result<Value> power = kernel.exponential(
              kernel.loadVector(buffers.scores, own), max[v], active[v]);
          TW_RETURN_IF_ERROR(power.status());
          kernel.storeVector(*power, buffers.scores, own);
          next.push_back(b.create<arith::AddFOp>(carried[v], *power));
        }
        return next;
      });
}

/// Scales the values so far and adds those of the block.
Status QueriesInLanes::addValues(Lanes start, Lanes count,
                                 ArrayRef<Value> factor) {
  Block &body = ReduceOp(form.values).getBody().front();
  auto done = tiledLoop(
      b, Lanes::index(0), kernel.valueSize(), parameters.tile, {},
      [&](Value value, int64_t tile, ArrayRef<Value>) -> Result<Vectors> {
        auto element = [&](int64_t n, int64_t v) {
          return place(b.add(Lanes::index(value), Lanes::index(n)), v);
        };
        Vectors sums;
        for (int64_t n = 0; n < tile; ++n) {
          for (int64_t v = 0; v < vectors; ++v) {
            Value old = kernel.loadVector(buffers.values, element(n, v));
            sums.push_back(b.create<arith::MulFOp>(old, factor[v]));
          }
        }
        auto added = carryingLoop(
            b, b.constantIndex(0), b.first(count), 1, sums,
            [&](Value position, ArrayRef<Value> carried) -> Result<Vectors> {
              Vectors next, weight;
              for (int64_t v = 0; v < vectors; ++v) {
                weight.push_back(kernel.loadVector(
                    buffers.scores, place(Lanes::index(position), v)));
              }
              BodyEmitter emitter(frame, body, Value());
              Lanes key = b.add(start, Lanes::index(position));
              for (int64_t n = 0; n < tile; ++n) {
                Lanes column = b.add(Lanes::index(value), Lanes::index(n));
                Value splat;
                if (packsValues) {
                  splat = packed(kernel.valueSize(), Lanes::index(position),
                                 column);
                } else {
                  Result<Lanes> factor = emitter.emitFor(
                      n, kernel.weighted(queries.front(), column, key),
                      form.valueFactor);
                  TW_RETURN_IF_ERROR(factor.status());
                  splat = b.asVector(*factor);
                }
                for (int64_t v = 0; v < vectors; ++v) {
                  next.push_back(kernel.multiplyAdd(weight[v], splat,
                                                    carried[n * vectors + v]));
                }
              }
              return next;
            });
        TW_RETURN_IF_ERROR(added.status());
        for (int64_t n = 0; n < tile; ++n) {
          for (int64_t v = 0; v < vectors; ++v) {
            kernel.storeVector((*added)[n * vectors + v], buffers.values,
                               element(n, v));
          }
        }
        return Vectors();
      });
  return done.status();
}

/// The keys from `start` on. The state is the maxima, then the sums.
Result<SmallVector<Value>> QueriesInLanes::block(Value start,
                                                 ArrayRef<Value> state) {
  Lanes from = Lanes::index(start, parameters.keys);
  Lanes count = kernel.keys();
  bool isWhole = count.isConstantIndex() && count.offset % parameters.keys == 0;
  count = isWhole ? Lanes::index(parameters.keys)
                  : b.min(b.sub(count, from), Lanes::index(parameters.keys));
  ArrayRef<Value> oldMax = state.take_front(vectors),
                  oldSum = state.drop_front(vectors);
  TW_RETURN_IF_ERROR(packMasks(from, count));
  if (packsKeys) {
    TW_RETURN_IF_ERROR(packKeys(from, count));
  }
  Result<Vectors> max = scores(from, count, oldMax);
  TW_RETURN_IF_ERROR(max.status());
  Vectors factor, sum;
  for (int64_t v = 0; v < vectors; ++v) {
    Result<Value> own = kernel.exponential(oldMax[v], (*max)[v], active[v]);
    TW_RETURN_IF_ERROR(own.status());
    factor.push_back(*own);
    sum.push_back(b.create<arith::MulFOp>(oldSum[v], *own));
  }
  Result<Vectors> sums = exponentials(count, *max, sum);
  TW_RETURN_IF_ERROR(sums.status());
  if (packsValues) {
    TW_RETURN_IF_ERROR(packValues(from, count));
  }
  TW_RETURN_IF_ERROR(addValues(from, count, factor));
  Vectors next(*max);
  llvm::append_range(next, *sums);
  return next;
}

Status QueriesInLanes::finish(ArrayRef<Value> state) {
  int64_t width = parameters.width;
  Lanes count = kernel.valueSize();
  for (int64_t v = 0; v < vectors; ++v) {
    Result<AttentionScale> scale =
        kernel.scale(state[vectors + v], state[v], queries[v], active[v]);
    TW_RETURN_IF_ERROR(scale.status());
    Lanes start = b.add(Lanes::index(first), Lanes::index(v * width));
    Value rows =
        b.first(b.min(b.sub(Lanes::index(left), Lanes::index(v * width)),
                      Lanes::index(width)));
    TW_RETURN_IF_ERROR(
        emitLoop(b, b.constantIndex(0), b.first(count), width, [&](Value at) {
          Lanes position = Lanes::index(at, width);
          Value mask = kernel.lanesBelow(position, count);
          Vectors columns;
          for (int64_t n = 0; n < width; ++n) {
            Value sum = kernel.loadVector(
                buffers.values, place(b.add(position, Lanes::index(n)), v));
            columns.push_back(kernel.scaled(sum, *scale));
          }
          for (auto [n, row] : llvm::enumerate(transpose(b, columns))) {
            kernel.storeVector(row, square(), Lanes::index(n * width));
          }
          return emitLoop(b, b.constantIndex(0), rows, 1, [&](Value number) {
            Lanes row = Lanes::index(number);
            return kernel.store(
                kernel.loadVector(square(), b.mul(row, Lanes::index(width))),
                kernel.result(b.add(start, row), kernel.along(position)), mask);
          });
        }));
  }
  return Status::ok();
}

Status QueriesInLanes::run() {
  b.setWidth(parameters.width);
  makeQueries();
  buffers = kernel.buffers();
  TW_RETURN_IF_ERROR(packQueries());
  TW_RETURN_IF_ERROR(emitLoop(
      b, b.constantIndex(0), b.first(kernel.valueSize()), 1, [&](Value value) {
        for (int64_t v = 0; v < vectors; ++v) {
          kernel.storeVector(kernel.splatFloat(0), buffers.values,
                             place(Lanes::index(value), v));
        }
        return Status::ok();
      }));
  // The least finite number, not -inf: exp(score − max) is a number as long as
  // the scores are none but -inf. Where all are, the sum stays zero.
  Value least = kernel.splatFloat(std::numeric_limits<float>::lowest());
  Vectors state(vectors, least);
  llvm::append_range(state, zeros(1));
  Value last = b.first(
      b.sub(b.add(Lanes::index(first), Lanes::index(left)), Lanes::index(1)));
  auto end = overVisibleBlocks(
      kernel, first, last, state,
      [&](Value start, ArrayRef<Value> carried) {
        return block(start, carried);
      },
      [&](ArrayRef<Value> after) {
        return anyUnsettled(kernel, after.take_front(vectors), active);
      });
  TW_RETURN_IF_ERROR(end.status());
  TW_RETURN_IF_ERROR(finish(*end));
  frame.clearRegisters();
  b.setWidth(1);
  return Status::ok();
}

Status emitQueriesInLanes(AttentionKernel &kernel, int64_t vectors, Value first,
                          Value left) {
  return QueriesInLanes(kernel, vectors, first, left).run();
}

} // namespace tilewright::families
