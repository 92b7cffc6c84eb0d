//===- MachinePeaks.cpp - what the machine can do at most -----------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "bench/kernels/MachinePeaks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <immintrin.h>
#include <thread>
#include <vector>

namespace tilewright::bench {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

//===----------------------------------------------------------------------===//
// Multiply-adds
//===----------------------------------------------------------------------===//

/// Independent sums: enough for the latency of two units, few enough for the
/// registers. Each function does `rounds` steps of all of them.
static constexpr int sums = 12;
static constexpr int64_t rounds = 20000;

/// Hides from the compiler what a value is.
#define TW_KEEP(value) asm volatile("" : "+x"(value))
#define TW_KEEP_WIDE(value) asm volatile("" : "+v"(value))

__attribute__((target("avx512f"))) static void multiplyAdd512() {
  __m512 sum[sums], x = _mm512_set1_ps(0.5F), y = _mm512_set1_ps(0.25F);
  TW_KEEP_WIDE(x);
  TW_KEEP_WIDE(y);
  for (__m512 &s : sum) {
    s = _mm512_setzero_ps();
    TW_KEEP_WIDE(s); // or the sums would be one
  }
  for (int64_t i = 0; i < rounds; ++i) {
#pragma unroll
    for (__m512 &s : sum) {
      s = _mm512_fmadd_ps(x, s, y);
    }
  }
  for (__m512 &s : sum) {
    TW_KEEP_WIDE(s);
  }
}

__attribute__((target("avx2,fma"))) static void multiplyAdd256() {
  __m256 sum[sums], x = _mm256_set1_ps(0.5F), y = _mm256_set1_ps(0.25F);
  TW_KEEP(x);
  TW_KEEP(y);
  for (__m256 &s : sum) {
    s = _mm256_setzero_ps();
    TW_KEEP(s);
  }
  for (int64_t i = 0; i < rounds; ++i) {
#pragma unroll
    for (__m256 &s : sum) {
      s = _mm256_fmadd_ps(x, s, y);
    }
  }
  for (__m256 &s : sum) {
    TW_KEEP(s);
  }
}

/// Without fused instructions a step is a multiplication and an addition.
static void multiplyAdd128() {
  __m128 sum[sums], x = _mm_set1_ps(0.5F), y = _mm_set1_ps(0.25F);
  TW_KEEP(x);
  TW_KEEP(y);
  for (__m128 &s : sum) {
    s = _mm_setzero_ps();
    TW_KEEP(s);
  }
  for (int64_t i = 0; i < rounds; ++i) {
#pragma unroll
    for (__m128 &s : sum) {
      s = _mm_add_ps(_mm_mul_ps(x, s), y);
    }
  }
  for (__m128 &s : sum) {
    TW_KEEP(s);
  }
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// A cache line; the compiler makes it of what registers the function may use.
using Line = float __attribute__((vector_size(64)));
static constexpr size_t lineFloats = sizeof(Line) / sizeof(float);

struct Arrays {
  const float *a;
  const float *b; // null: one array is read
  float *y;       // null: nothing is written
};

/// Goes through floats `begin` to `end`, whole lines, at `places` evenly spaced
/// places at once: more of them keep more reads on their way.
template <unsigned places, bool nonTemporal>
[[gnu::always_inline]] static inline void
streamLines(const Arrays &arrays, size_t begin, size_t end) {
  size_t distance = (end - begin) / places / lineFloats * lineFloats;
  Line sums[places] = {};
  for (size_t i = begin; i < begin + distance; i += lineFloats) {
#pragma unroll
    for (unsigned place = 0; place < places; ++place) {
      size_t at = i + place * distance;
      Line value = *reinterpret_cast<const Line *>(arrays.a + at);
      if (arrays.b) {
        value += *reinterpret_cast<const Line *>(arrays.b + at);
      }
      auto *target = reinterpret_cast<Line *>(arrays.y + at);
      if (!arrays.y) {
        sums[place] += value;
      } else if constexpr (nonTemporal) {
        __builtin_nontemporal_store(value, target);
      } else {
        *target = value;
      }
    }
  }
  for (Line &sum : sums) {
    asm volatile("" : : "m"(sum));
  }
  _mm_sfence();
}

using StreamLoop = void (*)(const Arrays &, size_t, size_t);

/// The ways to go through arrays, one of which is the fastest here; those with
/// ordinary stores come first.
static constexpr size_t ways = 6, ordinaryWays = 3;

#define TW_STREAM_LOOP(name, places, nonTemporal, attribute)                   \
  attribute static void name(const Arrays &x, size_t begin, size_t end) {      \
    streamLines<places, nonTemporal>(x, begin, end);                           \
  }
#define TW_STREAM_LOOPS(suffix, attribute)                                     \
  TW_STREAM_LOOP(plain1##suffix, 1, false, attribute)                          \
  TW_STREAM_LOOP(plain4##suffix, 4, false, attribute)                          \
  TW_STREAM_LOOP(plain16##suffix, 16, false, attribute)                        \
  TW_STREAM_LOOP(direct1##suffix, 1, true, attribute)                          \
  TW_STREAM_LOOP(direct4##suffix, 4, true, attribute)                          \
  TW_STREAM_LOOP(direct16##suffix, 16, true, attribute)                        \
  static constexpr StreamLoop loops##suffix[ways] = {                          \
      plain1##suffix,  plain4##suffix,  plain16##suffix,                       \
      direct1##suffix, direct4##suffix, direct16##suffix};

TW_STREAM_LOOPS(512, __attribute__((target("avx512f"))))
TW_STREAM_LOOPS(256, __attribute__((target("avx2"))))
TW_STREAM_LOOPS(128, )
#undef TW_STREAM_LOOPS
#undef TW_STREAM_LOOP

//===----------------------------------------------------------------------===//
// On all threads
//===----------------------------------------------------------------------===//

/// Runs `work(index)` on all threads, which begin together.
/// \returns the seconds until the last is done.
static double runTogether(unsigned threads,
                          const std::function<void(unsigned)> &work) {
  std::atomic<unsigned> waiting{threads};
  std::vector<double> seconds(threads);
  auto body = [&](unsigned index) {
    --waiting;
    while (waiting.load() != 0) {
      std::this_thread::yield(); // more threads than processors must not hang
    }
    Clock::time_point start = Clock::now();
    work(index);
    seconds[index] = secondsSince(start);
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) {
    others.emplace_back(body, i);
  }
  body(0);
  for (std::thread &other : others) {
    other.join();
  }
  return *std::max_element(seconds.begin(), seconds.end());
}

Result<MachinePeaks> MachinePeaks::create(unsigned threads,
                                          const TargetSpec &target,
                                          size_t streamBytes) {
  MachinePeaks peaks(threads, target);
  auto count = static_cast<int64_t>(streamBytes / sizeof(float));
  for (Tensor *array : {&peaks.first, &peaks.second, &peaks.result}) {
    Result<Tensor> made = Tensor::create(DType::F32, {count});
    if (!made) {
      return made.status();
    }
    std::fill_n(made->as<float>(), count, 1.0F);
    *array = std::move(*made);
  }
  return peaks;
}

double MachinePeaks::flops() const {
  auto burst = target->vectorBytes == 64   ? multiplyAdd512
               : target->vectorBytes == 32 ? multiplyAdd256
                                           : multiplyAdd128;
  constexpr unsigned bursts = 20;
  double seconds = runTogether(threads, [&](unsigned) {
    for (unsigned i = 0; i < bursts; ++i) {
      burst();
    }
  });
  double lanes = target->lanes(sizeof(float));
  return 2.0 * sums * rounds * bursts * lanes * threads / seconds;
}

double MachinePeaks::pass(unsigned streams, bool writes, size_t way) {
  const StreamLoop *loops = target->vectorBytes == 64   ? loops512
                            : target->vectorBytes == 32 ? loops256
                                                        : loops128;
  Arrays arrays{first.as<float>(), streams == 2 ? second.as<float>() : nullptr,
                writes ? result.as<float>() : nullptr};
  size_t part = first.elements() / threads / lineFloats * lineFloats;
  double seconds = runTogether(threads, [&](unsigned index) {
    loops[way](arrays, index * part, (index + 1) * part);
  });
  double floats = static_cast<double>(part) * threads * (streams + writes);
  return floats * sizeof(float) / seconds;
}

void MachinePeaks::chooseLoop(unsigned streams, bool writes) {
  constexpr unsigned tries = 3;
  size_t candidates = writes ? ways : ordinaryWays;
  double best = 0;
  for (size_t i = 0; i < tries * candidates; ++i) {
    if (double rate = pass(streams, writes, i % candidates); rate > best) {
      best = rate;
      fastest = i % candidates;
    }
  }
}

double MachinePeaks::bytes(unsigned streams, bool writes) {
  return pass(streams, writes, fastest);
}

} // namespace tilewright::bench
