# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's arrays in memory of an allocator (NEP 49), without a compiler."""

import contextlib
import ctypes
import sys

from . import _dlpack
from ._library import c, handle_of

# In numpy's table of its C interface; the same in 1.22 to 2.x.
_FEATURE_VERSION, _SET_HANDLER = 211, 304
_HAS_HANDLERS = 0xF  # 1.22


class _Handler(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8),
                ("context", ctypes.c_void_p), ("malloc", ctypes.c_void_p),
                ("calloc", ctypes.c_void_p), ("realloc", ctypes.c_void_p),
                ("free", ctypes.c_void_p)]


_NAME = ctypes.create_string_buffer(b"mem_handler")
_capsules = {}  # address of a handler: its capsule, which numpy's arrays refer to
_kept = {}      # the same: the handler, and its allocator


def _references(table, key):
    """How often a value is referred to, compared with _ALONE: by the table only."""
    return sys.getrefcount(table[key])


_ALONE = _references({0: object()}, 0)


def _sweep():
    """Drops the handlers of no array. A destructor would fail where an exception is pending."""
    for address in list(_capsules):
        if _references(_capsules, address) == _ALONE:
            _capsules.pop(address, None)
            _kept.pop(address, None)


def _make_capsule(allocator):
    handler = _Handler(b"memspan", 1, allocator.handle)
    functions = dict(malloc=c.memspan_alloc, calloc=c.memspan_calloc, realloc=c.memspan_realloc,
                     free=c.memspan_free_sized)
    for field, function in functions.items():
        setattr(handler, field, ctypes.cast(function, ctypes.c_void_p))
    address = ctypes.addressof(handler)
    _kept[address] = handler, allocator
    capsule = _capsules[address] = _dlpack.new_capsule(address, ctypes.addressof(_NAME), None)
    return capsule


def _set_handler():
    """PyDataMem_SetHandler() of the numpy that is loaded."""
    try:
        from numpy._core.multiarray import _ARRAY_API
    except ImportError:
        from numpy.core.multiarray import _ARRAY_API
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_void_p]
    table = ctypes.cast(get_pointer(_ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    if ctypes.PYFUNCTYPE(ctypes.c_uint)(table[_FEATURE_VERSION])() < _HAS_HANDLERS:
        raise ImportError("memspan.numpy() needs numpy 1.22 or later")
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])


@contextlib.contextmanager
def numpy(allocator):
    """Inside, numpy takes the memory of new arrays from this allocator. An array keeps it, and is
    resized and freed by it anywhere."""
    handle_of(allocator, "Allocator")
    allocator.require_host()
    set_handler = _set_handler()
    _sweep()
    before = set_handler(_make_capsule(allocator))
    try:
        yield allocator
    finally:
        set_handler(before)
