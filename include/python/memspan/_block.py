# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of memory, and views of them: what other libraries take without a copy."""

import ctypes
import operator
from functools import cached_property

from . import _dlpack, _types
from ._checked import Fixed
from ._device import Device, devices
from ._library import (Access, Error, HOST, Kind, address_or_error, c, check, describe, handle_of)
from ._region import Region, address_of, transfer
from ._space import Traits


def pointer_describe(memory):
    """The record of the memory at an address: what was asked for, what was given, and why."""
    return describe(c.memspan_pointer_describe, address_of(memory))


def pointer_reach(memory, device=HOST):
    """How a device reaches the memory at an address."""
    return describe(c.memspan_pointer_reach, address_of(memory), device)


def why(memory):
    """Why the memory at an address is what it is, in a sentence."""
    return pointer_describe(memory).why


def copy(to, source, size=None):
    """Copy between memory of any devices: all of `source`, whose type is that of `to`, or either
    has none; or a number of bytes."""
    there, here, size = transfer(to, source, size)
    check(c.memspan_copy(there.address, here.address, size))


class View(Fixed):
    """Part of a block with a shape and a type. It keeps the block."""

    def __init__(self, block, offset, dtype, shape):
        self._once()
        if not isinstance(block, Memory):
            raise TypeError(f"a view is of a block, not of {block!r}")
        kind, shape = _types.type_of(dtype), _types.shape_of(shape)
        nbytes, offset = _types.size_of(shape, kind.itemsize), operator.index(offset)
        if offset < 0 or offset + nbytes > block.nbytes:
            raise ValueError(f"{nbytes} bytes from {offset} on are not in {block!r}")
        vars(self).update(block=block)
        self._set(offset, kind, shape, nbytes)

    def _set(self, offset, kind, shape, nbytes):
        vars(self).update(offset=offset, type=kind, shape=shape, nbytes=nbytes,
                          itemsize=kind.itemsize, dtype=kind.text, _templates={})

    @property
    def owner(self):
        return self.block

    @property
    def address(self):
        return self.block.address + self.offset

    def _region(self):
        return Region(self.address, self.nbytes, self.dtype, False, self)

    def __repr__(self):
        return f"<memspan.{type(self).__name__} {self.dtype}{list(self.shape)} of {self.block!r}>"

    def __len__(self):
        if not self.shape:
            raise TypeError("a view without dimensions has no length")
        return self.shape[0]

    def view(self, dtype="u1", shape=None, offset=0):
        """A view of this memory from a byte on; without a shape, of all that is there."""
        kind, offset = _types.type_of(dtype), operator.index(offset)
        rest = self.nbytes - offset
        shape = _types.shape_of(max(rest, 0) // kind.itemsize if shape is None else shape)
        if offset < 0 or rest < _types.size_of(shape, kind.itemsize):
            raise ValueError(f"{list(shape)} of {kind.text} from {offset} on are not in {self!r}")
        return View(self.block, self.offset + offset, kind, shape)

    def describe(self):
        return pointer_describe(self.address)

    def why(self):
        return self.describe().why

    def reach(self, device=HOST):
        return pointer_reach(self.address, device)

    def fill(self, byte=0):
        """Set every byte, by the device where the memory is a device's."""
        check(c.memspan_fill(self.address, byte, self.nbytes))

    def copy_from(self, source):
        """Copy other memory, of any device, an array of the host, or a tensor (DLPack), to its
        beginning."""
        copy(self, source)

    def copy_to(self, to):
        copy(to, self)

    def prefetch(self, device=HOST):
        """Start to migrate managed memory to a device, or to the host."""
        check(c.memspan_prefetch(self.address, self.nbytes, device))

    # ---- the host's protocols ----

    def _bytes(self):
        self.block.require_host()
        array = (ctypes.c_ubyte * self.nbytes).from_address(self.address)
        array.view = self
        return memoryview(array).cast("B")

    @property
    def memory(self):
        """A memoryview of memory that the host reaches; it keeps the block."""
        flat = self._bytes()
        if self.dtype == "u1" and len(self.shape) == 1:
            return flat
        if self.dtype in _types.PLAIN and self.nbytes:
            return flat.cast(_types.PLAIN[self.dtype][0], self.shape)
        numpy = _types.numpy_or_none()
        if numpy is not None:
            kind = _types.numpy_dtype(numpy, self.type)
            return memoryview(numpy.ndarray(self.shape, kind, flat))
        if self.dtype not in _types.PLAIN:
            raise TypeError(f"a memoryview of {self.dtype} needs numpy; view() takes another type")
        kind = _types.PLAIN[self.dtype][1]  # what has no bytes cannot be cast
        for extent in reversed(self.shape):
            kind = kind * extent
        return memoryview(kind())

    def __buffer__(self, flags):  # from Python 3.12 on
        if self.dtype[0] == "V":  # a buffer's format loses the type; numpy takes the interface then
            raise BufferError(f"{self.dtype} has no buffer; memory has one")
        return self.memory

    def _interface(self, address, **more):
        if self.type.fields:
            more["descr"] = self.type.fields
        return dict(version=3, data=(address, False), typestr=self.type.typestr, shape=self.shape,
                    strides=None, **more)

    @property
    def __array_interface__(self):
        self.block.require_host()
        return self._interface(self.address)

    # ---- those of devices ----

    @property
    def __cuda_array_interface__(self):
        if self.block.cuda_ordinal is None:
            raise AttributeError("no CUDA device reaches this memory")
        return self._interface(self.address if self.nbytes else 0, stream=None)

    def __dlpack_device__(self):
        return self.block.dlpack_device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        block = self.block
        device = block.dlpack_device if dl_device is None else block.on_device(dl_device)
        if copy:
            raise BufferError("memory is exported where it is, without a copy")
        stream = 0 if stream is None else operator.index(stream)
        if block.home != HOST and stream != -1:
            Device(block.home).synchronize()
        return _dlpack.export(self, max_version is not None and max_version[0] >= 1, device)


class Memory(View):
    """What views are views of. Where it is, for exports, is asked once."""

    owner = address = references = None

    def __init__(self, owner, address, size):
        vars(self).update(owner=owner, address=address)
        self._set(0, _types.type_of("u1"), (size,), size)

    @property
    def block(self):
        return self

    def _region(self):
        return Region(self.address, self.nbytes, None, False, self)

    def __repr__(self):
        return f"<memspan.{type(self).__name__} {self.address:#x} u1[{self.nbytes}]>"

    @cached_property
    def home(self):
        """The device whose driver allocated it."""
        return self.describe().home

    @cached_property
    def kind(self):
        return self.describe().kind_given

    @cached_property
    def is_on_host(self):
        return self.reach(HOST).access >= Access.FAULT

    def require_host(self):
        if not self.is_on_host:
            raise Error.of_host(self.why())

    @cached_property
    def cuda_ordinal(self):
        """The number in CUDA of a device that reaches it, its home first; None: there is none."""
        for device in sorted(devices(), key=lambda device: device.number != self.home):
            info = device.describe()
            if info.backend == "cuda" and self.reach(device).access >= Access.FAULT:
                return info.ordinal
        return None

    @cached_property
    def dlpack_device(self):
        if self.home == HOST or self.kind == Kind.HOST_PINNED:
            return _dlpack.CPU, 0
        home = Device(self.home).describe()
        if self.kind == Kind.DEVICE:
            return _dlpack.BACKENDS.get(home.backend, _dlpack.EXTENSION), home.ordinal
        return (_dlpack.CUDA_MANAGED if home.backend == "cuda" else _dlpack.CPU), 0

    def on_device(self, device):
        """The device that a consumer asks for, where it reaches the memory."""
        device = tuple(device)
        if device in (self.dlpack_device, (_dlpack.CUDA, self.cuda_ordinal)) or (
                device == (_dlpack.CPU, 0) and self.is_on_host):
            return device
        raise BufferError(f"DLPack's device {device} does not reach this memory: {self.why()}")


def at_least_a_byte(size):
    size = operator.index(size)
    if size <= 0:
        raise ValueError(f"a block has at least a byte, not {size}")
    return size


class Block(Memory):
    """Memory of an allocator, freed with the last object that refers to it."""

    _drop = staticmethod(c.unchecked("memspan_refcount_drop"))

    def __init__(self, allocator, size, align=16, traits="", more=None):
        self._once()
        handle, size = handle_of(allocator, "Allocator"), at_least_a_byte(size)
        if traits or more:
            asked = Traits(traits, **(more or {}))
            address = c.memspan_alloc_with(handle, size, asked.array, asked.count)
        else:
            address = c.memspan_aligned_alloc(handle, align, size)
        self._own(allocator, address_or_error(address), size, None)

    def _own(self, allocator, address, size, queue):
        references = c.memspan_refcount_make(address, queue)
        if references is None:
            c.memspan_free(address)
            raise Error(c.memspan_error_last().contents.status)
        vars(self).update(references=references)  # of the memory, which tensors have, too
        super().__init__(allocator, address, size)

    def __del__(self):
        self._drop(vars(self).pop("references", None))

    @property
    def allocator(self):
        return self.owner

    def move(self, space):
        """Move it to another memory space; it keeps its address, contents, kind and driver."""
        check(c.memspan_move(self.address, handle_of(space, "Space")))
