# SPDX-License-Identifier: BSD-3-Clause
"""Values of Python as C's, without the wrapping of ctypes: else TypeError or ValueError."""

import ctypes
import math
import operator

_INTEGERS = (ctypes.c_byte, ctypes.c_ubyte, ctypes.c_short, ctypes.c_ushort, ctypes.c_int,
             ctypes.c_uint, ctypes.c_long, ctypes.c_ulong, ctypes.c_longlong, ctypes.c_ulonglong)
_FLOATS = ctypes.c_float, ctypes.c_double, ctypes.c_longdouble
_LIMITS = {}  # by type: the least and the greatest value
for _kind in _INTEGERS:
    _bits = 8 * ctypes.sizeof(_kind)
    _half = 0 if _kind(-1).value > 0 else 2**(_bits - 1)
    _LIMITS[_kind] = -_half, 2**_bits - 1 - _half
_LIMITS[ctypes.c_void_p] = 0, 2**(8 * ctypes.sizeof(ctypes.c_void_p)) - 1


def number(kind, value):
    """An integer as one of a C type: operator.index() of it, in the type's range."""
    least, most = _LIMITS[kind]
    value = operator.index(value)
    if not least <= value <= most:
        name = "an address" if kind is ctypes.c_void_p else f"a C number of {least} to {most}"
        raise ValueError(f"{value} is not {name}")
    return value


def _real(kind, value):
    try:
        if not math.isinf(kind(value).value) or math.isinf(value):
            return value
    except OverflowError:
        pass
    raise ValueError(f"{value} is not in the range of {kind.__name__}")


def _text(value):
    """Bytes of a C string: UTF-8, without a zero byte inside."""
    value = value.encode() if isinstance(value, str) else value
    if isinstance(value, bytes) and b"\0" in value:
        raise ValueError(f"{value!r} has a zero byte")
    return value


def checked(kind, value):
    """A value for ctypes, where the type is declared. A buffer of Python is no address of C."""
    if type(value) is int and kind in _LIMITS:  # the usual case, first
        least, most = _LIMITS[kind]
        return value if least <= value <= most else number(kind, value)
    if value is None or isinstance(value, kind):
        return value
    if kind is ctypes.c_char_p:
        return _text(value)
    if kind is ctypes.c_void_p:
        if isinstance(value, (bytes, str)):
            raise TypeError(f"{type(value).__name__} is no memory to write to; ctypes has buffers")
        return number(kind, value) if hasattr(value, "__index__") else value
    if kind in _LIMITS:
        return number(kind, value)
    return _real(kind, value) if kind in _FLOATS else value


def array(kind, values):
    """A C array."""
    values = [number(kind, value) for value in values]
    return (kind * len(values))(*values)


class Structure(ctypes.Structure):
    """A structure of C whose numbers are checked when they are set."""

    def __setattr__(self, name, value):
        kinds = dict(self._fields_)
        if name not in kinds:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        super().__setattr__(name, checked(kinds[name], value))


def function_type(library):
    """The class of a library's functions: every argument is checked, and their number."""
    base = library._FuncPtr

    class Function(base):
        _flags_, _restype_ = base._flags_, base._restype_  # which ctypes reads of each class

        def __call__(self, *arguments):
            kinds = self.argtypes
            if len(arguments) != len(kinds):
                raise TypeError(f"{self.__name__}() has {len(kinds)} arguments, not {len(arguments)}")
            try:
                return base.__call__(self, *map(checked, kinds, arguments))
            except ctypes.ArgumentError as error:
                raise TypeError(f"{self.__name__}(): {error}") from None

    return Function


class Fixed:
    """What stands for memory, or a handle, of this process: it is not copied or pickled, and its
    attributes are set once, by vars(self)."""

    def __reduce_ex__(self, protocol):
        raise TypeError(f"memspan.{type(self).__name__} is of this process: it is not copied or "
                        "pickled; copy_from() copies contents")

    def _once(self):
        if vars(self):
            raise TypeError(f"memspan.{type(self).__name__} is made once")

    def __setattr__(self, name, value):
        if not isinstance(getattr(type(self), name, None), property):
            raise AttributeError(f"{name} of memspan.{type(self).__name__} cannot be set")
        super().__setattr__(name, value)

    def __delattr__(self, name):
        raise AttributeError(f"{name} of memspan.{type(self).__name__} cannot be deleted")
