# SPDX-License-Identifier: BSD-3-Clause
"""The public headers, for the scripts that translate them.

The system's own headers are replaced (STUBS), so that every machine and compiler gives the same
text.
"""
import os
import subprocess
import tempfile

STUBS = {
    "stddef.h": "",
    "stdint.h": "#define UINT64_MAX 18446744073709551615UL\n#define UINTPTR_MAX UINT64_MAX\n",
    # As GCC 12's: names of OpenMP 5.1, which every omp_lib has, are not declared again.
    "omp.h": "#define _OMP_H 1\n",
}


def preprocess(compiler, include, text, *flags):
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in STUBS.items():
            with open(os.path.join(scratch, name), "w", encoding="ascii") as stub:
                stub.write(content)
        command = [compiler, "-E", *flags, "-std=c11", "-nostdinc", "-I", scratch, "-I", include,
                   "-x", "c", "-"]
        return subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE,
                              universal_newlines=True).stdout
