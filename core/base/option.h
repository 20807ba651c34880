/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_OPTION_H
#define MEMSPAN_CORE_BASE_OPTION_H

/* The table of this library's environment variables. To add one, add a row. Rows of backends
 * (memspan_backend_t::options) follow when the backends are loaded. The code that reads a TEXT
 * checks it, see msp_option_refuse(). */

#include "core/base/variable.h"

/* X(symbol, variable, alias, FORM, form as shown, value when unset, help) */
#define MSP_OPTION_MAP(X)                                                                          \
    X(LOG, "MEMSPAN_LOG", "", CHOICE, "error|warn|info|debug|trace", "warn",                       \
      "level of the log on standard error")                                                        \
    X(DEVICES, "MEMSPAN_DEVICES", "", TEXT, "BACKEND:ORDINAL[,...]", "",                           \
      "devices to number and their order, e.g. opencl:0,emu:2; unset: all that are found")         \
    X(BACKENDS, "MEMSPAN_BACKENDS", "", TEXT, "NAME[,...] or ^NAME[,...]", "",                     \
      "backends to use, or with ^ those not to use; the host is always used")                      \
    X(BACKEND_PATH, "MEMSPAN_BACKEND_PATH", "", SECURE_TEXT, "FILE-OR-FOLDER[:...]", "",           \
      "plug-in backends to load: shared objects, or folders of them")                              \
    X(DRIVER_TIMEOUT, "MEMSPAN_DRIVER_TIMEOUT", "", SIZE, "seconds", "60",                         \
      "time limit for the start of a driver; then its backend is off; 0: no limit")                \
    X(STATS, "MEMSPAN_STATS", "", CHOICE, "off|exit", "off",                                       \
      "exit: print every allocator's counters to standard error when the process ends")            \
    X(TRACE, "MEMSPAN_TRACE", "", SECURE_TEXT, "FILE", "",                                         \
      "record every allocation and free in that file, for Perfetto or Chrome's viewer; %p: the "   \
      "process")                                                                                   \
    X(TRACE_LIMIT, "MEMSPAN_TRACE_LIMIT", "", SIZE, "size", "1g",                                  \
      "size of the trace at which recording ends; 0: no limit")                                    \
    X(PLACEMENT, "MEMSPAN_PLACEMENT", "", SECURE_TEXT, "FILE|auto[,force]", "",                    \
      "call sites and the spaces of their memory: a file of memspan-advise; auto: memory follows " \
      "its use")                                                                                   \
    X(DEBUG, "MEMSPAN_DEBUG", "", TEXT, "guard[,report][,fail][,noleaks][,queues]", "",            \
      "guard: find wrong frees, overruns, uses after free and leaks; report: go on after a "       \
      "finding; fail: end with status 86 after one; noleaks: leave leaks out; queues: waits of "   \
      "the "                                                                                       \
      "host in calls on queues, at exit")                                                          \
    X(FALLBACK, "MEMSPAN_FALLBACK", "", CHOICE, "quiet|info|warn|strict", "info",                  \
      "memory that is weaker or slower than requested: not logged, logged once at that level, or " \
      "refused")                                                                                   \
    X(CHUNK_SIZE, "MEMSPAN_CHUNK_SIZE", "", SIZE, "size", "4m",                                    \
      "size of a pool's chunks, up to 16 times that as it grows, of host memory a 16th at first; " \
      "a power of two from 64k to 1g")                                                             \
    X(DECAY_MS, "MEMSPAN_DECAY_MS", "", SIZE, "milliseconds", "1000",                              \
      "time for which threads and pools keep unused memory")                                       \
    X(HUGE_PAGES, "MEMSPAN_HUGE_PAGES", "", CHOICE, "off|advise|on", "advise",                     \
      "pages of host memory without a page_size trait: base pages, transparent huge pages for "    \
      "what is touched in full, or huge pages for all, reserved ones where available")             \
    X(OMP_ALIAS, "MEMSPAN_OMP_ALIAS", "", CHOICE, "on|off", "on",                                  \
      "off: omp_init_allocator() refuses a predefined space whose memory is the default space's")  \
    X(OMP_ALLOCATOR, "OMP_ALLOCATOR", "", TEXT, "ALLOCATOR or SPACE[:TRAIT=VALUE,...]", "",        \
      "the initial default allocator (OpenMP)")                                                    \
    X(OMP_PLACES, "OMP_PLACES", "", TEXT, "places", "",                                            \
      "the places that the trait preferred_place counts (OpenMP)")                                 \
    X(HWLOC_XMLFILE, "HWLOC_XMLFILE", "", SECURE_TEXT, "file", "",                                 \
      "a topology to describe instead of this machine's; memory is then not bound (hwloc)")        \
    X(HWLOC_SYNTHETIC, "HWLOC_SYNTHETIC", "", SECURE_TEXT, "description", "",                      \
      "a synthetic topology instead of this machine's (hwloc)")                                    \
    X(HWLOC_FSROOT, "HWLOC_FSROOT", "", SECURE_TEXT, "folder", "",                                 \
      "folder of /proc and /sys of the topology to describe (hwloc)")

enum msp_option {
#define OPTION_ENUM(symbol, variable, alias, form, form_text, fallback, help) MSP_OPTION_##symbol,
    MSP_OPTION_MAP(OPTION_ENUM)
#undef OPTION_ENUM
        MSP_OPTION_COUNT
};

/* MSP_OPTION_FALLBACK's words. */
enum msp_fallback_policy {
    MSP_FALLBACK_QUIET,
    MSP_FALLBACK_INFO,
    MSP_FALLBACK_WARN,
    MSP_FALLBACK_STRICT
};

/* The value in force as text; "" when unset and without a default. Never NULL. */
const char *msp_option_text(int option);

/* The value in force of a SIZE, or the index of the word of a CHOICE; 0 for others. */
uint64_t msp_option_number(int option);
static inline int msp_option_choice(int option)
{
    return (int)msp_option_number(option);
}

/* True when the environment set it (and the value stands). */
bool msp_option_is_set(int option);

/* The option with that variable name, also one of a backend's; -1: there is none. */
int msp_option_find(const char *variable);

/* Add the options of a backend. One that is unsound, or there already, is logged and left out. */
void msp_option_add(const char *backend, const memspan_backend_option_t *options, size_t count);

/* All options are registered: names in the environment that are none become problems, once. */
void msp_option_check_names(void);

/* The list behind memspan_option_count() and its neighbours. */
int msp_option_known(void);
memspan_status_t msp_option_describe(int index, memspan_option_info_t *info_p);
int msp_option_problem_count(void);
const char *msp_option_problem(int index);

/* The value of a TEXT is malformed. Records the problem (once), logs it,
 * puts the default in force, and leaves MEMSPAN_ERR_CONFIG as the thread's error, which it returns.
 */
memspan_status_t msp_option_refuse(int option, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));
memspan_status_t msp_option_refuse_text(int option, const char *sentence);

/* For tests: read the environment again. Not thread-safe. */
void msp_option_reload(void);

#endif /* MEMSPAN_CORE_BASE_OPTION_H */
