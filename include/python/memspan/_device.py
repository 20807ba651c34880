# SPDX-License-Identifier: BSD-3-Clause
"""Devices, the host among them; backends; NUMA nodes."""

import ctypes

from . import _checked
from ._library import HOST, Kind, c, check, describe


class Device:
    """A device by its number; memspan.HOST is the host. Takes the place of its number anywhere."""

    def __init__(self, number=HOST):
        self.number = _checked.number(ctypes.c_int, number)

    def __index__(self):
        return self.number

    __int__ = __index__

    def __eq__(self, other):
        return isinstance(other, Device) and self.number == other.number

    def __hash__(self):
        return hash(self.number)

    def __repr__(self):
        return f"<memspan.Device {self.number}: {self.describe().name}>"

    def describe(self):
        """Name, driver, capacity, modes and the rest of memspan_device_info_t."""
        return describe(c.memspan_device_describe, self.number)

    def kinds(self):
        """{kind: how it is provided}, of memory that can be allocated for this device."""
        info = self.describe()
        return {kind: info.kind_note[kind] for kind in Kind if info.kinds >> kind & 1}

    def why(self, kind):
        """What provides a kind of memory here, or why nothing does."""
        return self.describe().kind_note[Kind(kind)]

    def reach(self, kind, home=None):
        """How this device reaches memory of a kind that is at home on another, or on itself."""
        home = self.number if home is None else home
        return describe(c.memspan_device_reach, home, kind, self.number)

    def reach_source(self, kind, home=None):
        """Where the answer of reach() comes from."""
        text = ctypes.create_string_buffer(512)
        home = self.number if home is None else home
        check(c.memspan_device_reach_source(home, kind, self.number, text, len(text)))
        return text.value.decode()

    def synchronize(self):
        """Wait until copies, prefetches and kernels that were started here are complete."""
        check(c.memspan_device_synchronize(self.number))

    def stats(self):
        return describe(c.memspan_device_get_stats, self.number)


def devices():
    """The devices that have a number, the host not among them."""
    number = ctypes.c_int()
    found = []
    for index in range(c.memspan_device_count()):
        check(c.memspan_device_at(index, ctypes.byref(number)))
        found.append(Device(number.value))
    return found


def backends():
    """Every backend, those that are off with the reason."""
    return [describe(c.memspan_backend_describe, i) for i in range(c.memspan_backend_count())]


def numa_nodes():
    return [describe(c.memspan_numa_node_describe, i) for i in range(c.memspan_numa_node_count())]


def memory_devices():
    """Memory that is no NUMA node, or that one was made of: DAX devices, NVDIMMs, CXL regions."""
    count = c.memspan_memory_device_count()
    return [describe(c.memspan_memory_device_describe, i) for i in range(count)]
