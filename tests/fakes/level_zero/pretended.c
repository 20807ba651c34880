/* SPDX-License-Identifier: BSD-3-Clause */
/* pretended.c: finding the fake. */

#include "tests/fakes/level_zero/pretended.h"
#include <dlfcn.h>
#include <memspan/memspan.h>
#include <stdlib.h>

struct driver driver;

static const char *const variables[] = {"FAKE_ZE_DRIVERS",
                                        "FAKE_ZE_DEVICES",
                                        "FAKE_ZE_TILES",
                                        "FAKE_ZE_MEMORY",
                                        "FAKE_ZE_LIMIT",
                                        "FAKE_ZE_ACCESS",
                                        "FAKE_ZE_FLAGS",
                                        "FAKE_ZE_TYPE",
                                        "FAKE_ZE_LACKS",
                                        "FAKE_ZE_IMPORT",
                                        "FAKE_ZE_FAIL_AT",
                                        "FAKE_ZE_FAIL_CALL",
                                        "FAKE_ZE_FAIL_CODE",
                                        "FAKE_ZE_LOST_AT",
                                        "FAKE_ZE_LIES",
                                        "FAKE_ZE_IPC",
                                        "FAKE_ZE_HANG",
                                        "MEMSPAN_LEVEL_ZERO_TILES",
                                        "MEMSPAN_LEVEL_ZERO_PINNED",
                                        NULL};

void pretended_find(void)
{
    static const struct pretended about = {.table     = &msp_backend_level_zero,
                                           .variables = variables};
    const char *path                    = getenv("ZE_ENABLE_ALT_DRIVERS");
    void *handle = (path == NULL) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *state  = NULL;

    if (!pretended_start(handle, "fake_ze_", &about)) {
        cr_skip_test("ZE_ENABLE_ALT_DRIVERS does not lead to the pretended driver");
    }
    *(void **)&driver.used         = dlsym(handle, "fake_ze_used");
    *(void **)&driver.foreign      = dlsym(handle, "fake_ze_foreign");
    *(void **)&driver.foreign_free = dlsym(handle, "fake_ze_foreign_free");
    PRETENDED("FAKE_ZE_DEVICES=1");
    cr_assert_eq(pretended_try_open(&state), MEMSPAN_OK, "%s", memspan_error_text());
    msp_backend_level_zero.close(state);
}
