#!/usr/bin/env python3
"""Measures what ohana promises of size, memory and threads, and writes the table of RESULTS.md between the markers of `scale`.

    Benchmarks/scale.py [--only growth,threads,spill,one-file,order,distinct,huge] [--rows 10000000] [--runs 3] [--ohana PATH]

Every line is a ratio of two commands of one run, taken in turns, or a peak of resident memory. Exits 1 if one is missed. `huge` (five
times --rows) and `distinct` (100,000,000 keys made on the fly) take minutes and are left out unless named. Needs about 3 GB of disk for
10,000,000 rows. `order` compares with GNU sort in en_US.UTF-8 where that locale is installed (`locales`, `localedef`).
"""

import argparse
import datetime
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCHMARKS / "peers"))
from contacts import JOBS
from run import ROOT, WORK, measure, ohana_commands, write_section

ROWS = []


def line(what, value, limit, is_met):
    ROWS.append((what, value, limit, is_met))
    print(f"{'met:   ' if is_met else 'MISSED:'} {what}: {value} (wanted: {limit})", flush=True)


def data(options, rows, form, chunks=8):
    folder = WORK / (f"data-{rows}-1" if chunks == 8 else f"scale-{rows}-{chunks}") / form  # eight chunks are those of the peers
    if not list(folder.glob("*.gz")):
        folder.mkdir(parents=True, exist_ok=True)
        command = [options.ohana, "generate", "--rows", str(rows), "--chunks", str(chunks), "--seed", "1", "--format", form]
        subprocess.run([*command, "-o", str(folder / f"part-{{n}}.{form}.gz")], check=True, stderr=subprocess.DEVNULL)
    return folder


def command(options, job, rows, extra="", chunks=8):
    folder = data(options, rows, JOBS[job][1], chunks)
    target = WORK / "scale-out" / f"{job}.{JOBS[job][2]}.gz"
    return "exec " + ohana_commands(options.ohana, job, f"{folder}/*.gz", target, extra=extra)


def timed(options, *commands, runs=None):
    """Medians of wall time and highest peaks of commands taken in turns."""
    samples = [[] for _ in commands]
    for _ in range(runs or options.runs):
        for index, text in enumerate(commands):
            samples[index].append(measure(["bash", "-c", text], WORK / "scale-out" / "log"))
    return [(statistics.median(s["wall"] for s in each), max(s["peakMiB"] for s in each)) for each in samples]


def growth(options):
    for job in JOBS:
        (small, _), (large, peak) = timed(options, command(options, job, options.rows // 10), command(options, job, options.rows))
        most = 13 if job in ("names", "dedupe-sort") else 11
        line(f"{job}: time of {options.rows:,} rows over {options.rows // 10:,}", f"{large / small:.1f} ({large:.2f} s)", f"≤ {most}", large <= most * small)
        line(f"{job}: peak at {options.rows:,} rows", f"{peak:.0f} MiB", "≤ 300 MiB", peak <= 300)


def threads(options):
    for job in JOBS:
        (two, _), (one, _) = timed(options, command(options, job, options.rows // 10, "--threads 2"), command(options, job, options.rows // 10, "--threads 1"), runs=5)
        line(f"{job}: one thread over two", f"{one / two:.2f}", "≥ 1.7", one >= 1.7 * two)


def one_file(options):
    for job in JOBS:
        (one, _), (eight, _) = timed(options, command(options, job, options.rows // 10, chunks=1), command(options, job, options.rows // 10), runs=5)
        line(f"{job}: one file over eight chunks", f"{one / eight:.2f}", "≤ 1.25", one <= 1.25 * eight)


def spill(options):
    for job in ("names", "dedupe", "dedupe-sort"):
        (little, peak), (much, _) = timed(options, command(options, job, options.rows, "--memory 64M"), command(options, job, options.rows, "--memory 16G"))
        line(f"{job}: {options.rows:,} rows at 64M over unlimited", f"{little / much:.2f}", "≤ 2", little <= 2 * much)
        line(f"{job}: peak at 64M", f"{peak:.0f} MiB", "≤ 96 MiB", peak <= 96)


def order(options):
    """By locale against by bytes, and against GNU sort on the keys alone."""
    rows = options.rows // 10
    source = data(options, rows, "csv")
    out = WORK / "scale-out"
    for name, fields, most in (("keys that repeat", "city", 1.25), ("keys all distinct", "email,id", 1.6)):
        by = {kind: ",".join(f + kind for f in fields.split(",")) for kind in ("", ":binary")}
        base = f"exec {options.ohana} sort {{}} {source}/*.gz -o {out}/sorted.csv.gz --overwrite"
        (locale, _), (binary, _) = timed(options, base.format(by[""]), base.format(by[":binary"]), runs=5)
        line(f"sort by locale over bytes, {name}", f"{locale / binary:.2f}", f"≤ {most}", locale <= most * binary)
    found = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout
    if "en_US.utf8" not in found:
        print("skipped: GNU sort in en_US.UTF-8, which is not installed")
        return
    keys = out / "keys.csv"
    subprocess.run(["bash", "-c", f"{options.ohana} keep last {source}/*.gz -o {keys} --no-out-header --overwrite"], check=True)
    ours = f"exec {options.ohana} sort last --no-header --header last {keys} --no-out-header -o {out}/ours.csv --overwrite"
    theirs = f"LC_ALL=en_US.UTF-8 exec sort --parallel=2 -S 256M {keys} -o {out}/theirs.csv"
    (own, _), (gnu, _) = timed(options, ours, theirs)
    line("GNU sort in en_US.UTF-8 over ours, last names", f"{gnu / own:.1f}", "≥ 5", gnu >= 5 * own)


def distinct(options):
    """Distinct keys that no memory holds, made on the fly; the count has to be exact."""
    rows = 10 * options.rows
    out = WORK / "scale-out" / "distinct"
    text = f"{options.ohana} generate --rows {rows} --duplicates 0% --format csv -o - | {options.ohana} dedupe --by id - --from csv -o - | {options.ohana} count - > {out}"
    (took, peak), = timed(options, "set -o pipefail; " + text, runs=1)
    count = int(out.read_text())
    line(f"dedupe of {rows:,} distinct keys", f"{count:,} kept, {took:.0f} s", f"{rows:,}", count == rows)
    line("its peak (the largest of generate, dedupe and count)", f"{peak:.0f} MiB", "≤ 300 MiB", peak <= 300)


def huge(options):
    rows = 5 * options.rows
    for job in JOBS:
        (_, usual), = timed(options, command(options, job, options.rows), runs=1)
        (took, peak), = timed(options, command(options, job, rows), runs=1)
        line(f"{job}: peak at {rows:,} rows ({took:.0f} s)", f"{peak:.0f} MiB, {usual:.0f} at {options.rows:,}", "≤ 300 MiB, within 10 %", peak <= 300 and peak <= 1.1 * usual)


PARTS = {"growth": growth, "threads": threads, "spill": spill, "one-file": one_file, "order": order, "distinct": distinct, "huge": huge}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="threads,one-file,order,growth,spill")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--ohana", default=str(ROOT / ".build" / "release" / "ohana"))
    parser.add_argument("--results", default=str(BENCHMARKS / "RESULTS.md"), help="file whose section is replaced; - for none")
    options = parser.parse_args()
    if not shutil.which(options.ohana):
        sys.exit(f"{options.ohana} is no program; swift build -c release --product ohana, or give --ohana")
    out = WORK / "scale-out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in options.only.split(","):
        PARTS[name](options)
    shutil.rmtree(out)
    if options.results != "-":
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        lines = ["## Size, memory and threads", "", f"{now}, {os.cpu_count()} cores. `Benchmarks/scale.py --only {options.only} --rows {options.rows}`", "",
                 "| what | measured | wanted | |", "|---|--:|--:|---|"]
        lines += [f"| {what} | {value} | {limit} | {'' if is_met else 'missed'} |" for what, value, limit, is_met in ROWS]
        write_section(Path(options.results), "scale", lines + [""])
    sys.exit(0 if all(row[3] for row in ROWS) else 1)


if __name__ == "__main__":
    main()
