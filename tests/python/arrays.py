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
lifetimes()
kept = numpy.from_dlpack(memspan.Allocator().empty(10))  # freed while Python ends
with memspan.numpy(memspan.Allocator()):
    also_kept = numpy.zeros(10)
