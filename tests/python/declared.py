# SPDX-License-Identifier: BSD-3-Clause
"""declared.py COMPILER SOURCES: what the module declares is what the headers say. The compiler
compares the size of each structure, the place and size of each member, the value of each constant.
Clang gives the same text; a type that is not known is an error; so is a module without declarations.
"""

import ctypes
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

from memspan import _declarations, _shmem_declarations

INCLUDES = "#define SHMEMX_PARTITION_NAMES\n#include <memspan/memspan.h>\n#include <shmemx.h>\n"


def made(compiler, sources, include, folder):
    script = f"{sources}/include/python/declarations.py"
    return subprocess.run([sys.executable, script, "--cc", compiler, include, folder],
                          stderr=subprocess.PIPE, universal_newlines=True)


def check_text(compiler, sources, scratch):
    script = made(compiler, sources, f"{sources}/include", scratch)
    assert script.returncode == 0, script.stderr
    for module in (_declarations, _shmem_declarations):
        again = os.path.join(scratch, os.path.basename(module.__file__))
        assert filecmp.cmp(again, module.__file__, shallow=False), f"{compiler} gives another {again}"


def check_unknown(compiler, sources, scratch):
    include = shutil.copytree(f"{sources}/include", f"{scratch}/include")
    with open(f"{include}/memspan/device.h", "a") as header:
        header.write("MEMSPAN_API wide_t memspan_wide(void);\n")
    script = made(compiler, sources, include, scratch)
    assert script.returncode and "not understood: type wide_t" in script.stderr, script.stderr


def check_sources(sources):
    script = subprocess.run([sys.executable, "-c", "import memspan"], stderr=subprocess.PIPE,
                            env=dict(os.environ, PYTHONPATH=f"{sources}/include/python"))
    assert b"PYTHONPATH=BUILD/python" in script.stderr, script.stderr


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
    with tempfile.TemporaryDirectory() as scratch:
        other = shutil.which("clang-19") or shutil.which("clang") or compiler
        check_text(other, sources, scratch)
        check_unknown(other, sources, scratch)
    check_sources(sources)
    asserted = [*assertions(_declarations), *assertions(_shmem_declarations)]
    assert len(asserted) > 500, len(asserted)
    text = INCLUDES + "".join(f'_Static_assert({a}, "{i}");\n' for i, a in enumerate(asserted))
    command = [compiler, "-std=gnu11", "-I", f"{sources}/include", "-fsyntax-only", "-x", "c", "-"]
    subprocess.run(command, input=text.encode(), check=True)
    print(f"{len(asserted)} facts hold")


main(*sys.argv[1:])
