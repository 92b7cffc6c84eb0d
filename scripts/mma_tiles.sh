#!/usr/bin/env bash
# mma_tiles.sh BUILD: compiles every tile of the matrix units for every GPU, and fails if more than a few spill.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 1 ] || die "where is the build folder?"
TILEWRIGHT_EVERY_TILE=1 TILEWRIGHT_SHOW_TILES=1 exec "$1/bin/families-mma-test" --gtest_filter='MmaCompile.*'
