# SPDX-License-Identifier: BSD-3-Clause
# Fabrics: what an OpenSHMEM test runs over besides this host's shared memory, as NAME-FABRIC-nPES-hPES_OF_A_HOST.
#
#   ucx-sm ucx-tcp       the plug-in for UCX, over its shared memory and over TCP
#   ofi-shm ofi-tcp      the plug-in for libfabric, providers shm and tcp (tcp;ofi_rxm with libfabric 1)
#   tcp                  the plug-in for the kernel's TCP
#   judge judge-ordered  the same and others behind a driver that is as late, full and unordered as the contract of
#   judge-ucx judge-ofi  drivers allows, or, by its seed, as OpenSHMEM allows (network/judge_driver.c)
#   two-hosts-ucx        two hosts (two_hosts.sh), PEs started by mpirun
#   two-hosts-ofi two-hosts-tcp
#   roce-ucx roce-ofi    RDMA verbs, in the virtual machine of roce.sh alone
#
# All but two-hosts-... divide this machine's PEs into hosts (SHMEMX_TRANSPORT). The table below says what
# each runs: CI, one run of the tests that CI_TESTS names and CI_EXCEPT does not; FULL, every test with many
# numbers of PEs, where MEMSPAN_FABRICS lists the fabric: `./cmake/bootstrap judge`, `network`, `two-hosts`, `roce`.
set(MEMSPAN_FABRICS "" CACHE STRING "Fabrics over which every OpenSHMEM test runs, with many numbers of PEs")
set(MEMSPAN_FABRIC_NAMES "")
set(two_hosts ${CMAKE_CURRENT_LIST_DIR}/two_hosts.sh)
set(test_drivers ${PROJECT_BINARY_DIR}/tests/shmem/network/drivers)

# fabric(NAME TRANSPORT name CI run... FULL run... [CI_TESTS regex] [CI_EXCEPT regex] [FULL_TESTS regex] [FULL_EXCEPT regex]
#      [PLUGIN name] [ENVIRONMENT VAR=value...] [LABELS ...] [TIMEOUT s] [TWO_HOSTS])
# A run is PES:PES OF A HOST[:SEED]; with TWO_HOSTS: PES:MAP of two_hosts.sh.
function(fabric name)
  cmake_parse_arguments(ARG "TWO_HOSTS" "TRANSPORT;CI_TESTS;CI_EXCEPT;FULL_TESTS;FULL_EXCEPT;PLUGIN;TIMEOUT"
    "CI;FULL;ENVIRONMENT;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 240)
  endif()
  set(tests "${ARG_CI_TESTS}")
  set(except "${ARG_CI_EXCEPT}")
  set(runs ${ARG_CI})
  if(name IN_LIST MEMSPAN_FABRICS)
    set(tests ".")
    set(except "${ARG_FULL_EXCEPT}")
    if(ARG_FULL_TESTS)
      set(tests "${ARG_FULL_TESTS}")
    endif()
    set(runs ${ARG_FULL})
  endif()
  set(MEMSPAN_FABRIC_NAMES ${MEMSPAN_FABRIC_NAMES} ${name} PARENT_SCOPE)
  foreach(field IN ITEMS TRANSPORT PLUGIN ENVIRONMENT LABELS TIMEOUT TWO_HOSTS)
    set(fabric_${name}_${field} "${ARG_${field}}" PARENT_SCOPE)
  endforeach()
  set(fabric_${name}_TESTS "${tests}" PARENT_SCOPE)
  set(fabric_${name}_EXCEPT "${except}" PARENT_SCOPE)
  set(fabric_${name}_RUNS "${runs}" PARENT_SCOPE)
endfunction()

# What CI has time for: every kind of operation over TCP, the rest once.
set(ci_tcp "^shmem-(calls|call-threads|rma|rows|unquiet|many-contexts|order|once|process|leaves|streams|threads|lock|collective|team-color|kind-emu|asleep-sleep|idle|idle-job-wait|counters|edges|offload-mapped|killed)$")
set(ci_memory "^shmem-(rma|once|asleep-compute)$")
set(ci_two_hosts "^shmem-(once|process|counters|fortran-stencil)$")
set(ci_judge_ordered "^shmem-(rma|rows|quiets|order|many-contexts|lock|edges)$")
set(ci_judge_others "^shmem-edges$")
# What is not of the order of operations, or has a twin that differs in something else.
string(JOIN "|" not_judged "launch" "shmem-(killed|leaves|idle|asleep|counters|interpose|large-model|network-scale|exits)"
  "-(opencl|checked|asked)$" "collective-wrong" "shmem-kind-(host|system|huge|pinned|coherent|managed)$")
set(hooks "")
if(MEMSPAN_SANITIZE)
  set(ci_memory "")
  set(ci_two_hosts "") # PMIx is not built for sanitizers
  set(hooks UCX_MEM_EVENTS=n) # UCX patches functions of memory that the sanitizers replace
endif()
set(network_runs 2:1 3:1 5:2 8:3)
fabric(ucx-sm TRANSPORT ucx PLUGIN ucx LABELS network CI_TESTS "${ci_memory}" CI 3:1 FULL ${network_runs}
  ENVIRONMENT UCX_TLS=sm ${hooks})
fabric(ucx-tcp TRANSPORT ucx PLUGIN ucx LABELS network CI_TESTS "${ci_tcp}" CI 4:2 FULL ${network_runs}
  ENVIRONMENT UCX_TLS=tcp ${hooks})
# libfabric's provider of shared memory, which is for tests alone, handles SIGSEGV. Version 1.17 of it
# does not complete puts of 20,000 bytes by two threads at once; without a descriptor PEs poll 25 times a second.
fabric(ofi-shm TRANSPORT ofi PLUGIN ofi LABELS network CI_TESTS "${ci_memory}" CI 3:1 FULL ${network_runs}
  FULL_EXCEPT "^shmem-(leaves|quiets|idle-job-(barrier|wait))$" ENVIRONMENT FI_PROVIDER=shm)
fabric(ofi-tcp TRANSPORT ofi PLUGIN ofi LABELS network CI_TESTS "${ci_tcp}" CI 4:2 FULL ${network_runs}
  ENVIRONMENT FI_PROVIDER=tcp)
fabric(tcp TRANSPORT tcp PLUGIN tcp LABELS network CI_TESTS "${ci_tcp}" CI 4:2 FULL ${network_runs})
# A seed is of judge_driver.c: 1 and 2 are other limits, with 4 messages pass each other.
set(judge LABELS network judge ENVIRONMENT SHMEMX_DRIVER_PATH=${test_drivers} ${hooks})
fabric(judge TRANSPORT judge_tcp PLUGIN tcp ${judge} CI_TESTS "." CI_EXCEPT "${not_judged}" CI 3:1:5
  FULL 2:1:0 2:1:1 2:1:2 2:1:3 3:1:4 5:2:5 4:1:6 8:1:7 8:3:5)
fabric(judge-ordered TRANSPORT judge_tcp PLUGIN tcp ${judge} CI_TESTS "${ci_judge_ordered}" CI 2:1:2)
# Registered in pieces, and not at all.
foreach(case IN ITEMS ucx:1m ofi:none)
  string(REPLACE ":" ";" part ${case})
  list(GET part 0 driver)
  list(GET part 1 register)
  fabric(judge-${driver} TRANSPORT judge_${driver} PLUGIN ${driver} ${judge} UCX_TLS=tcp FI_PROVIDER=tcp
    SHMEMX_REGISTER=${register}
    CI_TESTS "${ci_judge_others}" CI 2:1:3 FULL 2:1:0 2:1:1 2:1:2 2:1:3 3:1:4 5:2:5)
endforeach()
foreach(driver IN ITEMS ucx ofi tcp)
  fabric(two-hosts-${driver} TWO_HOSTS PLUGIN ${driver} LABELS two-hosts CI_TESTS "${ci_two_hosts}" CI 4:node
    FULL 2:node 4:node 4:slot ENVIRONMENT MEMSPAN_SHMEM_TRANSPORT=smp,${driver})
endforeach()

# The RMA, atomic and partition suites. UCX 1.13 connects rc_verbs by ud_verbs, whose check of addresses soft
# RoCE does not pass; libfabric sizes its queues by the universe, and those of soft RoCE are small. JOB_LIMIT_S is the
# limit of a job in a script.
set(roce_tests "^shmem-(rma|rows|order|once|threads|memory|waits|contexts|kind|partition|spaces|collective$|asleep|counters|device)")
if("roce-ucx" IN_LIST MEMSPAN_FABRICS)
  fabric(roce-ucx TRANSPORT ucx PLUGIN ucx LABELS roce TIMEOUT 1200 FULL 2:1 4:2 FULL_TESTS "${roce_tests}"
    ENVIRONMENT UCX_TLS=rc_verbs,ud_verbs UCX_NET_DEVICES=rxe0:1 UCX_UD_VERBS_ETH_DGID_CHECK=n JOB_LIMIT_S=300)
  fabric(roce-ofi TRANSPORT ofi PLUGIN ofi LABELS roce TIMEOUT 1200 FULL 2:1 4:2 FULL_TESTS "${roce_tests}"
    ENVIRONMENT FI_PROVIDER=verbs FI_UNIVERSE_SIZE=16 JOB_LIMIT_S=300)
endif()

# The command that a test of a fabric runs, in command_p: COMMAND, or where the fabric's plug-in is not built, a
# skip.
function(fabric_command fabric command_p)
  set(plugin ${fabric_${fabric}_PLUGIN})
  set(command ${ARGN})
  if(plugin AND NOT TARGET memspan-shmem-${plugin})
    memspan_skip(command "built without the plug-in shmem_${plugin}")
  endif()
  set(${command_p} "${command}" PARENT_SCOPE)
endfunction()

# Whether it runs that test.
function(fabric_takes fabric name takes_p)
  set(takes FALSE)
  if(fabric_${fabric}_TESTS AND name MATCHES "${fabric_${fabric}_TESTS}"
     AND NOT (fabric_${fabric}_EXCEPT AND name MATCHES "${fabric_${fabric}_EXCEPT}"))
    set(takes TRUE)
  endif()
  set(${takes_p} ${takes} PARENT_SCOPE)
endfunction()

# memspan_add_fabric_tests(NAME PROGRAM target [PES ...] [ARGUMENTS ...] [ENVIRONMENT ...] [LABELS ...]):
# a program over every fabric. A program that is for 2 PEs runs with 2.
function(memspan_add_fabric_tests name)
  cmake_parse_arguments(ARG "" "PROGRAM" "PES;ARGUMENTS;ENVIRONMENT;LABELS" ${ARGN})
  foreach(fabric IN LISTS MEMSPAN_FABRIC_NAMES)
    fabric_takes(${fabric} ${name} takes)
    if(NOT takes)
      continue()
    endif()
    foreach(run IN LISTS fabric_${fabric}_RUNS)
      string(REPLACE ":" ";" part ${run})
      list(GET part 0 count)
      list(GET part 1 division)
      if(ARG_PES STREQUAL "2")
        set(count 2)
        string(REPLACE 2 1 division ${division}) # a host each
      endif()
      if(fabric_${fabric}_TWO_HOSTS)
        set(twin ${name}-${fabric}-n${count}-${division})
        set(command ${two_hosts} run ${count})
        set(settings TWO_HOSTS_MAP=${division})
      else()
        set(twin ${name}-${fabric}-n${count}-h${division})
        set(command $<TARGET_FILE:oshrun> -n ${count})
        set(settings SHMEMX_TRANSPORT=${fabric_${fabric}_TRANSPORT}:${division})
        if(NOT count GREATER division)
          continue()
        endif()
      endif()
      list(LENGTH part fields)
      if(fields EQUAL 3)
        list(GET part 2 seed)
        string(APPEND twin -s${seed})
        list(APPEND settings JUDGE_SEED=${seed})
      endif()
      if(TEST ${twin})
        continue()
      endif()
      fabric_command(${fabric} command ${command} $<TARGET_FILE:${ARG_PROGRAM}> ${ARG_ARGUMENTS})
      memspan_add_test(${twin} COMMAND ${command} TIMEOUT ${fabric_${fabric}_TIMEOUT}
        ENVIRONMENT ${ARG_ENVIRONMENT} ${settings} ${fabric_${fabric}_ENVIRONMENT}
        LABELS shmem ${fabric} ${fabric_${fabric}_LABELS} ${ARG_LABELS})
    endforeach()
  endforeach()
endfunction()

# memspan_add_fabric_scripts(NAME COMMAND ... [LABELS ...] [TIMEOUT s]): a script that runs oshrun itself, as
# NAME-FABRIC; with the settings of the fabric, every PE a host.
function(memspan_add_fabric_scripts name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "COMMAND;LABELS" ${ARGN})
  foreach(fabric IN LISTS MEMSPAN_FABRIC_NAMES)
    fabric_takes(${fabric} ${name} takes)
    if(fabric_${fabric}_TWO_HOSTS OR NOT takes)
      continue()
    endif()
    fabric_command(${fabric} command ${ARG_COMMAND})
    set(limit ${fabric_${fabric}_TIMEOUT})
    if(ARG_TIMEOUT)
      set(limit ${ARG_TIMEOUT})
    endif()
    memspan_add_test(${name}-${fabric} COMMAND ${command} TIMEOUT ${limit}
      ENVIRONMENT SHMEMX_TRANSPORT=${fabric_${fabric}_TRANSPORT} JUDGE_SEED=5 ${fabric_${fabric}_ENVIRONMENT}
      LABELS shmem ${fabric} ${fabric_${fabric}_LABELS} ${ARG_LABELS})
  endforeach()
endfunction()
