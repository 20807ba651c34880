#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the seeds find faults in the code below them.

  faults.py BUILD [SEEDS [NUMBER...]]

Each fault of FAULTS, in turn, is put into a copy of its source, which is compiled and linked again. The
first seed of SEEDS (300) that fails is printed with its reason. The status is 1 where one finds nothing.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# (what, file, the text, in its place)
FAULTS = [
    ("a notification wakes no sleeper", "control/doorbell.c",
     "    syscall(SYS_futex, &doorbell->notifications, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);\n", ""),
    ("a barrier notifies one PE too few", "collective/sync.c",
     "    for (step = 1; step < team->size; step++) {\n        msp_doorbell_notify(",
     "    for (step = 2; step < team->size; step++) {\n        msp_doorbell_notify("),
    ("puts of another thread's messages notify no waiter", "network/progress.c",
     "    if (count != 0) {\n        notify();\n    } else if", "    if (count != 0) {\n        ;\n    } else if"),
    ("quiet does not wait for acknowledgements", "network/stream.c",
     "    MSP_WAIT(channel, atomic_load_explicit(&stream->messages, memory_order_acquire) == 0);\n"
     .replace("MSP_WAIT", "MSP_NETWORK_WAIT"), ""),
    ("quiet flushes no puts", "network/stream.c", "        start_flushes(channel, &left);\n", ""),
    ("the first contact alone is flushed", "network/stream.c",
     "        contact = contact->next_dirty;\n", "        contact = NULL;\n"),
    ("an unordered network counts as ordered", "network/stream.c",
     "return msp_network.limits.is_ordered &&", "return true ||"),
    ("puts pass messages behind shmem_fence()", "network/stream.c",
     "msp_network.limits.puts_pass_messages,\n", "false,\n"),
    ("a put leaves waiting messages behind", "network/transfer.c",
     "    msp_network_send_waiting_to(work->contact);\n    /* Without", "    /* Without"),
    ("a piece is one byte longer than its chunk", "network/transfer.c",
     "reach->end_bytes - offset_bytes;", "reach->end_bytes - offset_bytes + 1;"),
    ("an operation stays uncounted after BUSY", "network/transfer.c",
     "    msp_network_mark_dirty(work->channel, work->contact);\n",
     "    if (result == MSP_NETWORK_STARTED) {\n        msp_network_mark_dirty(work->channel, work->contact);\n    }\n"),
    ("an acknowledgement counts one too few", "network/message.c",
     "&stream->messages, header->ack_count, memory", "&stream->messages, 1, memory"),
    ("an acknowledgement counts one too many", "network/message.c",
     "        contact->acks[i].count   = 0;\n", "        contact->acks[i].count   = 1;\n"),
    ("a signal is applied twice", "network/message.c",
     "        (void)apply(header, header->signal_segment,",
     "        (void)apply(header, header->signal_segment, header->signal_offset_bytes, 8);\n"
     "        (void)apply(header, header->signal_segment,"),
    ("a signal is applied before its data", "network/message.c",
     "    uint64_t i;\n\n    if (header->size_bytes != 0) {",
     "    uint64_t i;\n\n    if (header->operation != MSP_NETWORK_NO_SIGNAL) {\n"
     "        (void)apply(header, header->signal_segment, header->signal_offset_bytes, 8);\n"
     "        if (header->operation == MSP_ATOMIC_SET) {\n            sched_yield();\n        }\n    }\n"
     "    if (header->size_bytes != 0) {"),
    ("a fetched value is not counted as here", "network/message.c",
     "    if (outstanding != NULL) {\n        atomic_fetch_sub", "    if (outstanding == NULL) {\n        atomic_fetch_sub"),
    ("the list of replies keeps its former end", "network/message.c",
     "            replies_end = place_of_reply;\n", "            ;\n"),
    ("keys stay when their segment goes", "network/network.c",
     "    msp_network_reach_forget(segment);\n", ""),
    ("an acknowledgement is lost at BUSY", "network/aggregate.c",
     "        contact->ack_count = ack_count;\n", ""),
    ("a message overtakes those that wait", "network/aggregate.c",
     "(operation->may_wait || (contact->aggregate != NULL))", "operation->may_wait"),
    ("keys of an earlier segment stay", "network/peer.c",
     "MSP_LIKELY(contact->reaches[at].generation == generation)", "true"),
    ("a flush covers puts that follow it", "network/peer.c",
     "flushed->flushed = operation->flushed_puts;", "flushed->flushed = flushed->puts;"),
    ("a record keeps what it counted before", "network/record.c",
     "    record->outstanding  = NULL;\n", ""),
    ("a record keeps its kind", "network/record.c", "    record->is_unwaited  = false;\n", ""),
    ("data is sent before the puts it follows", "network/network.c",
     "        msp_network_order(target->context, false);\n", ""),
    ("registered memory is not released", "network/region.c",
     "            network.driver->memory_release(region->chunks[i].memory);\n", ""),
    ("a lock is passed on before the puts in it", "lock.c",
     "    msp_quiet(msp_context_default());\n", ""),
    ("a lock is cleared while another PE comes", "lock.c",
     "    MSP_WAIT_AT(lock, sizeof *lock, (my_place(lock) & NEXT) != 0);\n", ""),
    ("the job ends before its puts", "job.c", "            msp_quiet(msp_context_default());\n", ""),
    ("exchanged data has one buffer", "collective/exchange.c",
     "return (unsigned)(team->sync_count + (uint64_t)ahead) % MSP_EXCHANGE_TURNS;", "(void)team; (void)ahead; return 0;"),
    ("broadcasts come round without a barrier", "collective/exchange.c", "if (at == CASTS - 1)", "if (at == CASTS)"),
    ("a PE of this host is never seen dead", "bootstrap/bootstrap.c", "&& is_dead(pids[peer])", "&& false"),
    ("a silent PE is waited for without limit", "network/alive.c",
     "return ((int64_t)contact->silent_ms > limit_ms()) ? contact : NULL;", "return NULL;"),
    ("an operation that has failed counts as done", "network/peer.c",
     "    if ((status != MEMSPAN_OK) && !atomic", "    if ((status == MEMSPAN_ERR_ABI) && !atomic"),
    ("another PE is named than the one that has died", "control/wait.c",
     "msp_fatal(\"PE %d (process %d) has died while this PE waited\", msp_job.local_pes[i],",
     "msp_fatal(\"PE %d (process %d) has died while this PE waited\", msp_job.local_pes[0] + 7 + i,"),
]


class Library:
    """libsimulate.so, linked again from a changed source."""

    def __init__(self, build):
        self.build = build
        run = subprocess.run(["ninja", "-C", build, "-t", "commands", "simulate"], check=True,
                             capture_output=True, text=True)
        self.link = next(l for l in reversed(run.stdout.splitlines()) if "libsimulate.so" in l)
        self.link = self.link.replace(": &&", "").split(" && ")[0]
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            self.commands = {os.path.realpath(c["file"]): c["command"] for c in json.load(f)
                             if "interleave-shmem.dir" in c["command"]}

    def make(self, name, before, after, folder):
        """In that folder."""
        path = os.path.join(ROOT, "shmem", name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if text.count(before) != 1:
            sys.exit("%s has no such text, or has it twice: %s" % (name, before))
        copy = os.path.join(folder, os.path.basename(name))
        with open(copy, "w", encoding="utf-8") as f:
            f.write("#include <sched.h>\n" + text.replace(before, after))
        command = self.commands[path]
        output = re.search(r" -o (\S+)", command).group(1)
        words = [copy if os.path.realpath(w) == path else w for w in shlex.split(command)]
        words[words.index("-o") + 1] = copy + ".o"
        subprocess.run(words, cwd=self.build, check=True)
        link = self.link.replace(" " + output + " ", " " + copy + ".o ")
        link = re.sub(r" -o \S+", " -o " + os.path.join(folder, "libsimulate.so"), link)
        subprocess.run(link, shell=True, cwd=self.build, check=True)


def find(library, fault, seeds):
    """What the first seed that fails prints; an empty text: none does."""
    with tempfile.TemporaryDirectory() as folder:
        library.make(*fault[1:], folder)
        run = subprocess.run([os.path.join(library.build, "tests/simulate/memspan-simulate"), "1", seeds,
                              "--first"], env=dict(os.environ, LD_LIBRARY_PATH=folder),
                             capture_output=True, text=True, errors="replace", check=False)
    return "" if run.returncode == 0 else (run.stdout.splitlines() + [run.stderr])[0]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    library = Library(os.path.realpath(sys.argv[1]))
    seeds = sys.argv[2] if len(sys.argv) > 2 else "300"
    numbers = [int(n) for n in sys.argv[3:]] or range(len(FAULTS))
    found = 0
    for number in numbers:
        first = find(library, FAULTS[number], seeds)
        found += first != ""
        print("%2d  %s: %s" % (number, FAULTS[number][0], first or "NOT FOUND"), flush=True)
    print("%d of %d found" % (found, len(numbers)))
    return 0 if found == len(numbers) else 1


if __name__ == "__main__":
    sys.exit(main())
