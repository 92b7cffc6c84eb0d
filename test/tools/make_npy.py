#!/usr/bin/env python3
"""make_npy.py OUT.npy TYPE SHAPE VALUE…: a NumPy file; fewer values than elements repeat. SHAPE is 2x3, or - for a scalar."""

import sys

import numpy as np


def main(target, dtype, shape, *values):
    sizes = [] if shape == "-" else [int(size) for size in shape.split("x")]
    np.save(target, np.resize(np.array([float(value) for value in values]), sizes).astype(dtype))


if __name__ == "__main__":
    main(*sys.argv[1:])
