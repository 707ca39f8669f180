#!/usr/bin/env python3
"""Counts what the control plane costs in each of the five jobs, as a share of all instructions, and writes the section `control` of RESULTS.md.

    Benchmarks/control.py [--ohana PATH] [--rows 100000] [--only TEXT] [--results FILE]

Runs each job twice under callgrind, on one thread, with a fifth of the records and with all of them: so it is known what is done once a run and
what grows with it, and what a million records cost. Two sums of functions and all they call:

* store, journal, observers: whatever changes the state or turns events into changes, with what it calls of the runtime and of JSON;
* effects: their own steps and what these call of the runtime, but not what managers, planner, readers and writers do for them.

What comes by the clock is told too often here, since callgrind is slow. Exit status 1 if the two take more than 1 % of a job of a million records.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
sys.path.insert(0, str(BENCHMARKS / "peers"))
from contacts import JOBS
from run import ROOT, ohana_commands, write_section

LIMIT = 0.01

# Types by their mangled names: the length, then the name.
CONTROL = ["RunStore", "RunUpdater", "RunInterceptor", "OrderInterceptor", "JournalInterceptor", "Journal", "JournalManager", "JSONCoding",
           "SignalObserver", "DiskObserver", "MemoryObserver", "TimerObserver", "ProgressMeter", "CheckpointClock"]
UPDATERS = ["Advance", "Tick", "Begin", "Finish", "Fail", "CountFailed", "End", "Committing", "Published", "Open", "AddFolders", "Taken",
            "Resume", "Interrupt", "ShowProgress", "ShortDisk", "ShortMemory"]
EFFECTS = ["Take", "Hold", "Plan", "Run", "Commit", "Write"]


def mangled(name):
    return f"{len(name)}{name}"


def kind(function):
    """`control`, `effect` or None, and whether a function is ours at all."""
    if re.search(r"6encode2to|s7DecoderP|CodingKeys", function):  # within the journal's work
        return None, False
    if function.startswith(("swift_task", "swift_continuation", "swift_job", "_dispatch", "dispatch_", "start_thread", "$sScT", "$ss23withCheckedThrowing")):
        return None, True  # whatever runs next, which is no call
    if "OhanaRun" not in function:
        return None, "Ohana" in function or function.startswith("ohana_")
    if re.search(r"Actions(O|[A-Z]*)" , function) and re.search(r"\d+\w*ActionsO", function):
        if any(mangled(name) in function for name in UPDATERS):
            return "control", True
        if any(mangled(name) in function for name in EFFECTS):
            return "effect", True
    if re.match(r"\$s8OhanaRun(%s)" % "|".join(map(mangled, CONTROL)), function):
        return "control", True
    if re.match(r"\$s8OhanaRun10RunContext", function):
        return "effect", True
    return None, True


def read(path):
    """Own cost of each function, and the cost of what it calls, by callee."""
    names, own, calls = {}, defaultdict(int), defaultdict(lambda: defaultdict(int))
    current = callee = None
    is_call = False

    def name(text):
        number, _, rest = text.partition(" ")
        if rest:
            names[number] = rest
        return names.get(number, number)

    for line in open(path):
        if line.startswith("fn="):
            current = name(line[3:].strip())
        elif line.startswith("cfn="):
            callee = name(line[4:].strip())
        elif line.startswith("calls="):
            is_call = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            parts = line.split()
            cost = int(parts[1]) if len(parts) > 1 else 0
            if is_call:
                calls[current][callee] += cost
            else:
                own[current] += cost
            is_call = False
    return own, calls


def shares(path):
    own, calls = read(path)
    total = sum(own.values())
    control = effects = 0
    details = defaultdict(int)
    for function in set(own) | set(calls):
        what, _ = kind(function)
        if not what:
            continue
        cost = own[function]
        for callee, inclusive in calls[function].items():
            other, is_ours = kind(callee)
            if other or callee == function:
                continue
            if not is_ours:
                cost += inclusive
        details[function] += cost
        if what == "control":
            control += cost
        else:
            effects += cost
    return total, control, effects, details


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ohana", default=str(ROOT / ".build" / "release" / "ohana"))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--only", default="", help="part of the names of the jobs wanted")
    parser.add_argument("--details", action="store_true", help="the functions that cost most, too")
    parser.add_argument("--results", default=str(BENCHMARKS / "RESULTS.md"), help="- for nowhere")
    options = parser.parse_args()
    rows = []
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Valgrind stumbles over the debug information of a Swift program; the names of functions stay.
        ohana = folder / "ohana"
        subprocess.run(["strip", "-g", "-o", ohana, options.ohana], check=True)
        sizes = (options.rows // 5, options.rows)
        for count in sizes:
            for form in ("ndjson", "csv"):
                subprocess.run([ohana, "generate", "--rows", str(count), "--format", form, "-o", folder / f"{count}.{form}.gz"],
                               check=True, stderr=subprocess.DEVNULL)
        for job, (title, source, form) in JOBS.items():
            if options.only not in job:
                continue
            sums = []
            for count in sizes:
                command = ohana_commands(ohana, job, f"{folder}/{count}.{source}.gz", f"{folder}/out.{form}.gz", extra="--threads 1")
                counts = folder / "callgrind.out"
                run = subprocess.run(["bash", "-c", f"exec valgrind --tool=callgrind --callgrind-out-file={counts} {command}"],
                                     capture_output=True, text=True)
                if run.returncode:
                    sys.exit(f"{command}: {run.stderr[-500:]}")
                *numbers, details = shares(counts)
                if numbers[1] == 0:
                    sys.exit("no function of the control plane was found: is the binary stripped?")
                sums.append(numbers)
            each = [(large - small) / (sizes[1] - sizes[0]) for small, large in zip(*sums)]
            once = [max(0, large - slope * sizes[1]) for large, slope in zip(sums[1], each)]
            total, control, effects = (fixed + max(0, slope) * 1e6 for fixed, slope in zip(once, each))
            share = (control + effects) / total
            failed = failed or share > LIMIT
            rows.append((title, total, control, effects, once[1] + once[2], share))
            print(f"{share:8.3%}  {title}", flush=True)
            if options.details:
                for function, cost in sorted(details.items(), key=lambda item: -item[1])[:15]:
                    print(f"          {cost:12,}  {function}")
    if options.results != "-":
        lines = ["## Control plane", "",
                 f"Millions of instructions of a job of a million records, from {sizes[0]:,} and {sizes[1]:,} under callgrind, on one thread. "
                 f"`Benchmarks/control.py --rows {options.rows}`", "",
                 "| job | in all | store, journal, observers | effects | of these once a run | share |", "|---|--:|--:|--:|--:|--:|"]
        lines += [f"| {title} | {total / 1e6:,.0f} | {control / 1e6:.1f} | {effects / 1e6:.1f} | {once / 1e6:.1f} | {share:.2%} |"
                  for title, total, control, effects, once, share in rows]
        write_section(Path(options.results), "control", lines + [""])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
