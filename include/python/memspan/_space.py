# SPDX-License-Identifier: BSD-3-Clause
"""Memory spaces, and traits of allocators."""

import ctypes

from ._checked import Fixed, array
from ._library import HOST, c, check, describe


def _word(value):
    if isinstance(value, bool):
        return str(value).lower()
    value = getattr(value, "handle", value)
    if hasattr(value, "__index__"):
        return "host" if int(value) == HOST else str(int(value))
    return str(value)


class Traits:
    """Traits of an allocator: Traits("alignment=64", pinned=True). Their text takes their place."""

    def __init__(self, text="", **more):
        self.kept = text, list(more.values())  # an allocator that is the fallback
        words = [str(text), *(f"{key}={_word(value)}" for key, value in more.items())]
        self.text = ",".join(filter(None, words))
        parsed = (c.memspan_trait_t * (self.text.count(",") + 1))()
        count = ctypes.c_size_t()
        if self.text:
            check(c.memspan_trait_parse(self.text, parsed, len(parsed), ctypes.byref(count)))
        self.array = (c.memspan_trait_t * count.value)(*parsed[:count.value])

    @property
    def count(self):
        return len(self.array)

    def __reduce__(self):
        return Traits, (self.text,), dict(kept=self.kept)

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<memspan.Traits {self.text}>"

    def __iter__(self):
        """(key, value), the value as a number."""
        for trait in self.array:
            yield c.memspan_trait_key_text(trait.key).decode(), trait.value


class Space(Fixed):
    """The memory that every one of some devices reaches: Space(0, memspan.HOST)."""

    def __init__(self, *devices, base=None):
        numbers = array(ctypes.c_int, devices or (HOST,))
        handle = ctypes.c_void_p()
        check(c.memspan_space_get(numbers, len(numbers), getattr(base, "handle", base),
                                  ctypes.byref(handle)))
        vars(self).update(handle=handle.value)

    @classmethod
    def at(cls, handle):
        """The space of a handle: memspan.Space.at(memspan.c.MEMSPAN_SPACE_HIGH_BW)."""
        space = cls.__new__(cls)
        vars(space).update(handle=handle)
        space.describe()
        return space

    def __copy__(self, memo=None):
        return self  # its handle lives as long as the process

    __deepcopy__ = __copy__

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
        return describe(c.memspan_space_reach, self.handle, resource, device)

    def sub(self, *resources):
        """The space of some of the resources, by index."""
        handle = ctypes.c_void_p()
        check(c.memspan_space_get_sub(self.handle, array(ctypes.c_int, resources), len(resources),
                                      ctypes.byref(handle)))
        return Space.at(handle.value)

    def page_size(self):
        return c.memspan_space_page_size(self.handle)

    def stats(self):
        return describe(c.memspan_space_get_stats, self.handle)

    def plan(self, traits="", **more):
        """What an allocator of these traits would give, and why, without making it."""
        asked = Traits(traits, **more)
        return describe(c.memspan_allocator_plan, self.handle, asked.array, asked.count)

    def allocator(self, traits="", **more):
        """An allocator: space.allocator("memory_access=managed", pinned=True)."""
        from ._allocator import Allocator
        return Allocator(self, traits, **more)
