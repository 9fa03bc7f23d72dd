"""Tables and charts of a run: printed, and written into the folder of --out after each figure."""
import os

from . import svg


def ms(value):
    return "-" if value is None else svg.number(value)


def ratio(a, b):
    return None if a is None or not b else a / b


def times(value):
    return "-" if value is None else f"{value:.2f}" if value < 100 else f"{value:.0f}"


class Report:
    def __init__(self, folder, machine, command, judge):
        self.folder, self.command, self.judge = folder, command, judge
        self.lines = ["# Figures of bench/run", "", machine, "", "```", command, "```", ""]
        self.machine, self.missed, self.charts = machine, 0, 0
        os.makedirs(folder, exist_ok=True)

    def put(self, *lines):
        for line in lines:
            print(line, flush=True)
        self.lines += lines

    def save(self):
        with open(os.path.join(self.folder, "report.md"), "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")

    def goal(self, value, bound, always=False):
        """bound: '<= x' or '>= x', or empty; judged where the goals are meant to hold, or always: at any number of rows."""
        if not bound or value is None:
            return ""
        sign, limit = bound.split(" ")
        reached = value <= float(limit) if sign == "<=" else value >= float(limit)
        if not self.judge and not always:
            return f"{bound} (for 20 million rows)"
        self.missed += not reached
        return f"{bound} {'reached' if reached else 'MISSED'}"

    def table(self, title, header, rows, note=""):
        """rows of text; the first column is left, the others right aligned."""
        cells = [header] + [[str(c) for c in row] for row in rows]
        width = [max(len(row[i]) for row in cells) for i in range(len(header))]
        self.put("", "## " + title, "")
        if note:
            self.put(note, "")

        def line(row):
            return "| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, width))) + " |"

        self.put(line(header), "|" + "|".join("-" * (w + 1) + (":" if i else "-") for i, w in enumerate(width)) + "|")
        self.put(*[line(row) for row in cells[1:]])
        self.save()

    def chart(self, name, drawing):
        if drawing is None:
            return
        with open(os.path.join(self.folder, name + ".svg"), "w", encoding="utf-8") as file:
            file.write(drawing)
        self.charts += 1
        self.put("", f"![{name}]({name}.svg)")
        self.save()

    def bars(self, name, title, note, unit, groups):
        self.chart(name, svg.bars(title, note + "; " + self.short(), unit, groups))

    def growth(self, name, title, note, x_name, unit, series):
        self.chart(name, svg.lines(title, note + "; " + self.short(), x_name, unit, series))

    def short(self):
        """The machine in the few words that fit above a chart."""
        words = self.machine.split(";")[0].split(", ")
        return ", ".join(words[:3] + [w.split(" (")[0] for w in words if w.startswith(("PostgreSQL", "DuckDB"))])
