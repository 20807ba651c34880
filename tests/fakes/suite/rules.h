/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_SUITE_RULES_H
#define MEMSPAN_TESTS_FAKES_SUITE_RULES_H

/* rules.c has tests of all GPU backends, and this one. Every kind has any alignment on a machine of
 * two settings. */
void rules_check_alignment(const char *setting, const char *other);

#endif /* MEMSPAN_TESTS_FAKES_SUITE_RULES_H */
