/* SPDX-License-Identifier: BSD-3-Clause */
/* umf_suites.cpp: UMF's own suites of providers and of pools, from its sources, over Memspan.
 *
 * The suites are classes of UMF's tests, of which each set of parameters makes an instance. lane.sh
 * selects the instances of this file by their names, and lists the cases that are about UMF's
 * provider of the operating system. */

#include "pool.hpp"
#include "provider.hpp"

#include "poolFixtures.hpp"
#include "provider_os_memory.cpp"

#include <memspan/umf.h>
#include <umf/pools/pool_disjoint.h>
#include <umf/pools/pool_scalable.h>

static const umf_memory_provider_ops_t provider_ops = memspan_umf_provider_ops();
static const umf_memory_pool_ops_t pool_ops         = memspan_umf_pool_ops();

static void *host_handle()
{
    return MEMSPAN_ALLOCATOR_DEFAULT;
}

static void *disjoint_params()
{
    umf_disjoint_pool_params_handle_t params = nullptr;

    EXPECT_EQ(umfDisjointPoolParamsCreate(&params), UMF_RESULT_SUCCESS);
    umfDisjointPoolParamsSetSlabMinSize(params, 4096);
    umfDisjointPoolParamsSetMaxPoolableSize(params, 4096);
    umfDisjointPoolParamsSetCapacity(params, 4);
    umfDisjointPoolParamsSetMinBucketSize(params, 64);
    return params;
}

static umf_result_t disjoint_params_destroy(void *params)
{
    return umfDisjointPoolParamsDestroy(static_cast<umf_disjoint_pool_params_handle_t>(params));
}

static const poolCreateExtParams own{&pool_ops,     host_handle, nullptr,
                                     &provider_ops, host_handle, nullptr};
static const poolCreateExtParams proxy{umfProxyPoolOps(), nullptr,     nullptr,
                                       &provider_ops,     host_handle, nullptr};
static const poolCreateExtParams disjoint{
    umfDisjointPoolOps(), disjoint_params, disjoint_params_destroy,
    &provider_ops,        host_handle,     nullptr};
static const poolCreateExtParams scalable{umfScalablePoolOps(), nullptr,     nullptr,
                                          &provider_ops,        host_handle, nullptr};

INSTANTIATE_TEST_SUITE_P(memspanProvider, umfProviderTest,
                         ::testing::Values(providerCreateExtParams{&provider_ops, host_handle()}));
INSTANTIATE_TEST_SUITE_P(memspanPool, umfPoolTest, ::testing::Values(own));
INSTANTIATE_TEST_SUITE_P(memspanUnder, umfPoolTest, ::testing::Values(proxy, disjoint, scalable));
INSTANTIATE_TEST_SUITE_P(memspanUnder, umfMultiPoolTest,
                         ::testing::Values(proxy, disjoint, scalable));
