#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""declarations.py [--cc COMPILER] INCLUDE OUTPUT: the C interface for ctypes, from the headers.

Writes _declarations.py and _shmem_declarations.py, which the module memspan needs, into the folder
OUTPUT. A declaration that is not understood ends the program: none is left out in silence.
"""
import argparse
import contextlib
import os
import re
import sys
import textwrap

sys.dont_write_bytecode = True  # the sources may not be writable
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from headers import Enum, Function, Headers, Struct, Unknown  # noqa: E402

# Face, its file, the headers.
FACES = (("memspan", "_declarations.py", ("memspan/memspan.h", "memspan/omp.h", "memspan/backend.h")),
         ("shmem", "_shmem_declarations.py", ("shmem.h", "shmemx.h")))
# Of these only the functions are of use in Python.
OPENMP = "memspan/omp.h"
FUNCTIONS_ONLY = (OPENMP, "memspan/backend.h")

SCALARS = {
    "void": "None", "char": "c_byte", "signed char": "c_byte", "unsigned char": "c_ubyte",
    "short": "c_short", "unsigned short": "c_ushort", "int": "c_int", "unsigned": "c_uint",
    "unsigned int": "c_uint", "long": "c_long", "unsigned long": "c_ulong",
    "long long": "c_longlong", "unsigned long long": "c_ulonglong", "float": "c_float",
    "double": "c_double", "long double": "c_longdouble", "size_t": "c_size_t",
    "uintptr_t": "c_size_t", "ptrdiff_t": "c_ssize_t", "int8_t": "c_int8", "uint8_t": "c_uint8",
    "int16_t": "c_int16", "uint16_t": "c_uint16", "int32_t": "c_int32", "uint32_t": "c_uint32",
    "int64_t": "c_int64", "uint64_t": "c_uint64",
    "float _Complex": "no_value", "double _Complex": "no_value",  # ctypes has none: addresses only
    "omp_allocator_handle_t": "c_size_t", "omp_interop_t": "c_size_t"}  # of the compiler's omp.h


class Interface:
    def __init__(self, compiler, include, face, files):
        self.face = face
        self.enums, self.structures, self.aliases = {}, {}, {}
        self.constants, self.functions = {}, {}
        text = "#define SHMEMX_PARTITION_NAMES\n" + "".join(f"#include <{f}>\n" for f in files)
        headers = Headers(compiler, include, text)
        for declaration in headers.declarations:
            self.read(declaration)
        for macro in headers.macros:
            if self.is_ours(macro.file) and macro.value is not None:
                self.constants[macro.name] = macro.value

    def is_ours(self, file):
        return (file not in FUNCTIONS_ONLY) and self.is_of_face(file)

    def is_of_face(self, file):
        return file.startswith("memspan/") == (self.face == "memspan")

    def read(self, declaration):
        if isinstance(declaration, Function):
            # What OpenMP's compilers and programs call is no interface of Python.
            is_openmp = declaration.file == OPENMP and not declaration.name.startswith("memspan_")
            if self.is_of_face(declaration.file) and not is_openmp:
                self.read_function(declaration)
        elif declaration.file in FUNCTIONS_ONLY:
            pass
        elif isinstance(declaration, Enum):
            self.enums[declaration.name] = declaration.values
            self.aliases[declaration.name] = "c_int"
            if self.is_ours(declaration.file):
                self.constants.update(declaration.values)
        elif isinstance(declaration, Struct):
            self.aliases[declaration.name] = declaration.name
            members = [(member.name, self.member(member), member.base in self.enums and member.base)
                       for member in declaration.members]
            if self.is_ours(declaration.file):
                self.structures[declaration.name] = members
        else:
            self.aliases[declaration.declared.name] = self.kind(declaration.declared)

    def read_function(self, function):
        kinds = [self.kind(function.result, True), *map(self.kind, function.arguments)]
        self.functions.setdefault(", ".join(kinds), []).append(function.name)

    def member(self, member):
        is_text = member.base == "char" and not member.stars and member.sizes
        kind = "c_char" if is_text else self.kind(member, True)
        for size in reversed(member.sizes):
            kind = f"{kind} * {size}"
        return kind

    def kind(self, declared, is_exact=False):
        """A type; of data that OpenSHMEM's routines take, an address."""
        if declared.is_function:
            kinds = [self.kind(declared.result, True), *map(self.kind, declared.arguments)]
            return f"CFUNCTYPE({', '.join(kinds)})"
        stars, word = declared.stars, declared.base
        if declared.sizes and not is_exact:  # an array as an argument
            stars += 1
        kind = SCALARS.get(word) or self.aliases.get(word)
        if stars == 0 and kind:
            return kind
        if stars == 1 and word == "char" and (is_exact or self.face == "memspan"):
            return "c_char_p"
        if stars == 1 and kind not in (None, "None"):
            if is_exact or self.face == "memspan" or self.aliases.get(word) == word:
                return f"POINTER({kind})"
        if stars in (1, 2):
            return "c_void_p" if stars == 1 else "POINTER(c_void_p)"
        raise Unknown("type " + word)


def wrap(head, items, tail):
    text = ", ".join(item if len(item) > 80 else item.replace(" ", "\0") for item in items)
    lines = textwrap.wrap(text, 100 - len(tail), initial_indent=" " * len(head),
                          subsequent_indent=" " * len(head), break_long_words=False)
    print(head + "\n".join(lines).lstrip().replace("\0", " ") + tail)


def names(key, values):
    if len(key) > 88:  # between its types
        key = re.sub(r"(.{,84}), ", r"\1,\n     ", key)
    if len(key) + sum(len(value) + 1 for value in values) < 90:
        print(f"    ({key}, \"{' '.join(values)}\"),")
        return
    indent = " " * 8
    lines = textwrap.wrap(" ".join(values), 94, initial_indent=indent, subsequent_indent=indent)
    print(f"    ({key}, \"\"\"\n" + "\n".join(lines) + '"""),')


def write(interface):
    print("# SPDX-License-Identifier: BSD-3-Clause")
    print('"""Made from the C headers by declarations.py."""\n')
    print("from ctypes import *")
    print("from ._checked import Structure")
    if interface.face == "shmem":
        print("from ._declarations import memspan_option_info_t")
    for name, members in interface.structures.items():
        print(f"\n\nclass {name}(Structure):")
        enums = [f"{member}='{enum}'" for member, _, enum in members if enum]
        if enums:
            wrap("    _enums_ = dict(", enums, ")")
        wrap("    _fields_ = [", [f'("{member}", {kind})' for member, kind, _ in members], "]")
    print("\n\nENUMS = dict([")
    for name, values in interface.enums.items():
        if values.keys() <= interface.constants.keys():
            names(f"'{name}'", values)
    print("])")
    constants = [f"{name}={value!r}" for name, value in interface.constants.items()]
    wrap("CONSTANTS = dict(", constants, ")")
    print("# (result, arguments...), names; no dictionary, for int and int32_t are one type.")
    print("FUNCTIONS = [")
    for key, exported in interface.functions.items():
        names(f"({key})" if ", " in key else f"({key},)", exported)
    print("]")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("include")
    parser.add_argument("output")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    for face, file, headers in FACES:
        interface = Interface(options.cc, os.path.abspath(options.include), face, headers)
        with open(os.path.join(options.output, file), "w", encoding="ascii") as output:
            with contextlib.redirect_stdout(output):
                write(interface)


if __name__ == "__main__":
    try:
        main()
    except Unknown as problem:
        sys.exit("declarations.py: not understood: %s" % problem)
