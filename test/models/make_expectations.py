#!/usr/bin/env python3
"""make_expectations.py [CONFIGURATION…]: stores what ONNX Runtime computes, for run.py to compare with.

Of each output: element type, shape, L2 norm and some two thousand values at seeded positions.
"""

import json
import os
import sys

import numpy as np
import onnxruntime

import configurations


def expect(name, configuration):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(configurations.model_path(configuration), options,
                                           providers=["CPUExecutionProvider"])
    stored, summary = {}, {}
    for which in configurations.SETS:
        results = session.run(None, configurations.make_inputs(configuration[which]))
        summary[which] = {}
        for output, values in zip((o.name for o in session.get_outputs()), results):
            if not np.isfinite(values).all():
                raise ValueError(f"{name}: {output} is not finite, which would hide differences")
            summary[which][output] = {"dtype": str(values.dtype), "shape": list(values.shape),
                                      "norm": configurations.norm(values), "array": f"a{len(stored)}"}
            stored[f"a{len(stored)}"] = configurations.sample(output, values)
    path = configurations.expectations_path(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    np.savez_compressed(path, summary=np.array(json.dumps(summary)), **stored)
    print(f"{name}: {len(stored)} outputs, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    for name, configuration in configurations.load().items():
        if len(sys.argv) == 1 or name in sys.argv[1:]:
            expect(name, configuration)
