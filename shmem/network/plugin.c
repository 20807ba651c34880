/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.c: network drivers as plug-ins: files shmem_NAME.so in the folders of SHMEMX_DRIVER_PATH,
 * then in the folder memspan beside this library. A plug-in stays loaded until the process ends,
 * because UCX and libfabric have hooks and threads that do not survive dlclose(). */

#include "shmem/network/plugin.h"
#include "core/base/process.h"
#include "shmem/bootstrap.h"
#include "shmem/network/message.h"
#include "shmem/network/network.h"
#include "shmem/option.h"
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 32, REASON_BYTES = 320 };

static char loaded_name[NAME_BYTES] = "network"; /* for error records */

/* The library that a driver is linked to. */
static const struct library {
    const char *driver;
    const char *remedy;       /* for those that miss it */
    const char *variables[2]; /* of its own, which name a network */
} libraries[] = {
    {"ucx", "install UCX (Debian: libucx0; Red Hat: ucx)", {"UCX_TLS=", "UCX_NET_DEVICES="}},
    {"ofi",
     "install libfabric (Debian: libfabric1; Red Hat: libfabric)",
     {"FI_PROVIDER=", "FI_TCP_IFACE="}},
};

static const struct library *library_of(const char *driver)
{
    size_t i;

    for (i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (strcmp(libraries[i].driver, driver) == 0) {
            return &libraries[i];
        }
    }
    return NULL;
}

static const char *remedy_of(const char *driver)
{
    const struct library *library = library_of(driver);

    return (library != NULL) ? library->remedy : "install the library that it is linked to";
}

/* ---- whether there is a network for it ---- */

static bool has_entries(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool is_found = false;

    while ((folder != NULL) && !is_found && ((entry = readdir(folder)) != NULL)) {
        is_found = (entry->d_name[0] != '.');
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return is_found;
}

bool msp_network_driver_has_rdma(const char *name)
{
    const struct library *library = library_of(name);
    size_t i;

    for (i = 0; (library != NULL) && (i < 2); i++) {
        size_t cursor = 0;

        if (msp_variable_next(library->variables[i], &cursor) != NULL) {
            return true;
        }
    }
    /* InfiniBand, RoCE, Omni-Path, EFA; Slingshot. */
    return (library == NULL) || has_entries("/sys/class/infiniband") ||
           has_entries("/sys/class/cxi");
}

/* ---- where plug-ins are ---- */

/* Part of a file's name, and nothing else. */
static bool is_name(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return (length > 0) && (length < NAME_BYTES) && (name[length] == '\0');
}

/* "/memspan" behind the folder of this library, links resolved: libsma.so may be a link from
 * elsewhere. "" where that cannot be found out. */
static void find_own_folder(char folder[PATH_MAX])
{
    struct link_map *map = NULL;
    char origin[PATH_MAX];
    char file[PATH_MAX + 256];
    Dl_info info;
    const char *base;
    char *end;

    folder[0] = '\0';
    if ((dladdr1(loaded_name, &info, (void **)&map, RTLD_DL_LINKMAP) == 0) || (map == NULL) ||
        (dlinfo(map, RTLD_DI_ORIGIN, origin) != 0)) {
        return;
    }
    base = strrchr(map->l_name, '/');
    base = (base != NULL) ? (base + 1) : map->l_name;
    snprintf(file, sizeof file, "%s/%.255s", origin, base);
    if (realpath(file, folder) == NULL) {
        folder[0] = '\0';
        return;
    }
    end = strrchr(folder, '/');
    snprintf(end, PATH_MAX - (size_t)(end - folder), "/memspan");
}

/* The plug-in's file. False: there is none, and *path is where it would be. */
static bool find_file(const char *name, char *path, size_t path_bytes)
{
    const char *folders = msp_shmem_option_text(MEMSPAN_SHMEM_DRIVER_PATH);
    char own[PATH_MAX];

    while (folders[0] != '\0') {
        size_t length = strcspn(folders, ":");

        snprintf(path, path_bytes, "%.*s/shmem_%s.so", (int)length, folders, name);
        if ((length > 0) && (access(path, R_OK) == 0)) {
            return true;
        }
        folders += length + ((folders[length] == ':') ? 1 : 0);
    }
    find_own_folder(own);
    snprintf(path, path_bytes, "%s/shmem_%s.so", own, name);
    return access(path, R_OK) == 0;
}

bool msp_network_driver_exists(const char *name)
{
    char path[PATH_MAX + 64];

    return is_name(name) && find_file(name, path, sizeof path);
}

/* ---- loading ---- */

static memspan_status_t refuse_version(const char *path, const struct msp_network_driver *driver)
{
    if (driver == NULL) {
        return memspan_error(MEMSPAN_ERR_ABI, "%s serves no version %d of network drivers", path,
                             MSP_NETWORK_DRIVER_VERSION);
    }
    memspan_error(MEMSPAN_ERR_ABI, "%s is a network driver of version %u, this library takes %d",
                  path, driver->version, MSP_NETWORK_DRIVER_VERSION);
    return msp_error_hint("install the plug-ins of Memspan %s", memspan_version());
}

static memspan_status_t load_file(const char *name, const char *path,
                                  const struct msp_network_services *services,
                                  const struct msp_network_driver **driver_p)
{
    const struct msp_network_driver *(*entry)(const struct msp_network_services *);
    const struct msp_network_driver *driver;
    void *handle;

    /* PSM, below libfabric, takes the program's signals when it is loaded, to print a backtrace;
     * the status of the process is 1 then. The user's settings stay. */
    (void)setenv("IPATH_NO_BACKTRACE", "1", 0);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        char reason[REASON_BYTES];

        snprintf(reason, sizeof reason, "%s", dlerror());
        return msp_error_native(MEMSPAN_ERR_OFF, name, "dlopen", 0, reason, remedy_of(name),
                                "the network driver %s does not load", path);
    }
    *(void **)&entry = dlsym(handle, MSP_NETWORK_DRIVER_ENTRY);
    if (entry == NULL) {
        return memspan_error(MEMSPAN_ERR_ABI, "%s is no network driver: it has no %s", path,
                             MSP_NETWORK_DRIVER_ENTRY);
    }
    snprintf(loaded_name, sizeof loaded_name, "%s", name);
    driver = entry(services);
    if ((driver == NULL) || (driver->version != MSP_NETWORK_DRIVER_VERSION)) {
        return refuse_version(path, driver);
    }
    *driver_p = driver;
    return MEMSPAN_OK;
}

memspan_status_t msp_network_driver_load(const char *name,
                                         const struct msp_network_services *services,
                                         const struct msp_network_driver **driver_p)
{
    char path[PATH_MAX + 64];

    if (!msp_environment_is_trusted()) {
        memspan_error(MEMSPAN_ERR_OFF, "no network driver is loaded: %s", MSP_UNTRUSTED_REASON);
        return msp_error_hint("%s", MSP_UNTRUSTED_HINT);
    }
    if (!is_name(name)) {
        memspan_error(MEMSPAN_ERR_CONFIG, "\"%s\" is no name of a transport", name);
        return msp_error_hint("names are smp, ucx, ofi and tcp");
    }
    if (!find_file(name, path, sizeof path)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no transport %s: no file %s", name, path);
        return msp_error_hint("build Memspan where the headers of UCX (libucx-dev) or libfabric "
                              "(libfabric-dev) are, or name its folder in SHMEMX_DRIVER_PATH");
    }
    return load_file(name, path, services, driver_p);
}

memspan_status_t msp_network_driver_fail(memspan_status_t status, const char *call,
                                         long native_code, const char *native_text,
                                         const char *hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    status = msp_error_native_va(status, loaded_name, call, native_code, native_text, hint, format,
                                 args);
    va_end(args);
    return status;
}

/* ---- services of the driver ---- */

static void note(const char *format, ...)
{
    va_list arguments;
    char text[512];

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    msp_debug_note("%s", text);
}

static void warn(const char *format, ...)
{
    static int key;
    va_list arguments;
    char text[512];

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    msp_warn_once(&key, "%s", text);
}

static void peer_failed(int pe, const char *reason)
{
    if (!atomic_load(&msp_network.is_closing)) {
        msp_bootstrap_let_launcher_speak();
        msp_fatal("PE %d on %s has failed, or the path to it: %s", pe, msp_network_card_host(pe),
                  reason);
    }
}

const struct msp_network_services msp_network_services = {
    .version     = MSP_NETWORK_DRIVER_VERSION,
    .fail        = msp_network_driver_fail,
    .note        = note,
    .warn        = warn,
    .receive     = msp_network_receive,
    .peer_failed = peer_failed,
};
