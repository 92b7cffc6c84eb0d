#!/usr/bin/env python3
"""exit_code.py CODE COMMAND…: runs a command, and succeeds when it ends with that exit code."""

import subprocess
import sys


def main(expected, *command):
    code = subprocess.run(command, check=False).returncode
    if code != int(expected):
        print(f"exit code {code}, expected {expected}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
