/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c: whether other processes can fetch descriptors of this one, as Yama's setting says. */

#include "core/base/driver.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool allows(const char *setting)
{
    char path[] = "/tmp/memspan-scope-XXXXXX";
    int fd      = mkstemp(path);
    bool answer;

    cr_assert_geq(fd, 0);
    dprintf(fd, "%s\n", setting);
    close(fd);
    answer = msp_driver_scope_allows(path);
    unlink(path);
    return answer;
}

Test(driver, yama_allows_by_name_or_not_at_all)
{
    cr_expect(allows("0"));
    cr_expect(allows("1"));
    cr_expect_not(allows("2"));
    cr_expect_not(allows("3"));
    cr_expect(msp_driver_scope_allows("/nowhere/at/all"), "a kernel without Yama");
}

Test(driver, a_process_that_is_not_dumpable_offers_nothing)
{
    cr_assert_eq(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
    cr_expect_not(msp_driver_offers_fds());
}
