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

    @numba.njit
    def same(array):
        return array

    @numba.njit(parallel=True)
    def count(array):
        for i in numba.prange(array.shape[0]):
            array[i] = i

    with memspan.numpy(managed):
        array = numpy.arange(1000.0)
    assert add(array) == 499500  # numba keeps arrays of its own
    for allocator in KINDS:
        for dtype in ("b1", "i1", "u2", "i4", "u8", "f4", "f8", "c8", "c16"):
            for shape in ((), 3, (3, 4), 0, (0, 3)):
                view = allocator.empty(shape, dtype)
                back = same(numpy.asarray(view))
                assert back.dtype == view.dtype and back.shape == view.shape
                assert not view.nbytes or back.ctypes.data == view.address
        view = allocator.empty(10, "f8")
        count(numpy.asarray(view))
        assert view.memory[9] == 9 and add(numpy.from_dlpack(view)) == 45
        view.copy_from(same(numpy.ones(10)))
        part = numba.njit(lambda array: array[8:])(numpy.asarray(view))
        del view, back
        assert part.sum() == 2 and allocator.stats().live_count > 0  # the part keeps it
        del part


# What PyTorch 1.13 has; later ones have all.
TORCH_TYPES = "i1", "u1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"


def copy_tensors(torch, allocator):
    """Tensors of PyTorch, which are no buffers, as the source and the target of copies."""
    view = allocator.empty((3, 4), "f4")
    view.copy_from(torch.arange(12.0).reshape(3, 4))
    back = torch.zeros(12)
    memspan.copy(back.numpy(), view)
    assert back.sum() == 66
    assert memspan.why(torch.from_dlpack(view)) == view.why() if allocator in KINDS else True
    try:  # before DLPack 1 a tensor does not say so
        view.copy_to(back)
        assert back.sum() == 66
    except ValueError as error:
        assert "may be written to" in str(error), error
    for wrong in (torch.zeros(4, 3).T, torch.zeros(12, dtype=torch.float64), torch.zeros(12, dtype=torch.bfloat16),
                  torch.zeros(13), torch.zeros(12, requires_grad=True)):
        try:
            view.copy_from(wrong)
        except (TypeError, ValueError, RuntimeError, BufferError):
            continue
        raise AssertionError(wrong)


def use_torch():
    import torch
    view = managed.empty((4, 5), "f4")
    view.fill(0)
    tensor = torch.from_dlpack(view)
    tensor += 3
    assert view.memory[2, 3] == 3
    del view
    assert tensor.sum() == 60 and managed.stats().live_count == 1
    for allocator in KINDS:
        for dtype in TORCH_TYPES:
            for shape in ((), 3, (3, 4), (1, 3), 0, (0, 3), (2, 0, 3)):
                view = allocator.empty(shape, dtype)
                tensor = torch.from_dlpack(view)
                like = torch.empty(tuple(tensor.shape), dtype=tensor.dtype)
                assert tuple(tensor.shape) == view.shape and tensor.stride() == like.stride()
                assert tensor.element_size() == view.itemsize
                assert tensor.data_ptr() == (view.address if view.nbytes else 0)
                assert torch.utils.dlpack.from_dlpack(view.__dlpack__()).shape == tensor.shape
        copy_tensors(torch, allocator)
    copy_tensors(torch, memspan.Space(0).allocator())  # of a device
    try:  # a type that this PyTorch may lack
        torch.from_dlpack(managed.empty(3, "b1"))
    except RuntimeError as error:
        assert "code 6" in str(error), error


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
