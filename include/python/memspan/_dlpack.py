# SPDX-License-Identifier: BSD-3-Clause
"""DLPack: a view as a capsule of version 0 or 1, for any library that takes either. The tensor and
its deleter are the library's, memspan_dlpack_make(3): a tensor lives without Python."""

import ctypes
import sys

from ._library import address_or_error, c

CPU, CUDA, EXTENSION, CUDA_MANAGED = 1, 2, 12, 13
BACKENDS = {"cuda": CUDA, "opencl": 4, "hip": 10, "level_zero": 14}
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_LETTERS = {code: letter for letter, code in _CODES.items()}
_SIZES = {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16), "b": (1,)}


class _Tensor(ctypes.Structure):  # DLTensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("width", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):  # DLManagedTensorVersioned
    _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


def _capsule_functions():
    python = ctypes.PyDLL(None)
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p] * 3
    python.PyCapsule_IsValid.argtypes = ctypes.py_object, ctypes.c_char_p
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = ctypes.py_object, ctypes.c_char_p
    return python.PyCapsule_New, python.PyCapsule_IsValid, python.PyCapsule_GetPointer


new_capsule, _is_capsule, _pointer_of = _capsule_functions()
_NAMES = [ctypes.create_string_buffer(name) for name in (b"dltensor", b"dltensor_versioned")]
_ADDRESSES = [ctypes.addressof(name) for name in _NAMES]
_END = ctypes.cast(c.memspan_dlpack_end_capsule, ctypes.c_void_p).value


def _make_template(view, device):
    kind, count = view.type, len(view.shape)
    is_number = kind.text[1:].isdigit() and kind.text[0] in _SIZES
    if not is_number or kind.itemsize not in _SIZES[kind.text[0]]:
        raise BufferError(f"DLPack has no {kind.text}")
    extents = (ctypes.c_int64 * (2 * count))(*view.shape)
    stride = 1
    for i in reversed(range(count)):
        extents[count + i] = stride
        stride *= view.shape[i] or 1  # as NumPy's and PyTorch's
    where = ctypes.addressof(extents)
    tensor = _Tensor(view.address if view.nbytes else None, *device, count, _CODES[kind.text[0]],
                     8 * kind.itemsize, 1, where, where + 8 * count, 0)
    tensor.extents = extents
    return tensor


def export(view, is_versioned, device):
    tensor = view._templates.get(device)
    if tensor is None:
        tensor = view._templates[device] = _make_template(view, device)
    # PyTorch never deletes a tensor without an address: one without bytes keeps no memory.
    references = view.block.references if view.nbytes else None
    made = address_or_error(c.memspan_dlpack_make(references, ctypes.byref(tensor), is_versioned))
    return new_capsule(made, _ADDRESSES[is_versioned], _END)


def read(memory):
    """(address, bytes, type, whether it may be written to, capsule) of another library's tensor.
    The capsule keeps it and is not consumed. Before DLPack 1 none says that it may be written to."""
    try:
        capsule = memory.__dlpack__(max_version=(1, 0))
    except TypeError:  # of before
        capsule = memory.__dlpack__()
    if _is_capsule(capsule, b"dltensor_versioned"):
        made = _Versioned.from_address(_pointer_of(capsule, b"dltensor_versioned"))
        tensor, is_writable = made.tensor, not made.flags & 1
    else:
        tensor, is_writable = _Tensor.from_address(_pointer_of(capsule, b"dltensor")), False
    extents = (ctypes.c_int64 * tensor.ndim).from_address(tensor.shape) if tensor.ndim else ()
    strides = tensor.strides and (ctypes.c_int64 * tensor.ndim).from_address(tensor.strides)
    size = (tensor.bits * tensor.width + 7) // 8
    for i in reversed(range(tensor.ndim)):
        if strides and extents[i] > 1 and 0 not in extents and strides[i] * tensor.bits // 8 != size:
            raise ValueError("the tensor is not contiguous")
        size *= extents[i]
    kind = f"{_LETTERS.get(tensor.code, f'DLPack type {tensor.code} of ')}{tensor.bits // 8}"
    kind += f" x {tensor.width}" if tensor.width != 1 else ""
    return (tensor.data or 0) + tensor.byte_offset, size, kind, is_writable, capsule
