# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM's partitions: symmetric memory of any kind, as arrays.

    import memspan.shmem as shmem
    shmem.init()
    x = shmem.Partition(2).empty(1000, "f8")   # collective; every PE makes the same calls
    y = numpy.asarray(x)                       # also for shmem4py's put, get and reductions
    shmem.put(x, numpy.ones(1000), pe=1)
    x.block.free()                             # collective; nothing else frees it

shmem.c has every name of <shmem.h> and <shmemx.h>. A process starts OpenSHMEM once: by init(), by
shmem4py over the same library, or by a program around Python.
"""

import ctypes

from . import _library, _shmem_declarations
from ._block import Memory, View, address_of
from ._device import Device
from ._library import Error, HOST, Names, Status, describe, load

c = Names(load("libmemspan-shmem.so.0", beside=_library.c._library._name), _shmem_declarations)
Kind = _library.enumeration("shmemx_kind_t", "SHMEMX_KIND_", _shmem_declarations)
Policy = _library.enumeration("shmemx_policy_t", "SHMEMX_POLICY_", _shmem_declarations)


def init():
    c.shmem_init()


def finalize():
    c.shmem_finalize()


def my_pe():
    return c.shmem_my_pe()


def n_pes():
    return c.shmem_n_pes()


def barrier_all():
    c.shmem_barrier_all()


def plan():
    """The partitions that the environment requests, as this machine would place them."""
    plans = []
    while True:
        try:
            plans.append(describe(c.shmemx_partition_plan, len(plans)))
        except Error as error:
            if error.status != Status.ERR_NOT_FOUND:
                raise
            return plans


def partitions():
    ids = (ctypes.c_int * c.shmemx_partition_count())()
    c.shmemx_partition_ids(ids, len(ids))
    return [Partition(number) for number in ids]


class Partition:
    """A heap of one kind of symmetric memory, by its number."""

    def __init__(self, number=1):
        self.number = number
        self.describe()

    def __repr__(self):
        return f"<memspan.shmem.Partition {self.number}: {self.describe().kind_name}>"

    def describe(self):
        return describe(c.shmemx_partition_info, self.number)

    def block(self, size, align=16):
        """A symmetric block; collective over the partition's team."""
        return SymmetricBlock(self, size, align)

    def empty(self, shape, dtype="f8"):
        """A symmetric array, not zeroed; collective."""
        size = View(None, None, dtype, shape).nbytes
        return self.block(size, 64).view(dtype, shape)


class SymmetricBlock(Memory):
    """A block of every PE of the partition's team."""

    def __init__(self, partition, size, align):
        address = c.shmemx_partition_align(align, size, partition.number)
        if address is None:
            raise Error(_library.c.memspan_error_last().contents.status)
        super().__init__(partition, address, "u1", size)
        info = self.describe()
        kinds = {Kind.DEVICE: _library.Kind.DEVICE, Kind.MANAGED: _library.Kind.MANAGED,
                 Kind.COHERENT: _library.Kind.COHERENT}
        self.kind = kinds.get(info.kind, _library.Kind.HOST)
        self.home = info.device if info.kind in kinds else HOST
        self.is_on_host = bool(info.capabilities & c.SHMEMX_CAP_DIRECT_ACCESS)
        home = Device(self.home).describe()
        self.cuda_ordinal = home.ordinal if home.backend == "cuda" else None

    def describe(self):
        return self.owner.describe()

    def free(self):
        """Collective; no view may be used after it."""
        c.shmemx_partition_free(self.address)
        self.address = None


def put(target, source, pe):
    """Copy a local array to symmetric memory of a PE; it is there after c.shmem_quiet()."""
    c.shmem_putmem(address_of(target), address_of(source), source.nbytes, pe)


def get(target, source, pe):
    """Copy symmetric memory of a PE to a local array of the same size."""
    c.shmem_getmem(address_of(target), address_of(source), target.nbytes, pe)


def peer(view, pe):
    """A PE's part of a symmetric view, where this PE loads and stores it; else None."""
    address = c.shmem_ptr(view.address, pe)
    return None if address is None else View(view.block, address, view.dtype, view.shape)
