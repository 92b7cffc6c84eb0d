# Shared by the scripts: where things are, and how to say what is being done. Sourced, never run.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cache="$HOME/.cache/tilewright"
venv="$cache/venv"
python="$venv/bin/python3"
onnx_version=1.23.2
onnx_prefix="$cache/onnx-$onnx_version"
cuda_prefix="$cache/cuda"
cuda_packages=(nvidia-cuda-runtime==13.0.96 nvidia-cuda-nvrtc==13.0.88)
llvm_bin=/usr/lib/llvm-22/bin

# Everything that the scripts keep outside the clone is in $cache.
export CCACHE_DIR="$cache/ccache"
export CCACHE_MAXSIZE=2G
export TILEWRIGHT_MODELS="${TILEWRIGHT_MODELS:-$cache/models}"
export PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_NO_CACHE_DIR=1
# No script of ours leaves byte code in the clone.
export PYTHONDONTWRITEBYTECODE=1

say() { printf '== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# A folder that vanishes when the script ends, however it ends.
scratch=
scratch_folder() {
  if [ -z "$scratch" ]; then
    scratch="$(mktemp -d)"
    trap 'rm -rf "$scratch"' EXIT
  fi
}
