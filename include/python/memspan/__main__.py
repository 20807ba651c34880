# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m memspan: the memory of this machine, and what is not in use, with the reason."""

import memspan


def main():
    print(f"Memspan {memspan.version()}")
    for device in [memspan.Device(memspan.HOST), *memspan.devices()]:
        info = device.describe()
        label = "host" if device.number == memspan.HOST else f"device {device.number}"
        size = (info.capacity_bytes or 0) / 2**30
        print(f"{label}: {info.name} ({info.backend}), {size:.1f} GiB")
        for kind in memspan.Kind:
            if kind and info.kind_note[kind]:
                mark = "+" if info.kinds >> kind & 1 else "-"
                print(f"  {mark} {kind}: {info.kind_note[kind]}")
    for backend in memspan.backends():
        if not backend.on:
            print(f"{backend.name} is off: {backend.reason}")


main()
