#!/usr/bin/env bash
# bench_kernels.sh BUILD [OPTION…]: measures every kernel family over bench/shapes on one thread and on two, and writes the tables of
# docs/performance.md. Options go to tilewright-kernel-bench, e.g. --rounds 15 or --level avx2.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 1 ] || die "where is the build folder?"
program="$1/bin/tilewright-kernel-bench"
shift
scratch_folder
files=()
for threads in 1 2; do
  file="$scratch/$threads.json"
  say "kernels on $threads thread(s)"
  "$program" "$root"/bench/shapes/{contract,conv,attention,depthwise,pointwise,softmax,norm,reduce,movement}.txt \
    --threads "$threads" "$@" "--benchmark_out=$file" --benchmark_out_format=json || true # a shape that fails is in the table
  files+=("$file")
done
"$python" "$root/bench/kernels_report.py" "${files[@]}" --update-docs
