# SPDX-License-Identifier: BSD-3-Clause
"""The public headers, as objects: for the scripts that translate them to other languages.

The preprocessor expands the headers with the system's own replaced (STUBS), so that every machine
and compiler gives the same text. A declaration that is not understood is Unknown: none is left out
in silence.
"""
import os
import re
import subprocess
import tempfile
import typing

STUBS = {
    "stddef.h": "",
    "stdint.h": "#define UINT64_MAX 18446744073709551615UL\n#define UINTPTR_MAX UINT64_MAX\n",
    # As GCC 12's, whatever the compiler: names of OpenMP 5.1, which every omp_lib has, are not
    # declared again.
    "omp.h": "#define _OMP_H 1\n#define MEMSPAN_OMP_HEADER_HAS_INTEROP 0\n",
}


def preprocess(compiler, include, text, *flags):
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in STUBS.items():
            with open(os.path.join(scratch, name), "w", encoding="ascii") as stub:
                stub.write(content)
        command = [compiler, "-E", *flags, "-std=c11", "-nostdinc", "-I", scratch, "-I", include,
                   "-x", "c", "-"]
        return subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE,
                              universal_newlines=True).stdout


class Unknown(Exception):
    """A declaration or a type that is not understood."""


def split(text, separator):
    """The parts between separators that are outside braces and parentheses."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "({") - (letter in ")}")
        if letter == separator and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [" ".join(part.split()) for part in [*parts, text[begin:]]]


def statements(text):
    """The declarations of a text, without attributes."""
    text = re.sub(r"\bextern\b|__extension__|_Noreturn", " ", text)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", " ", text)
    return filter(None, split(text, ";"))


ENUMERATORS = {}


def number(text):
    """The value of a C expression of integers and enumerators, or None."""
    text = re.sub(r"\b[A-Z_a-z]\w*", lambda word: str(ENUMERATORS.get(word.group(), "?")), text)
    text = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    if re.fullmatch(r"[\s0-9a-fA-Fx()<|~+*-]*\d[\s0-9a-fA-Fx()<|~+*-]*", text):
        return eval(text)
    return None


TYPE_WORDS = set("void char short int long float double signed unsigned _Complex".split())


class Declared:
    """The parts of a declaration: name, base type, stars, const, sizes of an array; of a pointer to
    a function name, result and arguments. An argument may have no name."""

    def __init__(self, text):
        function = re.match(r"(.*?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)$", text)
        self.is_function = bool(function)
        self.sizes = [number(size) for size in re.findall(r"\[(.*?)\]", text)]
        words = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", text))
        self.stars, self.const, self.is_struct = words.count("*"), "const" in words, "struct" in words
        words = [word for word in words if word not in ("const", "struct", "enum")]
        self.name = None
        if function:
            self.name, self.result = function.group(2), Declared(function.group(1))
            self.arguments, self.is_variadic = arguments(function.group(3))
        elif len(words) > 1 and words[-1] != "*" and words[-1] not in TYPE_WORDS:
            self.name = words.pop()
        self.base = " ".join(word for word in words if word != "*")


def arguments(text):
    """The arguments of a function; whether their number is variable."""
    parts = [] if text == "void" else split(text, ",")
    return [Declared(part) for part in parts if part != "..."], "..." in parts


class Enum(typing.NamedTuple):
    file: str
    name: str
    values: dict


class Struct(typing.NamedTuple):
    file: str
    name: str
    members: list


class Typedef(typing.NamedTuple):
    file: str
    declared: Declared


class Function(typing.NamedTuple):
    file: str
    name: str
    result: Declared
    arguments: list
    is_variadic: bool


class Macro(typing.NamedTuple):
    """One without arguments; the value where it is a number, a cast of one, or a string."""
    file: str
    name: str
    text: str
    cast: str
    value: object


def enumerators(text):
    values, value = {}, -1
    for part in filter(None, split(text, ",")):
        name, _, given = (word.strip() for word in part.partition("="))
        value = number(given) if given else value + 1
        if value is None:
            raise Unknown("enumerator " + part)
        ENUMERATORS[name] = values[name] = value
    return values


def declaration(file, text):
    typed = re.match(r"(?:typedef )?(struct|enum)\s*(\w*)\s*\{(.*)\}\s*(\w*)$", text)
    if typed:
        kind, tag, body, name = typed.groups()
        if kind == "enum":
            return Enum(file, name or tag, enumerators(body))
        return Struct(file, name or tag, [Declared(one) for one in filter(None, split(body, ";"))])
    if text.startswith("typedef "):
        return Typedef(file, Declared(text[len("typedef "):]))
    function = re.match(r"(.*?)(\w+) ?\((.*)\)$", text)
    if not function:
        raise Unknown(text)
    result, name, listed = function.groups()
    return Function(file, name, Declared(result), *arguments(listed))


def macro(file, name, text):
    cast = re.fullmatch(r"\(\((\w+)\)\((.*)\)\)", text)
    value = number(cast.group(2) if cast else text)
    if re.fullmatch(r'("[^"]*"\s*)+', text):
        value = "".join(re.findall(r'"([^"]*)"', text))
    return Macro(file, name, text, cast and cast.group(1), value)


class Headers:
    """The declarations and macros of the headers that a text includes, in their order. A file's name
    is relative to the folder include."""

    def __init__(self, compiler, include, text):
        code, names, current = [], [], ""
        for line in preprocess(compiler, include, text, "-dD").splitlines():
            mark = re.match(r'# \d+ "(.*?)"', line)
            defined = re.match(r"#define (\w+)(\(?)", line)
            if mark:
                name = mark.group(1)
                current = name[len(include) + 1:] if name.startswith(include + "/") else ""
            elif current and defined:
                if not defined.group(2):
                    names.append((current, defined.group(1)))
            elif current and not line.startswith("#"):
                if not code or code[-1][0] != current:
                    code.append((current, ""))
                code[-1] = (current, code[-1][1] + line + "\n")
        probe = text + "".join('"@%s" %s\n' % (name, name) for _, name in names)
        values = dict(re.findall(r'^"@(\w+)" (.*)$', preprocess(compiler, include, probe), re.M))
        self.declarations = [declaration(file, statement) for file, part in code
                             for statement in statements(part)]
        self.macros = [macro(file, name, values.get(name, "").strip()) for file, name in names]
