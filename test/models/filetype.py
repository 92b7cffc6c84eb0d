#!/usr/bin/env python3
"""filetype.py TILEWRIGHT FILETYPE: the demo's model and example program name the types of files that we know.

Files of every length, with white space at their ends, are compared with the type that they certainly have.
"""

import json
import os
import subprocess
import sys
import tempfile
import zlib

import configurations

PYTHON = "import os\n\n\ndef names(folder):\n    return sorted(os.listdir(folder))\n\n\nif __name__ == '__main__':\n    print(names('.'))\n"
SHELL = "#!/bin/sh\nset -e\nfor f in *.txt; do\n  echo \"$f\"\n  wc -l < \"$f\"\ndone\n"
XML = "<?xml version=\"1.0\"?>\n<library>\n  <book id=\"1\"><title>Emma</title></book>\n</library>\n"


def png():
    """A small picture, as the standard has it."""
    def chunk(kind, data):
        body = kind + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    header = (8).to_bytes(4, "big") + (8).to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    pixels = zlib.compress(bytes(8 * (1 + 3 * 8)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def main(program, filetype):
    model = configurations.model_path({"model": "magika"})
    config = os.path.join(configurations.models_folder(), "magika_config.json")
    if not os.path.exists(model) or not os.path.exists(config):
        print("skipped: magika is not there; scripts/fetch_models.py fetches it")
        return 77
    with open(filetype, "rb") as file:
        own = file.read()
    known = {
        "python": (PYTHON * 40).encode(),
        "shell": b"\n \t\n" + SHELL.encode() + b"\n" * 3000,
        "json": json.dumps({"numbers": list(range(2000)), "name": "x"}, indent=1).encode(),
        "xml": XML.encode(),
        "png": png(),
        "elf": own,
    }
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "magika.twm")
        subprocess.run([program, "compile", model, "-o", module], check=True)
        paths = {}
        for label, content in {**known, "short": b"  ab  "}.items():
            paths[label] = os.path.join(folder, label)
            with open(paths[label], "wb") as file:
                file.write(content)
        output = subprocess.run([filetype, module, config, *paths.values()], check=True, capture_output=True, text=True).stdout
    print(output)
    told = {os.path.basename(line.split()[0]): line.split()[1] for line in output.splitlines()}
    wrong = [f"{label} is taken for {told.get(label)}" for label in known if told.get(label) != label]
    if told.get("short") != "too":
        wrong.append("a file of two characters has no type")
    print("\n".join(wrong) or f"{len(known)} types are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
