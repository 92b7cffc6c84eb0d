//===- ReasonCodes.h - the reasons that passes record -----------*- C++ -*-===//
//
// Part of Tilewright, under the Apache License v2.0. See LICENSE.
//
//===----------------------------------------------------------------------===//
//
// One table of every reason code of normalize, layout, fuse and plan. Codes are
// stable: people search for them, and `explain` groups by them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Diagnostics.h"
#include "passes/DecisionLog.h"

namespace tilewright {

/// A stable code and what it stands for.
struct Reason {
  const char *code;
  const char *title;
};

namespace reasons {
// normalize
inline constexpr Reason symbolUnused{"TWN001", "what it gives is never used"};
inline constexpr Reason resultUnused{
    "TWN002", "an unused result of control flow is dropped"};
inline constexpr Reason batchNormIntoConv{
    "TWN010", "batch normalisation folds into a convolution"};
inline constexpr Reason batchNormAlone{
    "TWN011", "batch normalisation becomes one multiply-add"};
inline constexpr Reason batchNormNotConstant{
    "TWN012", "the parameters are not constants"};
inline constexpr Reason batchNormSharedConv{"TWN013",
                                            "the convolution has other users"};
inline constexpr Reason batchNormNotFinite{
    "TWN014", "a folded coefficient would not be finite"};
inline constexpr Reason constantFolded{"TWN020",
                                       "a constant subgraph is evaluated"};
inline constexpr Reason constantTooLarge{
    "TWN021", "the folded constant would be too large"};
inline constexpr Reason noEvaluator{"TWN022",
                                    "nothing here can run a constant subgraph"};
inline constexpr Reason branchTaken{
    "TWN023", "a branch with a constant condition is inlined"};
// layout
inline constexpr Reason orderChosen{
    "TWL001", "this order of axes costs least over the graph"};
inline constexpr Reason copiedToRowMajor{
    "TWL002", "a copy gives a user the row-major order that it needs"};
inline constexpr Reason reshapeFixesOrder{
    "TWL003", "a reshape cannot hand this order on"};
inline constexpr Reason orderKept{"TWL004",
                                  "no other order of axes would cost less"};
// fuse
inline constexpr Reason decomposed{"TWF001",
                                   "a named operation becomes primitives"};
inline constexpr Reason unitAxesDropped{"TWF002",
                                        "axes of size one are dropped"};
inline constexpr Reason unitReduction{"TWF003",
                                      "a reduction over one element is a map"};
inline constexpr Reason producerInlined{
    "TWF010", "a producer is computed where it is read"};
inline constexpr Reason guardInContraction{
    "TWF011", "a contraction reads through plain coordinates only"};
inline constexpr Reason mathInContraction{
    "TWF012", "a contraction would repeat the arithmetic"};
inline constexpr Reason workRepeated{"TWF013",
                                     "the arithmetic would be repeated"};
inline constexpr Reason severalUsers{"TWF014",
                                     "the producer has several users"};
inline constexpr Reason staysEpilogue{
    "TWF015", "the producer is an epilogue of its reduction"};
inline constexpr Reason bodyTooLarge{"TWF016", "the body would grow too large"};
inline constexpr Reason divisionInCoordinates{
    "TWF017", "the reshape would need divisions of coordinates"};
inline constexpr Reason paddingInContraction{
    "TWF018", "no element of the operand stands for the padding"};
inline constexpr Reason attentionOperand{
    "TWF019", "queries, keys and values are read as they are"};
inline constexpr Reason staysNarrow{
    "TWF022", "a contraction widens what is stored narrow"};
inline constexpr Reason constantNarrowed{
    "TWF023", "a constant that a product of integers reads is stored in bytes"};
inline constexpr Reason reshapeSunk{"TWF020", "a reshape moves behind a map"};
inline constexpr Reason reshapeStays{
    "TWF021", "a reshape's axes do not line up with the map"};
inline constexpr Reason regionFormed{"TWF030", "operations become one kernel"};
inline constexpr Reason regionCycle{
    "TWF031", "fusing would close a cycle through other operations"};
inline constexpr Reason regionDomains{"TWF032", "the iteration domains differ"};
inline constexpr Reason regionTwoReductions{
    "TWF033", "both sides hold a reduction already"};
inline constexpr Reason regionTooFewRows{"TWF034",
                                         "too few rows to share among threads"};
inline constexpr Reason siblingsJoined{
    "TWF035", "maps that read one tensor become one kernel"};
inline constexpr Reason contractionsJoined{
    "TWF036", "contractions of one domain become one kernel"};
inline constexpr Reason joinKept{
    "TWF037", "a contraction's result is needed elsewhere, too"};
inline constexpr Reason joinTiles{"TWF038",
                                  "no register tile suits both contractions"};
inline constexpr Reason joinTooMany{
    "TWF039", "a kernel of so many contractions would grow too large"};
inline constexpr Reason rowsBehindContraction{
    "TWF043", "rows are finished where a contraction has put them"};
inline constexpr Reason rowBlocksOpen{
    "TWF044", "how long or how many the rows are is not known"};
inline constexpr Reason rowBlocksFew{
    "TWF045", "too few rows are sure to be there for threads to share"};
inline constexpr Reason rowBlocksLarge{
    "TWF046", "a block of a contraction's rows does not fit the cache"};
inline constexpr Reason rowBlocksWeights{
    "TWF047", "weights would be read again for each block of rows"};
inline constexpr Reason rowBlocksLanes{
    "TWF048", "the contraction's lanes should not run along the rows"};
inline constexpr Reason joinGpu{"TWF049",
                                "a tile of a GPU's block is one contraction's"};
inline constexpr Reason contractionsMerged{
    "TWF040", "contractions of one operand become one"};
inline constexpr Reason epilogueLost{
    "TWF041", "an epilogue would become a kernel of its own"};
inline constexpr Reason readWhole{"TWF042",
                                  "something needs the result on its own"};
inline constexpr Reason attentionFormed{
    "TWF050", "scores, softmax and values become one kernel"};
inline constexpr Reason attentionScale{
    "TWF051", "the weights are not exponentials over their sum"};
inline constexpr Reason attentionNoScores{"TWF052",
                                          "no contraction gives the scores"};
inline constexpr Reason attentionFactors{
    "TWF053", "queries, keys and values do not keep to their axes"};
inline constexpr Reason attentionTypes{"TWF054",
                                       "something between is not f32"};
inline constexpr Reason attentionKept{
    "TWF055", "scores or weights are read elsewhere, too"};
// plan
inline constexpr Reason resultCopied{
    "TWP001", "a result that has no block of its own is copied"};
inline constexpr Reason sizedAtRunTime{
    "TWP002", "a size known only after its command keeps it out of the arena"};
inline constexpr Reason writtenInPlace{
    "TWP003", "a result is written over an operand that nobody needs any more"};
inline constexpr Reason partsJoined{
    "TWP010", "parts of a concatenation are computed where they lie in it"};
inline constexpr Reason partCopied{
    "TWP011", "a part needs memory of its own, or is computed on the way"};
inline constexpr Reason noPartInPlace{
    "TWP012", "no part of the concatenation can be computed in it"};
inline constexpr Reason joinTooSmall{
    "TWP013", "copying the other parts would cost more than it saves"};
} // namespace reasons

/// What a pass reports through: the compile's log, which may be absent, and, if
/// asked for, MLIR remarks (for pass tests).
class Decisions {
public:
  Decisions(DecisionLog *log, bool remarks) : log(log), remarks(remarks) {}

  void did(const Reason &reason, mlir::Location loc, const llvm::Twine &subject,
           std::map<std::string, double> numbers = {}) {
    std::string message = text(reason, subject);
    remark(reason, loc, message, "");
    if (log) {
      log->did(reason.code, loc, std::move(message), std::move(numbers));
    }
  }

  void refused(const Reason &reason, mlir::Location loc,
               const llvm::Twine &subject,
               std::map<std::string, double> numbers = {}) {
    std::string message = text(reason, subject);
    remark(reason, loc, message, "refused: ");
    if (log) {
      log->refused(reason.code, loc, std::move(message), std::move(numbers));
    }
  }

private:
  static std::string text(const Reason &reason, const llvm::Twine &subject) {
    return (subject + ": " + reason.title).str();
  }

  void remark(const Reason &reason, mlir::Location loc, llvm::StringRef message,
              llvm::StringRef prefix) {
    if (remarks) {
      mlir::emitRemark(loc) << reason.code << " " << prefix << message;
    }
  }

  DecisionLog *log;
  bool remarks;
};

} // namespace tilewright
