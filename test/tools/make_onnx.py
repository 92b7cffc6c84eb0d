#!/usr/bin/env python3
"""make_onnx.py TEXT OUT.onnx: an ONNX model from ONNX's textual form, as onnx.parser reads it."""

import sys

import onnx.parser


def main(source, target):
    with open(source, encoding="utf-8") as file:
        model = onnx.parser.parse_model(file.read())
    with open(target, "wb") as file:
        file.write(model.SerializeToString())


if __name__ == "__main__":
    main(*sys.argv[1:])
