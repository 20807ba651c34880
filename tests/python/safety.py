# SPDX-License-Identifier: BSD-3-Clause
"""What a wrong call does: TypeError, ValueError or memspan.Error, never to memory. What an object's
copy and its end mean, in a forked child and after the end of Python too."""

import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading

import memspan
from memspan import HOST, Queue

LATE = '''
import ctypes, gc, memspan
python = ctypes.pythonapi
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
capsule = memspan.Space(0, memspan.HOST).allocator(memory_access="managed").empty(9).__dlpack__()
tensor = python.PyCapsule_GetPointer(capsule, b"dltensor")
used = b"used_dltensor"
python.PyCapsule_SetName(capsule, used)
deleter = ctypes.cast(tensor, ctypes.POINTER(ctypes.c_void_p))[7]
ctypes.CDLL(None).__cxa_atexit(ctypes.c_void_p(deleter), ctypes.c_void_p(tensor), None)
'''
FORK = '''
import os, sys, memspan
queue = memspan.Queue(0)
block = queue.block(memspan.Space(0).allocator(), 4096)
queue.fill(block, 1)
queue.call(lambda: None)
child = os.fork()
if child:
    sys.exit(os.waitpid(child, 0)[1] != 0)
del block
'''


def refused(kinds, function):
    try:
        made = function()
    except kinds as error:
        assert type(error) in (kinds if isinstance(kinds, tuple) else (kinds,)), repr(error)
        return
    raise AssertionError(f"not refused: {made!r}")


def numbers(allocator):
    block = allocator.block(64)
    refused(ValueError, lambda: allocator.block(64, align=2**64 + 64))
    for size in (2**64, 2**64 + 16, 2**200, -1, 0):
        refused(ValueError, lambda: allocator.block(size))
    for shape in (2**61 + 1, 2**64 + 16, (2**40, 2**40), (0, 2**62, 2**62), -1, (2, -3)):
        refused(ValueError, lambda: allocator.empty(shape, "f8"))
    for wrong in (1.5, "3", None, (1.0,)):
        refused(TypeError, lambda: allocator.empty(wrong, "f8"))
    for device in (2**32, 2**31, -2**31 - 1, 2**64):
        refused(ValueError, lambda: memspan.Space(device))
        refused(ValueError, lambda: memspan.Device(device))
        refused(ValueError, lambda: block.reach(device))
        refused(ValueError, lambda: Queue(device))
    for kind in (-1, 6, 2**31, "device"):
        refused(ValueError, lambda: memspan.Device(HOST).why(kind))
    for byte in (256, -1):
        refused(ValueError, lambda: block.fill(byte))
    refused(ValueError, lambda: memspan.copy(block, block, 2**64 + 4))
    queue = Queue(0)
    refused(ValueError, lambda: queue.copy(bytes(10), block, 10))
    refused(ValueError, lambda: queue.fill(b"constant"))
    refused(TypeError, lambda: queue.call(5))
    refused(TypeError, lambda: queue.wait(5))
    refused(ValueError, lambda: memspan.pointer_describe(2**64 + block.address))
    refused(ValueError, lambda: memspan.pointer_describe(-1))
    refused(ValueError, lambda: memspan.c.memspan_trait_t(2, 2**64))
    refused(ValueError, lambda: setattr(memspan.c.memspan_trait_t(), "value", -1))
    refused(AttributeError, lambda: setattr(memspan.c.memspan_trait_t(), "valeu", 1))
    refused(ValueError, lambda: setattr(allocator, "name", "a\0b"))
    refused(TypeError, lambda: memspan.c.memspan_trim(1))
    refused(TypeError, lambda: memspan.c.memspan_free(b"bytes"))
    refused(TypeError, lambda: memspan.c.memspan_device_describe(0, 5))


def types(allocator):
    """Those that need no numpy are numpy's."""
    for dtype, text, size in ((float, "f8", 8), ("float64", "f8", 8), (">f8", ">f8", 8),
                              (int, "i8", 8), ("c8", "c8", 8), ("complex128", "c16", 16),
                              ("f2", "f2", 2), (bool, "b1", 1)):
        view = allocator.empty(5, dtype)
        assert (view.dtype, view.itemsize, view.nbytes) == (text, size, 5 * size), view
    for dtype in ("U10", "O8", "O", "f3", object, None, 8, ["f8"]):
        refused(TypeError, lambda: allocator.empty(5, dtype))
    for shape in (0, (3, 0, 2)):
        view = allocator.empty(shape, "i4")
        assert view.nbytes == 0 and view.memory.nbytes == 0 and 0 in view.memory.shape
    refused(TypeError, lambda: len(allocator.empty(())))
    refused(TypeError, lambda: allocator.empty(3, "c8").memory)


def targets(allocator):
    there = allocator.empty(10, "f8")
    there.fill(1)
    source, target = bytearray(b"\2" * 80), bytearray(80)
    there.copy_from(source)
    there.copy_to(target)
    assert target == source
    there.copy_from(bytes(b"\3" * 40))
    there.copy_to(target)
    assert target == b"\3" * 40 + b"\2" * 40
    constant = bytes(80)
    for wrong in (constant, memoryview(target).toreadonly(), bytearray(79), memoryview(target)[::2]):
        refused(ValueError, lambda: there.copy_to(wrong))
        refused(ValueError, lambda: memspan.copy(wrong, there))
    assert constant == bytes(80)
    for wrong in (memoryview(target).cast("f"), memoryview(target).cast("q")):
        refused(TypeError, lambda: there.copy_to(wrong))
        refused(TypeError, lambda: there.copy_from(wrong))
    for wrong in ("text", 3.5, None, object()):
        refused(TypeError, lambda: there.copy_from(wrong))
    refused(TypeError, lambda: memspan.copy(target, there.address))
    refused(ValueError, lambda: memspan.copy(there.address + 8, target))
    refused(ValueError, lambda: memspan.copy(target, there.address + 8, 73))
    refused(memspan.Error, lambda: memspan.copy(ctypes.addressof(ctypes.c_int()), target, 4))
    memspan.copy(target, there.address + 8, 72)
    block = there.block
    refused(ValueError, lambda: memspan.View(block, 8, "f8", 10))
    refused(ValueError, lambda: memspan.View(block, -8, "f8", 1))
    refused(TypeError, lambda: memspan.View(4096, 0, "f8", 1))
    refused(AttributeError, lambda: setattr(there, "nbytes", 1000))
    refused(AttributeError, lambda: setattr(there, "shape", (2, 5)))
    refused(AttributeError, lambda: setattr(block, "address", 4096))
    refused(AttributeError, lambda: delattr(block, "address"))
    refused(TypeError, lambda: block.__init__(allocator, 1))
    refused(TypeError, lambda: memspan.Allocator(allocator))
    refused(TypeError, lambda: memspan.Block(memspan.Space(), 8))
    refused(TypeError, lambda: block.move(allocator))


def copies(allocator):
    """What owns memory has one owner; values are copied."""
    queue, space = Queue(0), memspan.Space(0, HOST)
    block = allocator.block(1000)
    for owner in (block, block.view("f8", 5), allocator, queue, queue.block(allocator, 8)):
        for copier in (copy.copy, copy.deepcopy, pickle.dumps, lambda it: copy.deepcopy([it])):
            refused(TypeError, lambda: copier(owner))
    refused(TypeError, lambda: pickle.dumps(space))
    assert copy.copy(space) == copy.deepcopy(space) == space
    assert copy.deepcopy(memspan.Device(0)) == pickle.loads(pickle.dumps(memspan.Device(0)))
    traits = memspan.Traits("alignment=64", pinned=True)
    assert list(pickle.loads(pickle.dumps(traits))) == list(copy.deepcopy(traits)) == list(traits)
    try:
        memspan.Space(77)
    except memspan.Error as error:
        again = pickle.loads(pickle.dumps(error))
        assert again.status == error.status and str(again) == str(error)
    record = pickle.loads(pickle.dumps(memspan.numa_nodes()[0]))
    assert record.kind is memspan.numa_nodes()[0].kind
    block.fill(7)
    assert bytes(block.memory) == b"\7" * 1000
    block.__del__()
    block.__del__()
    memspan.check(memspan.c.memspan_check())


def capsules(allocator):
    """A tensor without a consumer goes with its capsule, also while an exception is pending."""
    live = allocator.stats().live_count
    for versions in (None, (1, 0)):
        allocator.empty(10).__dlpack__(max_version=versions)
        assert allocator.stats().live_count == live
        try:
            capsule = [allocator.empty(10).__dlpack__(max_version=versions)]
            capsule.pop().missing
        except AttributeError:
            pass
        assert allocator.stats().live_count == live
    refused(TypeError, lambda: allocator.empty(1).__dlpack__(stream="1"))
    threads = [threading.Thread(target=lambda view: [view.__dlpack__() for _ in range(100)],
                                args=(allocator.empty(10),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    del thread, threads
    gc.collect()
    assert allocator.stats().live_count == live


def programs():
    """Quiet to the end: (what, program)."""
    for what, program in (("a deleter after the end of Python", LATE), ("a forked child", FORK)):
        run = subprocess.run([sys.executable, "-W", "ignore", "-c", program],
                             stderr=subprocess.PIPE, timeout=100)
        assert run.returncode == 0 and not run.stderr, (what, run)


sys.modules["numpy"] = None  # nothing here may need it
for memory in (memspan.Allocator(), memspan.Space(0, HOST).allocator(memory_access="managed")):
    numbers(memory)
    types(memory)
    targets(memory)
    copies(memory)
    capsules(memory)
programs()
