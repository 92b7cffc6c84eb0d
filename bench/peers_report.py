"""What peers.py measured, as text: a line while it works, tables for people, the block of docs/performance.md."""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "reference"))
import marked_block
import peers_picture

NAMES = {"tilewright": "Tilewright", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "iree": "IREE"}
BLOCK = "bench/peers.py"


def number(value):
    """Three significant digits, and no more than are there."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def latency(row, program):
    figures = row.get(program, {})
    return number(figures["latency_ms"]) if "latency_ms" in figures else "–"


def line(row, peers):
    """One configuration, for those who wait."""
    text = f"{row['configuration']}, threads {row['threads']}:"
    for program in ("tilewright", *peers):
        text += f"  {program} {row[program].get('error') or latency(row, program)}"
    return text + (f"  ratio {row['ratio']:.2f}" if "ratio" in row else "")


def summary(rows, threads):
    ratios = {row["configuration"]: row["ratio"] for row in rows if row["threads"] == threads and "ratio" in row}
    if not ratios:
        return {"compared": 0}
    worst = min(ratios, key=ratios.get)
    return {"compared": len(ratios), "geometric_mean": statistics.geometric_mean(ratios.values()),
            "worst": worst, "worst_ratio": ratios[worst]}


def header(*columns):
    return "| " + " | ".join(columns) + " |\n|" + "---|" * len(columns) + "\n"


def latencies(results, threads):
    peers = results["peers"]
    text = header("configuration", "kernels", *(f"{NAMES[program]} ms" for program in ("tilewright", *peers)), "ratio")
    for row in results["rows"]:
        if row["threads"] == threads:
            cells = [f"`{row['configuration']}`", str(row["tilewright"].get("kernels", "–")),
                     *(latency(row, program) for program in ("tilewright", *peers)), f"{row['ratio']:.2f}" if "ratio" in row else "–"]
            text += "| " + " | ".join(cells) + " |\n"
    return text + "\n" + verdict(results, threads)


def verdict(results, threads):
    totals = summary(results["rows"], threads)
    if not totals["compared"]:
        return "Nothing to compare with.\n"
    return (f"Geometric mean of {totals['compared']} ratios: **{totals['geometric_mean']:.2f}**; "
            f"the worst is {totals['worst_ratio']:.2f}, `{totals['worst']}`.\n")


def costs(results, threads):
    """Compile and load times, and the most memory of each process."""
    peers = results["peers"]
    text = header("configuration", "compile s", "from cache ms", "open ms", *(f"{NAMES[peer]} load ms" for peer in peers),
                  "peak MB", *(f"{NAMES[peer]} MB" for peer in peers))

    def figure(figures, key, unit=1):
        return number(figures[key] / unit) if key in figures else "–"

    for row in results["rows"]:
        if row["threads"] == threads:
            ours = row["tilewright"]
            cells = [f"`{row['configuration']}`", figure(ours, "compile_ms", 1e3), figure(ours, "cached_ms"), figure(ours, "load_ms"),
                     *(figure(row[peer], "load_ms") for peer in peers), figure(ours, "peak_rss_mb"),
                     *(figure(row[peer], "peak_rss_mb") for peer in peers)]
            text += "| " + " | ".join(cells) + " |\n"
    return text


def heading(threads):
    return "One thread" if threads == 1 else f"{threads} threads"


def failures(results):
    """Each reason once, with what it concerns."""
    reasons = {}
    for row in results["rows"]:
        for program in ("tilewright", *results["peers"]):
            if "error" in row[program]:
                concerned = reasons.setdefault((NAMES[program], row[program]["error"]), [])
                if row["configuration"] not in concerned:
                    concerned.append(row["configuration"])
    return "".join(f"- {program} does not run {', '.join(f'`{name}`' for name in names)}: {reason}\n"
                   for (program, reason), names in reasons.items())


def versions(results):
    found = {}
    for row in results["rows"]:
        for program in results["peers"]:
            if "version" in row[program]:
                found[program] = row[program]["version"]
    targets = {row["tilewright"]["target"] for row in results["rows"] if "target" in row["tilewright"]}
    named = [f"{NAMES[program]} {version}" for program, version in found.items()]
    return f"Tilewright for `{'`, `'.join(sorted(targets))}`; {', '.join(named) or 'no peer'}; {results['machine']}, " \
           f"load average {results['load']:.1f} at the start; medians of {results['rounds']} rounds."


def markdown(results):
    text = versions(results) + "\n"
    for threads in results["threads"]:
        text += f"\n### {heading(threads)}\n\n" + latencies(results, threads)
    reasons = failures(results)
    text += f"\n{reasons}" if reasons else ""
    return text + f"\n### Compile time, load time and memory, {heading(results['threads'][-1]).lower()}\n\n" \
        + costs(results, results["threads"][-1])


def update(root, results):
    picture = "![Latencies of the peers over Tilewright's]"
    marked_block.write(os.path.join(root, "docs", "performance.md"), BLOCK,
                       f"\n{picture}(performance.svg)\n\n{markdown(results)}\n")
    verdicts = "".join(f"- {heading(threads)}. {verdict(results, threads)}" for threads in results["threads"])
    marked_block.write(os.path.join(root, "README.md"), BLOCK, f"{verdicts}\n{picture}(docs/performance.svg)\n")
    with open(os.path.join(root, "docs", "performance.svg"), "w", encoding="utf-8") as file:
        file.write(peers_picture.draw(results))
