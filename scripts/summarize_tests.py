#!/usr/bin/env python3
"""summarize_tests.py FILE.xml …: adds up JUnit files of lit and ctest.

Lists the failed tests and the reasons of the skipped ones. The last line is `N passed, N failed, N skipped`. A file that
is missing or empty counts as one failure: a suite that did not run has not passed.
"""

import collections
import os
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """Passed, failed or skipped, for a <testcase> as lit or as ctest writes it."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def reason(case):
    """Why a test was skipped: what ctest knows, or else the last line that the test printed."""
    output = (case.findtext("system-out") or "").strip().splitlines()
    for line in reversed(output):
        if line.startswith("skipped: "):
            return line.removeprefix("skipped: ")
    for index, line in enumerate(output):
        if line.endswith("Skipped") and index + 1 < len(output):  # GTEST_SKIP() << reason
            return output[index + 1].strip()
    skipped = case.find("skipped")
    return (skipped.get("message") if skipped is not None else None) or "no reason given"


def main(paths):
    counts = collections.Counter()
    skips = collections.defaultdict(list)
    for path in paths:
        cases = ElementTree.parse(path).getroot().iter("testcase") if os.path.exists(path) else []
        ran = False
        for case in cases:
            ran = True
            name = f"{case.get('classname')}/{case.get('name')}" if case.get("classname") != case.get("name") else case.get("name")
            result = outcome(case)
            counts[result] += 1
            if result == "failed":
                print(f"failed: {name}")
            elif result == "skipped":
                skips[reason(case)].append(name)
        if not ran:
            counts["failed"] += 1
            print(f"failed: {os.path.basename(path)} holds no test")
    for why, names in sorted(skips.items()):
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        print(f"skipped: {shown}: {why}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
