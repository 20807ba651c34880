#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""modules.py [--cc COMPILER] [--layout] INCLUDE OUTPUT [MODULE...]

The Fortran modules, from the public headers: writes MODULE.f90 for each module (all of MODULES)
into the folder OUTPUT. --layout: also layout.c and layout.f90, programs that print the sizes,
offsets and constants of either side.

A declaration that is not understood ends the script with an error: none is left out in silence.
"""
import argparse
import os
import re
import sys

sys.dont_write_bytecode = True  # the sources may not be writable
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from headers import Enum, Function, Headers, Struct, Unknown  # noqa: E402
from memory import memory_helpers, memory_procedures  # noqa: E402

# Module, what it includes, the files whose declarations it has, the modules that it uses.
MODULES = (
    ("memspan", "#include <memspan/memspan.h>\n#include <memspan/backend.h>\n",
     r"memspan/(?!omp\.h)", ()),
    ("memspan_omp", "#include <memspan/omp.h>\n", r"memspan/omp\.h", ("memspan",)),
    ("shmem", "#include <shmem.h>\n", r"shmem(\.h|/)", ()),
    ("shmemx", "#define SHMEMX_PARTITION_NAMES\n#include <shmemx.h>\n", r"shmemx\.h",
     ("memspan", "shmem")),
    ("pshmem", "#include <pshmem.h>\n", r"(pshmem\.h|shmem/routines\.h)", ("shmem",)),
)
# A constant that differs between the compilers that one module serves.
FLANG_ELSE = 'merge(-2, %s, index(compiler_version(), "flang") > 0)'
# Its structures and constants are for backends, which are C.
C_ONLY = "memspan/backend.h"

# C type: Fortran type, bytes, class. Generic names cannot tell types of one class apart.
SCALARS = {
    "char": ("character(kind=c_char)", 1, "a"),
    "signed char": ("integer(c_signed_char)", 1, "i1"),
    "unsigned char": ("integer(c_signed_char)", 1, "i1"),
    "short": ("integer(c_short)", 2, "i2"),
    "unsigned short": ("integer(c_short)", 2, "i2"),
    "int": ("integer(c_int)", 4, "i4"),
    "unsigned": ("integer(c_int)", 4, "i4"),
    "unsigned int": ("integer(c_int)", 4, "i4"),
    "long": ("integer(c_long)", 8, "i8"),
    "unsigned long": ("integer(c_long)", 8, "i8"),
    "long long": ("integer(c_long_long)", 8, "i8"),
    "unsigned long long": ("integer(c_long_long)", 8, "i8"),
    "size_t": ("integer(c_size_t)", 8, "i8"),
    "ptrdiff_t": ("integer(c_intptr_t)", 8, "i8"),
    "uintptr_t": ("integer(c_intptr_t)", 8, "i8"),
    "intptr_t": ("integer(c_intptr_t)", 8, "i8"),
    "float": ("real(c_float)", 4, "r4"),
    "double": ("real(c_double)", 8, "r8"),
    "long double": ("real(c_long_double)", 16, "r16"),
    "float _Complex": ("complex(c_float_complex)", 8, "z4"),
    "double _Complex": ("complex(c_double_complex)", 16, "z8"),
}
for bits in (8, 16, 32, 64):
    for sign in ("", "u"):
        SCALARS["%sint%d_t" % (sign, bits)] = (
            "integer(c_int%d_t)" % bits, bits // 8, "i%d" % (bits // 8))

# TYPENAME of routines: C type. Of a class, a generic name takes the first that has the routine.
TYPENAMES = {
    "float": "float", "double": "double", "longdouble": "long double",
    "complexf": "float _Complex", "complexd": "double _Complex", "char": "char",
    "schar": "signed char", "short": "short", "int": "int", "long": "long", "int8": "int8_t",
    "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "longlong": "long long",
    "ptrdiff": "ptrdiff_t", "size": "size_t", "uchar": "unsigned char",
    "ushort": "unsigned short", "uint": "unsigned int", "ulong": "unsigned long",
    "ulonglong": "unsigned long long", "uint8": "uint8_t", "uint16": "uint16_t",
    "uint32": "uint32_t", "uint64": "uint64_t",
}
TYPED = re.compile(r"(p?shmemx?_)(ctx_)?(%s)_(\w+)$" % "|".join(
    sorted(TYPENAMES, key=len, reverse=True)))
WITH_CONTEXT = re.compile(r"(p?shmemx?_)(ctx_)(signal_add|signal_set|pe_quiet|quiet|fence)$")

OMP_TYPES = {"omp_memspace_handle_t": "uintptr_t", "omp_allocator_handle_t": "uintptr_t",
             "omp_uintptr_t": "uintptr_t", "omp_alloctrait_key_t": "unsigned"}
ADDRESSES = ("void", "omp_depend_t")  # whose pointers are addresses, by value
# Arguments that point to the first of several; the others point to one. BUFFERS: where the
# routine has one of COUNTS.
ARRAYS = set("devices resources traits ivars indices status cmp_values target_pes pSync pWrk ids "
             "devs dev_nums volume dst_offsets src_offsets dst_dimensions src_dimensions".split())
BUFFERS = {"dest", "source"}
COUNTS = {"nelems", "nreduce", "nblocks"}
OPTIONAL = {"status", "config", "xaxis_config", "yaxis_config", "ids"}  # NULL is valid


class Types:
    """The types that the modules so far have declared."""

    def __init__(self):
        self.aliases, self.enums, self.handles = dict(OMP_TYPES), set(), set()
        self.functions, self.structs = set(), {}

    def resolve(self, name):
        while name in self.aliases:
            name = self.aliases[name]
        return name

    def fortran(self, name):
        name = self.resolve(name)
        if name in SCALARS:
            return SCALARS[name][0]
        if name in self.enums:
            return "integer(c_int)"
        if name in self.handles or name in self.structs:
            return "type(%s)" % name
        raise Unknown("type " + name)

    def is_function(self, declared):
        return declared.is_function or (not declared.stars and declared.base in self.functions)

    def layout(self, member):
        """Bytes and alignment of a member of a structure."""
        name = self.resolve(member.base)
        if member.stars or name in self.handles or self.is_function(member):
            size = align = 8
        elif name in self.structs:
            size, align = self.layout_of(name)
        else:
            size = align = 4 if name in self.enums else SCALARS[name][1]
        for count in member.sizes:
            size *= count
        return size, align

    def layout_of(self, struct):
        at, largest = 0, 1
        for member in self.structs[struct]:
            size, align = self.layout(member)
            at = -(-at // align) * align + size
            largest = max(largest, align)
        return -(-at // largest) * largest, largest


# ---- Fortran


class Module:
    """One module: constants (name, type, value), names of types, interfaces, generic names."""

    def __init__(self, name, uses, types):
        self.name, self.uses, self.types = name, uses, types
        self.constants, self.structs, self.handles = [], [], []
        self.interfaces, self.classes, self.macros = {}, {}, set()

    def read(self, headers, files):
        macros = [macro for macro in headers.macros if re.match(files, macro.file)]
        self.macros = {macro.name for macro in macros}
        for declaration in headers.declarations:
            if re.match(files, declaration.file):
                self.declare(declaration, declaration.file == C_ONLY)
        for macro in macros:
            if macro.file != C_ONLY and not re.match(r"_|MEMSPAN_OMP_HEADER", macro.name):
                self.define(macro)

    def declare(self, declaration, is_c_only):
        types = self.types
        if isinstance(declaration, Enum):
            types.enums.add(declaration.name)
            if not is_c_only:
                self.constants += [(name, "integer(c_int)", str(value))
                                   for name, value in declaration.values.items()]
        elif isinstance(declaration, Struct):
            if not is_c_only:
                self.structs.append(declaration.name)
                types.structs[declaration.name] = declaration.members
        elif isinstance(declaration, Function):
            self.routine(declaration)
        else:
            self.alias(declaration.declared)

    def alias(self, alias):
        if alias.is_function:
            self.types.functions.add(alias.name)
        elif alias.is_struct and alias.stars == 1:
            self.types.handles.add(alias.name)
            self.handles.append(alias.name)
        else:
            self.types.aliases[alias.name] = alias.base

    def define(self, macro):
        """A macro that is a number, a string or a cast of a number; others are no constants."""
        name, value = macro.name, macro.value
        if isinstance(value, str):
            self.constants.append((name, "character(len=*, kind=c_char)", '"%s"' % value))
        elif value is not None:
            kind = "integer(c_long)" if re.search(r"\dU?L", macro.text) else "integer(c_int)"
            value = str(value - 2**64 if value >= 2**63 else value)
            if macro.cast:
                kind = self.types.fortran(macro.cast)
            if name == "omp_invalid_device":  # of LLVM's header, where that of GCC is read
                value = FLANG_ELSE % value
            if macro.cast in self.types.handles:
                value = "%s(%s_c_intptr_t)" % (macro.cast, value)
            self.constants.append((name, kind, value))

    def routine(self, function):
        if function.is_variadic:  # no interface has a variable number of arguments
            return
        name, result, arguments = function.name, function.result, function.arguments
        own = name.lstrip("_")
        if own.upper() in self.macros:  # case does not count in Fortran
            own += "_routine"
        heading = "%s(%s) %s" % (own, ", ".join(argument.name for argument in arguments),
                                 "bind(c)" if own == name else 'bind(c, name="%s")' % name)
        body = self.arguments(arguments)
        kind = "subroutine"
        if result.base != "void" or result.stars:
            kind = "function"
            heading += " result(answer)"
            answer = "type(c_ptr)" if result.stars else self.types.fortran(result.base)
            body.append(answer + " :: answer")
        self.interfaces[own] = ["%s %s" % (kind, heading), "import", *body, "end " + kind]
        self.classify(own)

    def arguments(self, arguments):
        """Their declarations; those of equal attributes in one."""
        is_counted = any(argument.name in COUNTS for argument in arguments)
        groups = {}
        for argument in arguments:
            array = argument.name in ARRAYS or is_counted and argument.name in BUFFERS
            if argument.stars == 1 and (array or argument.base == "char"):
                argument.name += "(*)"
            groups.setdefault(self.argument(argument), []).append(argument.name)
        return ["%s :: %s" % (attributes, ", ".join(names)) for attributes, names in groups.items()]

    def argument(self, argument):
        base = self.types.resolve(argument.base)
        if self.types.is_function(argument):
            return "type(c_funptr), value"
        if argument.stars == 0:
            return self.types.fortran(base) + ", value"
        if argument.stars == 2:
            return "type(c_ptr)"
        if base in ADDRESSES:
            argument.name = argument.name.replace("(*)", "")
            return "type(c_ptr), value"
        return (self.types.fortran(base) + (", intent(in)" if argument.const else "")
                + (", optional" if argument.name.replace("(*)", "") in OPTIONAL else ""))

    def classify(self, name):
        """Enters a routine under the generic name that it may have."""
        typed, other = TYPED.match(name), WITH_CONTEXT.match(name)
        if typed:
            prefix, context, typename, operation = typed.groups()
            key = (context, SCALARS[TYPENAMES[typename]][2])
            rank = list(TYPENAMES).index(typename)
            self.classes.setdefault(prefix + operation, {}).setdefault(key, []).append((rank, name))
        elif other:
            self.classes.setdefault(other.group(1) + other.group(3), {})["ctx"] = [(0, name)]

    def generics(self):
        """Generic name: the routines that it selects from. A routine of that name, for long, is
        one of them."""
        for generic, classes in self.classes.items():
            names = {key: min(routines)[1] for key, routines in classes.items()}
            if generic in self.interfaces:
                names.pop((None, "i8"), None)
            if len(names) > 1 or generic in self.interfaces:
                yield generic, sorted(names.values())

    # ---- its text

    def text(self):
        generics = dict(self.generics())
        lines = ["! SPDX-License-Identifier: BSD-3-Clause",
                 "! Made from Memspan's C headers by modules.py; memspan-fortran(7) describes it.",
                 "module " + self.name, "use, intrinsic :: iso_c_binding",
                 *("use " + used for used in self.uses)]
        if any("compiler_version" in value for _, _, value in self.constants):
            lines += ["use, intrinsic :: iso_fortran_env, only: compiler_version",
                      "implicit none", "private :: compiler_version", ""]
        else:
            lines += ["implicit none", ""]
        for name in self.handles:
            lines += ["type, bind(c) :: " + name, "integer(c_intptr_t) :: handle = 0", "end type"]
        for name in self.structs:
            size, _ = self.types.layout_of(name)
            members = (self.member(member, size) for member in self.types.structs[name])
            lines += ["type, bind(c) :: " + name, *members, "end type"]
        for name, kind, value in self.constants:
            is_plain = kind.startswith("integer") and not value.endswith(")")
            kind_suffix = "_" + kind[len("integer("):-1] if is_plain else ""
            lines.append("%s, parameter :: %s = %s%s" % (kind, name, value, kind_suffix))
        lines += ["", "interface"]
        for name, body in self.interfaces.items():
            lines += [] if name in generics else body
        lines += ["end interface", ""]
        for generic, names in generics.items():
            lines += ["interface " + generic, *self.interfaces.get(generic, ()),
                      *("procedure " + name for name in names), "end interface"]
        declarations, procedures = comparisons(self.handles)
        if self.name == "memspan":
            more, bodies = memory_procedures()
            declarations += more
            procedures += memory_helpers() + bodies
        lines += declarations + (["", "contains", *procedures] if procedures else [])
        return folded(lines + ["end module " + self.name])

    def member(self, member, size):
        """The declaration of a member, with the value that C's {0} gives it."""
        base = self.types.resolve(member.base)
        if self.types.is_function(member):
            kind, value = "type(c_funptr)", "c_null_funptr"
        elif member.stars:
            kind, value = "type(c_ptr)", "c_null_ptr"
        else:
            kind = self.types.fortran(base)
            value = str(size) if member.name == "struct_size" else "0"
            value = {"char": "c_null_char", "type": ""}.get(kind[:4], value)
        sizes = ", ".join(map(str, reversed(member.sizes)))
        return "%s :: %s%s%s" % (kind, member.name, sizes and "(%s)" % sizes,
                                 value and " = " + value)


def comparisons(handles):
    """Declarations and procedures: handles are compared by value."""
    declarations, procedures = [], []
    for handle in handles:
        for operator, word in (("==", "equal"), ("/=", "differ")):
            name = "%s_%s" % (handle, word)
            declarations += ["interface operator(%s)" % operator, "module procedure " + name,
                             "end interface"]
            procedures += ["elemental logical function %s(left, right)" % name,
                           "type(%s), intent(in) :: left, right" % handle,
                           "%s = left%%handle %s right%%handle" % (name, operator),
                           "end function"]
    return declarations, procedures


def folded(lines):
    """The text of the lines, continued where they are longer than 100 columns."""
    text = []
    for line in lines:
        while len(line) > 100:
            at = line.rfind(" ", 0, 98)
            text.append(line[:at] + " &")
            line = "    " + line[at + 1:]
        text.append(line)
    return "\n".join(text) + "\n"


# ---- the programs of --layout


class Layout:
    """C and Fortran programs that print the same lines."""

    def __init__(self):
        self.c, self.variables, self.fortran = [], [], []

    def line(self, name, c, fortran, form="%zu", edit="i0"):
        self.c.append('printf("%s %s\\n", %s);' % (name, form, c))
        self.fortran.append('print "(a,1x,%s)", "%s", %s' % (edit, name, fortran))

    def add_scalars(self):
        for name, (kind, _, _) in SCALARS.items():
            intrinsic = {"i": "int(0, %s)", "r": "real(0, %s)", "c": "cmplx(0, kind=%s)"}[kind[0]]
            if name != "char":
                value = intrinsic % kind[kind.index("(") + 1:-1]
                self.line(name, "sizeof(%s)" % name, "c_sizeof(%s)" % value)

    def add(self, module, types):
        for name in module.structs + module.handles:
            self.variables.append("type(%s), target :: x_%s" % (name, name))
            self.line(name, "sizeof(%s)" % name, "c_sizeof(x_%s)" % name)
            for member in types.structs.get(name, ()):
                first = "(%s)" % ", ".join("1" * len(member.sizes)) if member.sizes else ""
                self.line("%s.%s" % (name, member.name), "offsetof(%s, %s)" % (name, member.name),
                          "at(c_loc(x_%s%%%s%s)) - at(c_loc(x_%s))" % (
                              name, member.name, first, name))
        for name, kind, _ in module.constants:
            if kind.startswith("character"):
                self.line(name, name, name, "%s", "a")
            else:
                value = name + "%handle" if kind.startswith("type") else name
                self.line(name, "(long)" + name, value, "%ld")

    def texts(self, modules):
        c = ["#include <memspan/memspan.h>", "#include <memspan/omp.h>", "#include <shmemx.h>",
             "#include <stdio.h>", "int main(void)", "{", *self.c, "return 0;", "}"]
        fortran = ["program layout", *("use " + module for module in modules),
                   "use, intrinsic :: iso_c_binding", "implicit none", *self.variables,
                   *self.fortran, "contains", "integer(c_intptr_t) function at(address)",
                   "type(c_ptr), intent(in) :: address", "at = transfer(address, at)",
                   "end function", "end program"]
        return {"layout.c": "\n".join(c) + "\n", "layout.f90": folded(fortran)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--layout", action="store_true")
    parser.add_argument("include")
    parser.add_argument("output")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    include = os.path.abspath(options.include)
    types, layout, texts = Types(), Layout(), {}
    layout.add_scalars()
    for name, text, files, uses in MODULES:
        module = Module(name, uses, types)
        module.read(Headers(options.cc, include, text), files)
        if not options.modules or name in options.modules:
            texts[name + ".f90"] = module.text()
        layout.add(module, types)
    if options.layout:
        texts.update(layout.texts([name for name, _, _, _ in MODULES]))
    os.makedirs(options.output, exist_ok=True)
    for name, text in texts.items():
        with open(os.path.join(options.output, name), "w", encoding="ascii") as output:
            output.write(text)


if __name__ == "__main__":
    try:
        main()
    except Unknown as problem:
        sys.exit("modules.py: not understood: %s" % problem)
