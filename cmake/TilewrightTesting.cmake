# How tests are declared. GoogleTest for units, lit and FileCheck for the compiler's text, scripts for the rest.
# Labels choose a part of them: `ctest -L lit`, `ctest -LE models`.
if(TILEWRIGHT_BUILD_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
  # The packages that test scripts import are in the environment that scripts/setup.sh made.
  find_program(TILEWRIGHT_PYTHON NAMES python3 HINTS "${TILEWRIGHT_CACHE}/venv/bin" REQUIRED)
  find_program(TILEWRIGHT_LIT NAMES lit HINTS /usr/lib/llvm-22/bin)
endif()

# A test program: tilewright_add_gtest(Name SOURCES a.cpp b.cpp LINK TilewrightRuntime LABEL unit).
# Each of its cases becomes a test of ctest. With WHOLE the program is one test: for the many cases of a table.
function(tilewright_add_gtest name)
  cmake_parse_arguments(ARG "WHOLE" "LABEL;TIMEOUT" "SOURCES;LINK;ARGS" ${ARGN})
  if(NOT TILEWRIGHT_BUILD_TESTS)
    return()
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
    set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  else()
    gtest_discover_tests(${name} TEST_PREFIX "${name}." EXTRA_ARGS ${ARG_ARGS} DISCOVERY_MODE PRE_TEST
                         PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()

# The lit tests below a folder: tilewright_add_lit_suite(passes-fuse ${CMAKE_CURRENT_SOURCE_DIR}/test).
# test/lit_config.py holds their configuration, test/CMakeLists.txt writes it for this build.
function(tilewright_add_lit_suite name dir)
  if(NOT TILEWRIGHT_BUILD_TESTS)
    return()
  endif()
  if(NOT TILEWRIGHT_LIT)
    message(FATAL_ERROR "lit is missing: install the package llvm-22-tools, or run scripts/setup.sh")
  endif()
  file(RELATIVE_PATH relative "${CMAKE_SOURCE_DIR}" "${dir}")
  add_test(NAME lit-${name}
           COMMAND ${TILEWRIGHT_LIT} -v "${CMAKE_BINARY_DIR}/test/lit/${relative}")
  set_tests_properties(lit-${name} PROPERTIES LABELS lit TIMEOUT 600)
endfunction()

# A test that is a Python script: tilewright_add_script_test(name LABEL house COMMAND script.py ARGS…).
# Exit code 77 means skipped; the script's last line says why.
function(tilewright_add_script_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "COMMAND" ${ARGN})
  if(NOT TILEWRIGHT_BUILD_TESTS)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${TILEWRIGHT_PYTHON} ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77)
endfunction()
