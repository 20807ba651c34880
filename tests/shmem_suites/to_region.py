#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""to_region.py CLANG SOURCE RESULT [FLAG...]: the OpenSHMEM program SOURCE with its calls in target
regions.

RESULT is SOURCE preprocessed, with each statement that calls variants of <shmemx_device.h> and no
other function in a region, together with the statements between that call nothing: loops and branches
as a whole where they can be. A call within another statement that has a value is a region in its place.
Other calls, and those on contexts, stay on the host.

Where the host completes operations (shmem_free(), shmem_barrier()), a region completes its own before.
Where operations stay on the host, the host completes them before a region that orders or completes.

Clang's syntax tree has the places in the text. Prints "CALLS REGIONS LEFT": calls that were moved, and
those of OpenSHMEM that stay.
"""
import json
import pathlib
import re
import subprocess
import sys

PRAGMA = ("\n#pragma omp target defaultmap(tofrom : scalar) defaultmap(tofrom : pointer) "
          "defaultmap(tofrom : aggregate)\n")
QUIET = "\n#pragma omp target\n{ shmem_quiet(); }\n"
HOST_COMPLETES = {"barrier", "clear_lock", "free", "realloc", "malloc", "calloc", "align",
                  "ctx_quiet", "ctx_fence", "ctx_destroy", "team_destroy", "team_sync"}
ORDERS = {"shmem_barrier_all", "shmem_sync_all", "shmem_quiet", "shmem_fence"}
OPERATES = re.compile(r"_i?b?(put|get)|_[pg]$|atomic|_(f?inc|f?add|c?swap|fetch|set)$|signal")
LOOPS = {"ForStmt", "WhileStmt", "DoStmt"}
JUMPS = {"ReturnStmt", "GotoStmt", "IndirectGotoStmt", "LabelStmt", "AddrLabelExpr", "GCCAsmStmt", "VAArgExpr"}


def children(node):
    """All nodes below that are evaluated: of _Generic, the selected one."""
    if node["kind"] == "UnaryExprOrTypeTraitExpr":
        return []
    if node["kind"] == "GenericSelectionExpr":
        return [child["inner"][-1] for child in node["inner"] if child.get("selected")]
    return [child for child in node.get("inner", []) if child.get("kind")]


def callee(node):
    """The name of the function that a call names, or None."""
    node = children(node)[0]
    while node["kind"] != "DeclRefExpr":
        inner = children(node)
        if len(inner) != 1:
            return None
        node = inner[0]
    return node["referencedDecl"].get("name")


class Program:
    def __init__(self, text, tree):
        self.text = text
        start = text.index("match(device = {kind(nohost)})")
        section = text[start:text.index("end declare variant", start)]
        self.variants = set(re.findall(r"\b(shmem_\w+)\)?\s*\(", section))
        self.edits = []
        self.moved = self.regions = self.left = 0
        self.functions = [node for node in tree["inner"]
                          if node["kind"] == "FunctionDecl" and self.is_users(node)]
        stays = [name for node in self.functions for name in self.calls(node)
                 if name and name.startswith("shmem_") and name not in self.variants]
        self.left = len(stays)
        self.host_operates = any(OPERATES.search(name) for name in stays)

    def is_users(self, function):
        names = self.calls(function)
        return any(child["kind"] == "CompoundStmt" for child in children(function)) and any(
            name and name.startswith("shmem_") for name in names) and not function["name"].startswith("region_")

    def calls(self, node):
        found = [callee(node)] if node["kind"] == "CallExpr" else []
        for child in children(node):
            found += self.calls(child)
        return found

    def stays(self, node, in_loop=False, in_switch=False):
        """Whether something in it forbids a region around it."""
        kind = node["kind"]
        if kind == "CallExpr":
            name = callee(node)
            if name is None or not (name in self.variants or name.startswith("__builtin_")):
                return True
        if kind in JUMPS or kind.startswith("OMP"):
            return True
        if kind == "BreakStmt" and not (in_loop or in_switch) or kind == "ContinueStmt" and not in_loop:
            return True
        if kind in ("CaseStmt", "DefaultStmt") and not in_switch:
            return True
        if kind == "VarDecl" and (node.get("storageClass") or node.get("tls")):
            return True
        in_loop = in_loop or kind in LOOPS
        in_switch = (in_switch or kind == "SwitchStmt") and kind not in LOOPS
        return any(self.stays(child, in_loop, in_switch) for child in children(node))

    def ends(self, node):
        """From the first character of a statement or expression to the one behind it."""
        last = node["range"]["end"]
        return node["range"]["begin"]["offset"], last["offset"] + last["tokLen"]

    def statement(self, node):
        start, end = self.ends(node)
        match = re.compile(r"\s*;").match(self.text, end)
        return start, match.end() if match else end

    def count(self, nodes):
        names = [name for node in nodes for name in self.calls(node)]
        self.moved += len([name for name in names if name in self.variants])
        self.regions += 1
        return names

    def move(self, nodes):
        start, end = self.statement(nodes[0])[0], self.statement(nodes[-1])[1]
        before = "shmem_quiet();" if self.host_operates and ORDERS & set(self.count_names(nodes)) else ""
        self.count(nodes)
        self.edits += [(start, start, "{ " + before + PRAGMA + "{ "), (end, end, " } }")]

    def count_names(self, nodes):
        return [name for node in nodes for name in self.calls(node)]

    def expressions(self, node):
        """Calls with a value, in a statement that stays."""
        kind = node["kind"]
        if kind == "StmtExpr":
            return
        if (kind == "CallExpr" and callee(node) in self.variants and
                node["type"]["qualType"] != "void" and not self.stays(node)):
            self.count([node])
            start, end = self.ends(node)
            call = self.text[start:end]
            self.edits.append((start, end, "({ __typeof__(%s) region_value;%s{ region_value = %s; } "
                               "region_value; })" % (call, PRAGMA, call)))
            return
        for child in children(node):
            self.expressions(child)

    def remain(self, node, is_alone):
        """A statement that stays; is_alone: it is one without braces."""
        kind = node["kind"]
        if kind == "CompoundStmt":
            self.sequence(children(node))
        elif kind in LOOPS | {"IfStmt", "SwitchStmt", "CaseStmt", "DefaultStmt", "LabelStmt"}:
            for child in children(node):
                if child["kind"].endswith("Stmt") and child["kind"] != "DeclStmt":
                    self.one(child)
                elif child.get("valueCategory") and self.is_body(node, child):
                    self.one(child)
                elif kind != "CaseStmt":
                    self.expressions(child)
        elif not kind.startswith("OMP"):
            hosts = {name[6:] for name in self.calls(node) if name and name.startswith("shmem_")}
            if hosts & HOST_COMPLETES:
                start, end = self.statement(node)
                self.edits.append((start, start, "{" + QUIET if is_alone else QUIET))
                if is_alone:
                    self.edits.append((end, end, "}"))
            self.expressions(node)

    def is_body(self, node, child):
        """Whether an expression is a statement of that one, by the semicolon or else behind it."""
        inner = children(node)
        if node["kind"] == "DoStmt":
            return child is inner[0]
        if node["kind"] == "IfStmt":
            return child is not inner[0]
        return child is inner[-1]

    def one(self, node):
        if node["kind"] != "CompoundStmt" and not self.stays(node) and self.has_calls(node):
            self.move([node])
        else:
            self.remain(node, True)

    def has_calls(self, node):
        return any(name in self.variants for name in self.calls(node))

    def sequence(self, nodes):
        run = []
        for node in nodes + [None]:
            if node and node["kind"] != "DeclStmt" and not self.stays(node):
                run.append(node)
                continue
            while run and not self.has_calls(run[-1]):
                run.pop()
            while run and not self.has_calls(run[0]):
                run.pop(0)
            if run:
                self.move(run)
            run = []
            if node:
                self.remain(node, False)

    def convert(self):
        for function in self.functions:
            self.sequence(children([node for node in children(function)
                                    if node["kind"] == "CompoundStmt"][0]))
        text = self.text
        for start, end, replacement in sorted(self.edits, key=lambda edit: edit[0], reverse=True):
            text = text[:start] + replacement + text[end:]
        return text


def main():
    clang, source, result, *flags = sys.argv[1:]
    start = pathlib.Path(__file__).with_name("to_region.h")
    command = [clang, "-fopenmp", "-w", *flags]
    text = subprocess.run([*command, "-E", "-P", "-include", start, source], check=True,
                          stdout=subprocess.PIPE, encoding="latin-1").stdout
    pathlib.Path(result).write_text(text, encoding="latin-1")
    dump = subprocess.run([*command, "-fsyntax-only", "-Xclang", "-ast-dump=json", result], check=True,
                          stdout=subprocess.PIPE).stdout
    program = Program(text, json.loads(dump))
    pathlib.Path(result).write_text(program.convert(), encoding="latin-1")
    print(program.moved, program.regions, program.left)


main()
