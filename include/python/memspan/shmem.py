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

from . import _checked, _library, _shmem_declarations, _types
from ._block import Memory, View, at_least_a_byte
from ._checked import Fixed
from ._device import Device
from ._library import Error, HOST, Names, Status, address_or_error, describe, load
from ._region import region, transfer

c = Names(load("libmemspan-shmem.so.0", beside=_library.c._library._name), _shmem_declarations)
Kind = _library.enumeration("shmemx_kind_t", "SHMEMX_KIND_", _shmem_declarations,
                            __name__)
Policy = _library.enumeration("shmemx_policy_t", "SHMEMX_POLICY_", _shmem_declarations,
                              __name__)


def init():
    c.shmem_init()


def finalize():
    """Symmetric arrays have no memory after it."""
    SymmetricBlock.is_over = True
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


class Partition(Fixed):
    """A heap of one kind of symmetric memory, by its number."""

    def __init__(self, number=1):
        vars(self).update(number=_checked.number(ctypes.c_int, number))
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
        kind, shape = _types.type_of(dtype), _types.shape_of(shape)
        return self.block(_types.size_of(shape, kind.itemsize) or 1, 64).view(kind, shape)


class SymmetricBlock(Memory):
    """A block of every PE of the partition's team."""

    is_over = False

    def __init__(self, partition, size, align):
        self._once()
        size = at_least_a_byte(size)
        place = c.shmemx_partition_align(align, size, partition.number)
        self._map(partition, address_or_error(place), size)

    def _map(self, partition, place, size):
        vars(self).update(place=place)
        Memory.__init__(self, partition, place, size)
        info = self.describe()
        kinds = {Kind.DEVICE: _library.Kind.DEVICE, Kind.MANAGED: _library.Kind.MANAGED,
                 Kind.COHERENT: _library.Kind.COHERENT}
        home = info.device if info.kind in kinds else HOST
        device = Device(home).describe()
        vars(self).update(kind=kinds.get(info.kind, _library.Kind.HOST), home=home,
                          is_on_host=bool(info.capabilities & c.SHMEMX_CAP_DIRECT_ACCESS),
                          cuda_ordinal=device.ordinal if device.backend == "cuda" else None)

    @property
    def address(self):
        if self.place is None or self.is_over:
            raise ValueError("the symmetric memory has been freed")
        return self.place

    def describe(self):
        return self.owner.describe()

    def free(self):
        """Collective; views of it are refused then. What was exported must not be used after it."""
        c.shmemx_partition_free(self.address)
        vars(self).update(place=None)


class PeerBlock(SymmetricBlock):
    """A PE's part of a symmetric block, which this PE loads and stores."""

    def __init__(self, block, place):
        self._once()
        vars(self).update(mine=block)
        self._map(block.owner, place, block.nbytes)

    @property
    def address(self):
        return self.mine.address and self.place

    def free(self):
        raise TypeError("the PE frees its own part")


def _checked_pe(pe):
    pe = _checked.number(ctypes.c_int, pe)
    if not 0 <= pe < n_pes():
        raise ValueError(f"there is no PE {pe} of {n_pes()}")
    return pe


def _checked_symmetric(region, pe):
    if region.nbytes and not c.shmem_addr_accessible(region.address, pe):
        raise ValueError(f"the memory at {region.address:#x} is not symmetric with PE {pe}'s")


def put(target, source, pe):
    """Copy a local array to symmetric memory of a PE; it is there after c.shmem_quiet()."""
    pe, (there, here, size) = _checked_pe(pe), transfer(target, source)
    _checked_symmetric(there, pe)
    c.shmem_putmem(there.address, here.address, size, pe)


def get(target, source, pe):
    """Copy symmetric memory of a PE to a local array: as much as the array has."""
    pe, (there, here, size) = _checked_pe(pe), transfer(target, source, region(target, True).nbytes)
    _checked_symmetric(here, pe)
    c.shmem_getmem(there.address, here.address, size, pe)


def peer(view, pe):
    """A PE's part of a symmetric view, where this PE loads and stores it; else None."""
    place = c.shmem_ptr(view.block.address, _checked_pe(pe))
    return None if place is None else View(PeerBlock(view.block, place), view.offset, view.type,
                                           view.shape)
