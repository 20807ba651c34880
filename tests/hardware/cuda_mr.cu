// SPDX-License-Identifier: BSD-3-Clause
// cuda_mr.cu: <memspan/cuda_mr.hpp> compiled by nvcc with its own CCCL, on memory that kernels use
// in the order of a stream, and the cost of a pair on it. Ends with 1 when a kernel's result is
// wrong, 77 without a device.

#include <memspan/cuda_mr.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

enum { COUNT = 1 << 20, THREADS = 256, ROUNDS = 100, TIMES = 21, PAIRS = 500, BYTES = 65536 };

__global__ void fill(int *numbers, int first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    numbers[i] = first + i;
}

// Work of the stream may still be under way where a block is freed.
static bool is_right(memspan::device_resource &resource, cudaStream_t stream, int round)
{
    static std::vector<int> host(COUNT);
    constexpr std::size_t size_bytes = COUNT * sizeof(int);
    void *memory = resource.allocate_async(size_bytes, 256, cuda::stream_ref(stream));

    fill<<<COUNT / THREADS, THREADS, 0, stream>>>(static_cast<int *>(memory), round);
    cudaMemcpyAsync(host.data(), memory, size_bytes, cudaMemcpyDeviceToHost, stream);
    resource.deallocate_async(memory, size_bytes, 256, cuda::stream_ref(stream));
    cudaStreamSynchronize(stream);
    for (int i = 0; i < COUNT; i++) {
        if (host[i] != round + i) {
            return false;
        }
    }
    return cudaGetLastError() == cudaSuccess;
}

static double pair_ns(memspan::device_resource &resource, cudaStream_t stream)
{
    std::vector<double> times;

    for (int n = 0; n < TIMES; n++) {
        auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < PAIRS; i++) {
            void *memory = resource.allocate_async(BYTES, 256, cuda::stream_ref(stream));
            resource.deallocate_async(memory, BYTES, 256, cuda::stream_ref(stream));
        }
        std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
        times.push_back(time.count() / PAIRS);
    }
    std::sort(times.begin(), times.end());
    return times[TIMES / 2];
}

int main()
{
    cudaStream_t stream;
    cudaError_t code = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    if (code != cudaSuccess) {
        std::printf("skipped: no device for CUDA's runtime: %s\n", cudaGetErrorString(code));
        return 77;
    }
    memspan::unique_allocator allocator({0});
    memspan::device_resource resource{allocator};
    for (int round = 0; round < ROUNDS; round++) {
        if (!is_right(resource, stream, round)) {
            std::printf("WRONG: round %d: %s\n", round, cudaGetErrorString(cudaGetLastError()));
            return 1;
        }
    }
    std::printf("right: kernels on memory of cuda_mr.hpp; a pair of 64 KiB %.1f ns\n",
                pair_ns(resource, stream));
    memspan::stream_ends(allocator.get(), stream);
    return (cudaStreamDestroy(stream) == cudaSuccess) ? 0 : 1;
}
