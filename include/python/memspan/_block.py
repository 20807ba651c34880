# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of memory, and views of them: what other libraries take without a copy."""

import ctypes
from functools import cached_property

from . import _dlpack
from ._device import Device, devices
from ._library import Access, Error, HOST, Kind, c, check, describe
from ._space import Traits

_FORMATS = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I",
            "i8": "q", "u8": "Q", "f4": "f", "f8": "d"}


def address_of(memory):
    """The address of a block, a view, a contiguous array of the host, or a number."""
    if isinstance(memory, int):
        return memory
    if hasattr(memory, "address"):
        return memory.address
    interface = memory.__array_interface__
    if interface.get("strides"):
        raise ValueError("the array is not contiguous")
    return interface["data"][0]


def pointer_describe(memory):
    """The record of the memory at an address: what was asked for, what was given, and why."""
    return describe(c.memspan_pointer_describe, address_of(memory))


def pointer_reach(memory, device=HOST):
    """How a device reaches the memory at an address."""
    return describe(c.memspan_pointer_reach, address_of(memory), int(device))


def why(memory):
    """Why the memory at an address is what it is, in a sentence."""
    return pointer_describe(memory).why


def copy(to, source, size=None):
    """Copy bytes between memory of any devices: all of `source`, unless a size is given."""
    size = source.nbytes if size is None else size
    if size > min(getattr(memory, "nbytes", size) for memory in (to, source)):
        raise ValueError(f"{size} bytes do not fit")
    check(c.memspan_copy(address_of(to), address_of(source), size))


class View:
    """Part of a block with a shape and a type. It keeps the block."""

    def __init__(self, owner, address, dtype, shape):
        self.owner, self.address = owner, address
        self.dtype = getattr(dtype, "str", dtype).lstrip("<|=")
        self.itemsize = int(self.dtype[1:])
        self.shape = tuple(int(n) for n in (shape if hasattr(shape, "__iter__") else (shape,)))
        self.nbytes = self.itemsize
        for extent in self.shape:
            self.nbytes *= extent
        self._templates = {}  # of exports

    @property
    def block(self):
        return self.owner

    def __repr__(self):
        return f"<memspan.{type(self).__name__} {self.address:#x} {self.dtype}{list(self.shape)}>"

    def __len__(self):
        return self.shape[0]

    def view(self, dtype="u1", shape=None, offset=0):
        """A view of this memory from a byte on; without a shape, of all that is there."""
        rest = self.nbytes - offset
        item = View(self.block, self.address + offset, dtype, ())
        shape = rest // item.itemsize if shape is None else shape
        view = View(self.block, item.address, dtype, shape)
        if offset < 0 or rest < 0 or view.nbytes > rest or min(view.shape, default=0) < 0:
            raise ValueError(f"{view.nbytes} bytes from {offset} on are not in {self!r}")
        return view

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
        """Copy other memory, of any device, or an array of the host, to its beginning."""
        copy(self, source)

    def copy_to(self, to):
        copy(to, self)

    def prefetch(self, device=HOST):
        """Start to migrate managed memory to a device, or to the host."""
        check(c.memspan_prefetch(self.address, self.nbytes, int(device)))

    # ---- the host's protocols ----

    @property
    def memory(self):
        """A memoryview of memory that the host reaches; it keeps the block."""
        self.block.require_host()
        array = (ctypes.c_ubyte * self.nbytes).from_address(self.address)
        array.view = self
        flat = memoryview(array).cast("B")
        if self.dtype == "u1" and len(self.shape) == 1:
            return flat
        return flat.cast(_FORMATS[self.dtype], self.shape)

    def __buffer__(self, flags):  # from Python 3.12 on
        return self.memory

    def _interface(self, **more):
        mark = "|" if self.itemsize == 1 else "<"
        return dict(version=3, data=(self.address, False), typestr=mark + self.dtype,
                    shape=self.shape, strides=None, **more)

    @property
    def __array_interface__(self):
        self.block.require_host()
        return self._interface()

    # ---- those of devices ----

    @property
    def __cuda_array_interface__(self):
        if self.block.cuda_ordinal is None:
            raise AttributeError("no CUDA device reaches this memory")
        return self._interface(stream=None)

    def __dlpack_device__(self):
        return self.block.dlpack_device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        block = self.block
        device = block.dlpack_device if dl_device is None else block.on_device(dl_device)
        if copy:
            raise BufferError("memory is exported where it is, without a copy")
        if block.home != HOST and stream != -1:
            Device(block.home).synchronize()
        return _dlpack.export(self, max_version is not None and max_version[0] >= 1, device)


class Memory(View):
    """What views are views of. Where it is, for exports, is asked once."""

    @property
    def block(self):
        return self

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


class Block(Memory):
    """Memory of an allocator, freed with the last object that refers to it."""

    _free = staticmethod(c.memspan_free)  # at the end of Python, too
    address = None

    def __init__(self, allocator, size, align=16, traits="", more=None):
        if size <= 0:
            raise ValueError(f"a block has at least a byte, not {size}")
        _dlpack.sweep()
        if traits or more:
            asked = Traits(traits, **(more or {}))
            address = c.memspan_alloc_with(allocator.handle, size, asked.array, asked.count)
        else:
            address = c.memspan_aligned_alloc(allocator.handle, align, size)
        if address is None:
            raise Error(c.memspan_error_last().contents.status)
        super().__init__(allocator, address, "u1", size)

    def __del__(self):
        if self.address is not None:
            self._free(self.address)

    @property
    def allocator(self):
        return self.owner

    def move(self, space):
        """Move it to another memory space; it keeps its address and contents."""
        check(c.memspan_move(self.address, space.handle))
        for name in ("home", "kind", "is_on_host", "cuda_ordinal", "dlpack_device"):
            self.__dict__.pop(name, None)
