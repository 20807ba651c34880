# SPDX-License-Identifier: BSD-3-Clause
"""declared.py COMPILER SOURCES: what the module declares is what the headers say. The compiler
compares the size of each structure, the place and size of each member, the value of each constant.
"""

import ctypes
import subprocess
import sys

from memspan import _declarations, _shmem_declarations

INCLUDES = "#define SHMEMX_PARTITION_NAMES\n#include <memspan/memspan.h>\n#include <shmemx.h>\n"


def compare_text(compiler, sources, face, module):
    script = [sys.executable, f"{sources}/include/python/declarations.py", compiler]
    made = subprocess.run([*script, f"{sources}/include", face], check=True, stdout=subprocess.PIPE)
    with open(module.__file__, "rb") as file:
        assert file.read() == made.stdout, (
            f"the headers changed: include/python/declarations.py writes {module.__file__}")


def assertions(module):
    for name, kind in vars(module).items():
        if not isinstance(kind, type(ctypes.Structure)) or not name.endswith("_t"):
            continue
        yield f"sizeof({name}) == {ctypes.sizeof(kind)}"
        for member, _ in kind._fields_:
            place = getattr(kind, member)
            yield f"offsetof({name}, {member}) == {place.offset}"
            yield f"sizeof((({name} *)0)->{member}) == {place.size}"
    for name, value in module.CONSTANTS.items():
        if isinstance(value, int):
            yield f"(unsigned long)({name}) == {value % 2**64}UL"
        else:
            yield f"sizeof({name}) == {len(value) + 1}"


def main(compiler, sources):
    compare_text(compiler, sources, "memspan", _declarations)
    compare_text(compiler, sources, "shmem", _shmem_declarations)
    asserted = [*assertions(_declarations), *assertions(_shmem_declarations)]
    assert len(asserted) > 500, len(asserted)
    text = INCLUDES + "".join(f'_Static_assert({a}, "{i}");\n' for i, a in enumerate(asserted))
    command = [compiler, "-std=gnu11", "-I", f"{sources}/include", "-fsyntax-only", "-x", "c", "-"]
    subprocess.run(command, input=text.encode(), check=True)
    print(f"{len(asserted)} facts hold")


main(*sys.argv[1:])
