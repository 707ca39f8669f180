#!/usr/bin/env python3
"""Makes expressions.tsv: random expressions over random rows, and what real engines answer.

Needs the Python package duckdb; SQLite comes with Python. An expression whose SQLite answer can be compared is kept only if both agree.

    make_expressions.py [COUNT] > expressions.tsv

Every operation that DuckDB fails on by an error, and that has no value in ours, is wrapped for it in TRY, which gives null.
"""
import random
import sqlite3
import sys

import duckdb

RANDOM = random.Random(20)
PIECES = ["a", "b", "B", "aB", "é", "É", "Ä", "ñ", "ж", "Я", "日", "e\u0301", " ", "  ", "%", "_", ".", "-", "1", "7", "42", "+", "@", "'", '"', "\\", "\n", "x", "ab", "ba"]
COLUMNS = {"t": "VARCHAR", "u": "VARCHAR", "v": "VARCHAR", "i": "BIGINT", "j": "BIGINT", "d": "DECIMAL(12,3)", "b": "BOOLEAN"}


def text(longest=5):
    return "".join(RANDOM.choice(PIECES) for _ in range(RANDOM.randrange(longest + 1)))


def literal(value):
    return "'" + value.replace("'", "''") + "'"


def rows(count):
    for _ in range(count):
        yield (
            None if RANDOM.random() < 0.15 else text(),
            None if RANDOM.random() < 0.15 else text(),
            None if RANDOM.random() < 0.15 else RANDOM.choice(["12", "-3", "4.50", " 7 ", "1e2", "x", "", "007", "1.5.2", "true", "no", "0", "99999999999999999999", ".5", "5.", "+8", "2.5", "-2.5"]),
            None if RANDOM.random() < 0.15 else RANDOM.choice([0, 1, -1, 2, 3, 7, 10, -12, 1000000007, 9223372036854775807, -9223372036854775807, 4611686018427387904]),
            None if RANDOM.random() < 0.15 else RANDOM.randrange(-6, 7),
            None if RANDOM.random() < 0.15 else RANDOM.choice(["0.000", "1.500", "-2.250", "3.000", "12.125", "100.010", "-0.500", "2.500"]),
            None if RANDOM.random() < 0.15 else RANDOM.random() < 0.5,
        )


# A generated expression is a pair: as ours writes it, and as DuckDB has to be asked.
def both(form, *parts):
    return form.format(*(p[0] for p in parts)), form.format(*(p[1] for p in parts))


def same(value):
    return value, value


def string(depth):
    if depth <= 0 or RANDOM.random() < 0.2:
        return same(RANDOM.choice(["t", "u", "v", literal(text()), literal(text(2))]))
    kind = RANDOM.randrange(19)
    s = lambda: string(depth - 1)
    if kind == 0:
        return both("({} || {})", s(), s())
    if kind == 1:
        return both("lower({})", s())
    if kind == 2:
        return both("upper({})", s())
    if kind == 3:
        return both("trim({})", s())
    if kind == 4:
        return both("substr({}, {})", s(), same(str(RANDOM.randrange(-5, 6))))
    if kind == 5:
        return both("substr({}, {}, {})", s(), same(str(RANDOM.randrange(-5, 6))), same(str(RANDOM.randrange(-4, 6))))
    if kind == 6:
        return both("replace({}, {}, {})", s(), same(literal(text(1))), same(literal(text(1))))
    if kind == 7:
        return both("split_part({}, {}, {})", s(), same(literal(RANDOM.choice(PIECES[:12] + ["-", ".", " "]))), same(str(RANDOM.randrange(-3, 4))))
    if kind == 8:
        return both("concat({}, {}, {})", s(), s(), s())
    if kind == 9:
        return both("concat_ws({}, {}, {})", same(literal(text(1))), s(), s())
    if kind == 10:
        return both("left({}, {})", s(), same(str(RANDOM.randrange(-4, 5))))
    if kind == 11:
        return both("right({}, {})", s(), same(str(RANDOM.randrange(-4, 5))))
    if kind == 12:
        return both("CASE WHEN {} THEN {} ELSE {} END", boolean(depth - 1), s(), s())
    if kind == 13:
        return both("coalesce({}, {})", s(), s())
    if kind == 14:
        return both("nullif({}, {})", s(), s())
    if kind == 15:
        pattern = RANDOM.choice(["a", "[ab]+", "x*", "(a)(b)?", "^a", "b$", ".", "\\d+", "[^a-z]", "(?i)AB", "é", "\\s", ""])
        return both("regexp_replace({}, {}, {}, {})", s(), same(literal(pattern)), same(literal(RANDOM.choice(["", "-", "<\\0>", "z"]))), same(RANDOM.choice(["'g'", "''", "'gi'"])))
    if kind == 16:
        pattern = RANDOM.choice(["[ab]+", "(a)(b)?", "b$", "\\d+", "(?i)(A)(B)", ".(.)", "z"])
        return both("regexp_extract({}, {}, {})", s(), same(literal(pattern)), same(str(RANDOM.randrange(0, 3))))
    if kind == 17:
        return RANDOM.choice([both("CAST({} AS TEXT)", integer(0)), both("CAST({} AS TEXT)", boolean(0)), both("md5({})", s()), both("sha256({})", s())])
    return both("trim({}, {})", s(), same(literal(RANDOM.choice(["ab", " ", "é", "x-"]))))


def integer(depth):
    if depth <= 0 or RANDOM.random() < 0.25:
        return same(RANDOM.choice(["i", "j", "j", str(RANDOM.randrange(0, 12)), "CAST(%d AS BIGINT)" % RANDOM.randrange(0, 9)]))
    kind = RANDOM.randrange(8)
    n = lambda: integer(depth - 1)
    big = lambda p: (p[0], "CAST(" + p[1] + " AS BIGINT)")
    if kind == 0:
        return both("length({})", string(depth - 1))
    if kind in (1, 2, 3):
        form = ["({} + {})", "({} - {})", "({} * {})"][kind - 1]
        ours, duck = both(form, big(n()), big(n()))
        return ours, "TRY(%s)" % duck
    if kind == 4:
        ours, duck = both("({} % {})", big(n()), big(n()))
        return ours, "TRY(%s)" % duck
    if kind == 5:
        a = string(depth - 1)
        return "CAST(%s AS INTEGER)" % a[0], "TRY_CAST(%s AS INTEGER)" % a[1]
    if kind == 6:
        a = double(min(depth - 1, 2))
        return "CAST(%s AS BIGINT)" % a[0], "TRY_CAST(%s AS BIGINT)" % a[1]
    return both("CASE WHEN {} THEN {} ELSE {} END", boolean(depth - 1), big(n()), big(n()))


def decimal(depth):
    if depth <= 0 or RANDOM.random() < 0.3:
        return same(RANDOM.choice(["d", "d", "1.5", "0.25", "2.000"]))
    kind = RANDOM.randrange(4)
    form = ["({} + {})", "({} - {})", "({} * {})", "(-{})"][kind]
    if kind == 3:
        return both(form, decimal(0))
    return both(form, decimal(0), decimal(0))


def double(depth):
    kind = RANDOM.randrange(8) if depth > 1 else 0
    if kind < 3:
        a, b = RANDOM.choice([integer, decimal])(depth - 1), same(RANDOM.choice(["j", "2", "3", "7"]))
        ours, duck = both("({} / {})", a, b)
        return ours, "CASE WHEN %s = 0 THEN NULL ELSE %s END" % (b[1], duck)
    # What was a DOUBLE stays one, whatever its digits look like.
    inner = lambda: double(depth - 1)
    other = lambda: RANDOM.choice([inner, lambda: decimal(0), lambda: same(RANDOM.choice(["j", "3", "10"]))])()
    if kind == 3:
        return both("CAST({} AS DOUBLE)", RANDOM.choice([lambda: decimal(1), lambda: same(RANDOM.choice(["j", "10", "0.1"]))])())
    if kind == 4:
        return both("(-{})", inner())
    form = ["({} + {})", "({} - {})", "({} * {})"][kind - 5]
    return both(form, inner(), other()) if RANDOM.random() < 0.7 else both(form, other(), inner())


def boolean(depth):
    if depth <= 0 or RANDOM.random() < 0.1:
        return same(RANDOM.choice(["b", "b", "TRUE", "FALSE", "NULL", "t IS NULL", "i > 1", "u = 'a'"]))
    kind = RANDOM.randrange(16)
    s = lambda: string(depth - 1)
    p = lambda: boolean(depth - 1)
    if kind == 0:
        return both("({} AND {})", p(), p())
    if kind == 1:
        return both("({} OR {})", p(), p())
    if kind == 2:
        return both("(NOT {})", p())
    if kind == 3:
        return both("({} " + RANDOM.choice(["=", "<>", "<", "<=", ">", ">="]) + " {})", s(), s())
    if kind == 4:
        return both("({} " + RANDOM.choice(["=", "<>", "<", "<=", ">", ">="]) + " {})", integer(depth - 1), integer(depth - 1))
    if kind == 5:
        return both("({} " + RANDOM.choice(["=", "<>", "<", "<=", ">", ">="]) + " {})", decimal(1), decimal(1))
    if kind == 6:
        return both("({} IS " + RANDOM.choice(["", "NOT "]) + "NULL)", RANDOM.choice([s, p])())
    if kind == 7:
        return both("({} " + RANDOM.choice(["", "NOT "]) + "IN ({}, {}, {}))", s(), s(), s(), same(RANDOM.choice(["NULL", "'a'", "''"])))
    if kind == 8:
        return both("({} " + RANDOM.choice(["", "NOT "]) + "BETWEEN {} AND {})", *RANDOM.choice([lambda: (s(), s(), s()), lambda: (integer(1), integer(1), integer(1))])())
    if kind in (9, 10):
        pattern = "".join(RANDOM.choice(["%", "_", "a", "b", "é", "B", "日", "x", "1", "%"]) for _ in range(RANDOM.randrange(5)))
        word = RANDOM.choice(["LIKE", "LIKE", "ILIKE", "NOT LIKE", "NOT ILIKE"])
        escape = RANDOM.choice(["", "", " ESCAPE '!'"])
        if escape and RANDOM.random() < 0.6:
            pattern = pattern + RANDOM.choice(["!%", "!_", "!!"]) + RANDOM.choice(["", "%"])
        return both("({} " + word + " {}" + escape + ")", s(), same(literal(pattern)))
    if kind == 11:
        return both("({} ~ {})", s(), same(literal(RANDOM.choice(["a", "^a", "b$", "[ab]+", "^$", "\\d", "(?i)AB", "é.?", "^.b"]))))
    if kind == 12:
        return both(RANDOM.choice(["starts_with({}, {})", "ends_with({}, {})", "contains({}, {})"]), s(), s())
    if kind == 13:
        # A text against a number: converted exactly, and null where that fails.
        number = RANDOM.choice(["7", "12", "-3", "0", "4.5", "100"])
        op = RANDOM.choice(["=", "<>", "<", "<=", ">", ">="])
        return "(v %s %s)" % (op, number), "(TRY_CAST(v AS DECIMAL(38,6)) %s %s)" % (op, number)
    if kind == 14:
        other = RANDOM.choice([lambda: double(depth - 1), lambda: decimal(0), lambda: same(RANDOM.choice(["j", "1", "0.3"]))])()
        return both("({} " + RANDOM.choice(["=", "<>", "<", "<=", ">", ">="]) + " {})", double(depth - 1), other)
    return both("(CASE {} WHEN {} THEN {} WHEN {} THEN {} END)", s(), s(), p(), s(), p())


def shown(value):
    if value is None:
        return "null", ""
    if isinstance(value, bool):
        return "bool", "true" if value else "false"
    if isinstance(value, float):
        return "double", repr(value)
    if isinstance(value, str):
        return "text", value
    return "number", str(value)


def escaped(value):
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def sqlite_agrees(connection, ours, row, expected):
    """False only where SQLite answers, its semantics are the same, and the answer is another."""
    words = ours.lower()
    if any(w in words for w in ["lower", "upper", "trim", "substr", "split_part", "concat", "left", "right", "regexp", "~", "like", "cast", "starts_with", "ends_with", "contains", "md5", "sha", "/", "+", "*", "-", "%", "v ", "d", "null"]):
        return True
    try:
        answer = connection.execute("SELECT " + ours + " FROM r WHERE n = ?", (row,)).fetchone()[0]
    except sqlite3.Error:
        return True
    if isinstance(expected, bool):
        expected = int(expected)
    return answer == expected


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    duck = duckdb.connect()
    lite = sqlite3.connect(":memory:")
    names = list(COLUMNS)
    duck.execute("CREATE TABLE r (n INTEGER, " + ", ".join(f"{n} {t}" for n, t in COLUMNS.items()) + ")")
    lite.execute("CREATE TABLE r (n INTEGER, t TEXT, u TEXT, v TEXT, i INTEGER, j INTEGER, d TEXT, b INTEGER)")
    table = list(rows(60))
    print(f"# made by make_expressions.py with DuckDB {duckdb.__version__} and SQLite {sqlite3.sqlite_version}")
    print("# row lines: row, number, then the columns " + " ".join(names) + "; \\N is null, \\n \\t \\\\ are escapes")
    for number, row in enumerate(table):
        duck.execute("INSERT INTO r VALUES (?" + ", ?" * len(row) + ")", (number, *row))
        lite.execute("INSERT INTO r VALUES (?" + ", ?" * len(row) + ")", (number, *row))
        cells = ["\\N" if c is None else ("true" if c is True else "false" if c is False else escaped(str(c))) for c in row]
        print("\t".join(["row", str(number), *cells]))
    print("# case lines: kind of the answer, row, answer, expression")
    made = skipped = 0
    while made < count:
        ours, theirs = RANDOM.choice([string, boolean, boolean, integer, decimal, double])(RANDOM.randrange(2, 5))
        row = RANDOM.randrange(len(table))
        try:
            answer = duck.execute("SELECT " + theirs + " FROM r WHERE n = ?", (row,)).fetchone()[0]
        except duckdb.Error as error:
            skipped += 1
            if skipped < 20:
                print(str(error).split("\n")[0], "|", theirs, file=sys.stderr)
            continue
        if not sqlite_agrees(lite, ours, row, answer):
            print("engines differ:", ours, table[row], file=sys.stderr)
            continue
        kind, value = shown(answer)
        print("\t".join([kind, str(row), escaped(value), escaped(ours)]))
        made += 1
    print(f"{made} cases, {skipped} skipped", file=sys.stderr)


main()
