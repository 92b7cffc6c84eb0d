#!/usr/bin/env python3
"""The tables and the picture of peers.py, from results that are made up: ratios, reasons, and SVG that an XML parser reads."""

import os
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import peers_picture
import peers_report


def figures(latency, **more):
    return {"latency_ms": latency, "load_ms": 1.0, "peak_rss_mb": 10.0, **more}


def row(name, threads, ours, onnxruntime, openvino):
    result = {"configuration": name, "threads": threads, "tilewright": ours, "onnxruntime": onnxruntime, "openvino": openvino}
    rivals = [peer["latency_ms"] for peer in (onnxruntime, openvino) if "latency_ms" in peer]
    if "latency_ms" in ours and rivals:
        result["ratio"] = min(rivals) / ours["latency_ms"]
    return result


OURS = {"kernels": 3, "compile_ms": 1500.0, "cached_ms": 20.0, "target": "cpu:avx2"}
RESULTS = {
    "machine": "A & B <processor>", "load": 0.25, "threads": [1, 2], "rounds": 3, "peers": ["onnxruntime", "openvino"],
    "rows": [row("small", 1, figures(2.0, **OURS), figures(4.0, version="1.2"), figures(8.0, version="3.4")),
             row("odd<&", 1, figures(8.0, **OURS), figures(4.0), {"error": "no such operator"}),
             row("small", 2, {"error": "TW2001"}, figures(4.0), figures(8.0))],
}


class ReportTest(unittest.TestCase):
    def test_summary(self):
        summary = peers_report.summary(RESULTS["rows"], 1)
        self.assertEqual(summary["compared"], 2)
        self.assertAlmostEqual(summary["geometric_mean"], 1.0)
        self.assertEqual((summary["worst"], summary["worst_ratio"]), ("odd<&", 0.5))
        self.assertEqual(peers_report.summary(RESULTS["rows"], 2), {"compared": 0})

    def test_markdown(self):
        text = peers_report.markdown(RESULTS)
        self.assertIn("| `small` | 3 | 2.00 | 4.00 | 8.00 | 2.00 |", text)
        self.assertIn("| `odd<&` | 3 | 8.00 | 4.00 | – | 0.50 |", text)
        self.assertIn("- OpenVINO does not run `odd<&`: no such operator", text)
        self.assertIn("- Tilewright does not run `small`: TW2001", text)
        self.assertIn("ONNX Runtime 1.2, OpenVINO 3.4", text)

    def test_picture(self):
        svg = xml.etree.ElementTree.fromstring(peers_picture.draw(RESULTS))
        titles = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(titles, ["ONNX Runtime: 2.00", "OpenVINO f32: 4.00", "ONNX Runtime: 0.50"])
        texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts.count("does not run"), 3)


if __name__ == "__main__":
    unittest.main()
