# SPDX-License-Identifier: BSD-3-Clause
"""self_test.py SCRATCH: the changes of a sample, and a judgement of a tree of four files, by its seed."""
import os
import pathlib
import shutil
import subprocess
import sys

try:
    import clang.cindex
except ImportError:
    print("SKIP python3-clang is not here")
    sys.exit(77)

import changes

C = """\
enum status { OK, BAD };
enum status take(int a, int b);
void release(int *held);
static int held, last;
int try(int size, int limit) {
    if (take(size, limit) != OK) {
        return -1;
    }
    held += size;
    last = 0;
    release(&held);
    return (size < limit && size > 1) ? size - 1 : size * 2;
}
"""
# Line, operator, the changed line; of operator "return" only the count is of interest.
C_CHANGES = """\
6 arguments     if (take(limit, size) != OK) {
6 comparison     if (take(size, limit) == OK) {
6 condition     if (!(take(size, limit) != OK)) {
6 ignored     if ((take(size, limit) != OK) && 0) {
7 constant         return -0;
7 constant         return -2;
9 return     return 0; held += size;
9 sum     (void)0;
10 constant     last = 1;
10 reset     (void)0;
10 return     return 0; last = 0;
11 return     return 0; release(&held);
11 statement     (void)0;
12 boundary     return (size < limit && size > 1) ? size : size * 2;
12 comparison     return (size < limit && size >= 1) ? size - 1 : size * 2;
12 comparison     return (size <= limit && size > 1) ? size - 1 : size * 2;
12 condition     return !((size < limit && size > 1)) ? size - 1 : size * 2;
12 constant     return (size < limit && size > 0) ? size - 1 : size * 2;
12 constant     return (size < limit && size > 1) ? size - 0 : size * 2;
12 constant     return (size < limit && size > 1) ? size - 1 : size * 1;
12 constant     return (size < limit && size > 1) ? size - 1 : size * 3;
12 constant     return (size < limit && size > 1) ? size - 2 : size * 2;
12 constant     return (size < limit && size > 2) ? size - 1 : size * 2;
12 term     return (size < limit) ? size - 1 : size * 2;
12 term     return (size > 1) ? size - 1 : size * 2;
12 unit     return (size < limit && size > 1) ? size - 1 : size;
"""
ORDER = "#include <stdatomic.h>\nint read(atomic_int *word) {\n    return atomic_load_explicit(word, memory_order_acquire);\n}\n"
PYTHON = "def take(a, b):\n    if a < 0:\n        raise ValueError\n    store.size = a\n    release(a, b)\n    return a and b\n"
PYTHON_CHANGES = """\
2 comparison     if a <= 0:
2 condition     if not (a < 0):
2 constant     if a < 1:
2 ignored     if (a < 0) and False:
4 return     return; store.size = a
4 statement     pass
5 arguments     release(b, a)
5 return     return; release(a, b)
5 statement     pass
6 term     return a
6 term     return b
"""
SHELL = "if [ $# -lt 2 ]; then\n    rm file\nfi\ncat <<TEXT\n[ 1 -eq 2 ]\nTEXT\n"
SHELL_CHANGES = """\
1 comparison if [ $# -le 2 ]; then
1 constant if [ $# -lt 1 ]; then
1 constant if [ $# -lt 3 ]; then
2 statement     :
"""


def lines(data, found):
    return "".join(f"{line} {operator} {text}\n" for line, operator, text in sorted(
        (change.line, change.operator, changes.apply(data, change).decode().split("\n")[change.line - 1])
        for change in found))


def same(what, expected):
    if what != expected:
        sys.exit(f"expected:\n{expected}\nthere is:\n{what}")


def of_c(path, text):
    path.write_text(text)
    return changes.c_changes(str(path), text.encode(), clang.cindex.Index.create(), ["-std=c11"])


def sample(scratch):
    same(lines(C.encode(), of_c(scratch / "sample.c", C)), C_CHANGES)
    orders = [change for change in of_c(scratch / "order.c", ORDER) if change.operator == "order"]
    same([(change.line, change.text, change.function) for change in orders], [(3, "relaxed", "read")])
    same(lines(PYTHON.encode(), changes.python_changes(PYTHON.encode())), PYTHON_CHANGES)
    same(lines(SHELL.encode(), changes.shell_changes(SHELL.encode())), SHELL_CHANGES)


# A judgement: the test knows all of "answer" and nothing of "unread"; changes of "same" give the same code.
TREE = {
    ".gitignore": "build\n",
    "CMakePresets.json": '{ "version": 6, "configurePresets": [ { "name": "dev", "generator": "Ninja",'
                         ' "binaryDir": "${sourceDir}/build/dev" } ] }',
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(changed C)\nenable_testing()\n"
                      "set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\n"
                      "add_executable(program core/answer.c core/unread.c core/same.c core/told.c)\n"
                      "add_test(NAME answer COMMAND program)\nadd_test(NAME fails COMMAND false)\n"
                      "set_tests_properties(answer fails PROPERTIES WORKING_DIRECTORY ${PROJECT_BINARY_DIR})\n",
    "core/answer.c": "int main(void) {\n    int parts[2];\n    parts[0] = 20, parts[1] = 22;\n"
                     "    return parts[0] + parts[1] == 42 ? 0 : 1;\n}\n",
    "core/unread.c": "int unread(int a) {\n    return a < 7;\n}\n",
    "core/same.c": "int same(void) {\n    int unread = 8;\n    return 7;\n}\n",
    "core/told.c": "int told(int a) {\n    return a != 7;\n}\n",
    "tests/mutations/equivalent.txt": "".join(f"core/told.c | return a {end}; | a reason\n"
                                              for end in ("== 7", "!= 6", "!= 8")),
}


def judgement(scratch):
    root = scratch / "root"
    for name, content in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    for script in pathlib.Path(__file__).parent.glob("*.py"):
        shutil.copy(script, root / "tests/mutations")
    subprocess.run(["git", "-c", "init.defaultBranch=main", "init", "-q", root], check=True)
    settings = {name: value for name, value in os.environ.items() if not name.startswith("MUTATIONS_")}

    def judge(seed, *more):
        return subprocess.run([sys.executable, root / "tests/mutations/judge.py", str(seed), "100", "core", *more],
                              text=True, env=settings, check=True, stdout=subprocess.PIPE).stdout.split("\n\n")[0]

    unused = "not used: fails, which is failed in the unchanged tree\n"

    said = judge(1)
    if unused not in said:
        sys.exit(f"a test that fails anyway is used:\n{said}")
    said = said.replace(unused, "")
    for result, file in (("noticed", "answer"), ("survived", "unread"), ("equivalent", "same"), ("equivalent", "told")):
        if not any(line.startswith(result) and f"core/{file}.c" in line for line in said.split("\n")):
            sys.exit(f"no change of {file}.c is {result}:\n{said}")
    same([line for line in said.split("\n") if "survived   core/answer" in line or "noticed    core/unread" in line], [])
    same(judge(1), said)
    # The same changes, with the same text, where they are only listed.
    kept = [[line for line in text.split("\n") if line.startswith("    ")] for text in (said, judge(1, "--list").rstrip("\n"))]
    same(kept[1], kept[0])
    if judge(2) == said:
        sys.exit("another seed makes no difference")


WAITS = """
import os, signal, subprocess, threading, tree
signal.signal(signal.SIGTERM, tree.end_all)
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
tree.children.add(child)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
child.wait()
"""


def ends():
    """By a signal that comes while a build is waited for."""
    waiting = subprocess.run([sys.executable, "-c", WAITS], cwd=pathlib.Path(__file__).parent, timeout=30)
    same(waiting.returncode, 1)


def main(scratch):
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    ends()
    sample(scratch)
    judgement(scratch)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
