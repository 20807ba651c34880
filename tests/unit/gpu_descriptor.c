/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_descriptor.c: whether other processes can fetch descriptors of this one, as Yama's setting
 * says. */

#include "backends/gpu/common.h"
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
    answer = gpu_scope_allows(path);
    unlink(path);
    return answer;
}

Test(gpu_descriptor, yama_allows_by_name_or_not_at_all)
{
    cr_expect(allows("0"));
    cr_expect(allows("1"));
    cr_expect_not(allows("2"));
    cr_expect_not(allows("3"));
    cr_expect(gpu_scope_allows("/nowhere/at/all"), "a kernel without Yama");
}

Test(gpu_descriptor, a_process_that_is_not_dumpable_offers_nothing)
{
    cr_assert_eq(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), 0);
    cr_expect_not(gpu_offers_fds());
}
