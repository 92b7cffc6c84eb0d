#!/usr/bin/env bash
# Installs what the build needs and is not there yet: system packages, a Python environment, ONNX's C++ library, and
# CUDA's headers and compiler.
# Run again at no cost. Keeps everything but the system packages in ~/.cache/tilewright.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

packages=(
  ninja-build cmake ccache git python3 python3-venv
  clang-22 lld-22 libclang-rt-22-dev clang-tidy-22 clang-format-22
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools liblld-22-dev libzstd-dev
  libprotobuf-dev protobuf-compiler libflatbuffers-dev flatbuffers-compiler
  nlohmann-json3-dev libcli11-dev libxxhash-dev libgtest-dev libgmock-dev libbenchmark-dev
)

install_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "system packages: all there"
    return
  fi
  say "system packages: installing ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "installing packages needs root or sudo"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
}

# The environment is made anew when the list of packages has changed.
make_venv() {
  local list="$root/scripts/requirements.txt"
  if cmp -s "$list" "$venv/requirements.txt"; then
    say "Python environment: there"
    return
  fi
  say "Python environment: making $venv"
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$python" -m pip install -q --no-deps --only-binary :all: -r "$list"
  cp "$list" "$venv/requirements.txt"
}

# ONNX's package for Python carries its C++ sources, but builds no library that a C++ program can link.
build_onnx() {
  if [ -e "$onnx_prefix" ]; then
    say "ONNX $onnx_version C++ library: there"
    return
  fi
  say "ONNX $onnx_version C++ library: building (about 3 minutes on two cores)"
  scratch_folder
  local archive="$scratch/onnx-$onnx_version.tar.gz" log="$scratch/onnx.log" staged="$onnx_prefix.$$"
  {
    "$python" -m pip download -q --no-deps --no-binary onnx "onnx==$onnx_version" -d "$scratch" &&
      tar -xf "$archive" -C "$scratch" &&
      "$venv/bin/cmake" -S "$scratch/onnx-$onnx_version" -B "$scratch/build" -G Ninja \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
        -DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DONNX_BUILD_PYTHON=OFF -DPython3_EXECUTABLE="$python" \
        -DCMAKE_INSTALL_PREFIX="$staged" &&
      "$venv/bin/cmake" --build "$scratch/build" --target install
  } >"$log" 2>&1 || { tail -n 40 "$log" >&2; rm -rf "$staged"; die "building ONNX failed"; }
  mv "$staged" "$onnx_prefix"
}

# CUDA's headers and its compiler of kernels, where its toolkit is not installed. Neither needs a GPU. The driver is never
# installed: it belongs to the machine.
install_cuda() {
  local wanted="${cuda_packages[*]}"
  if [ -e /usr/local/cuda/include/cuda.h ] && compgen -G '/usr/local/cuda/lib64/libnvrtc.so.*' >/dev/null; then
    say "CUDA's compiler: the toolkit's"
    return
  fi
  if [ "$(cat "$cuda_prefix/packages" 2>/dev/null)" = "$wanted" ]; then
    say "CUDA's compiler: there"
    return
  fi
  say "CUDA's compiler: fetching $wanted"
  scratch_folder
  "$python" -m pip install -q --no-deps --only-binary :all: --target "$scratch/cuda" "${cuda_packages[@]}"
  local staged="$scratch/cuda/nvidia/cu13"
  [ -e "$staged/include/cuda.h" ] || die "the packages of CUDA lack cuda.h"
  printf '%s' "$wanted" >"$staged/packages"
  rm -rf "$cuda_prefix"
  mv "$staged" "$cuda_prefix"
}

mkdir -p "$cache"
install_packages
make_venv
install_cuda
build_onnx
