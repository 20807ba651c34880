# SPDX-License-Identifier: BSD-3-Clause
"""Other libraries over managed memory, those that are installed: mpi4py, numba, torch."""

import sys

import memspan

managed = memspan.Space(0, memspan.HOST).allocator(memory_access="managed")


def use_mpi4py():
    from mpi4py import MPI
    source, target = managed.empty(10, "i4"), managed.empty(10, "i4")
    source.fill(1)
    MPI.COMM_WORLD.Sendrecv(source, 0, 0, target, 0, 0)
    assert target.memory[9] == 0x1010101


def use_numba():
    import numba
    import numpy

    @numba.njit
    def add(array):
        return array.sum()

    with memspan.numpy(managed):
        array = numpy.arange(1000.0)
    assert add(array) == 499500  # numba keeps arrays of its own


def use_torch():
    import torch
    view = managed.empty((4, 5), "f4")
    view.fill(0)
    tensor = torch.from_dlpack(view)
    tensor += 3
    assert view.memory[2, 3] == 3
    del view
    assert tensor.sum() == 60 and managed.stats().live_count == 1


used = []
for use in (use_mpi4py, use_numba, use_torch):
    try:
        use()
        used.append(use.__name__[4:])
    except ImportError as error:
        print(f"skipped {use.__name__[4:]}: {error}")
    memspan.Allocator().block(1)
    assert managed.stats().live_count == 0
print(*used)
sys.exit(0 if used else 77)
