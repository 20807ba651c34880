# SPDX-License-Identifier: BSD-3-Clause
"""The changes that a file allows: what a programmer would get wrong, at one place of one line.

C and C++ are read by libclang, Python by its own parser, shell by the form of its lines. A change
keeps the number of lines. Whether it compiles is found out by compiling it (judge.py).
"""
import ast
import re
import typing


class Change(typing.NamedTuple):
    """Bytes begin to end of the file become text."""
    line: int
    operator: str
    begin: int
    end: int
    text: str
    function: str


# What stands for what in a comparison, in C and in Python.
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not",
               "is not": "is", "in": "not in", "not in": "in"}
WEAKER = {"seq_cst": "acq_rel", "acq_rel": "relaxed", "acquire": "relaxed", "release": "relaxed"}


def other_numbers(text):
    """What an integer literal becomes: the neighbours, and the other thousand."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)", text)
    if not match:
        return []
    value = int(match[1], 0 if match[1][:2] in ("0x", "0X") else 10)
    others = {0: [1], 1: [0, 2], 1000: [1024], 1024: [1000]}.get(value, [value - 1, value + 1])
    return [f"{other}{match[2]}" for other in others]


class Source:
    """A file, and the changes found in it so far."""

    def __init__(self, data):
        self.data = data
        self.starts = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
        self.found = []

    def text(self, begin, end):
        return self.data[begin:end].decode("utf-8", "replace")

    def add(self, operator, begin, end, text, function=""):
        old = self.text(begin, end)
        if begin < 0 or end < begin or old == text:
            return
        text += "\n" * (old.count("\n") - text.count("\n"))
        line = self.data.count(b"\n", 0, begin) + 1
        self.found.append(Change(line, operator, begin, end, text, function))


def apply(data, change):
    return data[:change.begin] + change.text.encode() + data[change.end:]


# ------------------------------------------------------------------------------------ C and C++

class CReader:
    """Walks the cursors of one file. What a macro makes has the place of the macro: its parts lie
    on one another, and nothing is found there."""

    EXITS = ("RETURN_STMT", "GOTO_STMT", "BREAK_STMT", "CONTINUE_STMT")

    def __init__(self, source):
        self.source = source
        self.function = ""
        self.result = ""
        self.functions = []

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def of(self, cursor):
        return self.source.text(*self.span(cursor))

    def add(self, operator, begin, end, text):
        self.source.add(operator, begin, end, text, self.function)

    def walk(self, cursor):
        kind = cursor.kind.name
        children = list(cursor.get_children())
        if kind in ("FUNCTION_DECL", "CXX_METHOD", "FUNCTION_TEMPLATE", "CONSTRUCTOR", "DESTRUCTOR"):
            self.function = cursor.spelling
            self.result = cursor.result_type.get_canonical().kind.name
            self.functions.append((*self.span(cursor), self.function))
        read = getattr(self, "read_" + kind.lower(), None)
        if read:
            read(cursor, children)
        for child in children:
            self.walk(child)

    def read_binary_operator(self, cursor, children):
        if len(children) != 2:
            return
        (left, middle), (right, end) = self.span(children[0]), self.span(children[1])
        between = self.source.text(middle, right)
        sign = between.strip()
        at = middle + between.find(sign)
        if sign in COMPARISONS:
            self.add("comparison", at, at + len(sign), COMPARISONS[sign])
        elif sign in ("&&", "||"):
            self.add("term", left, end, self.of(children[0]))
            self.add("term", left, end, self.of(children[1]))
        elif sign == "|":
            self.add("term", middle, end, "")
        elif sign in ("*", "/") or (sign in ("+", "-") and self.of(children[1]) == "1"):
            self.add("boundary" if sign in "+-" else "unit", middle, end, "")

    def read_integer_literal(self, cursor, _):
        for other in other_numbers(self.of(cursor)):
            self.add("constant", *self.span(cursor), other)

    def read_call_expr(self, cursor, _):
        arguments = list(cursor.get_arguments())
        for one, other in zip(arguments, arguments[1:]):
            if one.type.get_canonical().spelling != other.type.get_canonical().spelling:
                continue
            (begin, middle), (right, end) = self.span(one), self.span(other)
            if begin < middle < right < end:
                self.add("arguments", begin, end,
                         self.of(other) + self.source.text(middle, right) + self.of(one))

    def read_if_stmt(self, _, children):
        begin, end = self.span(children[0])
        if end <= begin:
            return
        condition = self.source.text(begin, end)
        self.add("condition", begin, end, f"!({condition})")
        last = children[1]
        if last.kind.name == "COMPOUND_STMT":
            last = (list(last.get_children()) or [last])[-1]
        if last.kind.name in self.EXITS:
            self.add("ignored", begin, end, f"({condition}) && 0")
        self.statement(children[1])

    def read_conditional_operator(self, _, children):
        begin, end = self.span(children[0])
        self.add("condition", begin, end, f"!({self.source.text(begin, end)})")

    def read_compound_stmt(self, _, children):
        for number, child in enumerate(children):
            self.statement(child)
            begin = self.span(child)[0]
            if number > 0 and child.kind.name not in self.EXITS and self.function:
                if self.result == "VOID":
                    self.add("return", begin, begin, "return; ")
                elif self.result in ("POINTER", "BOOL", "ENUM") or "INT" in self.result \
                        or "LONG" in self.result:
                    self.add("return", begin, begin, "return 0; ")

    def read_for_stmt(self, _, children):
        self.statement(children[-1])

    read_while_stmt = read_for_stmt

    def statement(self, cursor):
        """One that stands for itself is left out."""
        kind, (begin, end) = cursor.kind.name, self.span(cursor)
        text = self.source.text(begin, end)
        if kind in ("CALL_EXPR", "CSTYLE_CAST_EXPR", "UNEXPOSED_EXPR") and text.endswith(")"):
            self.add("statement", begin, end, "(void)0")
        elif kind == "COMPOUND_ASSIGNMENT_OPERATOR" or (kind == "UNARY_OPERATOR" and text[-2:] in ("++", "--")):
            self.add("sum", begin, end, "(void)0")
        elif kind == "BINARY_OPERATOR" and re.match(r"[^=!<>]*=[^=]", text):
            plain = re.search(r"=\s*(0|NULL|false|true|-1|\(.*\)\{0\})$", text)
            self.add("reset" if plain else "statement", begin, end, "(void)0")


def c_changes(path, data, index, clang_arguments, main=None):
    """main: the file that includes a header."""
    unit = index.parse(main or path, clang_arguments)
    source = Source(data)
    reader = CReader(source)
    for cursor in unit.cursor.get_children():
        if cursor.location.file and cursor.location.file.name == path:
            reader.function = reader.result = ""
            reader.walk(cursor)
    for match in re.finditer(rb"memory_order_(seq_cst|acq_rel|acquire|release)\b", data):
        around = [name for begin, end, name in reader.functions if begin <= match.start() < end]
        source.add("order", *match.span(1), WEAKER[match[1].decode()], *around[-1:])
    return source.found


# ---------------------------------------------------------------------------------------- Python

class PythonReader(ast.NodeVisitor):
    def __init__(self, source):
        self.source = source

    def span(self, node):
        starts = self.source.starts
        return (starts[node.lineno - 1] + node.col_offset,
                starts[node.end_lineno - 1] + node.end_col_offset)

    def of(self, node):
        return self.source.text(*self.span(node))

    def visit_Compare(self, node):
        middle, right = self.span(node.left)[1], self.span(node.comparators[0])[0]
        between = self.source.text(middle, right)
        sign = between.strip(" ()")
        at = middle + between.find(sign)
        if sign in COMPARISONS:
            self.source.add("comparison", at, at + len(sign), COMPARISONS[sign])
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        begin, end = self.span(node)
        if len(node.values) == 2:
            for value in node.values:
                self.source.add("term", begin, end, self.of(value))
        self.generic_visit(node)

    def visit_If(self, node):
        begin, end = self.span(node.test)
        test = self.source.text(begin, end)
        self.source.add("condition", begin, end, f"not ({test})")
        if isinstance(node, ast.If) and isinstance(node.body[-1], (ast.Raise, ast.Return)):
            self.source.add("ignored", begin, end, f"({test}) and False")
        self.generic_visit(node)

    visit_IfExp = visit_If

    def visit_Constant(self, node):
        for other in other_numbers(self.of(node)):
            self.source.add("constant", *self.span(node), other)

    def visit_Call(self, node):
        for one, other in zip(node.args, node.args[1:]):
            if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(other, (ast.Name, ast.Attribute)):
                (begin, middle), (right, end) = self.span(one), self.span(other)
                self.source.add("arguments", begin, end,
                                self.of(other) + self.source.text(middle, right) + self.of(one))
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call):
            self.source.add("statement", *self.span(node), "pass")
        self.generic_visit(node)

    def visit_Assign(self, node):
        if not isinstance(node.targets[0], (ast.Name, ast.Tuple)):
            plain = isinstance(node.value, ast.Constant)
            self.source.add("reset" if plain else "statement", *self.span(node), "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        self.source.add("sum", *self.span(node), "pass")
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        for statement in node.body[1:]:
            if isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)):
                begin = self.span(statement)[0]
                self.source.add("return", begin, begin, "return; ")
        self.generic_visit(node)


def python_changes(data):
    source = Source(data)
    PythonReader(source).visit(ast.parse(data))
    return source.found


# ----------------------------------------------------------------------------------------- shell

# Operator, a form of a line whose group 1 is the place, what stands there instead.
SHELL = [
    ("comparison", r"\s(-eq|-ne|-lt|-le|-gt|-ge)\s", {"-eq": "-ne", "-ne": "-eq", "-lt": "-le", "-le": "-lt",
                                                      "-gt": "-ge", "-ge": "-gt"}),
    ("comparison", r"\[ .*?\s(!?=) .*\]", {"=": "!=", "!=": "="}),
    ("condition", r"\[ (-z|-n) ", {"-z": "-n", "-n": "-z"}),
    ("condition", r"\s(&&|\|\|)\s", {"&&": "||", "||": "&&"}),
    ("statement", r"^\s*((?!(?:if|then|else|elif|fi|for|while|do|done|case|esac|local)\b)[a-z_]+ [^(){}<]*[^\\;&|(){}<])$", ":"),
    ("constant", r"(?<![\w$.-])([0-9]+)(?![\w.])", None),
]


def shell_changes(data):
    source, end_of_text = Source(data), None
    for start, line in zip(source.starts, data.decode().split("\n")):
        if end_of_text:
            end_of_text = None if line.strip() == end_of_text else end_of_text
            continue
        here = re.search(r"<<-?\s*['\"]?(\w+)", line)
        end_of_text = here and here[1]
        if re.match(r"\s*(#|$)", line):
            continue
        for operator, form, others in SHELL:
            for match in re.finditer(form, line):
                new = [others] if isinstance(others, str) else \
                    other_numbers(match[1]) if others is None else [others[match[1]]]
                begin, end = (start + len(line[:at].encode()) for at in match.span(1))
                for text in new:
                    source.add(operator, begin, end, text)
    return source.found
