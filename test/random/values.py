"""Types, the values their columns hold, and how both are written in SQL."""
import datetime


def quote(s):
    return "'" + s.replace("'", "''") + "'"


class KeyKind:
    """A class of types that join with one another.  types: the SQL types, the plainest first.  regular(i) makes the
    i-th ordinary value, special are the ones at the edges; both are texts that every reader of that type takes."""

    def __init__(self, name, types, regular, special, fits=lambda typ, v: True, minmax=True, total=None):
        self.name, self.types, self.regular, self.special = name, types, regular, special
        self.fits, self.minmax, self.total = fits, minmax, total

    def pool(self, rnd, size):
        """size different values, edges among them; the order is random."""
        share = rnd.choice([0, 0.1, 0.3, 0.6])
        start = rnd.choice([0, 0, -3, 100]) if self.name in ("int", "numeric", "float") else 0
        values = {}
        i = 0
        while len(values) < size and i < size * 4 + 4:
            if rnd.random() < share:
                values[rnd.choice(self.special)] = 1
            else:
                values[self.regular(start + i, rnd)] = 1
            i += 1
        values = list(values)
        rnd.shuffle(values)
        return values

    def literal(self, rnd, v, typ=None):
        """v as a constant of one of the class's types, or of unknown type."""
        if typ is None:
            typ = rnd.choice([t for t in self.types if self.fits(t, v)] or [self.types[-1]])
        return f"{quote(v)}::{typ}"


INT_LIMITS = {"int2": 1 << 15, "int4": 1 << 31, "int8": 1 << 63, "d_int4": 1 << 31}


def int_fits(typ, v):
    return -INT_LIMITS[typ] <= int(v) < INT_LIMITS[typ]


def numeric_regular(i, rnd):
    return rnd.choice([f"{i}", f"{i}", f"{i}.0", f"{i}.00", f"{i}.5", f"-{abs(i)}.25"])


def numeric_fits(typ, v):
    if typ != "numeric(12,3)" or v == "NaN":
        return True
    try:
        return abs(float(v)) < 1e8 and "e" not in v
    except OverflowError:
        return False


def float_fits(typ, v):
    return typ != "float4" or v in ("NaN", "Infinity", "-Infinity", "-0", "0") or 1e-30 < abs(float(v)) < 1e30


def date_regular(i, rnd):
    return str(datetime.date(1999, 12, 25) + datetime.timedelta(days=i))


def stamp_regular(i, rnd):
    return str(datetime.datetime(1999, 12, 31, 12, 0) + datetime.timedelta(hours=i * 7, microseconds=i % 3))


def uuid_regular(i, rnd):
    h = f"{(i * 2654435761) % (1 << 32):08x}"
    return f"{h}-0000-4000-8000-{i:012x}"


PREFIX = "the same beginning of a long key, longer than what a block keeps of its first and last key " * 4


def text_regular(i, rnd):
    return rnd.choice([f"k{i}", f"k{i}", f"{chr(97 + i % 26)}", f"Key {i}", f"ä{i}", f"k{i} "])


KINDS = [
    KeyKind("int", ["int4", "int2", "int8", "d_int4"], lambda i, r: str(i),
            ["32767", "-32768", "2147483647", "-2147483648", "9223372036854775807", "-9223372036854775808", "-1", "0"], int_fits),
    KeyKind("numeric", ["numeric", "numeric(12,3)", "d_numeric"], numeric_regular,
            ["NaN", "Infinity", "-Infinity", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "0.000000001",
             "1e30", "-1e30", "0", "0.0", "-0.5", "1e-20", "123456789012345678901234567890.123456"], numeric_fits),
    KeyKind("float", ["float8", "float4"], lambda i, r: str(i * 0.5),
            ["NaN", "Infinity", "-Infinity", "-0", "0", "1.7976931348623157e308", "5e-324", "0.1", "-2.5"], float_fits),
    KeyKind("bool", ["bool"], lambda i, r: r.choice(["t", "f"]), ["t", "f"], minmax=False),
    KeyKind("date", ["date"], date_regular, ["infinity", "-infinity", "4713-01-01 BC", "5874897-12-31", "1970-01-01", "2000-01-01"]),
    KeyKind("oid", ["oid"], lambda i, r: str(i), ["0", "4294967295", "2147483648", "2147483647"]),
    KeyKind("time", ["time"], lambda i, r: f"{i // 60 % 24:02d}:{i % 60:02d}:00", ["00:00:00", "24:00:00", "23:59:59.999999"]),
    KeyKind("timestamp", ["timestamp"], stamp_regular,
            ["infinity", "-infinity", "4713-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999", "1970-01-01", "2000-01-01"]),
    KeyKind("timestamptz", ["timestamptz"], lambda i, r: stamp_regular(i, r) + "+02",
            ["infinity", "-infinity", "4714-11-24 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00", "1970-01-01+00"]),
    KeyKind("uuid", ["uuid"], uuid_regular, ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"], minmax=False),
    KeyKind("bytea", ["bytea"], lambda i, r: f"\\x{i % 256:02x}{'00' * (i % 4)}", ["\\x", "\\x00", "\\x0000", "\\xff", "\\xffff80"], minmax=False),
    KeyKind("text", ["text", "varchar", "varchar(500)", "d_text"], text_regular,
            ["", " ", "a", "A", "aa", "Zz", "ß", "日本語", PREFIX, PREFIX + "a", PREFIX + "b", PREFIX[:-3], "'"]),
    KeyKind("bpchar", ["char(6)", "char(9)"], lambda i, r: f"c{i}", ["", "a", "b\t", "A", "ä", "zzzzzz"]),
]
KIND = {k.name: k for k in KINDS}

# columns that are never keys: SQL type, values, can be compared
OTHER = [
    ("jsonb", ['{"a": 1}', "[]", "null", '{"b": [1, 2, {"c": "x"}]}', '"text"', "7"], True),
    ("int4[]", ["{}", "{1,2,3}", "{NULL,5}", "{{1,2},{3,4}}", "[3:4]={7,8}"], True),
    ("text[]", ["{}", '{"a b",c}', "{NULL}", '{"ä",""}'], True),
    ("interval", ["1 day", "2 mons 3 days", "-04:05:06", "10 years"], True),
    ("mood", ["sad", "ok", "happy"], True),
    ("pair", ["(1,a)", "(,)", '(-5,"b c")'], True),
    ("text", ["", "short", "x" * 100, "long " * 700, "ä" * 1500], True),
    ("json", ['{"a": 1,  "a": 2}', "[1]"], False),
    ("point", ["(1,2)", "(-0.5,0)"], False),
    ("int4range", ["[1,5)", "empty", "(,7)"], True),
    ("\"char\"", ["a", "b", ""], True),
    ("timetz", ["12:00:00+00", "01:02:03-05"], True),
]

# helpers of every database the tests make
SETUP = """CREATE DOMAIN public.d_int4 AS int4;
CREATE DOMAIN public.d_numeric AS numeric;
CREATE DOMAIN public.d_text AS text;
CREATE TYPE public.mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE public.pair AS (n int4, s text);
CREATE FUNCTION public.heap_upsert(target text, query text, keys text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; c text := (SELECT string_agg(format('t.%1$s = q.%1$s', k), ' AND ') FROM regexp_split_to_table(keys, ', ') k); BEGIN EXECUTE format('SELECT count(*) FROM (SELECT FROM (%s) q WHERE (%s) IS NOT NULL GROUP BY %s HAVING count(*) > 1) d', query, 'q.' || replace(keys, ', ', ', q.'), keys) INTO n; IF n > 0 THEN RAISE cardinality_violation; END IF; EXECUTE format('WITH q AS MATERIALIZED (%s), d AS (DELETE FROM %s t USING q WHERE %s) INSERT INTO %s SELECT * FROM q', query, target, c, target); GET DIAGNOSTICS n = ROW_COUNT; RETURN n; END $$;
"""
