"""Run the SQL examples of the documentation and compare what is printed with what the page says.

    check_docs.py --psql PROGRAM --root TREE [--write FOLDER] [DOCUMENT...]

A page runs from top to bottom in one psql session, as a superuser, in a new database.

* A block marked sql is executed.  Without a block of output behind it, it must raise no error.
* A block without a language directly behind it is what psql prints, blanks at line ends aside.
* Output that begins with 'relations |' is the answer of bucketfdw.why_not about the last statement of the block before,
  which is planned only: columns of the first join or aggregation that is refused for this reason, lines broken at blanks.
* A block behind 'What helps:' is executed up to its last statement, and of that bucketfdw.why_not must say that every
  join and aggregation uses buckets, with the other methods of the same kind switched off, so that no cost decides.
  If the block has settings only, it is asked about the example before it.
* HTML comments are for what the reader need not see:
    <!-- run: SQL -->        is executed
    <!-- no run -->          the next block of SQL or output is left out
    <!-- numbers vary -->    in the next output numbers with their units, and the widths of columns, are not compared
    <!-- one of them -->     of the next block behind 'What helps:' one join or aggregation has to use buckets, not all

With --write pages with the outputs that differ replaced by what was printed are put into FOLDER, to be read and then
copied by hand.

In every output costs ('cost=', '... against ...'), sizes ('bytes', 'kB', 'MB') and times ('ms') are not compared: both
sides have N in their place.
"""

import argparse
import json
import os
import re
import subprocess
import sys

DOCUMENTS = ["README.md", "docs/clients.md", "docs/from-spark.md", "docs/operations.md", "docs/plans.md", "docs/reference.md",
             "docs/what-do-i-do-when.md", "docs/why-not.md", "test/docs/reasons.md"]
ONLY_BUCKETS = "".join("SET LOCAL enable_%s = off;\n" % name for name in
                       ("hashjoin", "mergejoin", "nestloop", "hashagg", "sort"))


class Block:
    def __init__(self, kind, text, line, heading):
        self.kind = kind        # 'sql', 'output', 'hidden', or the words of a directive
        self.text = text
        self.line = line
        self.heading = heading  # the paragraph before it is 'What helps:'


def parse(text):
    """The blocks and directives of a page, in order."""
    blocks = []
    lines = text.split("\n")
    i = 0
    paragraph = ""
    adjacent = False            # nothing but blank lines since a block of SQL
    while i < len(lines):
        line = lines[i]
        start = i + 1
        if line.startswith("```"):
            language = line[3:].strip()
            body = []
            i += 1
            while not lines[i].startswith("```"):
                body.append(lines[i])
                i += 1
            if language == "sql":
                blocks.append(Block("sql", "\n".join(body), start, paragraph.startswith("What helps")))
                adjacent = True
            else:
                if language == "" and adjacent:
                    blocks.append(Block("output", "\n".join(body), start, False))
                adjacent = False
            paragraph = ""
        elif line.startswith("<!--"):
            body = line[4:]
            while "-->" not in body:
                i += 1
                body += "\n" + lines[i]
            body = body[:body.index("-->")].strip()
            if body.startswith("run:"):
                blocks.append(Block("hidden", body[4:], start, False))
            elif body in ("no run", "numbers vary", "one of them"):
                blocks.append(Block(body, "", start, False))
        elif line.strip():
            paragraph = line if not paragraph else paragraph + "\n" + line
            adjacent = False
        else:
            if paragraph and not paragraph.startswith("What helps"):
                paragraph = ""
        i += 1
    return blocks


def statements(text):
    """Statements of a block, split at semicolons outside quotes and parentheses of BEGIN ATOMIC (there are none)."""
    found, at = [], 0
    for match in re.finditer(r"'(?:[^']|'')*'|\"[^\"]*\"|\$\$.*?\$\$|--[^\n]*|(;)|\\gx?", text, re.S):
        if match.group(1) or match.group(0).startswith("\\g"):
            statement = text[at:match.end()].strip()
            at = match.end()
            if statement:
                found.append(statement)
    if text[at:].strip():
        found.append(text[at:].strip())
    return found


class Session:
    """One psql, fed statement by statement."""

    def __init__(self, psql, database):
        self.process = subprocess.Popen([psql, "-X", "-q", "-d", database], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.n = 0

    def run(self, text):
        self.n += 1
        mark = "@@end %d@@" % self.n
        # errors and output go the same way, in order: psql writes both out before the next command
        self.process.stdin.write(text + "\n\\echo '" + mark + "'\n")
        self.process.stdin.flush()
        out = []
        for line in self.process.stdout:
            if line.rstrip("\n") == mark:
                return "".join(out)
            out.append(line)
        raise RuntimeError("psql ended: " + "".join(out))

    def rows(self, query):
        """The rows of a query as dictionaries, or the error message."""
        out = self.run("\\pset tuples_only on\n\\pset format unaligned\n"
                       "SELECT row_to_json(q) FROM (" + query + ") q;\n"
                       "\\pset format aligned\n\\pset tuples_only off")
        try:
            return [json.loads(line) for line in out.split("\n") if line]
        except ValueError:
            return out

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def plain(text):
    """What may differ from run to run, made the same."""
    text = re.sub(r"cost=\d+\.\d+\.\.\d+\.\d+", "cost=N", text)
    text = re.sub(r"\d+\.\d+ against \d+\.\d+", "N against N", text)
    text = re.sub(r"\b\d+(\.\d+)? (bytes|kB|MB|ms)\b", r"N \2", text)
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def plain_ends(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def loose(text):
    """Without numbers, their units and the widths of columns."""
    text = re.sub(r"\d+(\.\d+)?( (bytes|kB|MB))?", "N", plain(text))
    return re.sub(r"-+", "-", re.sub(r" +", " ", text))


def words(text):
    return " ".join(plain(text).split())


def record(text):
    """The columns of an answer of why_not as the page has it."""
    result, key = {}, None
    for line in text.split("\n"):
        match = re.match(r"(\w*) *\| ?(.*)", line)
        if match and match.group(1):
            key = match.group(1)
            result[key] = match.group(2)
        elif match and key:
            result[key] += " " + match.group(2)
    return {key: words(value) for key, value in result.items()}


class Checker:
    def __init__(self, psql, root):
        self.psql, self.root = psql, root
        self.passed = self.failed = 0
        self.printed = {}       # first line of a block of output -> what the server printed in its place

    def fail(self, line, what):
        self.failed += 1
        print("%s:%d: %s" % (self.document, line, what))

    def why_not(self, query, setup=""):
        # the reader's line breaks inside a literal are none of the table's business
        query = query.rstrip().rstrip(";")
        return self.session.rows("SELECT kind, relations, used, reason, detail, hint FROM bucketfdw.why_not($why_not$"
                                 + query + "$why_not$)")

    def check_reason(self, sql, out):
        *before, last = statements(sql.text)
        self.execute(before, sql.line)
        rows = self.why_not(last)
        if isinstance(rows, str):
            return self.fail(sql.line, "the example fails:\n" + rows)
        refused = [row for row in rows if not row["used"]]
        if not refused:
            return self.fail(sql.line, "the example is made by buckets: %r" % rows)
        said = record(out.text)
        # above a refused join there may be the aggregation that the page is about
        row = next((row for row in refused if row["reason"] == said.get("reason")), refused[0])
        given = {key: words(row[key] or "") for key in said}
        if said == given:
            self.passed += 1
        else:
            self.fail(out.line, "the answer is another one:\n" + "\n".join(
                "  %-9s page: %s\n            server: %s" % (key, said[key], given[key])
                for key in said if said[key] != given[key]))
        return None

    def check_help(self, sql, example, enough):
        *before, last = statements(sql.text)
        settings = [s for s in statements(sql.text) if s.upper().startswith("SET ")]
        if last.upper().startswith("SET "):
            before.append(last)
            last = statements(example.text)[-1]
        self.execute(before, sql.line)
        self.session.run("BEGIN;\n" + ONLY_BUCKETS)
        rows = self.why_not(last)
        self.session.run("ROLLBACK;\n" + "".join("RESET %s;\n" % s.split()[1] for s in settings))
        if isinstance(rows, str) or not rows:
            self.fail(sql.line, "what should help fails: %s" % rows)
        elif not enough([row["used"] for row in rows]):
            self.fail(sql.line, "what should help does not: %r" % rows)
        else:
            self.passed += 1

    def execute(self, texts, line):
        for text in texts:
            out = self.session.run(text)
            if re.search(r"^(ERROR|FATAL|PANIC):", out, re.M):
                self.fail(line, "an error:\n" + out)

    def check_output(self, sql, out, numbers):
        got = self.session.run(sql.text)
        said, given = (loose(out.text), loose(got)) if numbers else (plain(out.text), plain(got))
        if said == given:
            self.passed += 1
        else:
            self.printed[out.line] = plain_ends(got)
            self.fail(out.line, "another output:\n" + got)

    def check(self, document):
        self.document = document
        with open(os.path.join(self.root, document)) as file:
            blocks = parse(file.read())
        database = "docs_" + re.sub(r"\W", "_", document).lower()
        subprocess.run([self.psql, "-X", "-q", "-d", "postgres", "-c", "CREATE DATABASE " + database], check=True)
        self.session = Session(self.psql, database)
        skip = numbers = False
        enough = all
        example = None
        for i, block in enumerate(blocks):
            after = [b for b in blocks[i + 1:] if b.kind != "numbers vary"]
            out = after[0] if after and after[0].kind == "output" else None
            if block.kind == "no run":
                skip = True
            elif block.kind == "one of them":
                enough = any
            elif block.kind == "hidden":
                self.execute([block.text], block.line)
            elif block.kind == "sql" and skip:
                skip = False
            elif block.kind == "sql":
                numbers = i + 1 < len(blocks) and blocks[i + 1].kind == "numbers vary"
                if block.heading:
                    self.check_help(block, example, enough)
                    enough = all
                elif out is None:
                    failed = self.failed
                    self.execute([block.text], block.line)
                    self.passed += self.failed == failed
                elif out.text.startswith("relations |"):
                    example = block
                    self.check_reason(block, out)
                else:
                    self.check_output(block, out, numbers)
        self.session.end()

    def write(self, folder):
        """The page with the printed outputs."""
        if not self.printed:
            return
        lines, result, i = open(os.path.join(self.root, self.document)).read().split("\n"), [], 0
        while i < len(lines):
            result.append(lines[i])
            if i + 1 in self.printed:
                result += self.printed.pop(i + 1).split("\n")
                while not lines[i + 1].startswith("```"):
                    i += 1
            i += 1
        path = os.path.join(folder, self.document)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write("\n".join(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--psql", default="psql")
    parser.add_argument("--root", required=True)
    parser.add_argument("--write", metavar="FOLDER")
    parser.add_argument("documents", nargs="*", default=[])
    args = parser.parse_args()
    checker = Checker(args.psql, args.root)
    for document in args.documents or DOCUMENTS:
        checker.check(document)
        if args.write:
            checker.write(args.write)
    print("%d passed, %d failed" % (checker.passed, checker.failed))
    sys.exit(checker.failed != 0)


if __name__ == "__main__":
    main()
