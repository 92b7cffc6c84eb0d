"""The part of a document that a script writes: the lines between `<!-- NAME -->` and `<!-- end -->`."""


def _split(path, name):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin, end = f"<!-- {name} -->\n", "<!-- end -->\n"
    before, found, rest = text.partition(begin)
    old, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{path} has no block <!-- {name} --> … <!-- end -->")
    return before + begin, old, end + after


def read(path, name):
    return _split(path, name)[1]


def write(path, name, text):
    before, _, after = _split(path, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + text + after)
