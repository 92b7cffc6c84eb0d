#!/usr/bin/env python3
"""size_table.py [--check]: lines of C++ per folder, as git knows the files.

With --check, exit code 1 when the median .cpp has 250 lines or more, or a file over 1,000. Operator definitions (.td) may be longer.
"""

import argparse
import collections
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CODE = (".cpp", ".h", ".td", ".def", ".fbs", ".py", ".sh")
MEDIAN_LIMIT, FILE_LIMIT = 250, 1000


def folder_of(path):
    """The first two folders of a path: `passes/fuse`."""
    return "/".join(path.split("/")[:-1][:2]) or "."


def line_counts():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    counts = {}
    for path in listed:
        full = os.path.join(ROOT, path)
        if path.endswith(CODE) and os.path.isfile(full):
            with open(full, "rb") as file:
                counts[path] = file.read().count(b"\n")
    return counts


def table(counts):
    rows = collections.defaultdict(list)
    for path, lines in counts.items():
        rows[folder_of(path)].append((lines, path))
    yield f"{'folder':24} {'files':>6} {'lines':>7} {'median .cpp':>12}  longest"
    for folder, files in sorted(rows.items()):
        cpp = [lines for lines, path in files if path.endswith(".cpp")]
        median = f"{statistics.median(cpp):.0f}" if cpp else "-"
        longest = max(files)
        yield (f"{folder:24} {len(files):6} {sum(lines for lines, _ in files):7} {median:>12}  "
               f"{os.path.basename(longest[1])} ({longest[0]})")
    yield f"{'all':24} {len(counts):6} {sum(counts.values()):7}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    counts = line_counts()
    print("\n".join(table(counts)))
    cpp = [lines for path, lines in counts.items() if path.endswith(".cpp")]
    median = statistics.median(cpp) if cpp else 0
    long = [path for path, lines in counts.items() if lines > FILE_LIMIT and not path.endswith(".td")]
    print(f"median .cpp: {median:.0f} lines; files over {FILE_LIMIT}: {', '.join(long) or 'none'}")
    return 1 if check and (median >= MEDIAN_LIMIT or long) else 0


if __name__ == "__main__":
    sys.exit(main())
