/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TOPOLOGY_HWLOC_H
#define MEMSPAN_CORE_TOPOLOGY_HWLOC_H

/* hwloc, opened when something first needs it: a program that only allocates should not pay for
 * loading it and its libraries (a third of a millisecond, measured), nor need it at all.
 *
 * hwloc's own header declares its functions. Here each name that is used stands for the target of a
 * pointer of ours, so that the same declarations declare the pointers, and hwloc's inline functions
 * call through them. To use one more function, add it to the list and below it; a name that is not
 * here is a missing symbol when the library is linked. */

#ifdef HWLOC_H
#error "core/topology/hwloc.h comes before hwloc.h, or instead of it"
#endif

#include <stdbool.h>

#define MSP_HWLOC_MAP(X)                                                                           \
    X(bitmap_alloc)                                                                                \
    X(bitmap_and)                                                                                  \
    X(bitmap_clr)                                                                                  \
    X(bitmap_dup)                                                                                  \
    X(bitmap_free)                                                                                 \
    X(bitmap_intersects)                                                                           \
    X(bitmap_isequal)                                                                              \
    X(bitmap_isincluded)                                                                           \
    X(bitmap_iszero)                                                                               \
    X(bitmap_last)                                                                                 \
    X(bitmap_list_snprintf)                                                                        \
    X(bitmap_next)                                                                                 \
    X(bitmap_set)                                                                                  \
    X(bitmap_weight)                                                                               \
    X(bitmap_zero)                                                                                 \
    X(get_api_version)                                                                             \
    X(get_nbobjs_by_depth)                                                                         \
    X(get_obj_by_depth)                                                                            \
    X(get_type_depth)                                                                              \
    X(memattr_get_best_initiator)                                                                  \
    X(topology_destroy)                                                                            \
    X(topology_init)                                                                               \
    X(topology_is_thissystem)                                                                      \
    X(topology_load)                                                                               \
    X(topology_set_components)                                                                     \
    X(topology_set_flags)                                                                          \
    X(topology_set_io_types_filter)                                                                \
    X(topology_set_synthetic)                                                                      \
    X(topology_set_type_filter)                                                                    \
    X(topology_set_xml)

#define hwloc_bitmap_alloc                 (*msp_hwloc_bitmap_alloc)
#define hwloc_bitmap_and                   (*msp_hwloc_bitmap_and)
#define hwloc_bitmap_clr                   (*msp_hwloc_bitmap_clr)
#define hwloc_bitmap_dup                   (*msp_hwloc_bitmap_dup)
#define hwloc_bitmap_free                  (*msp_hwloc_bitmap_free)
#define hwloc_bitmap_intersects            (*msp_hwloc_bitmap_intersects)
#define hwloc_bitmap_isequal               (*msp_hwloc_bitmap_isequal)
#define hwloc_bitmap_isincluded            (*msp_hwloc_bitmap_isincluded)
#define hwloc_bitmap_iszero                (*msp_hwloc_bitmap_iszero)
#define hwloc_bitmap_last                  (*msp_hwloc_bitmap_last)
#define hwloc_bitmap_list_snprintf         (*msp_hwloc_bitmap_list_snprintf)
#define hwloc_bitmap_next                  (*msp_hwloc_bitmap_next)
#define hwloc_bitmap_set                   (*msp_hwloc_bitmap_set)
#define hwloc_bitmap_weight                (*msp_hwloc_bitmap_weight)
#define hwloc_bitmap_zero                  (*msp_hwloc_bitmap_zero)
#define hwloc_get_api_version              (*msp_hwloc_get_api_version)
#define hwloc_get_nbobjs_by_depth          (*msp_hwloc_get_nbobjs_by_depth)
#define hwloc_get_obj_by_depth             (*msp_hwloc_get_obj_by_depth)
#define hwloc_get_type_depth               (*msp_hwloc_get_type_depth)
#define hwloc_memattr_get_best_initiator   (*msp_hwloc_memattr_get_best_initiator)
#define hwloc_topology_destroy             (*msp_hwloc_topology_destroy)
#define hwloc_topology_init                (*msp_hwloc_topology_init)
#define hwloc_topology_is_thissystem       (*msp_hwloc_topology_is_thissystem)
#define hwloc_topology_load                (*msp_hwloc_topology_load)
#define hwloc_topology_set_components      (*msp_hwloc_topology_set_components)
#define hwloc_topology_set_flags           (*msp_hwloc_topology_set_flags)
#define hwloc_topology_set_io_types_filter (*msp_hwloc_topology_set_io_types_filter)
#define hwloc_topology_set_synthetic       (*msp_hwloc_topology_set_synthetic)
#define hwloc_topology_set_type_filter     (*msp_hwloc_topology_set_type_filter)
#define hwloc_topology_set_xml             (*msp_hwloc_topology_set_xml)

/* A declaration of a function needs no extern, that of a pointer does. */
#include <hwloc/autogen/config.h>
#undef HWLOC_DECLSPEC
#define HWLOC_DECLSPEC extern
#include <hwloc.h>

/* Opens hwloc, once, and never closes it. No function of hwloc may be called before this has
 * returned true. False where hwloc is not here, is another version than we were built for, older
 * than 2.5, or broken. */
bool msp_hwloc_open(void);

/* Why msp_hwloc_open() returned false, in one sentence; "" where it did not. */
const char *msp_hwloc_problem(void);

#endif /* MEMSPAN_CORE_TOPOLOGY_HWLOC_H */
