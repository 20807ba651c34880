# SPDX-License-Identifier: BSD-3-Clause
"""ctypes_open.py MEMSPAN [SHMEM]: the libraries in Python, which opens them at run time."""

import ctypes
import sys


def main(memspan, shmem=None):
    lib = ctypes.CDLL(memspan)
    lib.omp_alloc.restype = ctypes.c_void_p
    lib.omp_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    lib.omp_free.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    lib.memspan_error_text.restype = ctypes.c_char_p
    block = lib.omp_alloc(64, 1)
    assert block, lib.memspan_error_text()
    ctypes.memset(block, 1, 64)
    lib.omp_free(block, 1)
    assert not lib.omp_alloc((1 << 64) - 1, 1)
    assert lib.memspan_error_text(), "a refusal without words"
    if shmem is None:
        return
    sma = ctypes.CDLL(shmem)
    sma.shmem_malloc.restype = ctypes.c_void_p
    sma.shmem_malloc.argtypes = [ctypes.c_size_t]
    sma.shmem_free.argtypes = [ctypes.c_void_p]
    sma.shmem_init()
    assert sma.shmem_n_pes() == 1
    block = sma.shmem_malloc(4096)
    assert block
    sma.shmem_free(block)
    sma.shmem_finalize()


main(*sys.argv[1:])
