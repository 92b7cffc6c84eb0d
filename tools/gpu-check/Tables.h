//===- Tables.h - products of matrices and attention, timed -----*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/devices/cuda/CublasLt.h"
#include "tools/gpu-check/Session.h"

#include <filesystem>

namespace tilewright::gpucheck {

/// Runs the module of {type, m, n, k, layout, module} on seeded matrices and
/// checks a sample of the product. \returns {wrong, ms, tflops, kernels}, and
/// with `library` {cublaslt_ms, cublaslt_tflops, ratio} or {cublaslt: why not}.
/// Times are those of the kernels, the least of several runs; the simulator
/// gives none. Errors: OptionInvalid, those of Module and Context.
Result<nlohmann::json> runProduct(const Session &session, CublasLt *library,
                                  const nlohmann::json &entry,
                                  const std::filesystem::path &folder);

/// The same for {type, m, n, k, layout, epilogue, module, library_module}: the
/// whole region as a generated kernel, and left to cuBLASLt. `epilogue` is
/// "bias_relu", "bias_gelu" (by tanh) or "residual". \returns {wrong, ms,
/// tflops, kernels, cublaslt_ms, ratio} or {cublaslt: why not}.
Result<nlohmann::json> runFusedProduct(const Session &session,
                                       const nlohmann::json &entry,
                                       const std::filesystem::path &folder);

/// The same for {type, batch, heads, kv_heads, queries, keys, dim, causal,
/// module}: softmax(q k' / sqrt(dim)) v. q is [batch, heads, queries, dim], k
/// and v are [batch, kv_heads, keys, dim]. A causal query sees the keys up to
/// its own position. \returns {wrong, ms, tflops, kernels}.
Result<nlohmann::json> runAttention(const Session &session,
                                    const nlohmann::json &entry,
                                    const std::filesystem::path &folder);

} // namespace tilewright::gpucheck
