# SPDX-License-Identifier: BSD-3-Clause
"""Memory that a call reads or writes: a view, an array, a tensor, a buffer, or an address of Memspan's
memory; its size, its type, and whether it may be written to."""

import ctypes
import typing

from . import _dlpack
from ._checked import number
from ._library import c, describe
from ._types import shape_of, size_of, text_of_format


class Region(typing.NamedTuple):
    address: int
    nbytes: int
    type: typing.Optional[str]  # None: bytes
    is_readonly: bool
    kept: object  # while it is used


class _Buffer(ctypes.Structure):  # Py_buffer
    _fields_ = [("address", ctypes.c_void_p), ("object", ctypes.c_void_p),
                ("nbytes", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("is_readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
                ("rest", ctypes.c_void_p * 8)]


_python = ctypes.PyDLL(None)
_get_buffer, _release_buffer = _python.PyObject_GetBuffer, _python.PyBuffer_Release
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int]
_release_buffer.argtypes, _release_buffer.restype = [ctypes.POINTER(_Buffer)], None


def _of_buffer(memory):
    view = memoryview(memory)  # TypeError: no memory
    if not view.c_contiguous:
        raise ValueError("the memory is not contiguous")
    buffer = _Buffer()
    _get_buffer(view, ctypes.byref(buffer), 0)
    address = buffer.address or 0
    _release_buffer(ctypes.byref(buffer))  # the view keeps it
    kind = None if view.format in "Bc" else text_of_format(view.format, view.itemsize)
    return Region(address, view.nbytes, kind, view.readonly, view)


def _of_interface(memory, interface):
    address, is_readonly = interface["data"]
    kind, shape = interface["typestr"], shape_of(interface["shape"])
    if interface.get("strides") or interface.get("mask") is not None:
        raise ValueError("the array is not contiguous")
    if kind[1] in "Ot" or getattr(getattr(memory, "dtype", None), "hasobject", False):
        raise TypeError("the array is not of plain bytes")
    itemsize = number(ctypes.c_int, int(kind[2:].partition("[")[0])) * (4 if kind[1] == "U" else 1)
    return Region(number(ctypes.c_void_p, address or 0), size_of(shape, itemsize),
                  kind.lstrip("<|="), bool(is_readonly), memory)


def _of_tensor(memory):
    address, nbytes, kind, is_writable, capsule = _dlpack.read(memory)
    return Region(address, nbytes, kind, not is_writable, (memory, capsule))


def _of_address(address):
    info = describe(c.memspan_pointer_describe, address)
    if info.base is None or info.size_bytes is None:
        raise ValueError(f"the size of the memory at {address:#x} is not known")
    return Region(address, info.base + info.size_bytes - address, None, False, None)


def region(memory, to_write=False):
    """The Region of memory; what is not contiguous, or may not be written to, is refused."""
    if hasattr(memory, "_region"):
        return memory._region()
    if isinstance(memory, int):
        return _of_address(memory)
    interface = getattr(memory, "__array_interface__", None)
    if isinstance(interface, dict) and isinstance(interface.get("data"), tuple):
        found = _of_interface(memory, interface)
    elif hasattr(memory, "__dlpack__"):
        found = _of_tensor(memory)
    else:
        found = _of_buffer(memory)
    if to_write and found.is_readonly:
        raise ValueError("the memory is read-only, or does not say that it may be written to")
    return found


def transfer(to, source, size=None):
    """(target, source, bytes) of a copy: all of the source, where no size is given."""
    if size is None and isinstance(source, int):
        raise TypeError("an address has no size: it must be given")
    there, here = region(to, True), region(source)
    if size is None and None not in (there.type, here.type) and there.type != here.type:
        raise TypeError(f"{here.type} is not {there.type}: convert it, or give a number of bytes")
    size = here.nbytes if size is None else number(ctypes.c_size_t, size)
    if size > min(there.nbytes, here.nbytes):
        raise ValueError(f"{size} bytes do not fit")
    return there, here, size


def address_of(memory):
    """The address of memory, or a number."""
    return memory if isinstance(memory, int) else region(memory).address
