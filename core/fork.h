/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_FORK_H
#define MEMSPAN_CORE_FORK_H

/* Makes the child of a threaded process able to use host memory: every lock of ours is held while
 * the process forks, so that none is left held by a thread that the child does not have. Called
 * before the first allocation; cheap afterwards. */
void msp_fork_prepare(void);

#endif /* MEMSPAN_CORE_FORK_H */
