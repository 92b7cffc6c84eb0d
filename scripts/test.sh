#!/usr/bin/env bash
# test.sh [PRESET]: builds and runs every test. The last line is `N passed, N failed, N skipped`; each case of GoogleTest
# and each lit test counts as one. The exit code is 0 when none failed.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

preset="${1:-release}"
build="$root/build/$preset"
results="$build/results"

# LLVM's allocators poison memory only where their headers are instrumented, and its shared libraries are not: what the
# two sides think of one block differs.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0:allow_user_poisoning=0}"

"$root/scripts/build.sh" "$preset"
mkdir -p "$results"
rm -f "$results"/*.xml

say "models: fetching what is not there"
"$python" "$root/scripts/fetch_models.py" || say "models: some are missing, their tests are skipped"

# lit runs once over the whole tree instead of once per folder.
say "tests: lit"
failed=0
"$llvm_bin/lit" -sv --xunit-xml-output "$results/lit.xml" "$build/test/lit" || failed=1

# Tests that measure time or run many threads hold a lock or say how many processors they need.
say "tests: ctest"
(cd "$build" && ctest -LE '^lit$' -j "$(nproc)" --output-on-failure --output-junit "$results/ctest.xml") || failed=1

reports=("$results/lit.xml" "$results/ctest.xml")
if [ "$preset" = release ]; then
  # A smoke test; `test.sh asan` does all of it.
  say "tests: the runtime with sanitizers"
  "$root/scripts/build.sh" asan-runtime TilewrightRuntimeTests
  (cd "$root/build/asan-runtime" && ctest -R '^runtime$' --output-on-failure --output-junit "$results/asan.xml") || failed=1
  reports+=("$results/asan.xml")
fi

python3 "$root/scripts/size_table.py"
# Says what failed and what was skipped and why, then the totals.
python3 "$root/scripts/summarize_tests.py" "${reports[@]}" || failed=1
exit "$failed"
