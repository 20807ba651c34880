#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which faults in the order of memory a scenario program finds.

  faults.py BUILD PROGRAM FILE [FILE...]
  faults.py BUILD --old [NAME...]

Each atomic access and each memory barrier of FILE, in turn, gets the order "relaxed", and each notification
is left out: one change at a time, in a copy of the source. The objects that include the file are
compiled again, linked into PROGRAM (interleave-sections, say), and run. A change that no scenario
finds is printed with its line: the order is stronger than the scenarios need, or one is missing.

--old: the faults of old_faults.py, of which each must be found.
"""

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
ORDER = re.compile(r"(memory_order_|__ATOMIC_)(acquire|release|acq_rel|seq_cst)", re.I)
PLAIN = re.compile(
    r"\batomic_(load|store|exchange|fetch_[a-z]+|compare_exchange_(?:strong|weak))\(")
NOTIFICATION = re.compile(
    r"^\s+(?:syscall\(SYS_futex, [^;]*FUTEX_WAKE[^;]*;"
    r"|\(?(?:void\))?pthread_cond_(?:signal|broadcast)\([^;]*;"
    r"|(?:msp_doorbell_notify|msp_peer_notify|wake|notify)\w*\([^;]*;"
    r"|order_all\(\);|membarrier\([^;]*;)", re.M)


def end_of_call(text, start):
    """The place of the parenthesis that closes the one before start."""
    depth = 1
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError("no closing parenthesis")


def changes_of(text):
    """(offset, what, the changed text) of each change."""
    for m in ORDER.finditer(text):
        if "atomic_signal" in text[text.rfind("\n", 0, m.start()):m.start()]:
            continue # for the compiler alone
        relaxed = "relaxed" if m.group(2).islower() else "RELAXED"
        yield m.start(), m.group(2) + " to relaxed", (
            text[:m.start()] + m.group(1) + relaxed + text[m.end():])
    for m in PLAIN.finditer(text):
        orders = ", memory_order_relaxed" * (2 if "compare" in m.group(1) else 1)
        end = end_of_call(text, m.end())
        yield m.start(), "atomic_" + m.group(1) + " to relaxed", (
            text[:m.end() - 1] + "_explicit" + text[m.end() - 1:end] + orders + text[end:])
    for m in NOTIFICATION.finditer(text):
        yield m.start() + len(m.group()) - len(m.group().lstrip()), "no notification", (
            text[:m.start()] + "\n;" + text[m.end():])


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


def main():
    if len(sys.argv) > 2 and sys.argv[2] == "--old":
        find_old(sys.argv[1], sys.argv[3:])
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    program = Program(sys.argv[1], sys.argv[2])
    executions = os.environ.get("INTERLEAVE_EXECUTIONS", "3000")
    found = total = 0
    for path in map(os.path.realpath, sys.argv[3:]):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for offset, what, changed in changes_of(text):
            line = text.count("\n", 0, offset) + 1
            with tempfile.TemporaryDirectory() as folder:
                made = program.make({path: changed}, folder)
                if made is None:
                    continue
                run = subprocess.run([made, "--executions", executions], capture_output=True,
                                     text=True, check=False)
            if run.returncode not in (0, 1):
                sys.exit(run.stdout + run.stderr)
            total += 1
            found += run.returncode != 0
            failed = re.search(r"^(\S+).*FAILED\n  (.*)", run.stdout, re.M)
            verdict = "found by %s: %s" % failed.groups() if failed else "not found"
            print("%s:%d  %s  %s" % (os.path.basename(path), line, what, verdict), flush=True)
    print("%d of %d found" % (found, total))


if __name__ == "__main__":
    main()
