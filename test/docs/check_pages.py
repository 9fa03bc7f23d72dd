"""Compare what the pages name with what the code has; no server is needed.

    check_pages.py [TREE]

* docs/why-not.md has a row for each reason code of the source, and for nothing else; test/docs/reasons.md an example
* docs/reference.md has a row for each option, setting, function and view, and for nothing else, and the messages it
  quotes are among the expected outputs of the regression tests
* docs/format.md has each encoding and key class by its number, docs/reference.md each key class
* docs/plans.md has every line that EXPLAIN can print
* links between the pages lead to files and headings that exist, and so do the paths in CONTRIBUTING.md
* README.md has at most 250 lines
* the version is the same wherever it is said

Prints what is wrong, and 'N passed, N failed'.
"""

import glob
import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# what users do not call or read
INTERNAL = {"handler", "validator", "discard_row", "waiting_rows", "file_path", "page_bytes", "key_class", "table_counters",
            "oids_without", "table_state", "ddl_command", "object_dropped", "on_ddl_end", "on_drop", "sweep_at_install",
            "horizon_holders", "bucket_tables", "inline_sizes", "delete_sizes"}
passed = failed = 0


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def source():
    texts = []
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        texts += [read(os.path.join(folder, name)) for name in sorted(names) if name.endswith((".c", ".h"))]
    return "\n".join(texts)


def check(good, complaint):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(complaint)


def same(what, page, named, known):
    """Both have the same names, and there are some."""
    check(known and named, "%s: found no %s" % (page, what))
    for name in sorted(known | named):
        check(name in named, "%s: %s %s of the code is missing" % (page, what, name))
        check(name in known, "%s: %s %s is not in the code" % (page, what, name))


def section(text, heading):
    match = re.search(r"^#+ %s\n(.*?)(?=^## |\Z)" % re.escape(heading), text, re.M | re.S)
    return match.group(1) if match else ""


def first_cells(text):
    """What stands in backquotes in the first column of tables."""
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.M)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def anchors(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)}


def main():
    code = source()
    script = read("bucketfdw--1.0.sql")

    reasons = set(re.findall(r'BF_REASON\(REASON_\w+, "(\w+)"', code)) - {"none"}
    page = read("docs/why-not.md")
    same("reason", "docs/why-not.md", first_cells(section(page, "Joins") + section(page, "GROUP BY and DISTINCT")), reasons)
    same("reason", "test/docs/reasons.md", set(re.findall(r"^### (\w+)$", read("test/docs/reasons.md"), re.M)), reasons)

    page = read("docs/reference.md")
    valid = re.search(r'VALID_OPTIONS "([^"]*)"', code)
    same("option", "docs/reference.md", first_cells(section(page, "Table options")), set(valid.group(1).split(", ")))
    same("setting", "docs/reference.md", first_cells(section(page, "Settings")),
         set(re.findall(r'DefineCustom\w+Variable\("([\w.]+)"', code)))
    functions = section(page, "Functions").split("\n### ")[0]
    same("function", "docs/reference.md", {name.split("(")[0] for name in first_cells(functions)},
         set(re.findall(r"^CREATE (?:FUNCTION|PROCEDURE) bucketfdw\.(\w+)", script, re.M)) - INTERNAL)
    same("view", "docs/reference.md", set(re.findall(r"^`bucketfdw\.(\w+)`, one row", page, re.M)),
         set(re.findall(r"^CREATE VIEW bucketfdw\.(\w+)", script, re.M)) - INTERNAL)
    expected = "".join(read("expected/" + name) for name in os.listdir(os.path.join(ROOT, "expected")))
    for row in section(page, "What a foreign table cannot do").split("\n"):
        message = re.search(r"`(?:ERROR|WARNING):  ([^`]*)`(?! \((?:until|only on))", row)
        if message is None:
            continue
        message = message.group(1)
        pattern = re.sub(r'"\w+"', r'"\\w+"', re.escape(message).replace('\\"', '"'))
        check(re.search(pattern, expected), "docs/reference.md: no test expects: " + message)

    classes = {(number, name.lower()) for name, number in re.findall(r"\bKEYCLASS_(\w+) = (\d+)", code)}
    numbered = re.search(r"^Key classes: (.*?)\. ", read("docs/format.md"), re.M | re.S).group(1)
    same("key class", "docs/format.md", {" ".join(c) for c in re.findall(r"(\d+) (\w+)", re.sub(r"\([^)]*\)", "", numbered))},
         {" ".join(c) for c in classes})
    rows = re.findall(r"^\| (\w[\w, ]*) \|", section(page, "Key classes"), re.M)
    same("key class", "docs/reference.md", set(re.split(", ", ", ".join(rows))) - {"key class"},
         {name for _, name in classes} - {"none"})
    same("encoding", "docs/format.md", set(re.findall(r"^\| (\d+) \|", section(read("docs/format.md"), "Chunks"), re.M)),
         set(re.findall(r"\bENCODING_\w+ = (\d+)", code)))

    page = read("docs/plans.md")
    for name in sorted(set(re.findall(r'ExplainProperty\w+\(\s*"([^"]+)"', code))):
        check("`" + name in page, "docs/plans.md: line %s of EXPLAIN is missing" % name)
    for name in sorted(first_cells(section(page, "Lines of EXPLAIN")) - {"Filter"}):
        check('"' + name in code, "docs/plans.md: EXPLAIN has no line " + name)

    pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"]
    pages += ["docs/" + name for name in sorted(os.listdir(os.path.join(ROOT, "docs"))) if name.endswith(".md")]
    for name in pages:
        text = read(name)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            there = os.path.exists(os.path.join(ROOT, path))
            check(there and (not anchor or anchor in anchors(read(path))), "%s: dead link %s" % (name, target))
    for path in re.findall(r"`((?:src|test|tools|sql|bench)/[^` ]*)", read("CONTRIBUTING.md")):
        check(glob.glob(os.path.join(ROOT, path)), "CONTRIBUTING.md: there is no " + path)
    count = read("README.md").count("\n")
    check(count <= 250, "README.md: %d lines, at most 250 are wanted" % count)


    version = re.search(r"default_version = '([\d.]+)'", read("bucketfdw.control")).group(1)
    check(re.search(r"^## ([\d.]+)$", read("CHANGELOG.md"), re.M).group(1) == version, "CHANGELOG.md: another version")
    for path, pattern in (("META.json", r'"version": "([\d.]+)\.\d+"'), ("src/admin/inspect.c", r'LIBRARY_VERSION "([\d.]+)\.\d+"')):
        check(re.search(pattern, read(path)).group(1) == version, path + ": another version")

    print("%d passed, %d failed" % (passed, failed))
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
