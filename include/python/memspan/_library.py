# SPDX-License-Identifier: BSD-3-Clause
"""The C libraries: where they are, their names with types, their errors and records."""

import ctypes
import enum
import glob
import os
import types

from ._checked import function_type

try:
    from . import _declarations
except ImportError:
    raise ImportError("this memspan is a part of Memspan's sources; PYTHONPATH=BUILD/python, or "
                      "where it is installed, has the whole module") from None


def load(file, variable=None, beside=None):
    """Open a library: that of the environment, else of this prefix, else the loader's."""
    prefix = os.path.dirname(os.path.abspath(__file__))
    for _ in range(4):
        prefix = os.path.dirname(prefix)
    found = [os.environ.get(variable, "")] if variable else []
    found += [os.path.join(os.path.dirname(beside), file)] if beside and "/" in beside else []
    found += glob.glob(os.path.join(prefix, "lib*", file))
    found += glob.glob(os.path.join(prefix, "lib", "*-linux-*", file))
    path = next((path for path in found if path and os.path.exists(path)), file)
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        hint = f"; {variable} names it" if variable else ""
        raise ImportError(f"{file} cannot be opened: {error}{hint}") from None


class Names:
    """The C names of a library: functions with their types, structures, constants."""

    def __init__(self, library, declarations):
        self._unchecked, library._FuncPtr = library._FuncPtr, function_type(library)
        self._library, self._declarations = library, declarations
        self._functions = {name: key for key, names in declarations.FUNCTIONS
                           for name in names.split()}

    def __getattr__(self, name):
        declarations = self._declarations
        # OpenSHMEM's profiling names are declared once for both.
        declared = name[1:] if name[0] == "p" and name not in self._functions else name
        if declared in self._functions:
            value = getattr(self._library, name)
            value.restype, *value.argtypes = self._functions[declared]
        elif name in declarations.CONSTANTS:
            value = declarations.CONSTANTS[name]
        elif name.endswith("_t") and hasattr(declarations, name):
            value = getattr(declarations, name)
        else:
            raise AttributeError(f"the C interface has no {name}")
        setattr(self, name, value)
        return value

    def unchecked(self, name):
        """A function for destructors, which runs no code of Python, as at its end."""
        function = self._unchecked((name, self._library))
        function.restype, *function.argtypes = self._functions[name]
        return function

    def __dir__(self):
        return [*self._functions, *self._declarations.CONSTANTS,
                *(name for name in vars(self._declarations) if name.endswith("_t"))]


c = Names(load("libmemspan.so.0", "MEMSPAN_LIBRARY"), _declarations)
HOST = c.MEMSPAN_HOST


class _Word(enum.IntEnum):
    def __str__(self):
        return self.name.lower().replace("_", "-")

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"


_ENUMERATIONS = {}  # by the name of the type in C


def enumeration(name, prefix, declarations=_declarations, module="memspan"):
    constants = declarations.CONSTANTS
    values = {key[len(prefix):]: constants[key] for key in declarations.ENUMS[name].split()}
    values.pop("COUNT", None)
    title = name.partition("_")[2][:-2].title().replace("_", "")
    _ENUMERATIONS[name] = _Word(title, values, module=module)
    return _ENUMERATIONS[name]


Status = enumeration("memspan_status_t", "MEMSPAN_")
Kind = enumeration("memspan_kind_t", "MEMSPAN_KIND_")
Access = enumeration("memspan_access_t", "MEMSPAN_ACCESS_")
Coherence = enumeration("memspan_coherence_t", "MEMSPAN_COHERENCE_")
NumaNodeKind = enumeration("memspan_numa_node_kind_t", "MEMSPAN_NUMA_NODE_")
MemoryDeviceKind = enumeration("memspan_memory_device_kind_t", "MEMSPAN_MEMORY_DEVICE_")


class Error(Exception):
    """A failed call: `status` is the library's code; the text names the request and the reason."""

    def __init__(self, status, text=None):
        status = Status(status)
        super().__init__(text or c.memspan_error_text().decode(errors="replace") or str(status))
        self.status = status

    def __reduce__(self):
        return Error, (self.status, str(self))

    @classmethod
    def of_host(cls, why):
        return cls(Status.ERR_UNREACHABLE, f"the host does not reach this memory: {why}")


def check(status):
    if status:
        raise Error(status)


def address_or_error(address):
    """What an allocating call returns."""
    if address is None:
        raise Error(c.memspan_error_last().contents.status)
    return address


def handle_of(value, name):
    """The handle of an object of a class of this module, by the name of the class."""
    kind = type(value)
    if kind.__name__ != name and name not in (base.__name__ for base in kind.__mro__):
        raise TypeError(f"a memspan.{name} is needed, not {value!r}")
    return value.handle


def _plain(value, kind, enumeration):
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, ctypes.Array):
        return [_plain(getattr(item, "value", item), None, None) for item in value]
    if isinstance(value, ctypes.Structure):
        return record(value)
    if kind in (ctypes.c_size_t, ctypes.c_uint64) and value == c.MEMSPAN_UNKNOWN:
        return None
    return enumeration(value) if enumeration else value


def record(structure):
    """A structure as an object of Python; None where a number is unknown, or without a limit."""
    enums = getattr(structure, "_enums_", {})
    return types.SimpleNamespace(**{
        name: _plain(getattr(structure, name), kind, _ENUMERATIONS.get(enums.get(name)))
        for name, kind in structure._fields_ if name != "struct_size"})


def describe(function, *arguments):
    """The record that a function of the library writes to its last argument."""
    structure = function.argtypes[-1]._type_()
    if hasattr(structure, "struct_size"):
        structure.struct_size = ctypes.sizeof(structure)
    check(function(*arguments, ctypes.byref(structure)))
    return record(structure)
