#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""recipes.py TREE: the recipes of Spack, conda and EasyBuild are well-formed, and each variable of CMake that
they, and Debian's rules, set is one of this tree."""
import ast
import pathlib
import re
import sys

SPACK = {"version", "variant", "depends_on", "license", "generator"}
EASYBUILD = {"easyblock", "name", "version", "homepage", "description", "toolchain", "sources", "dependencies",
             "moduleclass"}


def spack(text):
    """What is wrong: a package class whose directives Spack has."""
    (package,) = (one for one in ast.parse(text).body if isinstance(one, ast.ClassDef))
    called = {one.value.func.id for one in package.body
              if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)}
    if package.name != "Memspan" or [base.id for base in package.bases] != ["CMakePackage"]:
        yield "no class Memspan(CMakePackage)"
    if called != SPACK:
        yield f"directives {sorted(called ^ SPACK)}"
    # Conditions name variants that there are.
    variants = set(re.findall(r'variant\("(\w+)"', text))
    for name in re.findall(r'[("][+~](\w+)"|define_from_variant\("\w+", "(\w+)"', text):
        if not set(filter(None, name)) <= variants:
            yield f"no variant {''.join(name)}"


def easybuild(text):
    given = {}
    for one in ast.parse(text).body:
        if isinstance(one, ast.Assign):
            given[one.targets[0].id] = one.value
    for name in sorted(EASYBUILD - set(given)):
        yield f"no {name}"
    for entry in [*given["dependencies"].elts, *given["builddependencies"].elts]:
        if len(ast.literal_eval(entry)) != 2:
            yield f"dependency {ast.unparse(entry)}"


def conda(text):
    """YAML, once Jinja's expressions are replaced."""
    try:
        import yaml
    except ImportError:
        print("no YAML parser is here: meta.yaml was not parsed")
        return
    text = re.sub(r"\{%.*?%\}", "", text)
    text = re.sub(r"\{\{ *(\w+).*?\}\}", r"\1", text)
    recipe = yaml.safe_load(text)
    for name in ("package", "source", "build", "requirements", "test", "about"):
        if name not in recipe:
            yield f"no {name}"
    for part, entries in recipe["requirements"].items():
        if not all(isinstance(entry, str) for entry in entries):
            yield f"requirements of {part}"


def main():
    tree = pathlib.Path(sys.argv[1])
    cmake = "".join(file.read_text(encoding="utf-8") for file in [tree / "CMakeLists.txt", *tree.glob("cmake/*.cmake")])
    known = set(re.findall(r"(?:option|set)\((MEMSPAN_\w+) ", cmake))
    packages = re.findall(r"find_package\((\w+)", cmake)
    known |= {f"CMAKE_DISABLE_FIND_PACKAGE_{name}" for name in packages}
    folder, bad = tree / "cmake/packages", 0
    for file, parse in [(folder / "spack/package.py", spack), (folder / "conda/meta.yaml", conda),
                        *((file, easybuild) for file in folder.glob("easybuild/*.eb")),
                        (folder / "debian/rules", lambda text: [])]:
        text = file.read_text(encoding="utf-8")
        set_here = set(re.findall(r"\b(MEMSPAN_[A-Z_]+|CMAKE_DISABLE_\w+)\b", text.replace("-D", " ")))
        for fault in [*parse(text), *(f"CMake has no variable {name}" for name in sorted(set_here - known))]:
            print(f"{file}: {fault}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
