#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""lists.py PREFIX DEBIAN: each file that is installed below PREFIX is in one of the packages' lists, and in no other.

The lists are DEBIAN/*.install and not-installed. Each of their patterns names something that is installed.
"""
import fnmatch
import os
import pathlib
import sys

OSH = ("oshrun", "oshcc", "oshc++")


def in_debian(path):
    """Where Debian's options (rules) install the file."""
    name, _, section = path.name.partition(".")
    if name in OSH and path.parts[0] == "bin" or name in OSH and path.parts[-2] == "man1":
        path = path.with_name(f"{name}.memspan" + (f".{section}" if section else ""))
    parts = list(path.parts)
    if parts[0] in ("lib", "lib64") and parts[1] != "python3":
        parts[:1] = ["lib", "x86_64-linux-gnu"]
    if parts[:3] == ["share", "doc", "memspan"]:
        parts[2] = "memspan-doc"
    return ["usr", *parts]


def matches(pattern, parts):
    """A pattern of dh_install names a file, or a folder with all of it."""
    return len(pattern) <= len(parts) and all(map(fnmatch.fnmatchcase, parts, pattern))


def main():
    prefix, debian = map(pathlib.Path, sys.argv[1:3])
    needed = ("bin/memquery", "bin/memspan-bench", "bin/oshrun", "share/man/man7", "include/shmem.h")
    missing = [name for name in needed if not (prefix / name).exists()]
    folders = ("share/doc/memspan/html", "lib*/memspan/shmem_ucx.so", "lib*/memspan/shmem_device_amdgcn.bc")
    missing += [folder for folder in folders if not list(prefix.glob(folder))]
    if missing:
        print("skip: this build has not all that the packages have", *missing)
        return 77
    patterns = [(file.name, line.split()[0].split("/"))
                for file in [*sorted(debian.glob("*.install")), debian / "not-installed"]
                for line in file.read_text(encoding="ascii").splitlines()]
    bad, used = 0, set()
    for folder, _, names in os.walk(prefix):
        for name in names:
            if name.endswith(".pyc"):
                continue
            parts = in_debian((pathlib.Path(folder) / name).relative_to(prefix))
            found = [file for file, pattern in patterns if matches(pattern, parts)]
            used.update("/".join(pattern) for _, pattern in patterns if matches(pattern, parts))
            if len(found) != 1:
                print("/".join(parts), "is in", " and ".join(found) or "no package")
                bad = 1
    for file, pattern in patterns:
        if "/".join(pattern) not in used:
            print(f"{file}: {'/'.join(pattern)} is not installed")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
