# SPDX-License-Identifier: BSD-3-Clause
"""Which tests reach which functions: one run of the tests in a build with gcov's counters.

Every test has a folder for its counters (GCOV_PREFIX). Of a file of counters only one thing is
read: which functions have any. A process that is killed writes none, so this is where to begin,
not what may be left out. The result is WORK/reach.json.gz:

    tests      name -> [seconds, result]
    functions  file -> function -> the tests as bits of a number in hexadecimal, by the order of tests
"""
import gzip
import json
import os
import shutil
import struct
import tempfile

import tree

FILE = tree.WORK / "reach.json.gz"
FUNCTION, COUNTERS = 0x01000000, 0x01a10000
# An emulated device may not write to counters.
COUNTED = "--coverage -fprofile-update=atomic '-fprofile-exclude-files=.*/tree/(tests|backends/emu)/.*'"


def records(data, at):
    """(tag, length, place) of a file of GCC 12 or later, whose lengths are in bytes."""
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        if tag == 0:
            return
        yield tag, length, at + 8
        at += 8 + max(length, 0)


def text(data, at):
    length = struct.unpack_from("<I", data, at)[0]
    return data[at + 4:at + 3 + length].decode(), at + 4 + length


def read_notes(path):
    """Function's number -> (file, name)."""
    data = path.read_bytes()
    folder, at = text(data, 16)
    result = {}
    for tag, _, place in records(data, at + 4):
        if tag == FUNCTION:
            name, after = text(data, place + 12)
            file, _ = text(data, after + 4)
            file = os.path.relpath(os.path.join(folder, file), tree.TREE)
            result[struct.unpack_from("<I", data, place)[0]] = file, name
    return result


def read_counters(path):
    """The numbers of the functions that ran: counters that are all zero have a negative length."""
    data, number = path.read_bytes(), None
    for tag, length, place in records(data, 16):
        if tag == FUNCTION and length > 0:
            number = struct.unpack_from("<I", data, place)[0]
        elif tag == COUNTERS and length > 0:
            yield number


class Reach:
    def __init__(self):
        self.notes = {}
        self.functions = {}

    def add(self, bit, folder):
        for path in folder.rglob("*.gcda"):
            object_file = "/" + str(path.relative_to(folder))
            if object_file not in self.notes:
                notes = tree.pathlib.Path(object_file).with_suffix(".gcno")
                self.notes[object_file] = read_notes(notes) if notes.exists() else {}
            for number in read_counters(path):
                file, name = self.notes[object_file].get(number, ("", ""))
                names = self.functions.setdefault(file, {})
                names[name] = names.get(name, 0) | 1 << bit


def main():
    tree.copy()
    rules = [f"-DCMAKE_{one}_COMPILE_OBJECT=<CMAKE_{one}_COMPILER> <DEFINES> <INCLUDES> <FLAGS> {COUNTED}"
             " -o <OBJECT> -c <SOURCE>" for one in ("C", "CXX")]
    links = [f"-DCMAKE_{kind}_LINKER_FLAGS=--coverage" for kind in ("EXE", "SHARED", "MODULE")]
    tree.configure("coverage", *rules, *links)
    tree.build("coverage", "-k0") # Clang does not link GCC's counters: its programs are not built
    tests, makers = tree.tests("coverage")
    reach, results = Reach(), {}
    for fixture in {fixture for test in tests.values() for fixture in test.needs}:
        makers[fixture].run()

    with tempfile.TemporaryDirectory() as scratch:
        def run(test):
            folder = tree.pathlib.Path(scratch) / test.name
            result, seconds = test.run(GCOV_PREFIX=str(folder))
            return result, seconds, folder

        for test, (result, seconds, folder) in tree.side_by_side(run, tests.values()):
            reach.add(len(results), folder)
            results[test.name] = [round(seconds, 1), result]
            shutil.rmtree(folder, ignore_errors=True)
            print(f"{len(results)} of {len(tests)} {test.name}: {result}, {seconds:.1f} s", flush=True)
    functions = {file: {name: f"{bits:x}" for name, bits in names.items()}
                 for file, names in sorted(reach.functions.items()) if not file.startswith("..")}
    write(results, functions)


def write(results, functions):
    with gzip.open(FILE, "wt", encoding="ascii") as out:
        json.dump({"tests": results, "functions": functions}, out)


def read():
    """(tests, functions) of the last run; empty without one."""
    if not FILE.exists():
        return {}, {}
    with gzip.open(FILE, "rt", encoding="ascii") as stored:
        data = json.load(stored)
    return data["tests"], data["functions"]

