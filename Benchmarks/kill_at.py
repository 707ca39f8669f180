#!/usr/bin/env python3
"""Kills a run in front of each of its system calls that change or look at files, and goes on with it: needs strace.

    swift build && Benchmarks/kill_at.py

For each job and each kind of call: the first run is killed in front of the first such call of a thread, the next one in front of the second, and so
on until one is done before it comes to that. Behind each kill every output has to be the old or the new one, whole; --resume has to end with the
bytes of a run that was left alone; and no file may be left in the folder or in the temporary one. Exit status 1 if anything is not so.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

# Options, stages, and whether the run that is killed goes on with another.
JOBS = {
    "sort": (["-o", "out.ndjson.gz", "--memory", "16M"], "then sort last", False),
    "set": (
        ["-o", "out-{n}.csv.gz", "--chunk-records", "4000", "--manifest", "set.json", "--rejects", "rejects.ndjson"],
        "then dedupe --by email:email then tee side.ndjson then sort last", False),
    "resumed": (["-o", "out.ndjson.gz", "--memory", "16M", "--report", "report.json"], "then dedupe --by email:email then sort last", True),
}
CALLS = "unlink rmdir mkdir rename link chmod write pwrite64 ftruncate truncate fdatasync fsync openat flock close lseek getdents64".split()
# Holds times, which differ.
UNEQUAL = {"set.json", "report.json"}


def digest(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir() if not path.name.startswith(".") and path.name not in UNEQUAL
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ohana", default=".build/debug/ohana")
    parser.add_argument("--rows", type=int, default=30000)
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--calls", default=",".join(CALLS))
    options = parser.parse_args()
    tool = str(pathlib.Path(options.ohana).resolve())
    work = pathlib.Path(tempfile.mkdtemp(prefix="ohana-kill-"))
    data = work / "in.ndjson.gz"
    subprocess.run([tool, "generate", "--rows", str(options.rows), "-o", str(data), "-q"], check=True)
    out, temporary, trace = work / "out", work / "tmp", work / "trace"
    environment = dict(os.environ, OHANA_CHECKPOINT_SECONDS="0.02", TMPDIR=str(temporary))
    kills = failures = 0
    for job in options.jobs.split(","):
        arguments, stages, goes_on = JOBS[job]
        command = [tool, "run", str(data), "--overwrite"] + arguments

        def run(extra=(), before=()):
            return subprocess.run(
                list(before) + command + list(extra) + stages.split(), cwd=out, env=environment, stderr=subprocess.PIPE, text=True)

        def clear():
            for folder in (out, temporary):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()

        clear()
        began = time.time()
        assert run().returncode == 0
        seconds = time.time() - began
        wanted = digest(out)
        for call in options.calls.split(","):
            number, is_done = 0, False
            while not is_done:
                number += 1
                clear()
                for name in wanted:
                    (out / name).write_text("old\n")
                old = digest(out)
                if goes_on:
                    ended = subprocess.Popen(command + ["--resume"] + stages.split(), cwd=out, env=environment, stderr=subprocess.PIPE)
                    time.sleep(seconds / 2)
                    ended.terminate()
                    ended.communicate()
                inject = f"inject={call}:signal=KILL:when={number}"
                killed = run(["--resume", "--threads", "1"], ["strace", "-f", "-o", str(trace), "-e", "trace=" + call, "-e", inject])
                is_done = killed.returncode == 0
                now = digest(out)
                problems = [f"{name} is neither old nor new" for name in wanted if now.get(name) not in (old[name], wanted[name])]
                resumed = run(["--resume"])
                if resumed.returncode != 0:
                    problems.append(f"--resume ends with {resumed.returncode}: {resumed.stderr}")
                if digest(out) != wanted:
                    problems.append("differs")
                left = [path.name for path in out.iterdir() if path.name.startswith(".")] + [path.name for path in temporary.iterdir()]
                if left:
                    problems.append("left behind: " + ", ".join(left))
                for problem in problems:
                    print(f"{job}, in front of {call} {number}: {problem}", file=sys.stderr)
                kills += not is_done
                failures += bool(problems)
    print(f"{kills} kills in front of {len(options.calls.split(','))} kinds of calls, {failures} failed")
    shutil.rmtree(work)
    sys.exit(1 if failures else 0)


main()
