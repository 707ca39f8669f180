#!/usr/bin/env python3
"""Counts heap allocations and reference counting per record in the five jobs: the difference of two runs over their difference in records.

    Benchmarks/counts/run.py [--ohana PATH] [--rows 300000] [--allocations 0.01] [--references 0.1]

Needs a C compiler, x86-64 and glibc. Exits 1 if a count is higher than allowed.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Benchmarks" / "peers"))
from contacts import JOBS
from run import ohana_commands


def counts(command, library, folder):
    report = folder / "counts"
    environment = dict(os.environ, LD_PRELOAD=str(library), OHANA_COUNTS=str(report))
    subprocess.run(["bash", "-c", "exec " + command], check=True, env=environment, stderr=subprocess.DEVNULL)
    return [int(n) for n in report.read_text().split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ohana", default=str(ROOT / ".build" / "release" / "ohana"))
    parser.add_argument("--rows", type=int, default=300_000, help="of the larger run; the smaller has a third")
    parser.add_argument("--allocations", type=float, default=0.01, help="allowed a record")
    parser.add_argument("--references", type=float, default=0.1, help="allowed a record: retains and releases together")
    options = parser.parse_args()
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if platform.machine() != "x86_64" or not compiler:
        print("skipped: counting calls needs x86-64 and a C compiler")
        return 0
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "count.so"
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, Path(__file__).with_name("count.c"), "-ldl"], check=True)
        sizes = (options.rows // 3, options.rows)
        for rows in sizes:
            for form in ("ndjson", "csv"):
                (folder / f"{rows}-{form}").mkdir()
                subprocess.run([options.ohana, "generate", "--rows", str(rows), "--chunks", "2", "--format", form, "-o",
                                folder / f"{rows}-{form}" / f"part-{{n}}.{form}.gz"], check=True, stderr=subprocess.DEVNULL)
        print("job            allocations a record   retain and release a record")
        for job, (_, source, form) in JOBS.items():
            small, large = (counts(ohana_commands(options.ohana, job, f"{folder}/{rows}-{source}/*.gz", folder / f"out.{form}.gz"),
                                   library, folder) for rows in sizes)
            each = [(b - a) / (sizes[1] - sizes[0]) for a, b in zip(small, large)]
            if large[1] == 0:
                sys.exit("no reference was counted: the Swift library of this build is linked statically")
            is_good = each[0] <= options.allocations and each[1] <= options.references
            missed += not is_good
            print(f"{job:<14} {each[0]:>20.4f} {each[1]:>29.4f}{'' if is_good else '   MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
