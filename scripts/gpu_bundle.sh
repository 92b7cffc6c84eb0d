#!/usr/bin/env bash
# gpu_bundle.sh BUILD OUT.tar.xz|.tar.gz|.tar.zst [OPTION…]: packs what gpu_check.sh needs on a machine with a GPU and nothing else:
# the program that checks, compiled modules, their inputs and what must come out. Options are those of gpu/bundle.py.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ $# -ge 2 ] || die "usage: gpu_bundle.sh BUILD OUT.tar.xz [OPTION…]"
exec "$python" "$root/scripts/gpu/bundle.py" "$@"
