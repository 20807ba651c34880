# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the tree under build/mutations, its builds, and its tests one by one.

ctest says what the tests are; they are run here, because a changed tree needs its own order, its
own time limits, and an end of all processes of a test that hangs.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(os.environ.get("MUTATIONS_WORK", SOURCE / "build/mutations"))
TREE = WORK / "tree"
# Rules about the text of the tree would notice a change by its form.
NO_TESTS = re.compile(r"^(house|slow|tree|bench|packages)$")
PROCESSORS = os.cpu_count() or 1
children = set() # builds and tests under way


def copy():
    """The tree as it is, without what git ignores. A file that is equal keeps its time."""
    names = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    names = {name for name in names if (SOURCE / name).is_file()}
    for old in TREE.glob("**/*"):
        name = str(old.relative_to(TREE))
        if old.is_file() and name not in names and not name.startswith("build/"):
            old.unlink()
    for name in names:
        new, old = SOURCE / name, TREE / name
        if not old.is_file() or old.read_bytes() != new.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(new, old)
    for folder in (SOURCE / "build").glob("intel"):
        if not (TREE / "build/intel").exists():
            (TREE / "build").mkdir(exist_ok=True)
            (TREE / "build/intel").symlink_to(folder.resolve())
    return sorted(names)


def environment():
    kept = {name: value for name, value in os.environ.items() if name != "CI"}
    if shutil.which("ccache"):
        kept.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CMAKE_CXX_COMPILER_LAUNCHER="ccache",
                    CCACHE_BASEDIR=str(TREE), CCACHE_NOHASHDIR="1")
    return kept


def build(name, *targets):
    """Whether it can be built; what the build said is in WORK/NAME.log. A changed library is linked
    again, not all that links it."""
    with open(WORK / f"{name}.log", "w", encoding="utf-8") as log:
        child = subprocess.Popen(["ninja", "-C", TREE / "build" / name, *targets], stdout=log, stderr=log,
                                 env=environment(), stdin=subprocess.DEVNULL, start_new_session=True)
        children.add(child)
        code = child.wait()
        children.discard(child)
        return code == 0


def configure(name, *settings):
    with open(WORK / f"{name}.log", "w", encoding="utf-8") as log:
        subprocess.run(["cmake", "--preset", "dev", "-B", f"build/{name}", "-DMEMSPAN_BUILD_BENCH=OFF",
                        "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", *settings],
                       cwd=TREE, env=environment(), stdout=log, stderr=log, check=True)


class Test:
    def __init__(self, record):
        values = {entry["name"]: entry["value"] for entry in record["properties"]}
        self.name = record["name"]
        self.command = record.get("command") or [""]
        self.folder = values["WORKING_DIRECTORY"]
        self.labels = values.get("LABELS", [])
        self.limit = values.get("TIMEOUT", 120)
        self.needs = values.get("FIXTURES_REQUIRED", [])
        self.makes = values.get("FIXTURES_SETUP", [])
        self.right = values.get("PASS_REGULAR_EXPRESSION", [])
        self.wrong = values.get("FAIL_REGULAR_EXPRESSION", [])
        self.changes = [change.split("=", 1) for change in values.get("ENVIRONMENT_MODIFICATION", [])]
        self.words = " ".join([self.name, *self.labels, *self.command])

    def environment(self):
        result = dict(os.environ)
        for name, change in self.changes:
            how, value = change.split(":", 1)
            if how == "set":
                result[name] = value
            else:
                result.pop(name, None)
        return result

    def run(self, limit=None, **more):
        """(passed, failed, skipped or hung; seconds)"""
        begun = time.monotonic()
        with tempfile.TemporaryFile() as said:
            try:
                child = subprocess.Popen(self.command, cwd=self.folder, env={**self.environment(), **more},
                                         stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                         start_new_session=True)
            except OSError:
                return "failed", 0.0
            children.add(child)
            try:
                code = child.wait(min(limit or self.limit, self.limit))
            except subprocess.TimeoutExpired:
                code = None
            end_session(child)
            said.seek(0)
            text = said.read().decode("utf-8", "replace")
        passed = any(re.search(form, text) for form in self.right) if self.right else code == 0
        if any(re.search(form, text) for form in self.wrong):
            passed = False
        result = "hung" if code is None else "skipped" if code == 77 else "passed" if passed else "failed"
        return result, time.monotonic() - begun


def kill_session(child):
    """The processes that a test has left, those in other groups too."""
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.getsid(int(entry)) == child.pid:
                os.kill(int(entry), signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def end_session(child):
    kill_session(child)
    child.wait()
    children.discard(child)


def end_all(*_):
    """A handler: the thread that it interrupts may hold the lock of the same wait()."""
    for child in list(children):
        kill_session(child)
    os._exit(1)


def tests(name):
    """By name, those of a build that are run, and those that make a fixture."""
    said = subprocess.run(["ctest", "--test-dir", TREE / "build" / name, "--show-only=json-v1"], check=True,
                          stdout=subprocess.PIPE).stdout
    every = [Test(record) for record in json.loads(said)["tests"]]
    makers = {fixture: test for test in every for fixture in test.makes}
    return {test.name: test for test in every if not any(map(NO_TESTS.match, test.labels))}, makers


def side_by_side(work, items):
    """(item, work(item)), as they end; the next begins only when the caller asks for more."""
    items = iter(items)
    with concurrent.futures.ThreadPoolExecutor(PROCESSORS) as pool:
        waiting = {}
        while True:
            for item in items:
                waiting[pool.submit(work, item)] = item
                if len(waiting) >= PROCESSORS:
                    break
            if not waiting:
                return
            done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                yield waiting.pop(future), future.result()
