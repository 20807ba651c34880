/* SPDX-License-Identifier: BSD-3-Clause */
/* region.c: the watchers of target regions. */

#include "core/base/region.h"
#include "core/base/omp_hook.h"
#include <dlfcn.h>

_Atomic(const struct msp_region_watcher *) msp_region_watchers;

bool msp_region_is_seen(void)
{
    void *first = dlsym(RTLD_DEFAULT, "__tgt_target_kernel");
    Dl_info theirs;
    Dl_info ours;

    return (first != NULL) && (dladdr(first, &theirs) != 0) &&
           (dladdr((void *)&msp_region_watchers, &ours) != 0) &&
           (theirs.dli_fbase == ours.dli_fbase);
}

bool msp_region_watch(const struct msp_region_watcher *watcher)
{
    const struct msp_region_watcher *none = NULL;

    if (!msp_region_is_seen() ||
        !atomic_compare_exchange_strong(&msp_region_watchers, &none, watcher)) {
        return false;
    }
    if (msp_omp_watch_tasks != NULL) {
        msp_omp_watch_tasks();
    }
    return true;
}

void msp_region_unwatch(const struct msp_region_watcher *watcher)
{
    const struct msp_region_watcher *own = watcher;

    (void)atomic_compare_exchange_strong(&msp_region_watchers, &own, NULL);
}
