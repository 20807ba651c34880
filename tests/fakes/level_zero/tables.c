/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.c: what the loader asks a driver for. Tables of unused calls are empty: calling
 * one of them crashes, which a test would notice. */

#include "fake.h"
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>
#include <string.h>

static void fill_nothing(void *table)
{
}

#define TABLE(name, type, fill)                                                                    \
    FAKE_API ze_result_t name(ze_api_version_t version, type *table);                              \
    ze_result_t name(ze_api_version_t version, type *table)                                        \
    {                                                                                              \
        if (table == NULL) {                                                                       \
            return ZE_RESULT_ERROR_INVALID_NULL_POINTER;                                           \
        }                                                                                          \
        if ((uint32_t)version >> 16 != 1) {                                                        \
            return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;                                            \
        }                                                                                          \
        memset(table, 0, sizeof(*table));                                                          \
        fill(table);                                                                               \
        return ZE_RESULT_SUCCESS;                                                                  \
    }

TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t, fake_fill_global)
TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t, fake_fill_driver)
TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t, fake_fill_device)
TABLE(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t, fill_nothing)
TABLE(zeGetContextProcAddrTable, ze_context_dditable_t, fake_fill_context)
TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t, fill_nothing)
TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t, fake_fill_list)
TABLE(zeGetImageProcAddrTable, ze_image_dditable_t, fill_nothing)
TABLE(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t, fill_nothing)
TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t, fill_nothing)
TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t, fake_fill_event_pool)
TABLE(zeGetEventProcAddrTable, ze_event_dditable_t, fake_fill_event)
TABLE(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t, fill_nothing)
TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t, fake_fill_module)
TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t, fake_fill_build_log)
TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t, fake_fill_kernel)
TABLE(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t, fill_nothing)
TABLE(zeGetSamplerProcAddrTable, ze_sampler_dditable_t, fill_nothing)
TABLE(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t, fill_nothing)
TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t, fake_fill_mem)
TABLE(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t, fill_nothing)
TABLE(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t, fill_nothing)
TABLE(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t, fill_nothing)
TABLE(zetGetDeviceProcAddrTable, zet_device_dditable_t, fill_nothing)
TABLE(zetGetContextProcAddrTable, zet_context_dditable_t, fill_nothing)
TABLE(zetGetCommandListProcAddrTable, zet_command_list_dditable_t, fill_nothing)
TABLE(zetGetModuleProcAddrTable, zet_module_dditable_t, fill_nothing)
TABLE(zetGetKernelProcAddrTable, zet_kernel_dditable_t, fill_nothing)
TABLE(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t, fill_nothing)
TABLE(zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t, fill_nothing)
TABLE(zetGetMetricProcAddrTable, zet_metric_dditable_t, fill_nothing)
TABLE(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t, fill_nothing)
TABLE(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t, fill_nothing)
TABLE(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t, fill_nothing)
TABLE(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t, fill_nothing)
TABLE(zetGetDebugProcAddrTable, zet_debug_dditable_t, fill_nothing)
TABLE(zesGetDriverProcAddrTable, zes_driver_dditable_t, fill_nothing)
TABLE(zesGetDeviceProcAddrTable, zes_device_dditable_t, fill_nothing)
TABLE(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t, fill_nothing)
TABLE(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t, fill_nothing)
TABLE(zesGetPowerProcAddrTable, zes_power_dditable_t, fill_nothing)
TABLE(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t, fill_nothing)
TABLE(zesGetEngineProcAddrTable, zes_engine_dditable_t, fill_nothing)
TABLE(zesGetStandbyProcAddrTable, zes_standby_dditable_t, fill_nothing)
TABLE(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t, fill_nothing)
TABLE(zesGetMemoryProcAddrTable, zes_memory_dditable_t, fill_nothing)
TABLE(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t, fill_nothing)
TABLE(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t, fill_nothing)
TABLE(zesGetPsuProcAddrTable, zes_psu_dditable_t, fill_nothing)
TABLE(zesGetFanProcAddrTable, zes_fan_dditable_t, fill_nothing)
TABLE(zesGetLedProcAddrTable, zes_led_dditable_t, fill_nothing)
TABLE(zesGetRasProcAddrTable, zes_ras_dditable_t, fill_nothing)
TABLE(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t, fill_nothing)
