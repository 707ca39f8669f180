#!/usr/bin/env python3
"""Counts instructions per byte of input for each stage and job under callgrind, and writes the section `instructions` of RESULTS.md.

    Benchmarks/instructions.py [--ohana PATH] [--rows 30000] [--only TEXT] [--results FILE]

Repeatable to the instruction, whatever else the machine does; callgrind runs the AVX2 kernels. The number of a case is the difference of
two runs over their difference in bytes of text, so that starting and planning do not count. Stages read and write plain NDJSON on one
thread; `beyond convert` takes off what reading and writing cost.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCHMARKS / "peers"))
from contacts import JOBS
from run import ROOT, ohana_commands, write_section

STAGES = [
    "require email,phone", "filter \"city LIKE 'B%' OR email IS NOT NULL\"", "set \"full_name = first || ' ' || last\"", "rename phone=tel",
    "keep id,first,last,email", "drop tags,image", "normalize email:email", "dedupe --by email:email", "dedupe --by email:email --keep most-complete",
    "distinct --by record", "count-by city", "sort last,first", "sort last:binary,first:binary", "sort last,first then limit 100", "reverse", "skip 10",
    "sample 10%",
]


def instructions(command):
    run = subprocess.run(["bash", "-c", f"exec valgrind --tool=callgrind --callgrind-out-file=/dev/null {command}"], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not found:
        sys.exit(f"{command}: {run.stderr[-500:]}")
    return int(found.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ohana", default=str(ROOT / ".build" / "release" / "ohana"))
    parser.add_argument("--rows", type=int, default=30_000, help="of the larger run; the smaller has a third")
    parser.add_argument("--only", default="", help="part of the names wanted")
    parser.add_argument("--results", default=str(BENCHMARKS / "RESULTS.md"), help="- for nowhere")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Valgrind stumbles over the debug information of a Swift program.
        ohana = folder / "ohana"
        subprocess.run(["strip", "-o", ohana, options.ohana], check=True)
        sizes = (options.rows // 3, options.rows)
        for count in sizes:
            for form in ("ndjson", "csv"):
                subprocess.run([ohana, "generate", "--rows", str(count), "--format", form, "-o", folder / f"{count}.{form}"],
                               check=True, stderr=subprocess.DEVNULL)
                subprocess.run([ohana, "convert", folder / f"{count}.{form}", "-o", folder / f"{count}.{form}.gz"],
                               check=True, stderr=subprocess.DEVNULL)
        grown = {form: (folder / f"{sizes[1]}.{form}").stat().st_size - (folder / f"{sizes[0]}.{form}").stat().st_size for form in ("ndjson", "csv")}

        def count(what, form, command):
            if options.only not in what:
                return None
            small, large = (instructions(command(rows)) for rows in sizes)
            each = (large - small) / grown[form]
            print(f"{each:7.2f}  {what}", flush=True)
            return each

        plain = count("convert, plain NDJSON to plain NDJSON", "ndjson", lambda n: f"{ohana} convert {folder}/{n}.ndjson -o {folder}/out.ndjson --overwrite --threads 1")
        rows.append(("convert, plain NDJSON to plain NDJSON", plain, None))
        for stage in STAGES:
            each = count(stage, "ndjson", lambda n: f"{ohana} run {folder}/{n}.ndjson -o {folder}/out.ndjson --overwrite --threads 1 then {stage}")
            rows.append((f"`{stage}`", each, None if each is None or plain is None else each - plain))
        for job, (title, source, form) in JOBS.items():
            each = count(title, source, lambda n: ohana_commands(ohana, job, f"{folder}/{n}.{source}.gz", f"{folder}/out.{form}.gz", extra="--threads 1"))
            rows.append((f"{title}, gzipped", each, None))
    if options.results != "-":
        lines = ["## Instructions", "", f"Per byte of input text, on one thread, under callgrind. `Benchmarks/instructions.py --rows {options.rows}`", "",
                 "| what | instructions a byte | beyond convert |", "|---|--:|--:|"]
        lines += [f"| {what} | {each:.2f} | {'' if beyond is None else f'{beyond:.2f}'} |" for what, each, beyond in rows if each is not None]
        write_section(Path(options.results), "instructions", lines + [""])


if __name__ == "__main__":
    main()
