#!/usr/bin/env bash
# check_math.sh BUILD [STRIDE]: every elementary function at every CPU level of this machine, over every STRIDE-th bit pattern of f32
# (default 61: minutes; 1: all of them, hours), against the C library in double. Prints the worst error of each in ulp, and fails
# where a bound of codegen/cpu/math/Functions.h does not hold.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 1 ] || die "where is the build folder?"
export TILEWRIGHT_MATH_STRIDE="${2:-61}" TILEWRIGHT_PRINT_ULP=1
exec "$1/bin/cpu-math-test" --gtest_filter='*Unary*'
