"""The picture of docs/performance.md: for each configuration one bar per peer, its latency over ours, on a logarithmic scale.

Plain SVG. Its colours follow the reader's light or dark scheme.
"""

import math
from xml.sax.saxutils import escape

NAMES = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO f32", "iree": "IREE"}
COLOURS = {"onnxruntime": ("#2a6fdb", "#6ea8ff"), "openvino": ("#c2571a", "#ff9d5c"), "iree": ("#3f8f4f", "#7fd08f")}
LEFT, WIDTH, BAR, GAP, TOP = 190, 560, 9, 8, 74
LOWEST, HIGHEST = 0.25, 16
MARKS = (0.25, 0.5, 0.7, 1, 2, 4, 8, 16)


def place(ratio):
    """Where a ratio stands on the scale; those beyond its ends stand at them."""
    inside = min(max(ratio, LOWEST), HIGHEST)
    return LEFT + WIDTH * math.log(inside / LOWEST) / math.log(HIGHEST / LOWEST)


def style(peers):
    def rules(index, ink, soft):
        colours = "".join(f".{peer}{{fill:{COLOURS[peer][index]}}}" for peer in peers)
        return f"text{{fill:{ink}}}.mark{{stroke:{soft}}}.one{{stroke:{ink}}}{colours}"

    light, dark = rules(0, "#24292f", "#d0d7de"), rules(1, "#e6edf3", "#30363d")
    return (f"<style>text{{font:12px system-ui,sans-serif}}.head{{font-size:14px;font-weight:600}}.small{{font-size:10px}}"
            f"{light}@media(prefers-color-scheme:dark){{{dark}}}</style>\n")


def legend(peers):
    text, x = "", LEFT
    for peer in peers:
        text += f'<rect class="{peer}" x="{x}" y="32" width="12" height="12" rx="2"/><text x="{x + 17}" y="42">{NAMES[peer]}</text>\n'
        x += 130
    return text


def panel(rows, peers, threads, top):
    """The bars of one number of threads. Returns the text and where it ends."""
    text = f'<text class="head" x="10" y="{top}">{"one thread" if threads == 1 else f"{threads} threads"}</text>\n'
    bars, y = "", top + 22
    for row in rows:
        height = BAR * len(peers)
        bars += f'<text x="{LEFT - 8}" y="{y + height / 2 + 4:.0f}" text-anchor="end">{escape(row["configuration"])}</text>\n'
        for index, peer in enumerate(peers):
            here = y + index * BAR
            if "latency_ms" not in row[peer] or "latency_ms" not in row["tilewright"]:
                bars += f'<text class="small" x="{place(1) + 4:.1f}" y="{here + BAR - 1}">does not run</text>\n'
                continue
            ratio = row[peer]["latency_ms"] / row["tilewright"]["latency_ms"]
            begin, end = sorted((place(1), place(ratio)))
            bars += (f'<rect class="{peer}" x="{begin:.1f}" y="{here}" width="{max(end - begin, 1):.1f}" height="{BAR - 1}">'
                     f"<title>{NAMES[peer]}: {ratio:.2f}</title></rect>\n")
            bars += f'<text class="small" x="{max(end, place(1)) + 4:.1f}" y="{here + BAR - 1}">{ratio:.2f}</text>\n'
        y += height + GAP
    for mark in MARKS:
        x, kind = place(mark), "one" if mark == 1 else "mark"
        text += f'<line class="{kind}" x1="{x:.1f}" y1="{top + 16}" x2="{x:.1f}" y2="{y - GAP + 4}"/>'
        text += f'<text class="small" x="{x:.1f}" y="{top + 12}" text-anchor="middle">{mark:g}</text>\n'
    return text + bars, y + 30


def draw(results):
    peers = [peer for peer in results["peers"] if any("latency_ms" in row[peer] for row in results["rows"])]
    body, y = legend(peers), TOP
    for threads in results["threads"]:
        rows = [row for row in results["rows"] if row["threads"] == threads]
        text, y = panel(rows, peers, threads, y)
        body += text
    title = "Latency over Tilewright's: right of 1, Tilewright is faster"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 60} {y - 20}" role="img" '
            f'aria-label="{title}">\n{style(peers)}<text class="head" x="10" y="20">{title}</text>\n{body}</svg>\n')
