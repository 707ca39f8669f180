#!/usr/bin/env python3
"""Runs the five jobs on ohana and its peers, checks that outputs agree, then measures. See Benchmarks/README.md.

This driver holds no data, since a child's peak memory counts from its fork: what is large is done in other processes.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from contacts import JOBS

HERE = Path(__file__).resolve().parent
BENCHMARKS = HERE.parent
ROOT = BENCHMARKS.parent
WORK = BENCHMARKS / "work"
VENV = WORK / "venv"
PYTHON = VENV / "bin" / "python"
# As they come, and told to compress as little as they can.
ENGINES = ["duckdb", "polars", "chdb"]
AT_LOWEST_LEVEL = ["duckdb-igzip", "polars-1", "chdb-1"]
TITLES = {
    "ohana": "**ohana**", "ohana-no-larger": "ohana, output no larger than that of the fastest engine", "ohana-binary": "ohana, `:binary` order",
    "duckdb": "DuckDB", "polars": "Polars", "chdb": "chDB",
    "duckdb-igzip": "DuckDB \\| `igzip -1`", "polars-1": "Polars, level 1", "chdb-1": "chDB, level 1", "chdb-lines": "chDB, level 1, on bare lines",
    "jq": "jq, awk, sort, pigz", "miller": "Miller", "floor": "floor: `igzip -d \\| igzip -1`",
}


def ohana_commands(binary, job, source, target, order="", extra=""):
    """The command line of a job, with `extra` options. `source` is a shell word list, left to the shell as a user would."""
    keys = ",".join(f + order for f in ("last", "first"))
    options = f"--overwrite {extra}".rstrip()
    run = f"{binary} run {source} -o {target} {options}"
    return {
        "dedupe": f"{binary} dedupe --by email:email {source} -o {target} {options}",
        "names": f"{run} then require first,last,image then sort {keys} then set \"full_name = first || ' ' || last\" then keep full_name,image",
        "to-csv": f"{binary} convert {source} -o {target} {options}",
        "to-ndjson": f"{binary} convert {source} -o {target} {options}",
        "dedupe-sort": f"{run} then dedupe --by email:email then sort {keys}",
    }[job]


class Contender:
    """`command(job, target)` is the command; with `levels` it takes a level too, see `no_larger`."""

    def __init__(self, name, jobs, command, rules="", levels=()):
        self.name, self.jobs, self.command, self.rules, self.levels = name, jobs, command, rules, levels


def contenders(binary, data):
    def source(job):
        form = JOBS[job][1]
        return data / form, form

    def ours(order=""):
        def command(job, target, level=None):
            folder, form = source(job)
            extra = f"--level {level}" if level else ""
            return ["bash", "-c", "exec " + ohana_commands(binary, job, f"{folder}/*.{form}.gz", target, order, extra)]
        return command

    def python(script, *extra):
        return lambda job, target: [str(PYTHON), str(HERE / script), job, str(source(job)[0]), str(target), *extra]

    def shell(script):
        return lambda job, target: ["bash", str(HERE / script), job, str(source(job)[0]), str(target)]

    def piped(script):
        def command(job, target):
            return ["bash", "-c", f"set -o pipefail; {PYTHON} {HERE / script} {job} {source(job)[0]} /dev/stdout | igzip -1 -c > {target}"]
        return command

    def floor(job, target):
        folder, form = source(job)
        return ["bash", "-c", f"set -o pipefail; cat {folder}/*.{form}.gz | igzip -dc | igzip -1 -c > {target}"]

    every = list(JOBS)
    return [
        Contender("ohana", every, ours(), "co"),
        Contender("ohana-no-larger", every, ours(), "co", levels=range(1, 13)),
        Contender("ohana-binary", ["names", "dedupe-sort"], ours(":binary"), "o"),
        Contender("duckdb", every, python("job_duckdb.py")),
        Contender("polars", every, python("job_polars.py")),
        Contender("chdb", every, python("job_chdb.py")),
        Contender("duckdb-igzip", every, piped("job_duckdb.py")),
        Contender("polars-1", every, python("job_polars.py", "level=1")),
        Contender("chdb-1", every, python("job_chdb.py", "level=1")),
        Contender("chdb-lines", ["dedupe"], python("job_chdb.py", "level=1", "lines")),
        Contender("jq", ["dedupe", "names", "to-csv"], shell("job_jq.sh")),
        Contender("miller", every, shell("job_miller.sh")),
        Contender("floor", every, floor),
    ]


# Measuring


def measure(command, log):
    """Runs a command; returns wall and CPU seconds, peak resident KiB of its largest process, and the time its script reports."""
    with open(log, "wb") as err:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    text = Path(log).read_text(errors="replace")
    if child.returncode != 0:
        text = text.replace(str(ROOT) + "/", "").strip()
        raise RuntimeError(f"exit {child.returncode}: {text[-500:]}")
    work = re.search(r"^work ([\d.]+)$", text, re.M)
    return {
        "wall": wall, "work": float(work.group(1)) if work else wall, "cpu": usage.ru_utime + usage.ru_stime,
        "peakMiB": usage.ru_maxrss / 1024,
    }


def no_larger(contender, job, target, limit, log):
    """The first level whose output, which it leaves at `target`, has at most `limit` bytes, and the command."""
    for level in contender.levels:
        command = contender.command(job, target, level)
        measure(command, log)
        if target.stat().st_size <= limit:
            return level, command
    raise RuntimeError(f"its output is larger than {limit} bytes at every level")


def run_job(job, field, data, options):
    form = JOBS[job][2]
    folder = WORK / "out"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    field = [c for c in field if job in c.jobs]
    targets = {c.name: folder / f"{job}-{c.name}.{form}.gz" for c in field}
    results, faults, first, levels = {}, {}, {}, {}
    commands = {c.name: c.command(job, targets[c.name]) for c in field}
    print(f"{job}: {JOBS[job][0]}", flush=True)
    # First round: checked, not counted; it warms the page cache too. Who has to find a level comes last.
    for c in sorted(field, key=lambda c: bool(c.levels)):
        try:
            if not c.levels:
                first[c.name] = measure(commands[c.name], folder / "log")["wall"]
            elif engines := [n for n in ENGINES if n in first]:
                limit = targets[min(engines, key=first.get)].stat().st_size
                levels[c.name], commands[c.name] = no_larger(c, job, targets[c.name], limit, folder / "log")
            else:
                faults[c.name] = "no engine to compare with"
        except (RuntimeError, OSError) as error:
            faults[c.name] = str(error)
    checked = [c for c in field if c.name not in faults and c.name != "floor"]
    outputs = [] if options.unchecked else [f"{c.rules}:{targets[c.name]}" for c in checked]
    if outputs:
        check = subprocess.run([str(PYTHON), str(HERE / "verify.py"), job, str(data / JOBS[job][1]), *outputs], capture_output=True, text=True)
        verdicts = dict(line.split("\t", 1) for line in check.stdout.splitlines() if "\t" in line)
        for c in checked:
            verdict = verdicts.get(str(targets[c.name]), check.stderr.strip()[-300:] or "not checked")
            if verdict != "equal":
                faults[c.name] = verdict
    for name, fault in faults.items():
        print(f"  {name}: {fault}", flush=True)
    # Then in turns, so that a slow minute of the machine hits all alike.
    samples = {c.name: [] for c in field if c.name not in faults}
    for _ in range(options.runs):
        for c in field:
            if c.name in samples:
                targets[c.name].unlink(missing_ok=True)
                samples[c.name].append(measure(commands[c.name], folder / "log"))
    for c in field:
        if c.name not in samples:
            results[c.name] = {"fault": faults[c.name]}
            continue
        runs = samples[c.name]
        results[c.name] = {
            **{k: statistics.median(r[k] for r in runs) for k in ("wall", "work", "cpu")},
            "fastest": min(r["wall"] for r in runs), "slowest": max(r["wall"] for r in runs),
            "peakMiB": max(r["peakMiB"] for r in runs), "outputBytes": targets[c.name].stat().st_size, "runs": runs,
            **({"level": levels[c.name]} if c.name in levels else {}),
        } if runs else {"checked": True}
        if runs:
            r = results[c.name]
            print(f"  {c.name:15} {r['wall']:7.2f} s  {r['peakMiB']:7.0f} MiB  {r['outputBytes']:>12,} bytes", flush=True)
    shutil.rmtree(folder)
    return results


# Set-up


def prepare(options):
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "requirements.txt").read_text()
    stamp = VENV / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(PYTHON), "-m", "pip", "install", "-q", "-r", str(HERE / "requirements.txt")], check=True)
        stamp.write_text(wanted)
    for tool in ("mlr", "jq", "sort", "pigz", "igzip", "awk"):
        if not shutil.which(tool):
            sys.exit(f"{tool} is missing; apt install miller jq pigz isal")
    data = Path(options.data).resolve() if options.data else WORK / f"data-{options.rows}-{options.seed}"
    for form in ("ndjson", "csv"):
        if not list((data / form).glob(f"*.{form}.gz")):
            (data / form).mkdir(parents=True, exist_ok=True)
            command = [
                options.ohana, "generate", "--rows", str(options.rows), "--chunks", "8", "--seed", str(options.seed), "--format", form,
                "-o", str(data / form / f"part-{{n}}.{form}.gz"),
            ]
            subprocess.run(command, check=True)
    return data


def versions(options):
    def first_line(*command):
        try:
            return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0].strip()
        except (OSError, IndexError):
            return "not found"

    pins = dict(re.findall(r"^(\S+)==(\S+)$", (HERE / "requirements.txt").read_text(), re.M))
    cpu = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.M)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": first_line("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"),
        "machine": f"{cpu.group(1) if cpu else platform.machine()}, {os.cpu_count()} cores, "
                   f"{int(memory.group(1)) // 1048576 if memory else '?'} GiB, {platform.system()} {platform.machine()}",
        "ohana": first_line(options.ohana, "version"),
        "DuckDB": pins["duckdb"], "Polars": pins["polars"], "chDB": pins["chdb"], "Miller": first_line("mlr", "--version"),
        "jq": first_line("jq", "--version"), "sort": first_line("sort", "--version"), "pigz": first_line("pigz", "--version"),
        "igzip": first_line("igzip", "--version"), "Python": platform.python_version(),
    }


# Report


def ratio(results, name, to="ohana"):
    """How many times as long as ohana the whole command takes, from start to exit."""
    ours, other = results.get(to, {}), results.get(name, {})
    return other["wall"] / ours["wall"] if "wall" in ours and "wall" in other else None


def table(job, results):
    floor = results.get("floor", {}).get("wall")
    lines = [
        f"### {JOBS[job][0]}", "",
        "| tool | median s | fastest–slowest | ÷ ohana | without start-up | ÷ ohana | CPU s | peak MiB | output bytes | ÷ floor |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, r in results.items():
        if "wall" not in r:
            lines.append(f"| {TITLES[name]} | not counted: {r.get('fault', 'not timed')[:120]} | | | | | | | | |")
            continue
        times, own = ratio(results, name), results.get("ohana", {}).get("wall")
        cells = [
            TITLES[name] + (f", `--level {r['level']}`" if "level" in r else ""), f"{r['wall']:.2f}", f"{r['fastest']:.2f}–{r['slowest']:.2f}", f"{times:.2f}" if times else "–", f"{r['work']:.2f}",
            f"{r['work'] / own:.2f}" if own else "–", f"{r['cpu']:.2f}", f"{r['peakMiB']:.0f}", f"{r['outputBytes']:,}",
            f"{r['wall'] / floor:.2f}" if floor else "–",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines + [""]


def report(facts, data_text, all_results, options, verdicts):
    lines = [
        f"## Peers, {options.rows:,} rows", "",
        f"{facts['date']}, commit {facts['commit']}: {facts['machine']}.", "",
        f"{data_text} Median of {options.runs} runs in turns (ohana, DuckDB, Polars, … ohana, …); "
        + ("outputs were not checked here: those of fewer rows were." if options.unchecked else "every output was checked first."),
        "`÷ ohana` compares whole commands, from start to exit. “Without start-up” leaves out the interpreter and imports of Python peers, and"
        " is compared with the whole time of ohana behind it. Peak is that of the largest process. Sorts: ohana orders by CLDR root, peers by bytes.", "",
        "Versions: " + ", ".join(f"{k} {v}" for k, v in facts.items() if k not in ("date", "commit", "machine")) + ".", "",
        f"Command: `Benchmarks/peers/run.py --rows {options.rows} --runs {options.runs} --seed {options.seed}{' --unchecked' if options.unchecked else ''}{f' --only {options.only}' if options.only else ''}`", "",
    ]
    for job, results in all_results.items():
        lines += table(job, results)
    lines += ["### Commands", "", "```"]
    for job in all_results:
        form = JOBS[job][1]
        lines.append(ohana_commands("ohana", job, f"'{form}/*.{form}.gz'", f"out.{JOBS[job][2]}.gz"))
    lines += ["```", "", "Those of the peers are in `Benchmarks/peers/job_*`.", "", "### Thresholds", ""]
    return lines + [f"- {v}" for v in verdicts] + [""]


def judge(all_results, thresholds):
    verdicts, is_good = [], True
    for job, results in all_results.items():
        ours = results.get("ohana", {})
        if "wall" not in ours:
            verdicts.append(f"{job}: MISSED: {ours.get('fault', 'no time for ohana')}")
            is_good = False
            continue
        checks = []
        for group, engines, own, text in (
            ("Engine", ENGINES, "ohana", ""), ("EngineWithNoLargerOutput", ENGINES, "ohana-no-larger", ", with output no larger than that of the fastest engine"),
            ("EngineAtLowestLevel", AT_LOWEST_LEVEL, "ohana", ""), ("Shortcut", ["chdb-lines"], "ohana", ""),
        ):
            ratios = {n: r for n in engines if (r := ratio(results, n, own)) is not None}
            least = thresholds.get(f"minTimesFasterThanFastest{group}", {}).get(job)
            aim = thresholds.get(f"aimTimesFasterThanFastest{group}", {}).get(job)
            if ratios and least is not None:
                nearest = min(ratios, key=ratios.get)
                checks.append((
                    ratios[nearest] >= least,
                    f"{ratios[nearest]:.2f} × faster than {nearest}{text}, at least {least}" + (f", aim {aim}" if aim else ""),
                ))
        if "floor" in results and "wall" in results["floor"]:
            most = thresholds.get("maxTimesFloor", {}).get(job)
            times = ours["wall"] / results["floor"]["wall"]
            if most is not None:
                checks.append((times <= most, f"{times:.2f} × the floor, at most {most}"))
        most = thresholds["maxPeakMiB"]
        checks.append((ours["peakMiB"] <= most, f"peak {ours['peakMiB']:.0f} MiB, at most {most}"))
        for passed, text in checks:
            verdicts.append(f"{job}: {'' if passed else 'MISSED: '}{text}")
            is_good &= passed
    return verdicts, is_good


def write_section(path, name, lines):
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    text = path.read_text() if path.exists() else f"# Results\n\n{begin}\n{end}\n"
    if begin not in text:
        text = text.rstrip() + f"\n\n{begin}\n{end}\n"
    head, rest = text.split(begin, 1)
    tail = rest.split(end, 1)[1]
    path.write_text(head + begin + "\n\n" + "\n".join(lines) + "\n" + end + tail)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each; 0 checks only")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--only", default="", help="names of contenders, comma separated; all without")
    parser.add_argument("--unchecked", action="store_true", help="believe the outputs: checking many rows takes longer than making them")
    parser.add_argument("--ohana", default=str(ROOT / ".build" / "release" / "ohana"))
    parser.add_argument("--data", default="", help="folder with ndjson/ and csv/ chunks to use instead of generating them")
    parser.add_argument("--results", default=str(BENCHMARKS / "RESULTS.md"), help="file whose peers section is replaced; - for none")
    parser.add_argument("--section", default="peers", help="the section of that file")
    parser.add_argument("--json", default=str(BENCHMARKS / "results-peers.json"), help="- for none")
    parser.add_argument("--thresholds", default=str(BENCHMARKS / "thresholds.json"))
    options = parser.parse_args()
    if not shutil.which(options.ohana):
        sys.exit(f"{options.ohana} is no program; swift build -c release --product ohana, or give --ohana")
    data = prepare(options)
    field = contenders(options.ohana, data)
    if options.only:
        field = [c for c in field if c.name in options.only.split(",")]
    all_results = {job: run_job(job, field, data, options) for job in options.jobs.split(",")}
    if options.runs == 0:
        sys.exit(any("fault" in r for results in all_results.values() for r in results.values()))
    sizes = {form: sum(p.stat().st_size for p in (data / form).glob("*.gz")) for form in ("ndjson", "csv")}
    data_text = f"{options.rows:,} contacts in 8 chunks: {sizes['ndjson']:,} bytes of NDJSON, {sizes['csv']:,} of CSV, gzipped."
    facts = versions(options)
    verdicts, is_good = judge(all_results, json.loads(Path(options.thresholds).read_text()))
    if options.results != "-":
        write_section(Path(options.results), options.section, report(facts, data_text, all_results, options, verdicts))
    if options.json != "-":
        Path(options.json).write_text(json.dumps({"facts": facts, "options": vars(options), "jobs": all_results}, indent=1) + "\n")
    print("\n".join(verdicts))
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
