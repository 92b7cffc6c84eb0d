"""The Python environment of the peers: made once in ~/.cache/tilewright, anew when the list of packages has changed."""

import os
import shutil
import subprocess
import sys
import venv


def install(python, *what):
    command = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check"]
    return subprocess.run([*command, *what], capture_output=True, text=True, check=False)


def make(requirements):
    """The interpreter of the environment. A package that cannot be had is said; its peer then fails with that reason."""
    folder = os.path.expanduser("~/.cache/tilewright/peers")
    python, mark = os.path.join(folder, "bin", "python3"), os.path.join(folder, "requirements.txt")
    with open(requirements, encoding="utf-8") as file:
        wanted = file.read()
    if os.path.exists(mark):
        with open(mark, encoding="utf-8") as file:
            if file.read() == wanted:
                return python
    print(f"making {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    failed = []
    if install(python, "-r", requirements).returncode:
        packages = [line for line in wanted.splitlines() if line and not line.startswith("#")]
        failed = [package for package in packages if install(python, package).returncode]
    for package in failed:
        print(f"cannot install {package}", file=sys.stderr, flush=True)
    if not failed:
        shutil.copyfile(requirements, mark)
    return python
