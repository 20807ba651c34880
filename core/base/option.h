/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_OPTION_H
#define MEMSPAN_CORE_BASE_OPTION_H

/* The one table of environment variables. To add one, add a row; nothing else calls getenv(). */

#include <memspan/config.h>
#include <stdbool.h>
#include <stdint.h>

/* Forms: CHOICE (one of the words in the form), SIZE (bytes), LIST and TEXT (checked by the code
 * that reads them, see msp_option_refuse), SECURE_TEXT (TEXT that is ignored in a set-user-id
 * process: it loads code, or names a file to read or to write).
 *
 * X(symbol, variable, FORM, form as shown, value when unset, help) */
#define MSP_OPTION_MAP(X)                                                                          \
    X(LOG, "MEMSPAN_LOG", CHOICE, "error|warn|info|debug|trace", "warn",                           \
      "how much is said on standard error")                                                        \
    X(DEVICES, "MEMSPAN_DEVICES", TEXT, "BACKEND:ORDINAL[,...]", "",                               \
      "devices to number and their order, e.g. opencl:0,emu:2; unset: all that are found")         \
    X(BACKENDS, "MEMSPAN_BACKENDS", TEXT, "NAME[,...] or ^NAME[,...]", "",                         \
      "backends to use, or with ^ those not to use; the host is always used")                      \
    X(BACKEND_PATH, "MEMSPAN_BACKEND_PATH", SECURE_TEXT, "FILE-OR-FOLDER[:...]", "",               \
      "plug-in backends to load: shared objects, or folders of them")                              \
    X(DRIVER_TIMEOUT, "MEMSPAN_DRIVER_TIMEOUT", SIZE, "seconds", "60",                             \
      "how long a driver may take to start before its backend is off; 0: no limit")                \
    X(STATS, "MEMSPAN_STATS", CHOICE, "off|exit", "off",                                           \
      "exit: print every allocator's counters to standard error when the process ends")            \
    X(TRACE, "MEMSPAN_TRACE", SECURE_TEXT, "FILE", "",                                             \
      "record every allocation and free in that file, for Perfetto or Chrome's viewer; %p: the "   \
      "process")                                                                                   \
    X(TRACE_LIMIT, "MEMSPAN_TRACE_LIMIT", SIZE, "size", "1g",                                      \
      "recording ends when the trace has grown to this size; 0: no limit")                         \
    X(DEBUG, "MEMSPAN_DEBUG", TEXT, "guard[,report][,fail][,noleaks]", "",                         \
      "guard: find wrong frees, overruns, uses after free and leaks; report: go on after a "       \
      "finding; fail: end with status 86 after one; noleaks: do not tell leaks")                   \
    X(FALLBACK, "MEMSPAN_FALLBACK", CHOICE, "quiet|info|warn|strict", "info",                      \
      "when something weaker or slower than asked is given: say nothing, log it once at that "     \
      "level, or refuse")                                                                          \
    X(CHUNK_SIZE, "MEMSPAN_CHUNK_SIZE", SIZE, "size", "4m",                                        \
      "how much a pool takes from a driver at a time, up to 16 times that as it grows, and of "    \
      "host memory a 16th at first; a power of two from 64k to 1g")                                \
    X(DECAY_MS, "MEMSPAN_DECAY_MS", SIZE, "milliseconds", "1000",                                  \
      "how long unused memory is kept, by threads and pools, before it goes back")                 \
    X(HUGE_PAGES, "MEMSPAN_HUGE_PAGES", CHOICE, "off|advise|on", "advise",                         \
      "pages of host memory where no page_size trait asks: base pages, transparent huge pages in " \
      "chunks, or reserved huge pages where there are any")                                        \
    X(OPENCL_SVM, "MEMSPAN_OPENCL_SVM", TEXT, "all|none|{coarse,fine,atomics}", "all",             \
      "which shared virtual memory to use of what OpenCL devices offer")                           \
    X(HIP_GRAIN, "MEMSPAN_HIP_GRAIN", CHOICE, "coarse|fine", "coarse",                             \
      "device and managed memory of HIP: coarse is faster, one side uses it at a time; fine: all " \
      "at once")                                                                                   \
    X(EMU_MEMORY, "MEMSPAN_EMU_MEMORY", SIZE, "size", "1g",                                        \
      "how much memory each emulated device has")                                                  \
    X(EMU_PEERS, "MEMSPAN_EMU_PEERS", TEXT, "all|none|A-B,A>B", "all",                             \
      "which emulated devices reach the memory of which others: each the other's, or A that of B") \
    X(EMU_OFFLOAD, "MEMSPAN_EMU_OFFLOAD", CHOICE, "off|on", "on",                                  \
      "emulated devices stand in for the OpenMP runtime's, where these are the host's processors") \
    X(LEVEL_ZERO_TILES, "MEMSPAN_LEVEL_ZERO_TILES", CHOICE, "whole|each", "whole",                 \
      "whether a card of several tiles is one Level Zero device, or each tile is one of its own")  \
    X(LEVEL_ZERO_PINNED, "MEMSPAN_LEVEL_ZERO_PINNED", CHOICE, "reported|concurrent|atomic",        \
      "reported",                                                                                  \
      "what host and device may do to pinned host memory at once: what the Level Zero driver "     \
      "reports, loads and stores, or atomics as well")                                             \
    X(OMP_ALLOCATOR, "OMP_ALLOCATOR", TEXT, "ALLOCATOR or SPACE[:TRAIT=VALUE,...]", "",            \
      "the initial default allocator (OpenMP)")                                                    \
    X(OMP_PLACES, "OMP_PLACES", TEXT, "places", "",                                                \
      "what place numbers of preferred_place mean (OpenMP)")                                       \
    X(HWLOC_XMLFILE, "HWLOC_XMLFILE", SECURE_TEXT, "file", "",                                     \
      "a topology to describe instead of this machine's; memory is then not bound (hwloc)")        \
    X(HWLOC_SYNTHETIC, "HWLOC_SYNTHETIC", SECURE_TEXT, "description", "",                          \
      "a topology to invent instead of reading this machine's (hwloc)")                            \
    X(HWLOC_FSROOT, "HWLOC_FSROOT", SECURE_TEXT, "folder", "",                                     \
      "where /proc and /sys of the topology to describe lie (hwloc)")

enum msp_option {
#define OPTION_ENUM(symbol, variable, form, form_text, fallback, help) MSP_OPTION_##symbol,
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
const char *msp_option_text(enum msp_option option);

/* Index of the word in force of a CHOICE. */
int msp_option_choice(enum msp_option option);

/* The value in force of a SIZE. */
uint64_t msp_option_size(enum msp_option option);

/* True when the environment set it (and the value stands). */
bool msp_option_is_set(enum msp_option option);

/* The option with that variable name, or MSP_OPTION_COUNT. */
enum msp_option msp_option_find(const char *variable);

/* Called by the parser of a TEXT: the value is malformed. Records the problem (once), logs it,
 * puts the default in force, and leaves MEMSPAN_ERR_CONFIG as the thread's error, which it returns.
 */
memspan_status_t msp_option_refuse(enum msp_option option, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* For tests: read the environment again. Not thread-safe. */
void msp_option_reload(void);

#endif /* MEMSPAN_CORE_BASE_OPTION_H */
