#!/usr/bin/env bash
# build.sh [PRESET [TARGET…]]: builds a preset of CMakePresets.json into build/PRESET; release when none is named.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

preset="${1:-release}"
[ $# -gt 0 ] && shift
build="$root/build/$preset"

"$root/scripts/setup.sh"
cd "$root"
mkdir -p build
say "build: $preset into build/$preset"
cmake --preset "$preset" -Wno-dev >"$build.log" 2>&1 || { cat "$build.log" >&2; die "configuring failed"; }
targets=()
for target in "$@"; do targets+=(--target "$target"); done
cmake --build "$build" "${targets[@]}"
