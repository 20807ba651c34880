# SPDX-License-Identifier: BSD-3-Clause
"""Other libraries over memory of every kind that the host reaches, those that are installed: mpi4py,
numba, torch, and array-api-compat, a consumer of the array API's standard."""

import sys

import memspan

both = memspan.Space(0, memspan.HOST)
managed = both.allocator(memory_access="managed")
KINDS = [memspan.Allocator(), managed, both.allocator(pinned=True), both.allocator(memory_access="coherent")]


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


def use_array_api_compat():
    import array_api_compat
    import numpy
    for allocator in KINDS:
        for dtype in ("i1", "u2", "i4", "u8", "f4", "f8", "c8", "c16"):
            view = allocator.empty((3, 4), dtype)
            numpy.asarray(view)[:] = numpy.arange(12).reshape(3, 4)
            for make in (numpy.asarray, numpy.from_dlpack):
                array = make(view)
                xp = array_api_compat.array_namespace(array)
                assert array.dtype == getattr(xp, numpy.dtype(dtype).name) and array.shape == (3, 4)
                assert xp.sum(array) == 66 and xp.all(xp.matrix_transpose(array)[1, :] == array[:, 1])
            assert xp.from_dlpack(view).shape == (3, 4) and array_api_compat.size(array) == 12
        assert xp.from_dlpack(allocator.empty((0, 3))).shape == (0, 3)
        assert array_api_compat.device(xp.asarray(allocator.empty(3))) == "cpu"


used = []
for use in (use_mpi4py, use_numba, use_torch, use_array_api_compat):
    try:
        use()
        used.append(use.__name__[4:])
    except ImportError as error:
        print(f"skipped {use.__name__[4:]}: {error}")
    memspan.Allocator().block(1)
    assert not any(allocator.stats().live_count for allocator in KINDS)
print(*used)
sys.exit(0 if used else 77)
