# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every argument, by hypothesis: a number is C's or refused, an array has the size that
numpy says, no view leaves its block, no copy its target, and every end frees once. Runs plain and under
the guard, on emulated devices. Arguments: these properties alone. PROPERTY_EXAMPLES: how many
examples each gets."""

import copy
import gc
import os
import pickle
import sys
import tempfile
import threading

scratch = tempfile.TemporaryDirectory()
os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = scratch.name
try:
    import numpy
    from hypothesis import HealthCheck, given, settings, strategies as st
    from hypothesis.extra import numpy as st_numpy
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import memspan
from memspan import HOST, Queue, _checked

COUNT = int(os.environ.get("PROPERTY_EXAMPLES", "40"))
REFUSALS = TypeError, ValueError, memspan.Error, BufferError
settings.register_profile("memspan", max_examples=COUNT, deadline=None, database=None,
                          derandomize="PROPERTY_EXAMPLES" not in os.environ,
                          suppress_health_check=list(HealthCheck))
settings.load_profile("memspan")

both = memspan.Space(0, HOST)
DEVICE = memspan.Space(0).allocator()
HOSTS = [memspan.Allocator(), both.allocator(memory_access="managed"), both.allocator(pinned=True),
         both.allocator(memory_access="coherent")]
ALL = [*HOSTS, DEVICE]
FUNCTIONS = [getattr(memspan.c, name) for name in sorted(memspan.c._functions)]
NUMBERS = [(function, place) for function in FUNCTIONS for place, kind in enumerate(function.argtypes)
           if kind in _checked._LIMITS]
DTYPES = st.one_of(st_numpy.scalar_dtypes(), st_numpy.unicode_string_dtypes(), st_numpy.byte_string_dtypes(),
                   st_numpy.array_dtypes(max_size=3), st.sampled_from(["f8", "float32", "<u2", "d", int, complex]))
SMALL = st.integers(-3, 300)
INTEGERS = st.one_of(SMALL, st.integers(2**45, 2**70), st.integers(-2**70, -2**31), st.integers(2**31 - 3, 2**31 + 3),
                     st.sampled_from([2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**64 + 8]))
SHAPES = st.one_of(st.integers(0, 60), st.lists(st.integers(0, 5), max_size=4).map(tuple))


def outcome(function):
    """What a function returns, or the kind of its refusal; anything else is an error."""
    try:
        return function()
    except REFUSALS as error:
        return type(error)


def is_refused(result):
    return isinstance(result, type) and issubclass(result, REFUSALS)


@given(st.sampled_from(NUMBERS), st.one_of(INTEGERS, st.floats(), st.text(max_size=2)))
def numbers(which, value):
    function, place = which
    kind = function.argtypes[place]
    least, most = _checked._LIMITS[kind]
    if isinstance(value, int) and least <= value <= most:
        assert _checked.checked(kind, value) == value == (kind(value).value or 0)
        return
    arguments = [None] * len(function.argtypes)
    arguments[place] = value
    made = outcome(lambda: function(*arguments))
    assert made is (ValueError if isinstance(value, int) else TypeError), (function, value, made)


@given(st.sampled_from(HOSTS), DTYPES, SHAPES, st.binary(max_size=64))
def arrays(allocator, dtype, shape, seed):
    like = numpy.empty(shape, dtype)
    view = outcome(lambda: allocator.empty(shape, dtype))
    if is_refused(view):  # no size, or gaps, which numpy has
        made = numpy.dtype(dtype)
        assert view is TypeError and (made.itemsize == 0 or made.subdtype or made.names), (dtype, view)
        return
    array = numpy.asarray(view)
    assert (array.dtype, array.shape, array.nbytes) == (like.dtype, like.shape, like.nbytes)
    memory = outcome(lambda: view.memory)  # numpy has no buffers of dates
    assert view.nbytes == like.nbytes and (memory is ValueError or memory.nbytes == like.nbytes)
    content = (seed * (view.nbytes // (len(seed) or 1) + 1))[:view.nbytes].ljust(view.nbytes, b"z")
    view.view().memory[:] = content
    assert array.tobytes() == content
    back = bytearray(view.nbytes)
    view.copy_to(back)
    assert bytes(back) == content


@given(st.sampled_from(ALL), st.integers(1, 200), DTYPES, st.one_of(SHAPES, INTEGERS), INTEGERS, INTEGERS)
def views(allocator, size, dtype, shape, offset, again):
    block = allocator.block(size)
    view = outcome(lambda: block.view(dtype, shape, offset))
    if is_refused(view):
        if view is ValueError and (isinstance(shape, tuple) or 0 <= shape <= 300):
            assert offset < 0 or offset + numpy.empty(shape, dtype).nbytes > size, (view, shape, offset)
        return
    assert 0 <= view.offset and view.offset + view.nbytes <= size
    assert view.address == block.address + offset
    inner = outcome(lambda: view.view("u1", None, again))
    assert is_refused(inner) or inner.address + inner.nbytes == view.address + view.nbytes
    view.fill(again % 256)


def array_of(text, count, mode):
    array = numpy.zeros(count * (2 if mode == "strided" else 1), text)
    if mode == "strided":
        return array[::2]
    array.flags.writeable = mode != "constant"
    return array


def memory_of(recipe):
    kind, text, count, mode = recipe
    if kind == "view":
        return ALL[count % len(ALL)].empty(count, text)
    if kind == "block":
        return ALL[count % len(ALL)].block(count + 1)
    if kind == "array":
        return array_of(text, count, mode)
    if kind == "memoryview":
        return memoryview(array_of(text, count, mode))
    return bytes(count) if mode == "constant" else bytearray(count)


MEMORY = st.tuples(st.sampled_from(["view", "block", "array", "memoryview", "bytes"]),
                   st.sampled_from(["u1", "f4", "f8", ">f8", "c16", "b1"]), st.integers(0, 40),
                   st.sampled_from(["", "constant", "strided"])).map(memory_of)


def fact(memory):
    """(bytes, type or none, writable, contiguous)."""
    if isinstance(memory, memspan.View):
        return memory.nbytes, None if isinstance(memory, memspan.Block) else memory.dtype, True, True
    whole = memoryview(memory)
    kind = numpy.asarray(memory).dtype.str.lstrip("<|") if whole.nbytes or isinstance(memory, numpy.ndarray) else ""
    untyped = isinstance(memory, (bytes, bytearray)) or isinstance(memory, memoryview) and whole.format == "B"
    return whole.nbytes, None if untyped else kind, not whole.readonly, whole.c_contiguous


@given(MEMORY, MEMORY, st.one_of(st.none(), INTEGERS), st.booleans())
def copies(to, source, size, in_queue):
    room, to_type, is_writable, to_whole = fact(to)
    there, source_type, _, source_whole = fact(source)
    queue = Queue(0)
    done = outcome(lambda: (queue.copy if in_queue else memspan.copy)(to, source, size))
    queue.synchronize()
    asked = there if size is None else size
    if not (is_writable and to_whole and source_whole) or not 0 <= asked <= min(room, there):
        assert is_refused(done), (to, source, size)
    elif size is None and None not in (to_type, source_type) and to_type != source_type and to_type and source_type:
        assert done is TypeError, (to, source)
    elif to_type != "" != source_type:
        assert done is None, (done, to, source, size)


@given(st.sampled_from(ALL), st.lists(st.sampled_from("evtdxng"), max_size=12), st.booleans())
def tensors(allocator, steps, keeps):
    before = allocator.stats().live_count
    view, kept = allocator.empty(6, "f4"), []
    for step in steps:
        if step == "e":
            kept.append(view.__dlpack__())
        elif step == "v":
            kept.append(view.__dlpack__(max_version=(1, 1), stream=-1))
        elif step == "n":
            if allocator is not DEVICE:
                kept.append(numpy.from_dlpack(view))
        elif step == "t" and kept:  # ends on another thread
            thread = threading.Thread(target=kept.pop)
            thread.start()
            thread.join()
            del thread
        elif step == "d" and kept:
            kept.pop(0)
        elif step == "g":
            kept.append(outcome(lambda: memoryview(view.memory)))
    if keeps:
        del view
    kept.clear()
    view = None
    assert allocator.stats().live_count == before


@given(st.lists(st.tuples(st.sampled_from("bfcwsukdq"), st.integers(0, 7)), max_size=25))
def queues(steps):
    before, host = DEVICE.stats().live_count, bytearray(4096)
    open_queues, blocks = [Queue(0), Queue(0)], []
    for step, n in steps:
        queue = open_queues[n % len(open_queues)]
        block = blocks[n % len(blocks)] if blocks else None
        if block:
            queue.wait(block.queue)  # the order between queues is the program's
        if step == "b":
            blocks.append(queue.block(DEVICE, 1 + 600 * n))
        elif step == "f" and block:
            queue.fill(block, n)
        elif step == "c" and block:
            queue.copy(block, host, min(block.nbytes, 4096))
        elif step == "w":
            queue.wait(open_queues[0])
        elif step == "s":
            queue.synchronize()
        elif step == "u" and block:
            queue.used(block)
        elif step == "k":
            queue.call(lambda: None)
        elif step == "d" and blocks:
            blocks.pop(n % len(blocks))
        elif step == "q":
            open_queues[n % 2] = Queue(0)
    queue = block = None
    blocks.clear()
    open_queues.clear()
    gc.collect(0)
    assert DEVICE.stats().live_count == before


def objects():
    allocator = ALL[0]
    return [allocator, DEVICE, allocator.block(64), allocator.empty((2, 3), "f4"), DEVICE.empty(5), both,
            memspan.Device(0), Queue(0), memspan.Traits("alignment=64"), memspan]


JUNK = st.one_of(INTEGERS, st.none(), st.floats(), st.text(max_size=4), st.binary(max_size=9), st.booleans(),
                 st.lists(SMALL, max_size=3), st.sampled_from(["f8", "U3", "O", "alignment=64", b"x", object(), int]),
                 st.sampled_from(range(10)).map(lambda i: objects()[i]), MEMORY)
COPIERS = [copy.copy, copy.deepcopy, pickle.dumps, repr, hash, bool, list, bytes, memoryview, str]


@given(st.integers(0, 9), st.integers(0, 99), st.lists(JUNK, max_size=4))
def junk(which, method, arguments):
    target = objects()[which]
    names = [name for name in dir(target) if name[0] != "_" and name not in ("numpy", "torch", "c", "cuda_ordinal")]
    chosen = (names + COPIERS)[method % len(names + COPIERS)]
    try:
        call = getattr(target, chosen) if chosen in names else lambda *arguments: chosen(target)
        if callable(call):
            call(*arguments)
    except (*REFUSALS, AttributeError):
        pass


for run in (numbers, arrays, views, copies, tensors, queues, junk):
    if run.__name__ not in (sys.argv[1:] or run.__name__):
        continue
    run()
    gc.collect()
    memspan.check(memspan.c.memspan_check())
    print(f"{run.__name__}: {COUNT} examples", flush=True)
