"""Queries as trees that can be written as SQL and made smaller.

A node is a string, a Param, a Seq of nodes, a Lst whose items may be left out, or an Alt that may be replaced by one
of its alternatives.  Whether a smaller tree is still a valid query is for the server to say."""
from values import quote


class Param:
    """$number in a prepared statement, else a constant: the value of the set that is asked for."""

    def __init__(self, number, typ, values):
        self.number, self.typ, self.values = number, typ, values

    def literal(self, which):
        v = self.values[which % len(self.values)]
        return f"NULL::{self.typ}" if v is None else f"{quote(v)}::{self.typ}"


class Seq:
    def __init__(self, *parts):
        self.parts = list(parts)


class Lst:
    """prefix, then items with a separator; nothing at all when no item is left (or the empty text)."""

    def __init__(self, prefix, items, sep=", ", empty=""):
        self.prefix, self.items, self.sep, self.empty = prefix, list(items), sep, empty


class Alt:
    def __init__(self, first, *others):
        self.first, self.others = first, list(others)


def render(node, which=None):
    """The text; parameters as constants of set number which, or as $n when that is None."""
    if isinstance(node, str):
        return node
    if isinstance(node, Param):
        return f"${node.number}::{node.typ}" if which is None else node.literal(which)
    if isinstance(node, Seq):
        return "".join(render(p, which) for p in node.parts)
    if isinstance(node, Alt):
        return render(node.first, which)
    if not node.items:
        return node.empty
    return node.prefix + node.sep.join(render(i, which) for i in node.items)


def children(node):
    if isinstance(node, Seq):
        return node.parts
    if isinstance(node, Lst):
        return node.items
    if isinstance(node, Alt):
        return [node.first]
    return []


def params(node, found=None):
    """The parameters of a tree by number."""
    found = {} if found is None else found
    if isinstance(node, Param):
        found[node.number] = node
    for c in children(node):
        params(c, found)
    return found


def prepared(node):
    """What stands behind PREPARE and a name, and the parameters in their order there."""
    ps, text = params(node), render(node)
    order = sorted(ps)
    for new, old in enumerate(order, 1):
        text = text.replace(f"${old}::", f"$#{new}::")
    types = f"({', '.join(ps[i].typ for i in order)}) " if order else ""
    return f"{types}AS {text.replace('$#', '$')}", [ps[i] for i in order]


def smaller(node):
    """All trees that are one step smaller, the biggest steps first as far as the order of the tree tells."""
    if isinstance(node, Alt):
        for o in node.others:
            yield o
        for s in smaller(node.first):
            yield Alt(s, *node.others)
    elif isinstance(node, Lst):
        n = len(node.items)
        if n > 2:
            half = n // 2
            yield Lst(node.prefix, node.items[:half], node.sep, node.empty)
            yield Lst(node.prefix, node.items[half:], node.sep, node.empty)
        for i in range(n):
            yield Lst(node.prefix, node.items[:i] + node.items[i + 1:], node.sep, node.empty)
        for i in range(n):
            for s in smaller(node.items[i]):
                yield Lst(node.prefix, node.items[:i] + [s] + node.items[i + 1:], node.sep, node.empty)
    elif isinstance(node, Seq):
        for i, p in enumerate(node.parts):
            for s in smaller(p):
                yield Seq(*node.parts[:i], s, *node.parts[i + 1:])
