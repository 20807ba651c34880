# SPDX-License-Identifier: BSD-3-Clause
"""memspan.torch and the hooks of PyTorch's pluggable allocator, called as PyTorch calls them, on the
pretended CUDA driver. Its class is replaced: it keeps what it is given."""

import ctypes
import sys
import types

hooks = {}


class Inner:
    def __getattr__(self, name):
        if name == missing or not name.startswith("set_"):
            raise AttributeError(name)
        return lambda address: hooks.__setitem__(name, address)


class Pluggable:
    def __init__(self, path, *functions):
        if missing == "CUDA":  # as in PyTorch 2.14
            raise AttributeError("module 'torch._C' has no attribute '_cuda_customAllocator'")
        library = ctypes.CDLL(path)
        hooks.update(path=path, functions=[getattr(library, name) for name in functions])

    def allocator(self):
        return Inner()


for name in ("torch", "torch.cuda", "torch.cuda.memory"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["torch"].__version__ = "2.14.0+cpu"
sys.modules["torch.cuda.memory"].CUDAPluggableAllocator = Pluggable
sys.modules["torch.cuda.memory"].change_current_allocator = lambda made: hooks.update(current=made)

import memspan  # noqa: E402
import memspan.torch  # noqa: E402

driver = ctypes.CDLL("libcuda.so.1")
pointer, size, number = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int


class Pool(ctypes.Structure):
    _fields_ = [("first", ctypes.c_uint64), ("second", ctypes.c_uint64)]


def hook(name, *arguments):
    return ctypes.CFUNCTYPE(None, *arguments)(hooks[name])


def counts(*names):
    return [driver.fake_gpu_calls(name.encode()) for name in names]


def orders():
    return counts("cuEventRecord", "cuStreamWaitEvent")


def waits():
    return sum(counts("cuCtxSynchronize", "cuStreamSynchronize"))


def all_calls():
    return driver.fake_gpu_calls(None)


missing = "CUDA"
try:
    memspan.torch.use()
    raise AssertionError("a PyTorch without CUDA takes an allocator")
except RuntimeError as error:
    assert "2.14.0+cpu" in str(error) and "without CUDA and ROCm" in str(error), error
    assert "_cuda_customAllocator" in str(error), error

missing = "set_release_pool"
memspan.torch.allocator()
alloc, free = hooks["functions"]
alloc.restype, alloc.argtypes = pointer, [size, number, pointer]
free.restype, free.argtypes = None, [pointer, size, number, pointer]
block = alloc(1 << 20, 0, None)
before = waits()
free(block, 1 << 20, 0, None)
assert waits() == before + 1, "without all hooks a free waits for the device"

missing = None
memspan.torch.use()
assert hooks["current"]
record = hook("set_record_stream_fn", pointer, pointer)
begin = hook("set_begin_allocate_to_pool", number, Pool, pointer)
end = hook("set_end_allocate_to_pool_fn", number, Pool)
release = hook("set_release_pool", number, Pool)

context = pointer()
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxPushCurrent_v2(context) == 0
streams = [pointer() for _ in range(3)]
for stream in streams:
    assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
first, second, third = (stream.value for stream in streams)


def pair(stream):
    block = alloc(1 << 20, 0, stream)
    assert block and block % 256 == 0
    free(block, 1 << 20, 0, stream)
    return block


# One stream, the legacy default stream among them: no call of the driver at all.
for stream in (first, None):
    pair(stream)
    before, waited = all_calls(), waits()
    for _ in range(1000):
        pair(stream)
    assert all_calls() == before and waits() == waited

# A tensor that another stream uses is free after that stream's work.
block = alloc(1 << 20, 0, first)
record(block, second)
before, waited = orders(), waits()
free(block, 1 << 20, 0, first)
assert orders() == [before[0] + 1, before[1] + 1] and waits() == waited

# One event orders several streams after all that was freed before it.
blocks = [alloc(3 << 20, 0, first) for _ in range(2)]
for block in blocks:
    free(block, 3 << 20, 0, first)
before = orders()
assert alloc(3 << 20, 0, second) in blocks and alloc(3 << 20, 0, third) in blocks
assert orders() == [before[0] + 1, before[1] + 2]

# Two streams in turn: a block is taken from the other stream by at most one event and one wait.
pair(second)
before, waited, made = orders(), waits(), all_calls()
entered = counts("cuCtxPushCurrent", "cuThreadExchangeStreamCaptureMode")
for _ in range(500):
    pair(first)
    pair(second)
records, ordered = (after - at for after, at in zip(orders(), before))
made = all_calls() - made
print(f"1,000 pairs on two streams in turn: {records} events, {ordered} waits, {made} calls")
assert made <= 7 * ordered, "the number of the context, the current one, the capture; each but the last twice"
assert counts("cuCtxPushCurrent", "cuThreadExchangeStreamCaptureMode") == entered
assert records <= 1000 and ordered <= 1000 and waits() == waited

# A stream that is none of the device's, as far as Memspan knows: the free waits.
block = alloc(1 << 20, 0, first)
record(block, 2)
waited = waits()
free(block, 1 << 20, 0, first)
assert waits() == waited + 1

# What a capture allocates or frees is the graph's until its pool is released.
live = memspan.Space(0).stats
pool, other = Pool(1, 2), Pool(1, 3)
outside = alloc(1 << 20, 0, first)
start = live().live_count
begin(0, pool, None)
inside, temporary = alloc(1 << 20, 0, first), alloc(1 << 20, 0, first)
free(temporary, 1 << 20, 0, first)
free(outside, 1 << 20, 0, first)
end(0, pool)
assert live().live_count == start + 2
free(inside, 1 << 20, 0, first)
assert live().live_count == start + 2, "the graph uses it at each launch"
assert not {inside, temporary, outside} & {pair(first), pair(first)}
begin(0, pool, None)
kept = alloc(1 << 20, 0, first)
end(0, pool)
waited = waits()
release(0, pool)
assert live().live_count == start + 3 and waits() == waited, "the other graph of the pool lives"
release(0, pool)
assert waits() == waited + 1
assert live().live_count == start, "a tensor that lives is an ordinary one"
free(kept, 1 << 20, 0, first)
assert live().live_count == start - 1

# Memory of one of two captures at once may be of either.
begin(0, pool, None)
begin(0, other, None)
block = alloc(1 << 20, 0, first)
free(block, 1 << 20, 0, first)
end(0, other)
end(0, pool)
release(0, pool)
release(0, other)
assert live().live_count == start, "it stays"

hook("set_reset_fn")()
driver.fake_gpu_violation.restype = ctypes.c_char_p
assert driver.fake_gpu_violation() == b"", driver.fake_gpu_violation()
