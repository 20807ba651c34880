# SPDX-License-Identifier: BSD-3-Clause
"""numpy on blocks, and its own arrays in memory of an allocator (NEP 49)."""

import gc
import sys
import threading

try:
    import numpy
except ImportError:
    print("skipped: no numpy here")
    sys.exit(77)
import memspan


def views():
    managed = memspan.Space(0, memspan.HOST).allocator(memory_access="managed")
    x = numpy.asarray(managed.empty((10, 5), "f4"))
    x[:] = numpy.arange(50).reshape(10, 5)
    gc.collect()
    assert x.dtype == numpy.float32 and x.sum() == 1225 and managed.stats().live_count == 1
    block = managed.block(80)
    y = numpy.from_dlpack(block.view(numpy.dtype("c16"), 5))
    numpy.asarray(block.view("f8"))[7] = 2  # y is for reading in numpy 1
    assert y[3].imag == 2
    block.copy_from(numpy.arange(10.0))
    assert y[4] == 8 + 9j
    for wrong in (lambda: block.copy_from(x[:, 0]), lambda: block.copy_from(x)):
        try:
            wrong()
        except ValueError:
            continue
        raise AssertionError("not refused")
    del x, y, block
    gc.collect()
    memspan.Allocator().block(1)
    assert managed.stats().live_count == 0


def refusals():
    device = memspan.Space(0).allocator()
    for wrong in (lambda: numpy.asarray(device.block(8)),
                  lambda: memspan.numpy(device).__enter__()):
        try:
            wrong()
        except memspan.Error as error:
            assert error.status == memspan.Status.ERR_UNREACHABLE
            continue
        raise AssertionError("not refused")
    try:  # the capsule is dropped while an exception is pending
        numpy.from_dlpack(device.block(8))
    except (RuntimeError, BufferError) as error:
        assert "device" in str(error), error
    memspan.Allocator().block(1)
    assert device.stats().live_count == 0


def own_arrays():
    allocator = memspan.Space(0, memspan.HOST).allocator(memory_access="coherent")
    handle, stats = allocator.handle, allocator.stats
    with memspan.numpy(allocator):
        zeros = numpy.zeros(1000)
        grown = numpy.arange(10)
        threads = [threading.Thread(target=numpy.empty, args=(10,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with memspan.numpy(memspan.Allocator()):
            assert memspan.pointer_describe(numpy.ones(100)).allocator != handle
        assert memspan.pointer_describe(numpy.ones(100)).allocator == handle
        for end in (KeyError, KeyboardInterrupt, StopIteration, GeneratorExit):  # each leaves the inner one alone
            try:
                with memspan.numpy(memspan.Allocator()):
                    raise end
            except (end, RuntimeError):
                pass
            assert memspan.pointer_describe(numpy.ones(100)).allocator == handle, end
    assert memspan.pointer_describe(zeros).kind_given == memspan.Kind.COHERENT
    assert zeros.sum() == 0 and stats().live_count == 2
    grown.resize(100000, refcheck=False)  # by the allocator that gave it, outside of the block
    assert memspan.pointer_describe(grown).allocator == handle and grown[:11].sum() == 45
    try:
        memspan.pointer_describe(numpy.ones(100))
    except memspan.Error:
        pass
    else:
        raise AssertionError("numpy keeps the allocator")
    del zeros, grown
    assert stats().live_count == 0 and stats().freed_count >= 4


def types():
    """Sizes and types are numpy's, and so is what asarray() makes of a view."""
    allocator = memspan.Allocator()
    for dtype in ("U10", "S5", "d", ">f8", ">u2", "float64", numpy.float64, float, "c8", "c16", "f2", "f16", "M8[ns]",
                  "m8", "V12", numpy.dtype("l"), [("a", "f8"), ("b", ">i4")]):
        for shape in ((), 5, (2, 3), 0, (3, 0, 2)):
            view, like = allocator.empty(shape, dtype), numpy.empty(shape, dtype)
            array = numpy.asarray(view)
            assert (array.dtype, array.shape, array.nbytes) == (like.dtype, like.shape, like.nbytes)
            assert view.nbytes == like.nbytes and view.itemsize == like.itemsize
            assert not array.size or array.ctypes.data == view.address
            if like.dtype.kind not in "Mm":  # numpy has no buffers of these
                memory = view.memory
                assert memory.nbytes == like.nbytes, (dtype, shape)
                assert numpy.asarray(memory).dtype == numpy.asarray(memoryview(like)).dtype, (dtype, shape, memory.format)
    for dtype in ("O", object, "f3", "U", [("a", "O")], ("f8", (2, 3)), {"names": ["a"], "formats": ["f8"], "itemsize": 16}):
        try:
            allocator.empty(5, dtype)
        except TypeError:
            continue
        raise AssertionError(dtype)
    for dtype in ("U10", ">f8", "V12", "f16", "M8[ns]"):
        try:
            numpy.from_dlpack(allocator.empty(5, dtype))
        except BufferError:
            continue
        raise AssertionError(dtype)


def targets():
    """What is read-only, of objects, of another type or not contiguous is no target."""
    view = memspan.Allocator().empty(10, "f8")
    view.fill(1)
    constant = bytes(80)
    fixed = numpy.zeros(10)
    fixed.flags.writeable = False
    for wrong, error in ((numpy.frombuffer(constant), ValueError), (fixed, ValueError),
                         (numpy.broadcast_to(numpy.zeros(1), 10), ValueError),
                         (numpy.zeros(20)[::2], ValueError), (numpy.zeros(9), ValueError),
                         (numpy.zeros(10, object), TypeError), (numpy.zeros(10, [("a", object)]), TypeError),
                         (numpy.zeros(10, "i8"), TypeError), (numpy.zeros(20, "f4"), TypeError),
                         (numpy.zeros(10, ">f8"), TypeError), (numpy.zeros(80, "u1"), TypeError)):
        for copy in (lambda: view.copy_to(wrong), lambda: memspan.Queue(0).copy(wrong, view)):
            try:
                copy()
            except error:
                continue
            raise AssertionError(wrong)
    assert constant == bytes(80) and not fixed.any()
    for wrong in (numpy.ones(10, "f4"), numpy.ones(10, "u1"), numpy.ones(10, ">f8")):
        try:
            view.copy_from(wrong)
        except TypeError:
            continue
        raise AssertionError(wrong)
    view.copy_from(numpy.arange(5.0))
    assert numpy.asarray(view)[4] == 4


def left_by_an_exception():
    try:
        with memspan.numpy(memspan.Allocator()):
            raise KeyError
    except KeyError:
        pass
    try:
        memspan.pointer_describe(numpy.ones(100))
    except memspan.Error:
        return
    raise AssertionError("numpy keeps the allocator")


def lifetimes():
    """An array keeps its allocator; the allocator goes when neither needs it."""
    allocator = memspan.Allocator()
    handle = allocator.handle
    with memspan.numpy(allocator):
        array = numpy.ones(1000)
    del allocator
    with memspan.numpy(memspan.Allocator()):
        pass
    memspan.Allocator.at(handle).describe()
    assert memspan.pointer_describe(array).allocator == handle
    del array
    with memspan.numpy(memspan.Allocator()):
        pass
    try:
        memspan.Allocator.at(handle)
    except memspan.Error as error:
        assert error.status == memspan.Status.ERR_NOT_FOUND
    else:
        raise AssertionError("nothing destroyed the allocator")


views()
refusals()
own_arrays()
types()
targets()
left_by_an_exception()
lifetimes()
kept = numpy.from_dlpack(memspan.Allocator().empty(10))  # freed while Python ends
with memspan.numpy(memspan.Allocator()):
    also_kept = numpy.zeros(10)
