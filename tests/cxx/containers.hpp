/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_CXX_CONTAINERS_HPP
#define MEMSPAN_TESTS_CXX_CONTAINERS_HPP

/* The containers over memory that the host reaches, whatever its kind: the values come back, all of
 * the memory is the allocator's, and none is left. */

#include "check.hpp"
#include <deque>
#include <list>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

template <class T> using vector_of = std::vector<T, memspan::allocator<T>>;

inline void check_sequences(memspan_allocator_h handle)
{
    memspan::allocator<int> from(handle);
    vector_of<int> numbers(1000, 0, from);
    std::list<int, memspan::allocator<int>> list(from);
    std::deque<int, memspan::allocator<int>> deque(from);
    std::vector<bool, memspan::allocator<bool>> bits(from); /* rebinds to words */

    std::iota(numbers.begin(), numbers.end(), 1);
    for (int i = 0; i < 5000; i++) {
        numbers.push_back(0);
        bits.push_back(i % 3 == 0);
    }
    CHECK(std::accumulate(numbers.begin(), numbers.end(), 0) == 500500);
    CHECK(bits[4998] && !bits[4999]);
    CHECK(owner_of(numbers.data()) == handle);
    numbers.resize(10);
    numbers.shrink_to_fit();
    CHECK(numbers.back() == 10);

    for (int i = 0; i < 300; i++) {
        list.push_front(i);
        deque.push_back(i);
    }
    list.remove_if([](int i) { return i % 2 == 0; });
    CHECK(list.size() == 150 && list.front() == 299);
    CHECK(deque[299] == 299);
    CHECK(owner_of(&list.front()) == handle);
    CHECK(owner_of(&deque.front()) == handle);
}

inline void check_maps(memspan_allocator_h handle)
{
    using pair = std::pair<const int, double>;
    memspan::allocator<pair> from(handle);
    std::map<int, double, std::less<int>, memspan::allocator<pair>> ordered(from);
    std::unordered_map<int, double, std::hash<int>, std::equal_to<int>, memspan::allocator<pair>>
        hashed(1, std::hash<int>(), std::equal_to<int>(), from);
    std::basic_string<char, std::char_traits<char>, memspan::allocator<char>> text(from);

    for (int i = 0; i < 500; i++) {
        ordered.emplace(499 - i, i);
        hashed[i] = i;
        text += "long enough to need memory ";
    }
    ordered.erase(0);
    CHECK(ordered.size() == 499 && ordered.begin()->second == 498.0);
    CHECK(hashed.at(499) == 499.0);
    CHECK(owner_of(&*ordered.begin()) == handle);
    CHECK(owner_of(&*hashed.begin()) == handle);
    CHECK(owner_of(text.data()) == handle);
}

inline void check_pmr(memspan_allocator_h handle)
{
    memspan::memory_resource memory(handle);
    memspan::memory_resource twin(handle);
    std::pmr::monotonic_buffer_resource other;

    CHECK(memory == twin);
    CHECK(memory != other && !(memory == *std::pmr::new_delete_resource()));
    {
        std::pmr::vector<std::pmr::string> words(&memory);
        std::pmr::unsynchronized_pool_resource pool(&memory);
        std::pmr::map<int, int> map(&pool);

        for (int i = 0; i < 200; i++) {
            words.emplace_back("a word that does not fit into the string itself");
            map[i] = i;
        }
        CHECK(owner_of(words.data()) == handle);
        CHECK(owner_of(words[7].data()) == handle);
        CHECK(owner_of(&*map.begin()) == handle);
    }
    void *nothing = memory.allocate(0, 1);
    void *page    = memory.allocate(100, 4096);
    CHECK(nothing != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(page) % 4096 == 0);
    memory.deallocate(nothing, 0, 1);
    memory.deallocate(page, 100, 4096);
}

inline void check_containers(memspan_allocator_h handle)
{
    check_sequences(handle);
    check_maps(handle);
    check_pmr(handle);
    CHECK(is_empty(handle));
}

#endif /* MEMSPAN_TESTS_CXX_CONTAINERS_HPP */
