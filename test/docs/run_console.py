#!/usr/bin/env python3
"""run_console.py DOCUMENT BUILD [--update]: runs the commands that a document shows and compares what they print.

Commands are the lines after `$ ` in blocks that begin with ```console; a line that ends in a backslash goes on, and a
here-document `<<'EOF'` lasts to its end. The lines after a command are its output: `…` stands for any text within a line, a
line of only `…` for any number of lines. Empty lines at the end do not count. Commands of a document run in order, in a folder
where the project's files are found by their names and new files vanish afterwards. They may use the tools of the build, LLVM's,
the Python that runs this script, and $TILEWRIGHT_MODELS. A command must succeed, unless its last line of output is
`exit code N`. Documents whose models are not there are skipped (77).

--update writes what the commands print now into the document; lines with `…` that still match stay.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LLVM = "/usr/lib/llvm-22/bin"
FENCE = "```"


class Example:
    """A command, the lines of its expected output, and where in the document these begin."""

    def __init__(self, command, line):
        self.command, self.line, self.output = command, line, []

    def goes_on(self):
        """Whether the next line belongs to the command."""
        ends = self.command.split("\n")
        return not self.output and (ends[-1].endswith("\\") or "<<'EOF'" in ends[0] and ends[-1] != "EOF")


def examples(lines):
    """The examples of a document. Empty lines that set a command off from the one before belong to no output."""
    found, inside, current = [], False, None
    for number, line in enumerate(lines):
        if line.startswith(FENCE):
            inside, current = not inside and line.strip() == FENCE + "console", None
        elif inside and line.startswith("$ "):
            current = Example(line[2:], number + 1)
            found.append(current)
        elif inside and current and current.goes_on():
            current.command += "\n" + line
            current.line = number + 1
        elif inside and current:
            current.output.append(line)
    for example in found:
        while example.output and not example.output[-1].strip():
            example.output.pop()
    return found


def pattern(output):
    """A regular expression for expected output."""
    parts = []
    for line in output:
        if line.strip() == "…":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(".*".join(re.escape(piece) for piece in line.rstrip().split("…")) + r"[ \t]*\n")
    return re.compile("".join(parts))


def updated(example, printed):
    """The printed lines, each as the document has it where that matches."""
    loose = [line for line in example.output if "…" in line and line.strip() != "…"]
    return [next((old for old in loose if pattern([old]).fullmatch(line + "\n")), line) for line in printed.splitlines()]


def run(command, folder, build):
    path = [os.path.join(build, "bin"), LLVM, os.path.dirname(sys.executable), os.environ["PATH"]]
    environment = dict(os.environ, PATH=os.pathsep.join(path))
    environment.setdefault("TILEWRIGHT_MODELS", os.path.expanduser("~/.cache/tilewright/models"))
    environment["XDG_CACHE_HOME"] = os.path.join(folder, ".cache")
    process = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    printed = process.stdout.rstrip("\n") + "\n" if process.stdout.strip() else ""
    if process.returncode:
        printed += f"exit code {process.returncode}\n"
    return printed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document")
    parser.add_argument("build")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    with open(arguments.document, encoding="utf-8") as file:
        text = file.read()
    models = os.environ.get("TILEWRIGHT_MODELS") or os.path.expanduser("~/.cache/tilewright/models")
    for name in sorted(set(re.findall(r"\$TILEWRIGHT_MODELS/([\w.]+)", text))):
        if not os.path.exists(os.path.join(models, name)):
            print(f"skipped: {name} is not there; scripts/fetch_models.py fetches it")
            return 77
    lines, count, wrong = text.splitlines(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(SOURCE):
            if name not in (".git", "build"):
                os.symlink(os.path.join(SOURCE, name), os.path.join(folder, name))
        for example in examples(lines):
            count += 1
            printed = run(example.command, folder, os.path.abspath(arguments.build))
            if not pattern(example.output).fullmatch(printed):
                wrong.append((example, printed))
                print(f"{arguments.document}:{example.line}: $ {example.command}\nexpected:\n" + "\n".join(example.output)
                      + f"\nprinted:\n{printed}")
    if arguments.update:
        for example, printed in reversed(wrong):
            lines[example.line:example.line + len(example.output)] = updated(example, printed)
        with open(arguments.document, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    print(f"{count} commands, {len(wrong)} print something else")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
