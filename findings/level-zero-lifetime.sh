#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Level Zero's check of handles refuses every command on an immediate command list.
#
# Expected: the validation layer that a developer switches on to find wrong calls
# (ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_HANDLE_LIFETIME=1) lets right ones pass.
# Seen: it keeps for each list whether it is open, and holds an immediate list, which is always
# ready for commands, for a closed one. zeCommandListAppendBarrier() on it is 0x78000004, an
# invalid argument; the same call on a regular list, and on both without the check, is 0. The
# driver never sees the call. Runtimes that use immediate lists alone fail at their first command.
#
# Versions: Debian sid, libze1 and libze-dev 1.32.0-1, gcc-16 16.2.0-4. The same with 1.20.6-1 of
# Debian 13. No GPU: the driver below answers every call with success, so that the loader speaks.
# Output: the lines of "want" below.
# Needs: mmdebstrap, and root or a user with subordinate ids (/etc/subuid).
set -eu
want='no check: regular list 0, immediate list 0
check of handles: regular list 0, immediate list 0x78000004'

RUN=$(cat <<'END'
cd /tmp
cat >driver.c <<'C'
#include <level_zero/ze_ddi.h>
static int handle[5];
#define ENTRY(name, result, ...) \
    static ze_result_t name(__VA_ARGS__) { result; return ZE_RESULT_SUCCESS; }
ENTRY(init, (void)flags, ze_init_flags_t flags)
ENTRY(drivers, *n = 1; if (d) *d = (void *)&handle[0], uint32_t *n, ze_driver_handle_t *d)
ENTRY(devices, *n = 1; if (d) *d = (void *)&handle[1], ze_driver_handle_t h, uint32_t *n,
      ze_device_handle_t *d)
ENTRY(context, *c = (void *)&handle[2], ze_driver_handle_t h, const ze_context_desc_t *d,
      ze_context_handle_t *c)
ENTRY(regular, *l = (void *)&handle[3], ze_context_handle_t c, ze_device_handle_t d,
      const ze_command_list_desc_t *desc, ze_command_list_handle_t *l)
ENTRY(immediate, *l = (void *)&handle[4], ze_context_handle_t c, ze_device_handle_t d,
      const ze_command_queue_desc_t *desc, ze_command_list_handle_t *l)
ENTRY(barrier, (void)l, ze_command_list_handle_t l, ze_event_handle_t e, uint32_t n,
      ze_event_handle_t *w)
#define TABLE(Name, name, ...) \
    ze_result_t zeGet##Name##ProcAddrTable(ze_api_version_t v, ze_##name##_dditable_t *table) \
    { *table = (ze_##name##_dditable_t){ __VA_ARGS__ }; return ZE_RESULT_SUCCESS; }
TABLE(Global, global, .pfnInit = init)
TABLE(Driver, driver, .pfnGet = drivers)
TABLE(Device, device, .pfnGet = devices)
TABLE(Context, context, .pfnCreate = context)
TABLE(CommandList, command_list, .pfnCreate = regular, .pfnCreateImmediate = immediate,
      .pfnAppendBarrier = barrier)
C
cat >lists.c <<'C'
#include <level_zero/ze_api.h>
#include <stdio.h>
int main(void)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t regular, immediate;
    const ze_context_desc_t about = { ZE_STRUCTURE_TYPE_CONTEXT_DESC };
    const ze_command_list_desc_t list = { ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
    const ze_command_queue_desc_t queue = { ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC };
    if (zeInit(0) || zeDriverGet(&one, &driver) || zeDeviceGet(driver, &one, &device) ||
        zeContextCreate(driver, &about, &context) ||
        zeCommandListCreate(context, device, &list, &regular) ||
        zeCommandListCreateImmediate(context, device, &queue, &immediate))
        return 1;
    printf("regular list %#x, ", zeCommandListAppendBarrier(regular, NULL, 0, NULL));
    printf("immediate list %#x\n", zeCommandListAppendBarrier(immediate, NULL, 0, NULL));
}
C
gcc-16 -shared -fPIC driver.c -o libdriver.so
gcc-16 lists.c -o lists -lze_loader
export ZE_ENABLE_ALT_DRIVERS=/tmp/libdriver.so
echo "no check: $(./lists)"
export ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_HANDLE_LIFETIME=1
echo "check of handles: $(./lists)"
END
)
export RUN
packages=base-files,dash,coreutils,libc6-dev,gcc-16=16.2.0-4,libze-dev=1.32.0-1,libze1=1.32.0-1
# An archive of old versions has lists that have expired.
# shellcheck disable=SC2016
got=$(mmdebstrap --quiet --variant=extract --format=null --include="$packages" \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --extract-hook='chroot "$1" env -i PATH="$PATH" HOME=/tmp sh -euc "$RUN"' sid /dev/null \
    http://deb.debian.org/debian 2>&1 || true)
echo "$got"
[ "$got" = "$want" ]
