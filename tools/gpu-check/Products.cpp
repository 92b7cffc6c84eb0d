//===- Products.cpp - a product of matrices, timed ------------------------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/LibraryProduct.h"
#include "tools/gpu-check/Tables.h"
#include "tools/gpu-check/TimedModule.h"

namespace tilewright::gpucheck {

static void compareWithLibrary(const Session &session, const CublasLt &library,
                               const MatrixProduct &product, const Tensor &a,
                               const Tensor &b, Tensor &c,
                               nlohmann::json &figures) {
  Result<double> milliseconds = multiplyByLibrary(
      session, library, product, a, b, c, static_cast<int>(tableRuns));
  std::string wrong = milliseconds
                          ? checkProduct(product, a.view(), b.view(), c.view())
                          : milliseconds.status().message();
  if (!wrong.empty()) {
    figures["cublaslt"] = wrong;
    return;
  }
  figures["cublaslt_ms"] = *milliseconds;
  figures["cublaslt_tflops"] =
      *milliseconds > 0 ? product.operations() / *milliseconds / 1e9 : 0;
  double own = figures.value("ms", 0.0);
  if (own > 0) {
    figures["ratio"] = *milliseconds / own;
  }
}

Result<nlohmann::json> runProduct(const Session &session, CublasLt *library,
                                  const nlohmann::json &entry,
                                  const std::filesystem::path &folder) {
  Result<MatrixProduct> product = MatrixProduct::parse(entry);
  if (!product) {
    return product.status();
  }
  Result<Tensor> a = seeded(product->operand, {product->m, product->k}, 1);
  Result<Tensor> b =
      seeded(product->operand,
             product->transposedB ? std::vector{product->n, product->k}
                                  : std::vector{product->k, product->n},
             2);
  if (!a || !b) {
    return a ? b.status() : a.status();
  }
  Result<TimedRun> run =
      runTimed(session, folder / entry["module"].get<std::string>(),
               {a->view(), b->view()}, product->operations());
  if (!run) {
    return run.status();
  }
  if (run->output.elements() != product->m * product->n) {
    return Status(ErrorCode::ModuleDamaged,
                  "the module computes a product of another size");
  }
  nlohmann::json figures = std::move(run->figures);
  figures["wrong"] =
      checkProduct(*product, a->view(), b->view(), run->output.view());
  if (library) {
    compareWithLibrary(session, *library, *product, *a, *b, run->output,
                       figures);
  }
  return figures;
}

} // namespace tilewright::gpucheck
