#!/usr/bin/env python3
"""check_documents.py ROOT: links between documents lead somewhere, and lists of what the code holds are complete.

Every error number has its page docs/errors/TWnnnn.md, which begins with the number and the title that Errors.def gives it,
and a row in docs/errors/README.md. Every builtin has a row in runtime/builtins/README.md.
"""

import os
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
ERROR = re.compile(r'^TW_ERROR\((\w+), (\d+), (\w+), "([^"]+)"\)', re.MULTILINE)
BUILTIN = re.compile(r'\{"(\w+)",\s*builtins::')


def documents(root):
    for path, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "build" and not name.startswith("."))
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.join(path, name)


def broken_links(root):
    for path in documents(root):
        with open(path, encoding="utf-8") as file:
            for target in LINK.findall(file.read()):
                if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(path), target)):
                    yield f"{os.path.relpath(path, root)}: {target} does not exist"


def missing_pages(root):
    with open(os.path.join(root, "runtime/include/tilewright/Errors.def"), encoding="utf-8") as file:
        errors = ERROR.findall(file.read())
    if not errors:
        yield "Errors.def holds no error that this script can read"
    pages = {f"TW{number}.md": f"# TW{number}: {title}" for _, number, _, title in errors}
    folder = os.path.join(root, "docs/errors")
    present = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    for name, heading in pages.items():
        if name not in present:
            yield f"docs/errors/{name} is missing"
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            first = file.readline().strip()
        if first != heading:
            yield f"docs/errors/{name} begins with '{first}' instead of '{heading}'"
    for name in sorted(present - set(pages) - {"README.md"}):
        yield f"docs/errors/{name} is the page of no error"
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
        index = file.read()
    for _, number, _, title in errors:
        if f"| [TW{number}](TW{number}.md) | {title} |" not in index:
            yield f"docs/errors/README.md has no row for TW{number}, {title}"


def missing_builtins(root):
    folder = os.path.join(root, "runtime/builtins")
    with open(os.path.join(folder, "Builtins.cpp"), encoding="utf-8") as file:
        names = BUILTIN.findall(file.read())
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
        rows = set(re.findall(r"^\| `(\w+)` \|", file.read(), re.MULTILINE))
    if not names:
        yield "Builtins.cpp holds no row that this script can read"
    for name in sorted(set(names) ^ rows):
        yield f"runtime/builtins/README.md: `{name}` is {'missing' if name in names else 'no builtin'}"


def main(root):
    problems = [*broken_links(root), *missing_pages(root), *missing_builtins(root)]
    print("\n".join(problems) or "documents: nothing is missing")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
