#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Faults that the scenarios find.

  faults.py BUILD --old [NAME...]       the faults of old_faults.py: each must be found
  faults.py BUILD --orders [OUTPUT...]  every memory order, barrier and notification weakened, one at
                                        a time; OUTPUT: of PROGRAM --weaken, instead of running all

--old changes the sources back, compiles the objects that include them, and links and runs the
program. --orders weakens in the model (weaken.c). An order that no scenario needs is weakened in the
product, or gets a scenario, or has its reason in orders.txt: those that have none are printed last.
"""

import concurrent.futures
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from old_faults import FAULTS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
EXPLICIT = re.compile(r"(?:memory_order_|__ATOMIC_)(?:acquire|release|acq_rel|seq_cst)", re.I)
DEFAULT = re.compile(r"\batomic_(?:load|store|exchange|fetch_[a-z]+|compare_exchange_(?:strong|weak))\(")
PROGRAMS = ("sections", "heap", "records", "control", "transport", "collective", "network", "queue",
            "gpu", "device")
# Of the orders that suffice in two programs, the one that suffices in both.
RANK = {"relaxed": 0, "acquire": 1, "release": 2, "acq_rel": 3, "seq_cst": 4, "needed": 4}


class Program:
    """A scenario program, linked again from changed objects."""

    def __init__(self, build, name):
        self.build = build
        self.path = os.path.join(build, "tests/interleave", name)
        self.has_pes = os.path.exists(self.path + "-0.so")
        target = name + "-pe" if self.has_pes else name
        run = subprocess.run(["ninja", "-C", build, "-t", "commands", target], check=True,
                             capture_output=True, text=True)
        self.link = run.stdout.splitlines()[-1]
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            commands = {re.search(r" -o (\S+)", c["command"]).group(1): c for c in json.load(f)}
        objects = [w for w in shlex.split(self.link) if w.endswith(".o")]
        self.commands = {o: commands[o] for o in objects if o in commands
                         and "-fsanitize=thread" in commands[o]["command"]}
        self.includes = {}
        run = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True,
                             capture_output=True, text=True)
        current = ""
        for line in run.stdout.splitlines():
            if line and not line[0].isspace():
                current = line.split(":")[0]
                self.includes[current] = set()
            elif line:
                self.includes[current].add(os.path.realpath(os.path.join(build, line.strip())))

    def make(self, texts, folder):
        """The program with other texts of files, by path; None where it does not compile."""
        copies = {}
        for path, text in texts.items():
            copies[path] = os.path.join(folder, os.path.relpath(path, ROOT))
            os.makedirs(os.path.dirname(copies[path]), exist_ok=True)
            with open(copies[path], "w", encoding="utf-8") as f:
                f.write(text)
        link = self.link
        for output, command in self.commands.items():
            if self.includes.get(output, set()).isdisjoint(texts):
                continue
            words = shlex.split(command["command"])
            words = [copies.get(os.path.realpath(w), w) for w in words]
            made = os.path.join(folder, output.replace("/", "_"))
            words[words.index("-o") + 1] = made
            at = next(i for i, w in enumerate(words) if w.startswith("-I"))
            words[at:at] = ["-I" + folder]
            if subprocess.run(words, cwd=self.build, capture_output=True,
                              check=False).returncode != 0:
                return None
            link = re.sub(r"(?<=\s)" + re.escape(output) + r"(?=\s)", made, link)
        program = os.path.join(folder, "program")
        made = program + "-0.so" if self.has_pes else program
        link = re.sub(r"^.*?(?=\S*(?:cc|clang)\S* )", "", link.replace(": &&", "").split(" && ")[0])
        link = re.sub(r"-o \S+", "-o " + made, link)
        subprocess.run(link, shell=True, cwd=self.build, check=True, capture_output=True)
        for plugin in glob.glob(self.path + "-[a-z]*.so"): # pretended drivers, beside it
            shutil.copy(plugin, program + plugin[len(self.path):])
        if self.has_pes:
            shutil.copy(self.path, program)
            for pe in "12":
                shutil.copy(made, program + "-%s.so" % pe)
        return program


def find_old(build, names):
    """Whether each fault is found where it should be."""
    executions = os.environ.get("INTERLEAVE_EXECUTIONS", "2000")
    missed = 0
    for name, program, scenario, words, changes in FAULTS:
        if names and name not in names:
            continue
        texts = {}
        for file, pairs in changes.items():
            path = os.path.join(ROOT, file)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            for today, before in pairs:
                if text.count(today) != 1:
                    sys.exit("%s: %s has not once: %s" % (name, file, today))
                text = text.replace(today, before)
            texts[path] = text
        with tempfile.TemporaryDirectory() as folder:
            made = Program(build, "interleave-" + program).make(texts, folder)
            if made is None:
                sys.exit("%s does not compile" % name)
            run = subprocess.run([made, scenario, "--executions", executions], check=False,
                                 capture_output=True, text=True)
        report = re.search(r"FAILED\n  (.*)", run.stdout)
        is_found = report is not None and words in report.group(1)
        missed += not is_found
        print("%-24s %s" % (name, "found: " + report.group(1) if is_found else
                            "NOT FOUND: " + run.stdout + run.stderr), flush=True)
    sys.exit(missed != 0)


def weaken(build, name):
    program = os.path.join(build, "tests/interleave", "interleave-" + name)
    executions = os.environ.get("INTERLEAVE_EXECUTIONS", "300")
    return subprocess.run([program, "--weaken", "--executions", executions], check=False,
                          stdout=subprocess.PIPE, text=True).stdout


def merge(outputs):
    """{(file, line, kind, order): (the order that suffices, who notices a relaxed one)}"""
    places = {}
    for line in "".join(outputs).splitlines():
        word, place, kind, order, enough, *notices = line.split(" ", 5)
        if word != "order":
            continue
        file, number = place.rsplit(":", 1)
        key = (file, int(number), kind, order)
        rank, notice = places.get(key, (0, ""))
        # Acquire and release have two bits: acq_rel has both.
        rank = max(rank, RANK[enough]) if 4 in (rank, RANK[enough]) else rank | RANK[enough]
        places[key] = (rank, notice or "".join(notices))
    return places


def read_reasons():
    """{(file, the source's line): reason}"""
    reasons = {}
    with open(os.path.join(os.path.dirname(__file__), "orders.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                file, rest = line.split(" | ", 1)
                text, reason = rest.rsplit(" | ", 1) # the source may have bars
                reasons[file, text.strip()] = reason.strip()
    return reasons


def count_orders():
    """Explicit ones, and those by default, of the rooms that the programs have code of."""
    counts = [0, 0]
    for room in ("core", "shmem"):
        for path in glob.glob(os.path.join(ROOT, room, "**/*.[ch]"), recursive=True):
            with open(path, encoding="utf-8") as f:
                lines = [line for line in f if "atomic_signal" not in line]
            counts[0] += sum(len(EXPLICIT.findall(line)) for line in lines)
            counts[1] += sum(len(DEFAULT.findall(line)) for line in lines)
    return counts


def judge_orders(build, files):
    if files:
        outputs = []
        for file in files:
            with open(file, encoding="utf-8") as f:
                outputs.append(f.read())
    else:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            outputs = list(pool.map(lambda name: weaken(build, name), PROGRAMS))
    reasons = read_reasons()
    unexplained, explained, needed = [], set(), 0
    places = merge(outputs)
    for (file, number, kind, order), (rank, notice) in sorted(places.items()):
        if rank >= RANK[order]:
            needed += 1
            continue
        enough = next(name for name, r in RANK.items() if r == rank)
        with open(os.path.join(ROOT, file), encoding="utf-8") as f:
            text = f.read().splitlines()[number - 1].strip()
        what = "%s:%d  %s %s, %s suffices  %s" % (file, number, order, kind, enough, text)
        if (file, text) in reasons:
            explained.add((file, text))
            print("%s\n    %s" % (what, reasons[file, text]))
        else:
            unexplained.append("%s\n    %s" % (what, notice))
    print("\n".join(unexplained))
    print("%d explicit orders and %d by default in core and shmem; the scenarios come to %d lines "
          "with orders: %d needed, %d with a reason, %d without" %
          (*count_orders(), len(places), needed, len(places) - needed - len(unexplained),
           len(unexplained)))
    sys.exit(bool(unexplained))


def main():
    if len(sys.argv) > 2 and sys.argv[2] == "--old":
        find_old(sys.argv[1], sys.argv[3:])
    if len(sys.argv) > 2 and sys.argv[2] == "--orders":
        judge_orders(sys.argv[1], sys.argv[3:])
    sys.exit(__doc__)


if __name__ == "__main__":
    main()
