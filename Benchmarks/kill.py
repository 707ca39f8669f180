#!/usr/bin/env python3
"""Kills runs at random moments and goes on with them: the result has to be that of a run nobody killed.

    swift build && Benchmarks/kill.py --rounds 300

Each round starts a job over an old output, kills it at a random moment (SIGKILL, or SIGTERM in one round of four), looks at what is there
(every output is the old or the new one, whole), and then goes on with --resume, which is killed again in one round of three. At the end the
outputs have to be byte for byte those of a run that was left alone, and no file may be left in the folder or in the temporary one.
Exit status 1 if anything is not so; the seed of a round that failed is printed. With --keep DIR its files and what its runs said stay there.
"""

import argparse
import hashlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

JOBS = {
    "sort-dedupe-chunks": ["-o", "out-{n:3}.ndjson.gz", "--chunk-records", "7000", "--memory", "16M"],
    "sort-csv": ["-o", "out.csv.gz", "--memory", "20M"],
    "dedupe": ["-o", "out.ndjson.gz", "--rejects", "rejects.ndjson", "--max-rejects", "1000"],
    "dedupe-spilling": ["-o", "out.ndjson", "--memory", "16M"],
    "newest": ["-o", "out.ndjson.gz", "--memory", "32M"],
    "convert": ["-o", "out.csv"],
    "convert-chunks": ["-o", "out-{n}.csv.gz", "--chunk-records", "9000"],
    "count": ["-o", "out.csv", "--memory", "16M"],
    "sample": ["-o", "out.ndjson.gz", "--memory", "16M"],
    "csv": ["-o", "out.csv.gz", "--memory", "16M"],
    "groups": ["-o", "out.ndjson.gz", "--memory", "32M"],
    "select": ["-o", "out.ndjson.gz", "--manifest", "set.json", "--memory", "16M"],
}
STAGES = {
    "sort-dedupe-chunks": "then dedupe --by email:email then tee side.ndjson.gz then sort last,first",
    "sort-csv": "then keep first,last,email then sort last,first",
    "dedupe": "then dedupe --by email:email --duplicates others.ndjson.gz",
    "dedupe-spilling": "then distinct --by record then dedupe --by email:email then skip 10",
    "newest": "then dedupe --by email:email --keep last then limit 1000000",
    "convert": "",
    "convert-chunks": "",
    "count": "then count-by country,last",
    "sample": "then sample 30000 then sample 50%",
    "csv": "then dedupe --by email:email then sort last,first",
    "groups": "then any { dedupe --by email:email then skip 5 } { require phone } then sort last,first",
    "select": "then select --max 1000000 --min 10 --on-exceed refuse then reverse",
}


def digest(folder):
    """Names and contents of all outputs."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        # Manifests hold times, which differ.
        if path.is_file() and not path.name.startswith(".") and path.name != "set.json"
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ohana", default=".build/debug/ohana")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    tool = str(pathlib.Path(options.ohana).resolve())
    work = pathlib.Path(tempfile.mkdtemp(prefix="ohana-kill-"))
    (work / "data").mkdir()
    for kind in ("ndjson", "csv"):
        name = str(work / "data" / ("part-{n}." + kind + ".gz"))
        subprocess.run([tool, "generate", "--rows", str(options.rows), "--chunks", "3", "-o", name], check=True)
    failures = went_on = published = 0
    references = {}
    for number in range(options.rounds):
        seed = options.seed + number
        dice = random.Random(seed)
        job = dice.choice(options.jobs.split(","))
        kind = "csv" if job == "csv" else "ndjson"
        inputs = [str(work / "data" / f"part-{n}.{kind}.gz") for n in (1, 2, 3)]
        command = [tool, "run", "--overwrite"] + inputs + JOBS[job]
        stages = STAGES[job].split()
        said = []
        environment = dict(os.environ, OHANA_CHECKPOINT_SECONDS="0.1", TMPDIR=str(work / "tmp"))

        def run(folder, extra=(), kill=None):
            process = subprocess.Popen(
                command + list(extra) + stages, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
            if kill:
                time.sleep(kill[0])
                process.send_signal(kill[1])
            text = process.communicate()[1]
            said.append(f"{extra} {kill}: exit {process.returncode}\n{text}")
            return process.returncode, text

        (work / "tmp").mkdir(exist_ok=True)
        if job not in references:
            reference = work / ("reference-" + job)
            reference.mkdir()
            began = time.time()
            status, text = run(reference)
            assert status == 0, text
            references[job] = (digest(reference), time.time() - began)
        wanted, seconds = references[job]
        folder = work / "out"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in wanted:
            (folder / name).write_text("old\n")
        old = digest(folder)
        which = signal.SIGTERM if dice.random() < 0.25 else signal.SIGKILL
        extra = ["--resume"] if which == signal.SIGTERM else []
        problems = []
        status, text = run(folder, extra, (dice.random() * seconds * 1.1, which))
        for attempt in range(3):
            now = digest(folder)
            for name in set(now) | set(wanted):
                if now.get(name) not in (old.get(name), wanted.get(name)):
                    problems.append(f"{name} is neither old nor new")
            again = attempt < 2 and dice.random() < 0.33
            threads = ["--threads", str(dice.randint(1, 3))]
            kill = (dice.random() * seconds, signal.SIGKILL) if again else None
            status, text = run(folder, ["--resume"] + threads, kill)
            went_on += "goes on" in text
            if not again or status == 0:
                break
        published += 1
        if status != 0:
            problems.append(f"--resume ends with {status}: {text}")
        now = digest(folder)
        if now != wanted:
            problems.append("differs: " + ", ".join(sorted(n for n in set(now) | set(wanted) if now.get(n) != wanted.get(n))))
        hidden = [p.name for p in folder.iterdir() if p.name.startswith(".")]
        left = hidden + [p.name for p in (work / "tmp").iterdir()]
        if left:
            problems.append("left behind: " + ", ".join(left))
        for problem in problems:
            print(f"seed {seed}, {job}, {which.name}: {problem}", file=sys.stderr)
        failures += bool(problems)
        if problems:
            if options.keep:
                kept = options.keep / f"{seed}-{job}"
                for place in ("out", "tmp"):
                    shutil.copytree(work / place, kept / place, symlinks=True)
                (kept / "said").write_text("\n".join(said))
            shutil.rmtree(work / "tmp")
    print(f"{options.rounds} rounds, {went_on} went on from a checkpoint, {failures} failed; first seed {options.seed}")
    shutil.rmtree(work)
    sys.exit(1 if failures else 0)


main()
