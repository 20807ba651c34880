# SPDX-License-Identifier: BSD-3-Clause
"""Types and shapes of arrays, as NumPy's: without NumPy the plain numbers alone.

A type is NumPy's text for it, without the mark of this machine's byte order: "f8", ">f8", "U10".
"""

import ctypes
import operator
import typing


class Type(typing.NamedTuple):
    text: str
    itemsize: int
    fields: typing.Optional[list] = None  # of a structured type, as __array_interface__ has them

    @property
    def typestr(self):
        has_order = self.itemsize > 1 and self.text[0] not in "SV"
        return self.text if self.text[0] == ">" else ("<" if has_order else "|") + self.text


# A buffer's format and ctypes' type, by the type's text. memoryview.cast() knows these formats.
PLAIN = {"b1": ("?", ctypes.c_bool), "i1": ("b", ctypes.c_int8), "u1": ("B", ctypes.c_uint8),
         "i2": ("h", ctypes.c_int16), "u2": ("H", ctypes.c_uint16), "i4": ("i", ctypes.c_int32),
         "u4": ("I", ctypes.c_uint32), "i8": ("q", ctypes.c_int64), "u8": ("Q", ctypes.c_uint64),
         "f4": ("f", ctypes.c_float), "f8": ("d", ctypes.c_double)}
_WORDS = {"b": "int", "u": "uint", "i": "int", "f": "float", "c": "complex"}
_SIZES = [*PLAIN, "f2", "c8", "c16"]
_TYPES = {}  # by what names it
for _name in _SIZES:
    _size = int(_name[1:])
    _word = "bool" if _name == "b1" else f"{_WORDS[_name[0]]}{8 * _size}"
    _TYPES.update(dict.fromkeys((_name, "<" + _name, "=" + _name, "|" + _name, _word),
                                Type(_name, _size)))
    if _size > 1:
        _TYPES[">" + _name] = Type(">" + _name, _size)
for _class, _name in ((bool, "b1"), (int, "i8"), (float, "f8"), (complex, "c16")):
    _TYPES[_class] = _TYPES[_class.__name__] = _TYPES[_name]


def numpy_or_none():
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _of_numpy(numpy, dtype):
    made = numpy.dtype(dtype)
    if made.hasobject or made.isbuiltin == 2 or made.subdtype or not made.itemsize:
        raise TypeError(f"{made!r} is no type of plain bytes with a size")
    fields = made.descr if made.names is not None else None
    if fields and numpy.dtype(fields) != made:
        raise TypeError(f"{made!r} has gaps")
    return Type(made.str.lstrip("<|="), made.itemsize, fields)


def type_of(dtype):
    """The Type of whatever NumPy takes as a dtype."""
    if isinstance(dtype, Type):
        return dtype
    try:
        found = _TYPES.get(dtype)
    except TypeError:  # not hashable: a list of fields
        found = None
    if found is None:
        numpy = numpy_or_none()
        if numpy is None:
            raise TypeError(f"{dtype!r} is none of {', '.join(_SIZES)}, and numpy is not here")
        found = _of_numpy(numpy, dtype)
    return found


def numpy_dtype(numpy, kind):
    return numpy.dtype(kind.fields or kind.text)


def shape_of(shape):
    """Extents that are integers of at least 0."""
    shape = shape if hasattr(shape, "__iter__") else (shape,)
    shape = tuple(operator.index(extent) for extent in shape)
    if min(shape, default=0) < 0:
        raise ValueError(f"the shape {shape} has a negative extent")
    return shape


def size_of(shape, itemsize):
    """The bytes of an array. As in NumPy, extents of 0 do not excuse the others."""
    size = itemsize
    for extent in shape:
        size *= extent or 1
    if size > 2**63 - 1:
        raise ValueError(f"an array of the shape {shape} is too big")
    return 0 if 0 in shape else size


_FORMATS = {"?": "b", **dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"),
            **dict.fromkeys("efd", "f"), "Zf": "c", "Zd": "c"}


def text_of_format(code, itemsize):
    """The text of the type that a buffer's format names; another format stands for itself."""
    order = code[0] if code[0] in "@=<>!" else "@"
    kind = _FORMATS.get(code.lstrip("@=<>!"))
    if kind is None:
        return code
    return (">" if order in ">!" and itemsize > 1 else "") + f"{kind}{itemsize}"
