#!/usr/bin/env python3
"""kernels_report.py FILE.json… [--update-docs]: what tilewright-kernel-bench --json measured, as tables.

Each file is one run of the program. First what the kernels are meant to reach, then every shape. --update-docs writes it into
docs/performance.md.
"""

import argparse
import json
import os
import statistics
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(ROOT, "docs", "reference"))
sys.dont_write_bytecode = True
import marked_block

BLOCK = "bench/kernels"
LARGE = 256  # the least of all dims of a contraction that should reach its goal
RESNET = "conv/resnet50."


class Run:
    """One run of the program: on so many threads, the figures of each shape."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        self.threads, self.target = int(content["context"]["threads"]), content["context"]["target"]
        self.shapes = {"/".join(entry["name"].split("/")[:2]): entry for entry in content["benchmarks"]}

    def good(self, *prefixes):
        return {name: entry for name, entry in self.shapes.items() if name.startswith(prefixes) and "share" in entry}


def percent(share):
    return f"{100 * share:.0f} %"


def goals(run):
    """What is meant to be reached, and what is."""
    contractions = {name: entry["share"] for name, entry in run.good("contract/").items() if entry["smallest"] >= LARGE}
    convolutions = run.good(RESNET)
    streams = {name: entry["share"] for name, entry in run.good("pointwise/", "softmax/", "norm/").items()}
    text = ""
    for what, goal, shares in ((f"contractions with all dims at least {LARGE}, share of the multiply-add peak", "80 %", contractions),
                               ("element-wise, softmax and norms beyond cache, share of the bandwidth", "80 %", streams)):
        if shares:
            worst = min(shares, key=shares.get)
            text += (f"| {what} | {goal} | {percent(statistics.mean(shares.values()))} in the mean; "
                     f"least {percent(shares[worst])}, `{worst}` |\n")
    if convolutions:
        entries = convolutions.values()
        layers = sum(entry["count"] for entry in entries)
        mean = sum(entry["share"] * entry["count"] for entry in entries) / layers
        # Time at the peak over time spent.
        work = [entry["work"] * entry["count"] for entry in entries]
        weighted = sum(work) / sum(amount / entry["share"] for amount, entry in zip(work, entries))
        worst = min(convolutions, key=lambda name: convolutions[name]["share"])
        text += (f"| the {layers:.0f} convolutions of ResNet-50, share of the multiply-add peak | 75 % in the mean | {percent(mean)} in the "
                 f"mean; {percent(weighted)} weighted by flops; least {percent(convolutions[worst]['share'])}, `{worst}` |\n")
    return text and "| what | goal | reached |\n|---|---|---|\n" + text


def detail(runs):
    names = list(dict.fromkeys(name for run in runs for name in run.shapes))
    titles = [title for run in runs for title in (f"{run.threads} thr.: rate", "peak", "share")]
    text, family = "", None
    for name in names:
        if name.split("/")[0] != family:
            family = name.split("/")[0]
            text += f"\n{family}\n\n| shape | kernels | {' | '.join(titles)} |\n" + "|---" * (2 + len(titles)) + "|\n"
        cells, launches = [], "–"
        for run in runs:
            entry = run.shapes.get(name, {})
            if "share" in entry:
                rate, unit = (entry["gflops"], "Gflop/s") if "gflops" in entry else (entry["gbytes"], "GB/s")
                cells += [f"{rate:.1f} {unit}", f"{entry['peak']:.1f}", percent(entry["share"])]
                launches = f"{entry['launches']:.0f}"
            else:
                cells += [entry.get("error_message", "–"), "–", "–"]
        text += f"| {name.split('/')[1]} | {launches} | {' | '.join(cells)} |\n"
    return text


def markdown(runs):
    text = f"Code for `cpu:{runs[0].target}`.\n"
    for run in runs:
        text += f"\n### {'One thread' if run.threads == 1 else f'{run.threads} threads'}\n\n{goals(run)}"
    return text + "\n### Every shape\n" + detail(runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--update-docs", action="store_true")
    arguments = parser.parse_args()
    text = markdown([Run(path) for path in arguments.files])
    print(text)
    if arguments.update_docs:
        marked_block.write(os.path.join(ROOT, "docs", "performance.md"), BLOCK, "\n" + text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
