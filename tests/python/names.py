# SPDX-License-Identifier: BSD-3-Clause
"""names.py NM LIBRARY [SHMEM-LIBRARY]: the exported names that Python lacks: none.

What OpenMP's compilers and programs call, and the Fortran modules, is no interface of Python.
"""

import re
import subprocess
import sys

import memspan

OPENMP = re.compile(r"(omp_|kmp_|GOMP_|__kmpc_|__tgt_|llvm_omp_|memspan_fortran_)")


def exported(nm, library):
    lines = subprocess.run([nm, "-D", "--defined-only", library], check=True,
                           stdout=subprocess.PIPE, universal_newlines=True).stdout.splitlines()
    names = {line.split()[-1] for line in lines if line.split()[-2] in "TW"}
    return {name for name in names if not re.match(r"_(init|fini)$", name)}


def lacking(names, interface):
    for name in sorted(names):
        try:
            getattr(interface, name).argtypes
        except AttributeError as error:
            yield f"{name}: {error}"


def main(nm, library, shmem_library=None):
    names = exported(nm, library)
    openmp = {name for name in names if OPENMP.match(name)}
    lacks = [*lacking(names - openmp, memspan.c)]
    count = len(names - openmp)
    if shmem_library:
        from memspan import shmem
        names = exported(nm, shmem_library)
        lacks += lacking(names, shmem.c)
        count += len(names)
    print(f"{count} exported names, and {len(openmp)} of OpenMP and Fortran; Python lacks {len(lacks)}")
    print("\n".join(lacks))
    sys.exit(bool(lacks) or count < 70)


main(*sys.argv[1:])
