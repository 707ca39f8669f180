#!/usr/bin/env python3
"""Checks what ohana promises besides speed: memory and time at ten times the size, the same bytes whatever the settings, start-up.

    Benchmarks/limits.py [--sort-rows 10000000] [--rows 200000] [--only sort,bytes,start] [--ohana PATH]

Run Benchmarks/peers/run.py once before: it makes the virtual environment that checks the order. Exits 1 if a limit is missed.
"""

import argparse
import hashlib
import itertools
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCHMARKS / "peers"))
from contacts import JOBS
from run import PYTHON, ROOT, WORK, measure, ohana_commands

MISSED = []


def expect(is_met, text):
    print(("met:    " if is_met else "MISSED: ") + text, flush=True)
    if not is_met:
        MISSED.append(text)


def generate(ohana, rows, form):
    folder = WORK / f"data-{rows}-1" / form
    if not list(folder.glob(f"*.{form}.gz")):
        folder.mkdir(parents=True, exist_ok=True)
        command = [ohana, "generate", "--rows", str(rows), "--chunks", "8", "--seed", "1", "--format", form]
        subprocess.run([*command, "-o", str(folder / f"part-{{n}}.{form}.gz")], check=True)
    return folder


def sort_at_scale(options, out):
    """Ten times the rows, in a memory that cannot hold them: at most 192 MiB and 15 times the time."""
    times = {}
    for rows in (options.sort_rows // 10, options.sort_rows):
        folder, target = generate(options.ohana, rows, "ndjson"), out / f"sorted-{rows}.ndjson.gz"
        command = f"exec {options.ohana} sort last,first --memory 128M {folder}/*.gz -o {target} --temp-dir {out} --overwrite"
        took = measure(["bash", "-c", command], out / "log")
        times[rows] = took["wall"]
        check = subprocess.run([str(PYTHON), str(BENCHMARKS / "peers/verify_order.py"), str(rows), str(target)], capture_output=True, text=True)
        expect(check.returncode == 0, f"sort of {rows:,} rows: order {check.stderr.strip() or 'verified'}")
        expect(took["peakMiB"] <= 192, f"sort of {rows:,} rows with --memory 128M: peak {took['peakMiB']:.0f} MiB of 192, {took['wall']:.2f} s")
        target.unlink(missing_ok=True)
    small, large = times.values()
    expect(large <= 15 * small, f"sort: ten times the rows took {large / small:.1f} times as long, at most 15")


def same_bytes(options, out):
    """Every job gives the same bytes for any number of threads and any memory limit."""
    for job, (_, source, form) in JOBS.items():
        folder = generate(options.ohana, options.rows, source)
        for ending, extra in ((form, ""), (f"{form}.gz", "--level 1"), (f"{form}.gz", "--level 6")):
            digests = {}
            for threads, memory in itertools.product((1, 2, 8), ("32M", "256M", "4G")):
                target = out / f"out.{ending}"
                settings = f"--threads {threads} --memory {memory} {extra}"
                try:
                    measure(["bash", "-c", "exec " + ohana_commands(options.ohana, job, f"{folder}/*.gz", target, extra=settings)], out / "log")
                    digest = hashlib.sha256()
                    with open(target, "rb") as file:
                        while block := file.read(1 << 20):
                            digest.update(block)
                    result = digest.hexdigest()
                except RuntimeError as error:
                    result = str(error)[:200]
                digests.setdefault(result, []).append(f"{threads} threads {memory}")
            what = f"{job}, {ending} {extra}".strip()
            is_met = len(digests) == 1 and not next(iter(digests)).startswith("exit")
            detail = "" if is_met else ": " + " | ".join(f"{k[:100]}: {', '.join(v)}" for k, v in digests.items())
            expect(is_met, f"{what}: the same bytes for 3 numbers of threads × 3 memory limits{detail}")


def start_up(options, out):
    family = BENCHMARKS.parent / "Data" / "family.ndjson"
    example = f"""exec {options.ohana} run {family} then require first,last,image then sort last,first \
        then set "full_name = first || ' ' || last" then keep full_name,image"""
    for what, command, most in (("version", f"exec {options.ohana} version", 20), ("the family example", example, 60)):
        times = [measure(["bash", "-c", command], out / "log")["wall"] * 1000 for _ in range(21)]
        expect(statistics.median(times) < most, f"{what}: {statistics.median(times):.1f} ms, under {most}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sort-rows", type=int, default=10_000_000)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--only", default="start,bytes,sort")
    parser.add_argument("--ohana", default=str(ROOT / ".build" / "release" / "ohana"))
    options = parser.parse_args()
    if not shutil.which(options.ohana):
        sys.exit(f"{options.ohana} is no program; swift build -c release --product ohana, or give --ohana")
    out = WORK / "limits"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in options.only.split(","):
        {"start": start_up, "bytes": same_bytes, "sort": sort_at_scale}[name](options, out)
    shutil.rmtree(out)
    sys.exit(1 if MISSED else 0)


if __name__ == "__main__":
    main()
