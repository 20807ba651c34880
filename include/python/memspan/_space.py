# SPDX-License-Identifier: BSD-3-Clause
"""Memory spaces and the text of traits."""

import ctypes

from ._library import HOST, c, check, describe


def _word(value):
    if isinstance(value, bool):
        return str(value).lower()
    value = getattr(value, "handle", value)
    if hasattr(value, "__index__"):
        return "host" if int(value) == HOST else str(int(value))
    return str(value)


def parse_traits(text, more):
    """(array, count) of "pinned=true,alignment=64" and of keywords with the same names."""
    text = ",".join(filter(None, [text, *(f"{key}={_word(value)}" for key, value in more.items())]))
    traits = (c.memspan_trait_t * (text.count(",") + 1))()
    count = ctypes.c_size_t()
    if text:
        check(c.memspan_trait_parse(text.encode(), traits, len(traits), ctypes.byref(count)))
    return traits, count.value


class Space:
    """The memory that every one of some devices reaches: Space(0, memspan.HOST)."""

    def __init__(self, *devices, base=None):
        numbers = [int(device) for device in devices or (HOST,)]
        handle = ctypes.c_void_p()
        check(c.memspan_space_get((ctypes.c_int * len(numbers))(*numbers), len(numbers),
                                  getattr(base, "handle", base), ctypes.byref(handle)))
        self.handle = handle.value

    @classmethod
    def at(cls, handle):
        """The space of a handle: memspan.Space.at(memspan.c.MEMSPAN_SPACE_HIGH_BW)."""
        space = cls.__new__(cls)
        space.handle = handle
        space.describe()
        return space

    def __eq__(self, other):
        return isinstance(other, Space) and self.handle == other.handle

    def __hash__(self):
        return hash(self.handle)

    def __repr__(self):
        return f"<memspan.Space {self.describe().name}>"

    def describe(self):
        return describe(c.memspan_space_describe, self.handle)

    def resources(self):
        """The places and kinds of memory of the space, the preferred one first."""
        count = c.memspan_space_resource_count(self.handle)
        return [describe(c.memspan_space_resource, self.handle, i) for i in range(count)]

    def reach(self, resource, device):
        """How a device reaches the resource of an index."""
        return describe(c.memspan_space_reach, self.handle, resource, int(device))

    def sub(self, *resources):
        """The space of some of the resources, by index."""
        handle = ctypes.c_void_p()
        check(c.memspan_space_get_sub(self.handle, (ctypes.c_int * len(resources))(*resources),
                                      len(resources), ctypes.byref(handle)))
        return Space.at(handle.value)

    def page_size(self):
        return c.memspan_space_page_size(self.handle)

    def stats(self):
        return describe(c.memspan_space_get_stats, self.handle)

    def plan(self, traits="", **more):
        """What an allocator of these traits would give, and why, without making it."""
        return describe(c.memspan_allocator_plan, self.handle, *parse_traits(traits, more))

    def allocator(self, traits="", **more):
        """An allocator: space.allocator("memory_access=managed", pinned=True)."""
        from ._allocator import Allocator
        return Allocator(self, traits, **more)
