# SPDX-License-Identifier: BSD-3-Clause
"""Allocators."""

import ctypes

from . import _types
from ._block import Block
from ._checked import Fixed
from ._library import Access, Error, HOST, c, check, describe, handle_of
from ._space import Space, Traits


class Allocator(Fixed):
    """A memory space with traits. Its blocks, and arrays that it gave memory, keep it alive."""

    _destroy = staticmethod(c.unchecked("memspan_allocator_destroy"))
    handle = None

    def __init__(self, space=None, traits="", **more):
        space = Space() if space is None else space
        self._make(c.memspan_allocator_create, handle_of(space, "Space"), traits, more)

    def _make(self, function, base, traits, more):
        handle = ctypes.c_void_p()
        traits = Traits(traits, **more)
        check(function(base, traits.array, traits.count, ctypes.byref(handle)))
        vars(self).update(handle=handle.value, traits=traits)

    @classmethod
    def at(cls, handle):
        """The allocator of a handle that something else owns, a predefined one for example."""
        allocator = cls.__new__(cls)
        vars(allocator).update(handle=handle, _destroy=lambda handle: None)
        allocator.describe()
        return allocator

    def derive(self, traits="", **more):
        """An allocator with the traits of this one, some of them replaced."""
        derived = Allocator.__new__(Allocator)
        derived._make(c.memspan_allocator_derive, self.handle, traits, more)
        vars(derived).update(base=self)  # whose fallback it has
        return derived

    def __del__(self):
        self._destroy(vars(self).pop("handle", None))

    def __repr__(self):
        info = self.describe()
        return f"<memspan.Allocator {info.name or hex(self.handle)}: {info.kind_given}>"

    def describe(self):
        return describe(c.memspan_allocator_describe, self.handle)

    def why(self):
        """Why this kind of memory is given, in a sentence."""
        return self.describe().why

    def space(self):
        return Space.at(self.describe().space)

    def reach(self, device=HOST):
        """How a device reaches the memory."""
        return describe(c.memspan_allocator_reach, self.handle, device)

    def require_host(self):
        if self.reach(HOST).access < Access.FAULT:
            raise Error.of_host(self.why())

    def stats(self):
        return describe(c.memspan_allocator_get_stats, self.handle)

    @property
    def name(self):
        return self.describe().name

    @name.setter
    def name(self, text):
        check(c.memspan_allocator_set_name(self.handle, text))

    def block(self, size, align=16, traits="", **more):
        """A block of bytes, not zeroed; with traits of its own, where some are given."""
        return Block(self, size, align, traits, more)

    def empty(self, shape, dtype="f8"):
        """An array, not zeroed: a view of a block of its own."""
        kind, shape = _types.type_of(dtype), _types.shape_of(shape)
        return Block(self, _types.size_of(shape, kind.itemsize) or 1).view(kind, shape)
