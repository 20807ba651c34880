/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_SUITE_SOURCES_H
#define MEMSPAN_TESTS_FAKES_SUITE_SOURCES_H

/* What a device can do comes with who says so, and a mode with how it is turned on. */

#include "tests/fakes/suite/pretended.h"

struct sources_capability {
    const char *setting;
    unsigned bit;
    const char *words; /* a part of its note; every other bit has one as well */
};
void sources_check_capabilities(const struct sources_capability *rows, size_t count);

struct sources_mode {
    const char *setting;
    const char *name;
    int on;
    const char *remedy; /* a part of it; "": there is none */
};
void sources_check_modes(const struct sources_mode *rows, size_t count);

/* On two devices that @p setting makes, one reaches the other, and @p words say who tells. */
void sources_check_peers(const char *setting, const char *words);

#endif /* MEMSPAN_TESTS_FAKES_SUITE_SOURCES_H */
