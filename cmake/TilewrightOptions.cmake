# Compiler flags, ccache and places that every folder uses.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Every program in one folder, where tests and scripts find it.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

set(TILEWRIGHT_CACHE "$ENV{HOME}/.cache/tilewright" CACHE PATH "Where scripts/setup.sh puts what it builds")

find_program(TILEWRIGHT_CCACHE ccache)
if(TILEWRIGHT_CCACHE)
  # Precompiled headers carry time stamps; without these settings nothing hits.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${TILEWRIGHT_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  # The system's default linker takes several times as long.
  add_link_options(-fuse-ld=lld)
endif()

set(TILEWRIGHT_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")
if(TILEWRIGHT_SANITIZE)
  add_compile_options(-fsanitize=${TILEWRIGHT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TILEWRIGHT_SANITIZE})
endif()

# Includes are written from the project's root.
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/runtime/include)
