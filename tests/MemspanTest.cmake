# SPDX-License-Identifier: BSD-3-Clause
# How tests are declared.
#
# memspan_add_test(NAME COMMAND command... [LABELS ...] [ENVIRONMENT VAR=value...] [TIMEOUT s]
#                  [FIXTURES name...] [SERIAL])
#   add_test() with what all of ours share: exit 77 is a skip, a time limit, the sanitizers'
#   settings, and no MEMSPAN_* or OMP_* variable of the caller's. TIMEOUT is what the test needs on
#   an idle machine; its limit, which ends what hangs, is several times that.
#
# memspan_add_criterion_test(NAME SOURCES file... [LIBRARIES target...] [ARGUMENTS arg...]
#                            [LABELS ...] [ENVIRONMENT ...] [TIMEOUT s] [SERIAL] [NO_TEST])
#   A Criterion program that sees only include/ and links libmemspan, and its test. NO_TEST: only
#   the program. One job at a time: ctest is what runs tests side by side.
#
# memspan_add_unit_test(NAME SOURCES file... [the same options])
#   The same with every object of the library linked in, so that it may open its own room.

# Criterion's worker processes share memory at addresses that the thread sanitizer reserves, and a
# leak that is found when a worker ends does not fail its test: with a sanitizer, runner/forked.c
# runs the same tests, each in a fork of the program, and its exit code counts.
set(MEMSPAN_TEST_RUNNER_FOLDER ${CMAKE_CURRENT_LIST_DIR}/runner)
if(MEMSPAN_SANITIZE)
  set(MEMSPAN_TEST_RUNNER ${MEMSPAN_TEST_RUNNER_FOLDER}/forked.c)
else()
  set(MEMSPAN_TEST_RUNNER ${MEMSPAN_TEST_RUNNER_FOLDER}/ended.c)
endif()

set(suppressions ${CMAKE_CURRENT_LIST_DIR}/sanitizers)
set(MEMSPAN_TEST_ENVIRONMENT "")
if(MEMSPAN_SANITIZE MATCHES "address")
  list(APPEND MEMSPAN_TEST_ENVIRONMENT
    ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
    LSAN_OPTIONS=suppressions=${suppressions}/lsan.supp:print_suppressions=0
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1)
elseif(MEMSPAN_SANITIZE MATCHES "thread")
  # atexit_sleep_ms: a second at the end of every process is minutes over a suite that forks.
  list(APPEND MEMSPAN_TEST_ENVIRONMENT
    TSAN_OPTIONS=suppressions=${suppressions}/tsan.supp:halt_on_error=0:exitcode=66:second_deadlock_stack=1:allocator_may_return_null=1:ignore_noninstrumented_modules=1:atexit_sleep_ms=0
    # UCX replaces madvise() in the C library, and a thread calls it when the sanitizer has forgotten it.
    UCX_MEM_MMAP_HOOK_MODE=none)
endif()

# What may be in a developer's shell and would change what is tested.
set(MEMSPAN_TEST_UNSET
  MEMSPAN_LIBRARY MEMSPAN_LOG MEMSPAN_DEVICES MEMSPAN_BACKENDS MEMSPAN_BACKEND_PATH MEMSPAN_DRIVER_TIMEOUT MEMSPAN_STATS MEMSPAN_DEBUG
  MEMSPAN_FALLBACK MEMSPAN_PLACEMENT MEMSPAN_TRACE MEMSPAN_TRACE_LIMIT MEMSPAN_CHUNK_SIZE MEMSPAN_HUGE_PAGES MEMSPAN_OPENCL_SVM
  MEMSPAN_CUDA_DMABUF MEMSPAN_HIP_GRAIN MEMSPAN_EMU_MEMORY MEMSPAN_EMU_PEERS MEMSPAN_EMU_OFFLOAD MEMSPAN_EMU_QUEUES MEMSPAN_LEVEL_ZERO_TILES MEMSPAN_LEVEL_ZERO_PINNED
  OMP_ALLOCATOR OMP_PLACES
  HWLOC_XMLFILE HWLOC_SYNTHETIC HWLOC_FSROOT HWLOC_THISSYSTEM HWLOC_COMPONENTS
  SHMEMX_TRANSPORT MEMSPAN_SHMEM_TRANSPORT SHMEMX_DRIVER_PATH UCX_TLS UCX_NET_DEVICES FI_PROVIDER
  OSHRUN_LAUNCHER OSH_CC OSH_CXX SHMEMX_LAUNCH PMIX_NAMESPACE PMIX_RANK PMI_SIZE OMPI_COMM_WORLD_SIZE
  OMP_TARGET_OFFLOAD OMP_NUM_THREADS OMP_DEFAULT_DEVICE LD_PRELOAD)

# Programs that are not built without jansson: a test by one is skipped then.
set(MEMSPAN_OPTIONAL_PROGRAMS memquery memspan-bench)

# memspan_skip(COMMAND_P WHY): the command of a test that cannot be made here. No semicolon: the
# command is a list.
function(memspan_skip command_p why)
  set(${command_p} sh -c "echo 'SKIP ${why}' && exit 77" PARENT_SCOPE)
endfunction()

function(memspan_add_test name)
  cmake_parse_arguments(ARG "SERIAL" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT;FIXTURES" ${ARGN})
  foreach(program IN LISTS MEMSPAN_OPTIONAL_PROGRAMS)
    if(NOT TARGET ${program} AND "${ARG_COMMAND}" MATCHES "(^${program};|TARGET_FILE:${program}>)")
      memspan_skip(ARG_COMMAND "${program} is not built")
    endif()
  endforeach()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(CMAKE_CROSSCOMPILING) # the processor is emulated
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 20")
  elseif(MEMSPAN_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 8")
  else()
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 4")
  endif()
  set(changes "")
  foreach(variable IN LISTS MEMSPAN_TEST_UNSET)
    list(APPEND changes ${variable}=unset:)
  endforeach()
  foreach(setting IN LISTS MEMSPAN_TEST_ENVIRONMENT ARG_ENVIRONMENT)
    # Not by REGEX REPLACE: it would match again after each replacement.
    string(FIND "${setting}" "=" at)
    string(SUBSTRING "${setting}" 0 ${at} variable)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${setting}" ${at} -1 value)
    list(APPEND changes "${variable}=set:${value}")
  endforeach()
  set_tests_properties(${name} PROPERTIES
    SKIP_RETURN_CODE 77 TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
    ENVIRONMENT_MODIFICATION "${changes}")
  if(ARG_FIXTURES)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED "${ARG_FIXTURES}")
  endif()
  if(ARG_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()

function(memspan_add_criterion_program name)
  add_executable(${name} ${ARGN} ${MEMSPAN_TEST_RUNNER})
  target_include_directories(${name} PRIVATE ${MEMSPAN_TEST_RUNNER_FOLDER})
  target_compile_options(${name} PRIVATE
    $<TARGET_PROPERTY:memspan-flags,INTERFACE_COMPILE_OPTIONS>)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
  target_link_options(${name} PRIVATE $<TARGET_PROPERTY:memspan-flags,INTERFACE_LINK_OPTIONS>)
  # Criterion's macros define functions and data that no header declares, and shadow their own.
  target_compile_options(${name} PRIVATE -Wno-missing-prototypes -Wno-shadow -Wno-pedantic)
  target_link_libraries(${name} PRIVATE PkgConfig::CRITERION Threads::Threads m)
endfunction()

set(criterion_options SERIAL NO_TEST)
set(criterion_single TIMEOUT)
set(criterion_many SOURCES LIBRARIES ARGUMENTS LABELS ENVIRONMENT FIXTURES)

macro(memspan_add_criterion_run)
  if(NOT ARG_NO_TEST)
    if(ARG_SERIAL)
      set(serial SERIAL)
    else()
      set(serial "")
    endif()
    memspan_add_test(${name} COMMAND ${name} -j1 ${ARG_ARGUMENTS} LABELS ${ARG_LABELS}
      ENVIRONMENT ${ARG_ENVIRONMENT} FIXTURES ${ARG_FIXTURES} TIMEOUT ${ARG_TIMEOUT} ${serial})
  endif()
endmacro()

function(memspan_add_criterion_test name)
  cmake_parse_arguments(ARG "${criterion_options}" "${criterion_single}" "${criterion_many}" ${ARGN})
  memspan_add_criterion_program(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE memspan ${ARG_LIBRARIES})
  memspan_add_criterion_run()
endfunction()

function(memspan_add_unit_test name)
  cmake_parse_arguments(ARG "${criterion_options}" "${criterion_single}" "${criterion_many}" ${ARGN})
  memspan_add_criterion_program(${name} ${ARG_SOURCES} $<TARGET_OBJECTS:memspan-objects>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(${name} SYSTEM PRIVATE ${HWLOC_INCLUDE_DIRS})
  target_link_libraries(${name} PRIVATE $<TARGET_PROPERTY:memspan-objects,LINK_LIBRARIES>
    ${CMAKE_DL_LIBS} ${ARG_LIBRARIES})
  set_target_properties(${name} PROPERTIES BUILD_RPATH "${MEMSPAN_HWLOC_RUN_PATH}")
  list(APPEND ARG_LABELS unit)
  memspan_add_criterion_run()
endfunction()

# memspan_add_fake_driver(TARGET NAME lib<name>.so.1 FOLDER folder SOURCES ...): a pretended driver,
# in a folder of the build by which the backend finds it. Its calls may ignore their arguments.
function(memspan_add_fake_driver target)
  cmake_parse_arguments(ARG "" "NAME;FOLDER" "SOURCES;DEFINITIONS;LIBRARIES" ${ARGN})
  add_library(${target} SHARED ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${ARG_NAME} PREFIX "" SUFFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${ARG_FOLDER})
  target_compile_definitions(${target} PRIVATE ${ARG_DEFINITIONS})
  target_compile_options(${target} PRIVATE
    $<TARGET_PROPERTY:memspan-flags,INTERFACE_COMPILE_OPTIONS> -Wno-unused-parameter)
  target_link_libraries(${target} PRIVATE memspan-flags Threads::Threads ${ARG_LIBRARIES})
endfunction()

# memspan_add_off_test(BACKEND NAME WORDS [VAR=value...]): with a driver that is there and no good
# the backend is off and says WORDS, and nothing else changes.
function(memspan_add_off_test backend name words)
  memspan_add_test(${backend}_off.${name} LABELS fakes ${backend}
    COMMAND ${PROJECT_SOURCE_DIR}/tests/fakes/off.sh $<TARGET_FILE:memquery> ${backend} ${words}
    ENVIRONMENT ${ARGN})
endfunction()
