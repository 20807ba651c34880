/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_SERVER_GATE_H
#define OSHRUN_SERVER_GATE_H

/* The gate in front of the PMIx server's port. libpmix waits without limit for a connection's first
 * message, on the thread that serves the job, and 4.2.2 dies of some malformed ones. So it gets a
 * connection only when that message is complete and has the name of the job, which is random and
 * in the environment of the PEs alone.
 *
 * This program defines listen(), accept() and accept4(), which libpmix calls. */

/* The name that first messages must have; before the server listens. Not copied. */
void gate_set_name(const char *name);

#endif /* OSHRUN_SERVER_GATE_H */
