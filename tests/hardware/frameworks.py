# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch and CuPy on a GPU. frameworks.py LOSSES: where there is no such file, PyTorch's own
allocator serves, and the losses of a few steps of training go into the file. Else memspan.torch
serves: the losses are the same, memory of a freed tensor is not given to another stream too early,
and CuPy and PyTorch read an array of ours. Prints times of the host. 77 without PyTorch."""

import math
import os
import statistics
import sys
import time

try:
    import torch
    assert torch.cuda.is_available(), "no GPU"
except (ImportError, AssertionError) as error:
    print(f"skipped: no PyTorch for this GPU: {error}")
    sys.exit(77)

file = sys.argv[1]
ours = os.path.exists(file)
if ours:
    import memspan
    import memspan.torch
    memspan.torch.use()


def median_us(count, work):
    """Of the host for one call, before its work is complete."""
    times = []
    for _ in range(20):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            work()
        times.append((time.perf_counter() - start) / count)
    torch.cuda.synchronize()
    return statistics.median(times) * 1e6


def train():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(),
                                torch.nn.Linear(2048, 512)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.randn(4096, 512, device="cuda")
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = (model(data) - data).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def streams():
    """A tensor freed on one stream while another works on it, by record_stream()."""
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    big = torch.randn(4096, 4096, device="cuda")
    torch.cuda.synchronize()
    for value in range(1, 60):
        with torch.cuda.stream(first):
            for _ in range(3):
                big = big @ big * 1e-3
            x = torch.full((1 << 20,), float(value), device="cuda")
        second.wait_stream(first)
        with torch.cuda.stream(second):
            total = x.sum()
        x.record_stream(second)
        del x
        with torch.cuda.stream(first):
            torch.full((1 << 20,), -1.0, device="cuda")
        assert total.item() == value * (1 << 20), (value, total.item())


def read_ours():
    block = memspan.Space(0).allocator().empty(1 << 20, "f4")
    torch.from_dlpack(block).copy_(torch.arange(1 << 20, dtype=torch.float32, device="cuda"))
    assert float(torch.as_tensor(block, device="cuda")[12345]) == 12345.0
    print("right: PyTorch reads an array of ours")
    try:
        import cupy
    except ImportError as error:
        print("no CuPy:", error)
        return
    assert float(cupy.asarray(block).sum()) == float((1 << 20) - 1) * (1 << 19)
    print("right: CuPy reads an array of ours")


losses = train()
if ours:
    with open(file) as before:
        theirs = [float(line) for line in before]
    assert all(map(lambda a, b: math.isclose(a, b, rel_tol=1e-4), losses, theirs)), (losses, theirs)
    print("right: the losses are those of PyTorch's own allocator")
else:
    with open(file, "w") as after:
        after.writelines(f"{loss}\n" for loss in losses)
x = torch.randn(2048, 2048, device="cuda")
print("memspan.torch:" if ours else "PyTorch's own allocator:",
      "an empty tensor %.2f us," % median_us(500, lambda: torch.empty(16384, device="cuda")),
      "an expression of three tensors %.2f us" % median_us(100, lambda: (x @ x) * 0.001 + x))
streams()
print("right: a tensor of two streams")
if ours:
    read_ours()
