/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_SUITE_SHARING_H
#define MEMSPAN_TESTS_FAKES_SUITE_SHARING_H

/* Two processes fork, open the driver with @p setting, and use one block that was asked for with
 * @p flags and made by @p call. */
extern const char *sharing_importer; /* a setting of the process that opens it, or NULL */
void sharing_two_processes(unsigned flags, const char *setting, const char *call);

#endif /* MEMSPAN_TESTS_FAKES_SUITE_SHARING_H */
