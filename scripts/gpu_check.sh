#!/usr/bin/env bash
# gpu_check.sh [BUNDLE] [OPTION…]: checks and measures Tilewright on this machine's GPU, without network, compiler or Python packages.
# BUNDLE is what gpu_bundle.sh wrote, packed or unpacked; an unpacked one holds this script, which then finds it. Writes a report in
# JSON; options are those of check.py. Exit code 0: all is right, 1: something is not, 77: there is no GPU.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
if [ -f "$here/manifest.json" ]; then
  exec python3 -B "$here/check.py" "$here" "$@"
fi
exec python3 -B "$here/gpu/check.py" "$@"
