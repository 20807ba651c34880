#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""metrics.py FILE: the file is in Prometheus' text exposition format 0.0.4, as node_exporter's
textfile collector reads it: the grammar, one HELP and TYPE before the samples of each metric, its
samples together, no sample twice, names with base units."""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
UNITS = ("_bytes", "_seconds", "_bytes_per_second", "_ratio")
PLAIN = ("_info", "_success", "_on", "_failed", "_kind", "_capability", "_available", "_access",
         "_warnings", "_busy")


def main():
    with open(sys.argv[1], "rb") as file:
        text = file.read().decode("utf-8")
    found, seen, samples, current, typed = [], set(), set(), None, None
    if not text.endswith("\n"):
        found.append("the last line does not end")
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
        sample = SAMPLE.fullmatch(line)
        if comment and comment[1] == "HELP":
            if comment[2] in seen:
                found.append(f"{number}: {comment[2]} begins twice")
            current, typed = comment[2], None
            seen.add(current)
            if not current.startswith("memspan_") or not current.endswith(UNITS + PLAIN):
                found.append(f"{number}: {current} has no unit")
        elif comment:
            if comment[2] != current or typed or comment[3] not in ("gauge", "counter"):
                found.append(f"{number}: TYPE out of place")
            typed = comment[3]
        elif sample:
            labels = re.findall(LABEL, sample[2] or "")
            key = (sample[1], tuple(sorted(labels)))
            if sample[1] != current or not typed:
                found.append(f"{number}: a sample of another metric")
            if key in samples:
                found.append(f"{number}: the same sample twice")
            if len({name for name, _ in labels}) < len(labels):
                found.append(f"{number}: a label twice")
            samples.add(key)
            float(sample[len(sample.groups())])
        else:
            found.append(f"{number}: not in the grammar: {line}")
    if len(samples) < 10:
        found.append(f"{len(samples)} samples")
    print("\n".join(found[:20]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
