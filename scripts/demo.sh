#!/usr/bin/env bash
# Builds, compiles a real model and runs it on real files: magika tells what type each of them is.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$root/scripts/build.sh" release tilewright filetype
bin="$root/build/release/bin"

say "model: magika, 95 ONNX nodes that know some 200 types of files"
"$python" "$root/scripts/fetch_models.py" magika magika_config

scratch_folder
say "tilewright compile magika.onnx -o magika.twm"
"$bin/tilewright" compile "$TILEWRIGHT_MODELS/magika.onnx" -o "$scratch/magika.twm"

say "filetype magika.twm: file, type, score, time of the run"
cd "$root"
ln -s "$TILEWRIGHT_MODELS/magika.onnx" "$scratch/model.onnx"
"$bin/filetype" "$scratch/magika.twm" "$TILEWRIGHT_MODELS/magika_config.json" \
  README.md CMakePresets.json examples/filetype.cpp scripts/fetch_models.py scripts/demo.sh CMakeLists.txt \
  "build/release/bin/filetype" "$scratch/model.onnx"
