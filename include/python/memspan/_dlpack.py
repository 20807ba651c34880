# SPDX-License-Identifier: BSD-3-Clause
"""DLPack: a view as a capsule of version 0 or 1, for any library that takes either."""

import ctypes
import sys

CPU, CUDA, EXTENSION, CUDA_MANAGED = 1, 2, 12, 13
BACKENDS = {"cuda": CUDA, "opencl": 4, "hip": 10, "level_zero": 14}
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("width", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


def capsule_functions():
    python = ctypes.PyDLL(None)
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p] * 3
    python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_void_p]
    return python.PyCapsule_New, python.PyCapsule_IsValid


def references(table, key):
    """How often a value is referred to, compared with ALONE: by the table only."""
    return sys.getrefcount(table[key])


ALONE = references({0: object()}, 0)


class _Exporter:
    """Makes capsules of one version.

    A capsule has no destructor: one in Python fails where an exception is pending. What no consumer
    has taken is dropped by the next sweep, which each allocation makes, and each few exports.
    """

    def __init__(self, structure, name):
        self.structure = structure
        self.live = live = {}        # by address: a structure, and the objects it refers to
        self.offered = offered = {}  # the same: its capsule, until nothing else refers to that
        self.text = ctypes.create_string_buffer(name)
        self.name = ctypes.addressof(self.text)
        self.new, self.is_valid = capsule_functions()

        @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        def delete(address):
            offered.pop(address, None)
            live.pop(address, None)

        # Consumers call it while Python ends, too: it is never freed.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(delete))
        self.deleter = ctypes.cast(delete, ctypes.c_void_p).value

    def sweep(self):
        offered = self.offered
        for address in list(offered):
            capsule = offered.get(address)
            if capsule is not None and references(offered, address) == ALONE + 1:
                offered.pop(address, None)
                if self.is_valid(capsule, self.name):  # one that was taken has another name
                    self.live.pop(address, None)

    def export(self, template, view):
        if len(self.offered) > 7:
            self.sweep()
        structure = self.structure.from_buffer_copy(template)
        address = ctypes.addressof(structure)
        self.live[address] = structure, template, view
        capsule = self.offered[address] = self.new(address, self.name, None)
        return capsule


_EXPORTERS = _Exporter(_Managed, b"dltensor"), _Exporter(_Versioned, b"dltensor_versioned")


def sweep():
    for exporter in _EXPORTERS:
        exporter.sweep()


def _make_template(view, exporter, device):
    count = len(view.shape)
    extents = (ctypes.c_int64 * (2 * count))(*view.shape)
    stride = 1
    for i in reversed(range(count)):
        extents[count + i] = stride
        stride *= view.shape[i]
    where = ctypes.addressof(extents)
    tensor = _Tensor(view.address, *device, count, _CODES[view.dtype[0]], 8 * view.itemsize, 1,
                     where, where + 8 * count, 0)
    template = exporter.structure(tensor=tensor, deleter=exporter.deleter)
    if exporter.structure is _Versioned:
        template.major = 1
    template.extents = extents
    return template


def export(view, is_versioned, device):
    exporter = _EXPORTERS[is_versioned]
    key = is_versioned, device
    template = view._templates.get(key)
    if template is None:
        template = view._templates[key] = _make_template(view, exporter, device)
    return exporter.export(template, view)
