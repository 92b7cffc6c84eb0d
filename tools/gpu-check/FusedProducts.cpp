//===- FusedProducts.cpp - a region as a kernel and by the library --------===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//

#include "tools/gpu-check/Matrix.h"
#include "tools/gpu-check/Tables.h"
#include "tools/gpu-check/TimedModule.h"

namespace tilewright::gpucheck {

/// Runs one of the two modules and checks it; `wrong` in the figures.
static Result<TimedRun> runChecked(const Session &session,
                                   const std::filesystem::path &module,
                                   const MatrixProduct &product,
                                   const std::vector<TensorView> &inputs,
                                   const FusedEpilogue &epilogue) {
  Result<TimedRun> run =
      runTimed(session, module, inputs, product.operations());
  TW_RETURN_IF_ERROR(run.status());
  if (run->output.elements() != product.m * product.n) {
    return Status(ErrorCode::ModuleDamaged,
                  "the module computes a product of another size");
  }
  run->figures["wrong"] =
      checkProduct(product, inputs[0], inputs[1], run->output.view(), epilogue);
  return run;
}

Result<nlohmann::json> runFusedProduct(const Session &session,
                                       const nlohmann::json &entry,
                                       const std::filesystem::path &folder) {
  Result<MatrixProduct> product = MatrixProduct::parse(entry);
  TW_RETURN_IF_ERROR(product.status());
  std::string name = entry.value("epilogue", "");
  bool isResidual = name == "residual";
  if (!isResidual && name != "bias_relu" && name != "bias_gelu") {
    return Status(ErrorCode::OptionInvalid, "there is no epilogue " + name);
  }
  int64_t m = product->m, n = product->n, k = product->k;
  auto a = seeded(product->operand, {m, k}, 1);
  auto b =
      seeded(product->operand,
             product->transposedB ? std::vector{n, k} : std::vector{k, n}, 2);
  auto c = seeded(product->operand,
                  isResidual ? std::vector{m, n} : std::vector{n}, 3);
  for (const Result<Tensor> *tensor : {&a, &b, &c}) {
    TW_RETURN_IF_ERROR(tensor->status());
  }
  TensorView added = c->view();
  FusedEpilogue epilogue;
  (isResidual ? epilogue.residual : epilogue.bias) = &added;
  epilogue.activation = name == "bias_relu"   ? FusedEpilogue::Relu
                        : name == "bias_gelu" ? FusedEpilogue::Gelu
                                              : FusedEpilogue::None;
  std::vector<TensorView> inputs = {a->view(), b->view(), added};
  auto module = [&](const char *key) {
    return folder / entry[key].get<std::string>();
  };
  Result<TimedRun> kernel =
      runChecked(session, module("module"), *product, inputs, epilogue);
  TW_RETURN_IF_ERROR(kernel.status());
  Result<TimedRun> library =
      runChecked(session, module("library_module"), *product, inputs, epilogue);
  TW_RETURN_IF_ERROR(library.status());
  nlohmann::json figures = std::move(kernel->figures);
  if (figures["wrong"].get<std::string>().empty()) {
    figures["wrong"] = library->figures["wrong"];
  }
  if (library->libraryCalls == 0) {
    figures["cublaslt"] = library->libraryRefusal;
    return figures;
  }
  if (!session.isSimulated()) {
    double own = figures["ms"], other = library->figures["ms"];
    figures["cublaslt_ms"] = other;
    figures["ratio"] = own > 0 ? other / own : 0;
  }
  return figures;
}

} // namespace tilewright::gpucheck
