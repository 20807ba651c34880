/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_RED_ZONE_H
#define MEMSPAN_CORE_DEBUG_RED_ZONE_H

/* The red zone around a guarded block: bytes of a known pattern before and behind it, and, where
 * the host owns the mapping, pages that cannot be read or written. */

#include "core/engine/provider.h"

/* How the pattern is read and written. */
enum msp_red_zone_reach {
    MSP_RED_ZONE_HOST,   /* loads and stores */
    MSP_RED_ZONE_DRIVER, /* the backend's fill and copy */
    MSP_RED_ZONE_NONE,   /* there is no pattern: addresses alone are checked */
};

struct msp_red_zone {
    struct msp_provider *provider;
    unsigned char *raw; /* the engine's memory */
    size_t raw_bytes;
    size_t raw_align_bytes;
    unsigned char *address; /* the program's bytes */
    size_t size_bytes;
    size_t front_bytes;        /* raw to address */
    size_t closed_front_bytes; /* of those, pages that are closed, at the start */
    size_t closed_back_bytes;  /* pages that are closed, at the end */
    enum msp_red_zone_reach reach;
    bool closable; /* the pages are its own and the host may close them */
    bool paged;    /* pages are closed */
    bool guarded;  /* by guard regions */
    bool split;    /* by mappings of their own */
    bool
        apart; /* a block by itself of a backend that checks: accesses around and after it strike */
};

/* The overwritten bytes. */
struct msp_red_zone_damage {
    const void *address; /* of the byte nearest to the block */
    size_t bytes;        /* from there to the last that does not hold the pattern */
    bool before;         /* the block; else behind it */
};

/* Whether the kernel closes pages by guard regions; not while new memory is locked. */
bool msp_red_zone_regions(void);

/* Lay out the red zone of @p size_bytes on @p align_bytes. @p pages: pages may be closed, or
 * requested from a backend that checks. False when the sum overflows. raw and address are set by
 * msp_red_zone_raise(). */
bool msp_red_zone_plan(struct msp_provider *provider, size_t size_bytes, size_t align_bytes,
                       bool pages, struct msp_red_zone *zone_p);

/* Without a red zone: raw_bytes are all the program's, also those beyond the block.
 */
void msp_red_zone_plan_bare(struct msp_provider *provider, size_t size_bytes, size_t align_bytes,
                            size_t raw_bytes, struct msp_red_zone *zone_p);

/* The engine gave @p raw: write the pattern, close the pages, where @p may_split also by mappings
 * of their own. Steps that cannot be done (reserved huge pages, too many mappings, no fill) are
 * left out and marked in the record. */
void msp_red_zone_raise(struct msp_red_zone *zone, void *raw, bool may_split);

/* False when the pattern is not whole. With @p host_only no driver is called. */
bool msp_red_zone_check(const struct msp_red_zone *zone, bool host_only,
                        struct msp_red_zone_damage *damage_p);

/* The program has freed the block: every access is an error from now on. It may be split now. */
void msp_red_zone_close(struct msp_red_zone *zone);

/* False when a block that was closed by a pattern has been written to. */
bool msp_red_zone_check_closed(const struct msp_red_zone *zone,
                               struct msp_red_zone_damage *damage_p);

/* Before the engine gets the memory back. False: it must not have it, pages would stay closed. */
bool msp_red_zone_lower(struct msp_red_zone *zone);

#endif /* MEMSPAN_CORE_DEBUG_RED_ZONE_H */
