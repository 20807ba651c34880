# SPDX-License-Identifier: BSD-3-Clause
"""Devices, spaces, allocators, blocks and exports, without numpy; on emulated devices, too."""

import ctypes
import gc
import sys

sys.modules["numpy"] = None  # nothing here may need it
import memspan
from memspan import HOST, Access, Kind, Status

python = ctypes.pythonapi
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
USED = b"used"


def refused(function, kind=memspan.Error, words="", status=None):
    try:
        function()
    except kind as error:
        assert words in str(error), error
        assert status is None or error.status == status, error.status
        return
    raise AssertionError(f"no {kind.__name__}")


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("width", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def take(capsule, versioned):
    """What a consumer does: (tensor, a function that deletes it)."""
    name = b"dltensor_versioned" if versioned else b"dltensor"
    address = python.PyCapsule_GetPointer(capsule, name)
    python.PyCapsule_SetName(capsule, USED)
    words = ctypes.cast(address, ctypes.POINTER(ctypes.c_size_t))
    if versioned:
        assert words[0] == 1 and words[3] == 0  # version 1.0, no flags
    at = ctypes.sizeof(Tensor) + 8
    deleter = words[2] if versioned else words[at // 8]
    tensor = Tensor.from_address(address + (32 if versioned else 0))
    return tensor, lambda: DELETER(deleter)(address)


def exports(allocator, device):
    live = allocator.stats().live_count
    for versioned in (False, True):
        view = allocator.block(1000).view("i4", (10, 5), offset=40)
        assert view.__dlpack_device__() == device
        capsule = view.__dlpack__(max_version=(1, 2) if versioned else None)
        tensor, delete = take(capsule, versioned)
        assert tensor.data == view.address and tensor.offset == 0
        assert tuple(tensor.device) == device
        assert (tensor.code, tensor.bits, tensor.width) == (0, 32, 1)
        assert tensor.shape[:2] == [10, 5] and tensor.strides[:2] == [5, 1]
        del view, capsule
        gc.collect()
        memspan.Space().allocator().block(1)  # which drops what was not taken
        assert allocator.stats().live_count == live + 1, "the tensor keeps its block"
        delete()
        assert allocator.stats().live_count == live
    allocator.block(100).__dlpack__()  # not taken
    memspan.Space().allocator().block(1)
    assert allocator.stats().live_count == live
    refused(lambda: allocator.block(1).__dlpack__(copy=True), BufferError, "copy")
    refused(lambda: allocator.block(1).__dlpack__(dl_device=(2, 0)), BufferError, "(2, 0)")


def buffers(allocator):
    view = allocator.empty((3, 4), "i4")
    view.fill(0)
    memory = view.memory
    memory[1, 2] = 7
    assert memory.shape == (3, 4) and view.block.memory[24] == 7
    assert view.__array_interface__ == dict(version=3, data=(view.address, False), typestr="<i4",
                                            shape=(3, 4), strides=None)
    assert not hasattr(view, "__cuda_array_interface__")
    del view
    gc.collect()
    assert memory[1, 2] == 7 and allocator.stats().live_count == 1, "the memory keeps its block"
    if sys.version_info >= (3, 12):
        assert memoryview(allocator.empty(3, "f8")).format == "d"
    refused(lambda: allocator.empty(3).view("f8", 4), ValueError)
    refused(lambda: allocator.empty(3).view("f8", 1, offset=-8), ValueError)
    refused(lambda: allocator.block(0), ValueError)


def copies(allocator, host):
    there, here = allocator.empty(100, "u1"), host.empty(100, "u1")
    here.fill(3)
    there.copy_from(here)
    here.fill(0)
    there.copy_to(here)
    assert bytes(here.memory) == b"\3" * 100
    refused(lambda: there.block.view("u1", 50).copy_from(here), ValueError, "fit")


def on_host():
    host = memspan.Device(HOST)
    assert Kind.HOST in host.kinds() and host.why(Kind.DEVICE)
    assert host.describe().capacity_bytes > 2**20 and memspan.numa_nodes()
    assert all(device.name and device.why for device in memspan.memory_devices())
    assert "host" in {backend.name for backend in memspan.backends()}
    space = memspan.Space()
    assert space == memspan.Space(HOST) == memspan.Space.at(memspan.c.MEMSPAN_SPACE_DEFAULT)
    allocator = space.allocator("alignment=4096", pool_size=2**20, fallback="null_fb")
    info = allocator.describe()
    assert (info.kind_given, info.align_bytes, info.pool_size_bytes) == (Kind.HOST, 4096, 2**20)
    assert space.allocator().describe().pool_size_bytes is None, "no limit"
    assert allocator.why() and str(info.kind_given) == "host"
    allocator.name = "python"
    assert allocator.name == "python"
    assert allocator.block(1).address % 4096 == 0
    refused(lambda: allocator.block(2**21), words="pool_size", status=Status.ERR_LIMIT)
    spare = memspan.Allocator(fallback="allocator_fb", fb_data=space.allocator(), pool_size=4096)
    block = spare.block(2**20)
    assert block.describe().fallback == 1 and block.reach().access == Access.LOCAL
    assert memspan.why(block.address + 5) == block.why()
    assert allocator.derive(alignment=64).describe().align_bytes == 64
    assert block.owner is spare and block.view("f8").block is block
    traits = memspan.Traits("alignment=4k", pinned=True)
    assert list(traits) == [("alignment", 4096), ("pinned", 1)]
    assert space.plan(traits, pool_size=10).kind_given == Kind.HOST_PINNED
    assert str(memspan.Traits(traits, preferred_device=HOST)).endswith("preferred_device=host")
    assert allocator.block(100, traits="alignment=8k").address % 8192 == 0
    refused(lambda: space.allocator(pinnd=True), words="pinned", status=Status.ERR_INVALID)
    refused(lambda: memspan.Space(77), words="77", status=Status.ERR_NOT_FOUND)
    refused(lambda: memspan.pointer_describe(4096), status=Status.ERR_NOT_FOUND)
    memspan.check(memspan.c.memspan_check())
    assert memspan.c.memspan_option_problem_count() == 0, memspan.c.memspan_option_problem(0)
    return space.allocator()


def handles():
    """A block keeps its allocator; the last reference frees both."""
    allocator = memspan.Allocator()
    handle = allocator.handle
    block = allocator.block(100)
    address = block.address
    del allocator
    gc.collect()
    assert memspan.pointer_describe(address).allocator == handle
    del block
    gc.collect()
    refused(lambda: memspan.pointer_describe(address), status=Status.ERR_NOT_FOUND)
    refused(lambda: memspan.Allocator.at(handle), status=Status.ERR_NOT_FOUND)


def on_devices(host):
    first, second = memspan.devices()
    assert first.describe().backend == "emu" and int(second) == 1
    both = memspan.Space(first, HOST)
    assert both.plan(memory_access="managed").kind_given == Kind.MANAGED
    managed = both.allocator(memory_access="managed")
    assert managed.reach(first).access == Access.LOCAL
    assert len(both.resources()) > 1 and both.sub(0).resources()[0].kind == Kind.COHERENT
    buffers(managed)
    exports(managed, (1, 0))
    copies(managed, host)
    device = memspan.Space(second).allocator()
    exports(device, (12, 1))
    copies(device, host)
    view = device.empty(10)
    assert view.reach(HOST).access < Access.FAULT and view.reach(second).access == Access.LOCAL
    refused(lambda: view.memory, words="closed for the host", status=Status.ERR_UNREACHABLE)
    refused(lambda: view.__array_interface__, status=Status.ERR_UNREACHABLE)
    refused(lambda: view.__dlpack__(dl_device=(1, 0)), BufferError, "closed for the host")
    assert first.reach(Kind.DEVICE, second).access != Access.LOCAL
    assert first.reach_source(Kind.DEVICE, second)
    second.synchronize()
    assert second.stats().live_count == 1


def moves():
    """What exports say of a block is what is so after each move, and what they said before."""
    both, large = memspan.Space(0, HOST), 48 << 20
    for block, spaces in ((both.allocator(memory_access="managed").block(large), (memspan.Space(0), memspan.Space())),
                          (memspan.Allocator().block(large), (memspan.Space(), memspan.Space.at(memspan.c.MEMSPAN_SPACE_HIGH_BW)))):
        said = block.home, block.kind, block.is_on_host, block.dlpack_device
        block.memory[7] = 7
        for space in spaces * 2:
            block.move(space)
            now = block.describe()
            assert now.space == space.handle, now
            fresh = memspan._block.Memory(block, block.address, large)
            assert (fresh.home, fresh.kind, fresh.is_on_host, fresh.dlpack_device) == said, now
            tensor, delete = take(block.__dlpack__(), False)
            assert tensor.data == block.address == now.base and tuple(tensor.device) == said[3]
            delete()
            assert block.memory[7] == 7


host_allocator = on_host()
buffers(memspan.Allocator())
exports(host_allocator, (1, 0))
copies(host_allocator, memspan.Allocator())
handles()
on_devices(host_allocator)
moves()
