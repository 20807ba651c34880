# SPDX-License-Identifier: BSD-3-Clause
"""judge.py SEED COUNT [ROOM], judge.py reach: do the tests notice sampled changes?

Takes lines of the product at random, makes a change at each (changes.py) in a copy of the tree,
builds it, and runs first the tests that reach the changed function (reach.py), then the others,
until one fails twice. README.md has the options and the output.
"""
import argparse
import collections
import datetime
import json
import math
import marshal
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import changes
import reach
import tree

PRODUCT = ("core", "backends", "shmem", "include", "cmd")
C_ENDINGS = (".c", ".h", ".hpp", ".cpp")
QUICK = ("unit", "api")
FIRST = 12 # tests before all is built
EQUIVALENT = tree.SOURCE / "tests/mutations/equivalent.txt"


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def language(path):
    if path.endswith(C_ENDINGS):
        return "c"
    if path.endswith(".py"):
        return "python"
    with open(tree.TREE / path, "rb") as file:
        return "shell" if file.read(2) == b"#!" and not path.endswith(".txt") else None


# ------------------------------------------------------------------------------------- compiling

class Objects:
    """How the files of the product are compiled, and what includes them."""

    def __init__(self, build):
        self.folder = tree.TREE / "build" / build
        commands = json.loads((self.folder / "compile_commands.json").read_text())
        self.commands = collections.defaultdict(list)
        for entry in commands:
            self.commands[entry["file"]].append(shlex.split(entry["command"]))
        self.includers = collections.defaultdict(list)
        said = subprocess.run(["ninja", "-C", self.folder, "-t", "deps"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        for block in said.split("\n\n"):
            files = [os.path.normpath(self.folder / line.strip()) for line in block.split("\n")[1:]]
            for file in files[1:]:
                self.includers[file].append(files[0])

    def sources(self, path):
        """The files whose objects a change of this one may change: the nearest first."""
        full = str(tree.TREE / path)
        if full in self.commands:
            return [full]
        near = sorted(set(self.includers[full]) & set(self.commands),
                      key=lambda file: (-len(os.path.commonpath([file, full])), file))
        product = [file for file in near if os.path.relpath(file, tree.TREE).startswith(PRODUCT)]
        return product or near[:5]

    def arguments(self, source):
        kept, words = [], iter(self.commands[source][0])
        for word in words:
            if word in ("-isystem", "-include"):
                kept += [word, next(words)]
            elif word.startswith(("-I", "-D", "-std=")):
                kept.append(word)
        return kept + (["-x", "c++"] if source.endswith(("pp", ".cc")) else [])

    def compile(self, command):
        """The optimised object, or None."""
        with tempfile.TemporaryDirectory() as scratch:
            made = pathlib.Path(scratch) / "object"
            command = list(command)
            command[command.index("-o") + 1] = str(made)
            done = subprocess.run([*command, "-O2", "-g0", "-w"], cwd=self.folder, check=False, env=tree.environment(),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return made.read_bytes() if done.returncode == 0 else None


class Sampler:
    """The changes of a seed, one after another; each is in the tree while it is judged."""

    def __init__(self, seed, room, names, objects):
        import clang.cindex # only here: the self-test of other languages needs none
        self.random = random.Random(seed)
        self.objects = objects
        self.index = clang.cindex.Index.create()
        self.places = {}
        self.reasons = [line.split(" | ") for line in EQUIVALENT.read_text().splitlines()
                        if line and not line.startswith("#")]
        files = [name for name in names if name.startswith(PRODUCT) and (name + "/").startswith(room)
                 and "/man/" not in name and not name.endswith((".md", "CMakeLists.txt")) and language(name)]
        self.lines = [(name, number) for name in files
                      for number, line in enumerate((tree.TREE / name).read_bytes().split(b"\n"), 1)
                      if line.strip() and not line.strip().startswith((b"*", b"/*", b"//", b"#"))]
        self.random.shuffle(self.lines)

    def places_of(self, path):
        if path not in self.places:
            data = (tree.TREE / path).read_bytes()
            kind = language(path)
            found = []
            if kind == "python":
                found = changes.python_changes(data)
            elif kind == "shell":
                found = changes.shell_changes(data)
            elif self.objects.sources(path):
                full = str(tree.TREE / path)
                main = self.objects.sources(path)[0]
                found = changes.c_changes(full, data, self.index, self.objects.arguments(main),
                                          None if main == full else main)
            by_line = collections.defaultdict(lambda: collections.defaultdict(list))
            for change in found:
                by_line[change.line][change.operator].append(change)
            self.places[path] = by_line
        return self.places[path]

    def next(self):
        """(path, change), or None at the end of the lines."""
        while self.lines:
            path, line = self.lines.pop()
            operators = self.places_of(path).get(line, {})
            # Nearly every line allows an early return, which is easily noticed.
            some = [name for name in sorted(operators) if name != "return" or self.random.random() < 0.2]
            if some:
                return path, self.random.choice(operators[self.random.choice(some)])
        return None

    def put(self, path, change):
        """Changes the tree: "changed", "equivalent: WHY", or "no program" where it does not compile."""
        file = tree.TREE / path
        before = file.read_bytes()
        after = changes.apply(before, change)
        line = after.split(b"\n")[change.line - 1].decode().strip()
        for where, text, reason in self.reasons:
            if where == path and text == line:
                return "equivalent: " + reason
        if language(path) == "python":
            try:
                old, new = (marshal.dumps(compile(data, path, "exec")) for data in (before, after))
            except SyntaxError:
                return "no program"
            result = "equivalent: the same code" if old == new else "changed"
        elif language(path) == "shell":
            parsed = subprocess.run(["sh", "-n"], input=after, stderr=subprocess.DEVNULL, check=False)
            result = "changed" if parsed.returncode == 0 else "no program"
        else:
            result = self.compare(path, before, after)
        if result == "changed":
            file.write_bytes(after)
        return result

    def compare(self, path, before, after):
        file = tree.TREE / path
        for source in self.objects.sources(path):
            for command in self.objects.commands[source]:
                old = self.objects.compile(command)
                try:
                    file.write_bytes(after)
                    new = self.objects.compile(command)
                finally:
                    file.write_bytes(before)
                if new is None:
                    return "no program"
                if new != old:
                    return "changed"
        return "equivalent: the same object code"


# --------------------------------------------------------------------------------------- judging

class Judge:
    """A test that has not passed in the unchanged tree is run there when it fails in a changed one: one
    that fails in both says nothing."""

    def __init__(self, options):
        self.options = options
        self.kills = collections.Counter() # how many changes a test has noticed
        self.tests, self.makers = tree.tests("dev")
        self.folder = tree.TREE / "build/dev"
        said = subprocess.run(["ninja", "-C", self.folder, "-t", "targets", "all"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.targets = {line.split(": ")[0] for line in said.split("\n")}
        self.reached, self.functions = reach.read()
        if options.quick:
            self.tests = {name: test for name, test in self.tests.items()
                          if set(test.labels) & set(QUICK) and shutil.which(test.command[0])}
        # What each test did in the unchanged tree: passed, or not used.
        self.known = {name: result for name, (_, result) in self.reached.items() if result != "failed"}
        self.tests = {name: test for name, test in self.tests.items() if self.known.get(name) != "not used"}

    def passes_unchanged(self, name, path, before):
        """Whether the test passes without the change, which is in the tree again afterwards."""
        if name in self.known:
            return self.known[name] == "passed"
        file = tree.TREE / path
        changed = file.read_bytes()
        file.write_bytes(before)
        tree.build("dev", *self.targets_of([name]))
        result, seconds = self.tests[name].run()
        if result != "passed": # as a change is noticed by two failures
            result, seconds = self.tests[name].run()
        file.write_bytes(changed)
        self.known[name] = "passed" if result == "passed" else "not used"
        if result != "passed":
            print(f"not used: {name}, which is {result} in the unchanged tree", flush=True)
            del self.tests[name]
        self.reached.setdefault(name, [0, ""])[:] = seconds, self.known[name]
        reach.write(self.reached, self.functions)
        return result == "passed"

    def order(self, path, function):
        """(how many reach the change, the tests in the order of their turns)."""
        functions = self.functions.get(path, {})
        masks = [functions[function]] if function in functions else functions.values()
        bits = 0
        for mask in masks:
            bits |= int(mask, 16)
        reaching = {name for number, name in enumerate(self.reached) if bits >> number & 1}
        words = [word.strip("_") for word in re.sub(r"[.]\w+$", "", path).split("/")[1:] if word != "memspan"]
        if not reaching: # by name
            reaching = {name for name, test in self.tests.items() if any(word in test.words for word in words)}

        def turn(name):
            seconds = self.reached.get(name, [1.0])[0] / (1 + self.kills[name])
            return (name not in reaching, seconds / 4 if words[-1] in name else seconds, name)
        names = sorted(self.tests, key=turn)
        return sum(name in reaching for name in names), names

    def targets_of(self, names):
        """What these tests run, and the product."""
        if not names:
            return self.options.targets
        programs = [os.path.relpath(word, self.folder) for name in names for word in self.tests[name].command
                    if word.startswith(str(self.folder))]
        return sorted(self.targets & {*programs, *(f"{room}/all" for room in PRODUCT)})

    def run(self, name):
        test = self.tests[name]
        seconds = self.reached.get(name, [10.0])[0]
        return test.run(limit=20 + 10 * seconds)[0]

    def judge(self, path, change, before):
        """(noticed or survived, how)"""
        reaching, names = self.order(path, change.function)
        # What a header changes is built whole; else most changes are noticed before all is built.
        first = [] if path.endswith(".h") or self.options.quick else names[:FIRST]
        tested = set()
        while True: # begins again after a test that fails in any tree
            built = tree.build("dev", *self.targets_of(first))
            failed = built and self.first_failure([name for name in names if name not in tested], first, tested)
            if not built or failed == "the build":
                return "noticed", "the build"
            if not failed:
                return "survived", f"{len(tested)} tests, {reaching} reach it"
            name, result = failed
            if self.passes_unchanged(name, path, before):
                self.kills[name] += 1
                return "noticed", f"{name} ({result}), test {len(tested)} of {reaching} that reach it"
            names.remove(name)
            tested.discard(name)
            first = [one for one in first if one != name]

    def first_failure(self, names, first, tested):
        """(test, result) of one that fails twice, "the build", or None."""
        built, whole, made, begun = True, not first, set(), time.monotonic()

        def timely():
            nonlocal built, whole, begun
            for name in names:
                if time.monotonic() - begun > self.options.seconds:
                    return
                if not whole and name not in first:
                    building = time.monotonic()
                    built = whole = tree.build("dev")
                    begun += time.monotonic() - building
                if not built:
                    return
                for fixture in set(self.tests[name].needs) - made:
                    made.add(fixture)
                    self.makers[fixture].run()
                yield name

        for name, result in tree.side_by_side(self.run, timely()):
            tested.add(name)
            if result in ("failed", "hung") and self.run(name) in ("failed", "hung"):
                return name, result
        return None if built else "the build"


def wilson(part, whole):
    """The 95 % confidence interval of a share."""
    if whole == 0:
        return 0.0, 1.0
    z, share = 1.96, part / whole
    middle, half = share + z * z / (2 * whole), z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    return (middle - half) / (1 + z * z / whole), (middle + half) / (1 + z * z / whole)


def table(title, records, key):
    print(f"\n{title:<24} noticed survived equivalent")
    groups = collections.defaultdict(collections.Counter)
    for record in records:
        groups[key(record)][record[2]] += 1
    for name, counts in sorted(groups.items()):
        print(f"{name:<24} {counts['noticed']:>7} {counts['survived']:>8} {counts['equivalent']:>10}")


def report(records, seed):
    table("room", records, lambda record: room_of(record[0]))
    table("operator", records, lambda record: record[1].operator)
    counts = collections.Counter(record[2] for record in records)
    judged = counts["noticed"] + counts["survived"]
    low, high = wilson(counts["noticed"], judged)
    print(f"\nseed {seed}: {counts['noticed']} of {judged} noticed, {100 * counts['noticed'] / max(judged, 1):.0f} %"
          f" (95 % confidence: {100 * low:.0f} to {100 * high:.0f} %); {counts['equivalent']} equivalent")


def options_of(words):
    parser = argparse.ArgumentParser(prog="judge-tests", description="Sampled changes that tests must notice.")
    parser.add_argument("seed", type=int, help="0: the date")
    parser.add_argument("count", type=int)
    parser.add_argument("room", nargs="?", default="")
    parser.add_argument("--seconds", type=float, default=300, help="of tests for a change")
    parser.add_argument("--total", type=float, default=math.inf, help="seconds after which no other change is begun")
    parser.add_argument("--after", type=int, default=0, help="so many changes that have been judged before")
    parser.add_argument("--list", action="store_true", help="print the changes, and judge none")
    parser.add_argument("--quick", action="store_true", help="the unit and API tests alone")
    options = parser.parse_args(words)
    options.seed = options.seed or int(f"{datetime.date.today():%Y%m%d}")
    options.targets = [f"tests/{room}/all" for room in QUICK] if options.quick else []
    return options


def main(words):
    if words == ["reach"]:
        return reach.main()
    options = options_of(words)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, tree.end_all)
    begun = time.monotonic()
    names = tree.copy()
    tree.configure("dev")
    if not tree.build("dev", *options.targets):
        sys.exit(f"judge-tests: the tree does not build; see {tree.WORK}/dev.log")
    sampler, records = Sampler(options.seed, options.room, names, Objects("dev")), []
    judge = None if options.list else Judge(options)
    while len(records) < options.count and time.monotonic() - begun < options.total:
        drawn = sampler.next()
        if not drawn:
            break
        path, change = drawn
        before = (tree.TREE / path).read_bytes()
        try:
            state = sampler.put(path, change)
            if state == "no program":
                continue
            if options.after > 0:
                options.after -= 1
                continue
            if state != "changed":
                result, how = state.split(": ", 1)
            else:
                result, how = judge.judge(path, change, before) if judge else ("listed", change.function)
        finally:
            if (tree.TREE / path).read_bytes() != before:
                (tree.TREE / path).write_bytes(before)
        records.append((path, change, result))
        lines = [data.split(b"\n")[change.line - 1].decode().strip() for data in (before, changes.apply(before, change))]
        print(f"{result:<10} {path}:{change.line} {change.operator}: {how}\n    {lines[0]}\n    {lines[1]}", flush=True)
    if judge:
        report(records, options.seed)


if __name__ == "__main__":
    main(sys.argv[1:])
