# LLVM, MLIR, LLD and ONNX: what the compiler needs and the runtime does not.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(LLD 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/lld)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# The package names a lit of its build machine, and AddLLVM warns when it is missing.
set(LLVM_EXTERNAL_LIT "${LLVM_TOOLS_BINARY_DIR}/lit")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# scripts/setup.sh builds ONNX's C++ library once, outside the build folder. ONNX's package file needs Protobuf's targets.
find_package(Protobuf REQUIRED)
find_package(ONNX 1.23 REQUIRED CONFIG HINTS "${TILEWRIGHT_CACHE}/onnx-1.23.2")

find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

# A library of the compiler: tilewright_compiler_library(Name SOURCES … LINK … DEPENDS …).
# All of them share one precompiled header of MLIR.
function(tilewright_compiler_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(name STREQUAL "TilewrightIR")
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/MLIRPrecompiled.h)
  else()
    target_precompile_headers(${name} REUSE_FROM TilewrightIR)
  endif()
endfunction()
