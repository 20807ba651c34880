# SPDX-License-Identifier: BSD-3-Clause
"""Faults that the library has had, as changes of its sources of today: the explorer finds each."""

# Else debug builds end at the wait.
UNRANKED = ("    if (held != 0) {\n        fprintf(stderr, \"memspan: lock order: \\\"%s\\\" is held where",
            "    if (false) {\n        fprintf(stderr, \"memspan: lock order: \\\"%s\\\" is held where")

# (name, program, scenario, words of its report, {file: [(of today, as it was)]})
FAULTS = [
    # A driver takes memory back behind all streams: that of the function is held.
    ("close-gives-back", "gpu", "function-closes", "deadlock", {
        "backends/gpu/spare.c": [("    if (spare == NULL) {\n        give(",
                                  "    if (memory != NULL) {\n        give(")],
    }),
    ("close-gives-back-beside", "gpu", "closes-beside-function", "deadlock", {
        "backends/gpu/spare.c": [("    if (spare == NULL) {\n        give(",
                                  "    if (memory != NULL) {\n        give(")],
    }),
    ("free-gives-back", "gpu", "function-frees", "deadlock", {
        "core/engine/given_back.c": [("if (!waits || !is_in_function()) {",
                                      "if (!waits || true) {")],
    }),
    # A function opens a queue, for which it needs the lock.
    ("close-waits-locked", "queue", "close-function", "deadlock", {
        "core/queue.c": [("        msp_queue_calls_drain(q); /* the functions may use the queue */",
                          "        msp_queue_lock_edges();\n        msp_queue_calls_drain(q);\n"
                          "        msp_queue_unlock_edges();")],
        "core/base/lock.c": [UNRANKED],
    }),
    ("host-waits-locked", "queue", "function-host", "deadlock", {
        "core/queue.c": [("        msp_queue_unlock_edges();\n        status = d->table->synchronize(",
                          "        status = d->table->synchronize("),
                         ("q->native);\n        msp_queue_lock_edges();\n    } else {",
                          "q->native);\n    } else {")],
        "core/base/lock.c": [UNRANKED],
    }),
    # A child frees what the ending thread has freed, and not yet forgotten.
    ("spare-freed-twice", "heap", "fork-spare", "after it was freed", {
        "core/engine/spare.c": [("        free(s);\n    }\n}", "        free(t->spare);\n        t->spare = NULL;\n    }\n}"),
                                ("        t->spare = NULL; /* first:", "        /* first:")],
    }),
    # The owner loads and stores a word that the kernel changes directly.
    ("view-updates-directly", "device", "view-updates", "word == 2 * UPDATES", {
        "shmem/device/reach.c": [("entry->direct = MSP_DEVICE_DIRECT_COPIES;",
                                  "entry->direct = MSP_DEVICE_DIRECT_ALL;")],
    }),
]
