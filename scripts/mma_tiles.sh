#!/bin/sh
# Compiles every tile of the matrix units for every GPU, and fails if one spills.
# Usage: scripts/mma_tiles.sh BUILD
TILEWRIGHT_SHOW_TILES=1 "${1:-build/dev}/bin/families-mma-test" \
  --gtest_also_run_disabled_tests --gtest_filter='MmaCompile.*'
