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
from headers import preprocess  # noqa: E402

# Face, its file, the headers.
FACES = (("memspan", "_declarations.py", ("memspan/memspan.h", "memspan/omp.h", "memspan/backend.h")),
         ("shmem", "_shmem_declarations.py", ("shmem.h", "shmemx.h")))
# Of these only the functions are of use in Python.
FUNCTIONS_ONLY = ("memspan/omp.h", "memspan/backend.h")

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
    "omp_allocator_handle_t": "c_size_t"}  # an enumeration of the compiler's omp.h
TYPE_WORDS = {word for name in SCALARS for word in name.split()}


def own_text(text, include):
    """Our files' text, and the names of their macros without arguments, both by file."""
    texts, macros, own = {}, {}, None
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        macro = re.match(r"#define (\w+) .", line)
        if marker:
            path = marker[1]
            own = path[len(include) + 1:] if path.startswith(include + "/") else None
        elif own and macro:
            macros.setdefault(own, []).append(macro[1])
        elif own and line.strip() and not line.startswith("#"):
            texts[own] = texts.get(own, "") + line + "\n"
    return texts, macros


def closing(tokens, at):
    """The index behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] in "([{") - (tokens[i] in ")]}")
        if depth == 0:
            return i + 1
    raise SystemExit(f"no end: {tokens[at:]}")


def split(tokens, mark):
    parts, i = [[]], 0
    while i < len(tokens):
        end = closing(tokens, i) if tokens[i] in "([{" else i + 1
        if tokens[i] == mark:
            parts.append([])
        else:
            parts[-1] += tokens[i:end]
        i = end
    return [part for part in parts if part]


def statements(text):
    """The declarations as lists of tokens; what is exported begins with "API"."""
    tokens, kept, i = re.findall(r'\w+|"[^"]*"|\.\.\.|[^\s\w]', text), [], 0
    while i < len(tokens):
        end = i + 1
        if tokens[i] == "__attribute__":
            end = closing(tokens, i + 1)
            kept += ["API"] if "visibility" in tokens[i:end] else []
        elif tokens[i] not in ("__extension__", "_Noreturn", "restrict", "__restrict", "volatile"):
            kept.append(tokens[i])
        i = end
    while kept:
        end = 0
        while kept[end] != ";" and not (kept[0] == "static" and kept[end] == "{"):
            end = closing(kept, end) if kept[end] in "([{" else end + 1
        yield kept[:end]
        kept = kept[(closing(kept, end) if kept[end] == "{" else end + 1):]


class Interface:
    def __init__(self, compiler, include, face, headers):
        self.face = face
        text = "#define SHMEMX_PARTITION_NAMES\n" + "".join(f"#include <{h}>\n" for h in headers)
        self.enums, self.structures, self.aliases = {}, {}, {}
        self.constants, self.functions = {}, {}
        texts, macros = own_text(preprocess(compiler, include, text, "-dD"), include)
        for file, declarations in texts.items():
            for statement in statements(declarations):
                self.read(statement, file)
        names = [name for file in macros if self.is_ours(file) for name in macros[file]]
        asked = "".join(f'MSP_VALUE "{name}" {name} MSP_END\n' for name in names)
        expanded = preprocess(compiler, include, text + asked, "-P")
        for name, value in re.findall(r'MSP_VALUE "(\w+)" (.*?)\s*MSP_END', expanded, re.S):
            self.keep_constant(name, value)

    def is_ours(self, file):
        return (file not in FUNCTIONS_ONLY) and self.is_of_face(file)

    def is_of_face(self, file):
        return file.startswith("memspan/") == (self.face == "memspan")

    def keep_constant(self, name, text):
        text = re.sub(r"\((memspan|shmemx?)_\w+\)|\(int\)", "", text)
        text = re.sub(r"\b(\d\w*?)[uUlL]+\b", r"\1", text)
        for values in self.enums.values():
            text = re.sub(r"\b[A-Z]\w+\b", lambda word: str(values.get(word[0], word[0])), text)
        if re.fullmatch(r'[-+*()|&~<>\s\dxa-fA-F]+|("[^"]*"\s*)+', text):
            self.constants[name] = eval(text, {"__builtins__": {}})

    def read(self, tokens, file):
        if tokens[0] == "API":
            if self.is_of_face(file):
                self.read_function(tokens[1:])
        elif file in FUNCTIONS_ONLY or tokens[0] in ("static", "extern"):
            pass
        elif "{" in tokens:
            start = tokens.index("{")
            end = closing(tokens, start)
            name = tokens[end] if tokens[0] == "typedef" else tokens[start - 1]
            self.read_body(name, tokens[start + 1:end - 1], "enum" in tokens[:start], file)
        elif tokens[0] == "typedef":
            name, kind = self.declarator(tokens[1:])
            self.aliases[name] = kind
        else:
            raise SystemExit(f"{file}: {' '.join(tokens)}")

    def read_body(self, name, tokens, is_enum, file):
        if is_enum:
            values, next_value = {}, 0
            for item in split(tokens, ","):
                if len(item) > 1:
                    text = re.sub(r"\b(\w+?)[uU]\b", r"\1", " ".join(item[2:]))
                    next_value = eval(text.replace("< <", "<<"), {"__builtins__": {}}, values)
                values[item[0]] = next_value
                next_value += 1
            self.enums[name] = values
            self.aliases[name] = "c_int"
            if self.is_ours(file):
                self.constants.update(values)
            return
        members = []
        self.aliases[name] = name
        for item in split(tokens, ";"):
            member, kind = self.declarator(item, True)
            enum = next((word for word in item if word in self.enums), None)
            members.append((member, kind, enum))
        if self.is_ours(file):
            self.structures[name] = members

    def read_function(self, tokens):
        at = tokens.index("(")
        arguments = [self.declarator(part)[1] for part in split(tokens[at + 1:-1], ",")]
        key = ", ".join([self.kind(tokens[:at - 1], True)] + [a for a in arguments if a != "None"])
        self.functions.setdefault(key, []).append(tokens[at - 1])

    def declarator(self, tokens, is_member=False):
        """(name, type) of one declaration; an argument may have no name."""
        base = []
        while tokens and (tokens[0] == "*" or re.match(r"\w", tokens[0])):
            base.append(tokens[0])
            tokens = tokens[1:]
        if tokens and tokens[0] == "(":  # a pointer to a function
            arguments = split(tokens[closing(tokens, 0) + 1:-1], ",")
            kinds = [self.kind(base, True)] + [self.declarator(part)[1] for part in arguments]
            return tokens[2], f"CFUNCTYPE({', '.join(kinds)})"
        name = None
        if len(base) > 1 and base[-1] != "*" and base[-1] not in TYPE_WORDS:
            name = base.pop()
        if tokens and not is_member:  # an array as an argument
            return name, self.kind(base + ["*"])
        kind = "c_char" if tokens and base == ["char"] else self.kind(base, is_member)
        for size in reversed(" ".join(tokens).strip("[]").split("] [")):
            if size:
                kind = f"{kind} * {self.number(size.strip())}"
        return name, kind

    def number(self, text):
        for values in self.enums.values():
            text = values.get(text, text)
        return int(text)

    def kind(self, words, is_exact=False):
        """A type; of data that OpenSHMEM's routines take, an address."""
        stars = words.count("*")
        word = " ".join(w for w in words if w not in ("*", "const", "struct", "enum"))
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
        raise SystemExit(f"no type {' '.join(words)}")


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
    main()
