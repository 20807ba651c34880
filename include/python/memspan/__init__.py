# SPDX-License-Identifier: BSD-3-Clause
"""Memory of every kind that this machine has, by the devices that must reach it.

    import memspan, numpy
    both = memspan.Space(0, memspan.HOST)
    managed = both.allocator(memory_access="managed")
    block = managed.block(8 * 1000)
    x = numpy.asarray(block.view("f8"))     # where the host reaches it
    y = cupy.asarray(block.view("f8"))      # where CUDA does
    with memspan.numpy(managed):
        z = numpy.zeros(1000)               # numpy's own arrays

Work in the order of a queue is memspan.Queue. A failed call raises memspan.Error with the library's
text and status, a wrong argument TypeError or ValueError. A block keeps its allocator, a view its
block. memspan.c has every name of the C interface. memspan-python(7) is the manual.
"""

from ._allocator import Allocator
from ._block import Block, View, copy, pointer_describe, pointer_reach, why
from ._device import Device, backends, devices, memory_devices, numa_nodes
from ._library import (Access, Coherence, Error, HOST, Kind, MemoryDeviceKind, NumaNodeKind, Status, c,
                       check)
from ._numpy import numpy
from ._queue import Queue
from ._space import Space, Traits


def version():
    """The version of the C library in use."""
    return c.memspan_version().decode()


def trim():
    """Return unused memory to the drivers: the number of bytes."""
    return c.memspan_trim()


__all__ = [name for name in dir() if name[0] != "_"]
