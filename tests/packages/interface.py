#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""interface.py [--cc COMPILER] --print INCLUDE | --check INCLUDE RELEASED: the binary interface of the headers.

interface.txt is that of the last release: functions by their types, structures with the offsets of their
members, values of constants. A later version of the same libmemspan.so.0 keeps all of it, and may add:
functions, constants, and members at the end of structures that start with struct_size. The exported
symbols are those of the headers (tests/exports), so a declaration stands for its symbol. OpenSHMEM's own
routines are those of the specification (tests/shmem/names), and not listed. This text replaces 2.4 MB of
libabigail's XML, and needs no debug information.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include"))
from headers import Enum, Function, Headers, Struct  # noqa: E402

INCLUDES = "".join(f"#include <{file}>\n" for file in (
    "memspan/memspan.h", "memspan/omp.h", "memspan/backend.h", "shmem.h", "shmemx.h"))
VERSION = re.compile(r"MEMSPAN_VERSION|.*_(VENDOR_STRING|MINOR_VERSION|MAJOR_VERSION)$")


def type_text(declared):
    if declared.is_function:
        return f"{type_text(declared.result)}(*)({', '.join(map(type_text, declared.arguments))})"
    sizes = "".join(f"[{size}]" for size in declared.sizes)
    return ("const " if declared.const else "") + declared.base + "*" * declared.stars + sizes


def layout(compiler, include, structures):
    """By structure: its size and the offsets of its members, as the compiler has them."""
    lines = []
    for one in structures:
        kind = "struct " if one.name.endswith("_s") else ""
        lines.append(f'    printf("{one.name} %zu", sizeof({kind}{one.name}));')
        lines += [f'    printf(" %zu", offsetof({kind}{one.name}, {member.name}));' for member in one.members]
        lines.append('    puts("");')
    text = INCLUDES + "#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "layout")
        subprocess.run([*compiler.split(), "-x", "c", "-I", include, "-", "-o", program], input=text, check=True,
                       universal_newlines=True)
        output = subprocess.run([program], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    return {name: list(map(int, numbers)) for name, *numbers in map(str.split, output.splitlines())}


def describe(compiler, include):
    """The lines of interface.txt."""
    headers = Headers(compiler, include, INCLUDES)
    structures = [one for one in headers.declarations if isinstance(one, Struct)]
    sizes = layout(compiler, include, structures)
    lines, constants, functions = [], {}, {}
    for one in headers.declarations:
        if isinstance(one, Function) and one.file != "shmem.h" and not one.file.startswith("shmem/"):
            types = [*map(type_text, one.arguments), *(["..."] if one.is_variadic else [])]
            functions.setdefault(f"{type_text(one.result)} ({', '.join(types)})", set()).add(one.name)
        elif isinstance(one, Enum):
            constants.setdefault(one.file, {}).update(one.values)
        elif isinstance(one, Struct):
            size, *offsets = sizes[one.name]
            members = [f"{member.name} {offset} {type_text(member)}" for member, offset in zip(one.members, offsets)]
            lines.append("; ".join([f"struct {one.name}: {size}", *members]))
    for one in headers.macros:
        if isinstance(one.value, int) and not VERSION.match(one.name):
            constants.setdefault(one.file, {})[one.name] = one.value
    lines += [f"constants of {file}: " + "; ".join(f"{name} {value}" for name, value in values.items())
              for file, values in constants.items()]
    lines += [f"functions: {types}; {'; '.join(sorted(names))}" for types, names in sorted(functions.items())]
    return lines


def facts(lines):
    """What must stay: a fact and its value, of the text before the colon and the list behind it."""
    found = {}
    for line in lines:
        head, _, rest = line.partition(": ")
        first, *others = rest.split("; ")
        if head == "functions":
            found.update({f"function {name}": first for name in others})
        elif head.startswith("struct "):
            found[head] = first
            found.update({f"member {head[len('struct '):]}.{name}": value
                          for name, value in (one.split(" ", 1) for one in others)})
        else:
            found.update({f"constant {name}": value for name, value in (one.split(" ") for one in [first, *others])})
    return found


def check(old, new):
    bad = []
    for fact, value in old.items():
        given = new.get(fact)
        name = fact.split()[1]
        may_grow = (name.endswith(("_COUNT", "_MAX")) if fact.startswith("constant ") else
                    f"member {name}.struct_size" in new)
        if given is None:
            bad.append(f"{fact} is no longer there")
        elif given != value and not (may_grow and given.isdigit() and int(given) > int(value)):
            bad.append(f"{fact}: was {value}, is {given}")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("include")
    parser.add_argument("released", nargs="?")
    arguments = parser.parse_args()
    lines = describe(arguments.cc, os.path.abspath(arguments.include))
    if arguments.print:
        print("\n".join(lines))
        return 0
    with open(arguments.released, encoding="ascii") as file:
        bad = check(facts(file.read().splitlines()), facts(lines))
    for line in bad:
        print(line)
    if bad:
        print("programs linked to the last release would fail: keep it, or, before 1.0, raise the minor version, "
              "note it in CHANGELOG.md, and write interface.txt anew with --print")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
