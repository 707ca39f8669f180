#!/usr/bin/env python3
"""Runs every benchmark with a threshold, one after the other, and fails if one of them does.

    Benchmarks/all.py [--quick] [--only peers,peers-large,scale,limits,counts,control,instructions,kill] [--ohana PATH]

Tables go into RESULTS.md as each part writes them. Takes about an hour and a half on two cores, and needs some 10 GB of disk under
Benchmarks/work; `--quick` takes a tenth of the rows and leaves out what takes longest: it shows that all of it runs, not how fast.
Nothing else should run on the machine meanwhile.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
ROOT = BENCHMARKS.parent


def parts(quick):
    rows, large = ("100000", "1000000") if quick else ("1000000", "10000000")
    engines = "ohana,ohana-no-larger,duckdb,polars,chdb,floor"
    return {
        "peers": ["peers/run.py", "--rows", rows, "--runs", "3" if quick else "5", *(["--only", engines, "--results", "-"] if quick else [])],
        "peers-large": ["peers/run.py", "--rows", large, "--runs", "1" if quick else "3", "--only", engines,
                        *(["--results", "-"] if quick else ["--section", "peers-large", "--unchecked"])],
        "scale": ["scale.py", "--rows", large, *(["--results", "-"] if quick else ["--only", "threads,one-file,order,growth,spill,distinct,huge"])],
        "limits": ["limits.py", *(["--rows", rows, "--sort-rows", large] if quick else [])],
        "counts": ["counts/run.py", "--rows", "150000" if quick else "300000"],
        "control": ["control.py", *(["--rows", "20000"] if quick else [])],
        "instructions": ["instructions.py"],
        "kill": ["kill.py", "--rounds", "10" if quick else "300"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="names of parts, comma separated")
    parser.add_argument("--ohana", default=str(ROOT / ".build" / "release" / "ohana"))
    options = parser.parse_args()
    every = parts(options.quick)
    names = options.only.split(",") if options.only else [n for n in every if not (options.quick and n == "instructions")]
    results = []
    for name in names:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        script, *arguments = every[name]
        takes_tool = "--ohana" in (BENCHMARKS / script).read_text()
        command = [sys.executable, str(BENCHMARKS / script), *arguments, *(["--ohana", options.ohana] if takes_tool else [])]
        status = subprocess.run(command, cwd=ROOT).returncode
        results.append((name, status, time.monotonic() - began))
    print("\n| part | result | minutes |\n|---|---|--:|")
    for name, status, took in results:
        print(f"| {name} | {'met' if status == 0 else f'MISSED (exit {status})'} | {took / 60:.1f} |")
    sys.exit(any(status for _, status, _ in results))


if __name__ == "__main__":
    main()
