# Compiler settings shared by every target: link `steptune::settings` privately.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# Headers of libraries (nlohmann_json, fmt, gmock) take ten times as long to compile as a source of this project, so the
# sources of a target share them. 24 keeps a rebuild after an edit below half a minute.
set(CMAKE_UNITY_BUILD ${STEPTUNE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache needs both relaxations for sources with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE_PROGRAM}")
endif()

add_library(steptune_settings INTERFACE)
add_library(steptune::settings ALIAS steptune_settings)
target_compile_features(steptune_settings INTERFACE cxx_std_20)
target_include_directories(steptune_settings INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(steptune_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
# GCC 12 wrongly sees overlaps in "text" + std::string() when it optimizes (GCC bug 105651).
target_compile_options(steptune_settings INTERFACE $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict>)
if(STEPTUNE_WERROR)
  target_compile_options(steptune_settings INTERFACE -Werror)
endif()
if(STEPTUNE_SANITIZE)
  target_compile_options(steptune_settings INTERFACE
    "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:STEPTUNE_LIBTORCH>>>:-fsanitize=${STEPTUNE_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  target_link_options(steptune_settings INTERFACE -fsanitize=${STEPTUNE_SANITIZE})
else()
  target_compile_options(steptune_settings INTERFACE
    -fstack-protector-strong $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
endif()

# For targets that compute a lot. The presets optimize lightly (-O1), which compiles in a fourth less time, since most
# of the program waits for trials, the network or the disk.
function(steptune_computes target)
  if(NOT STEPTUNE_SANITIZE)
    target_compile_options(${target} PRIVATE -O2)
  endif()
endfunction()

# For targets whose sources include LibTorch's headers. They are optimized in every build, and neither sanitizers nor
# coverage apply to them. LibTorch itself is not instrumented, and templates of its headers are most of such a source.
function(steptune_uses_libtorch target)
  set_target_properties(${target} PROPERTIES STEPTUNE_LIBTORCH ON)
  if(STEPTUNE_SANITIZE)
    target_compile_options(${target} PRIVATE -O2 -fno-profile-arcs -fno-test-coverage)
  endif()
endfunction()

# Parsing these headers takes 3 s for each compilation, so the libraries in the given folders share them in compiled
# form. A library with further compiler options, or without fmt, cannot share them.
function(steptune_precompile_headers)
  file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/headers.cpp" CONTENT "\n")
  add_library(steptune_headers OBJECT "${CMAKE_BINARY_DIR}/headers.cpp")
  target_link_libraries(steptune_headers PRIVATE steptune::settings fmt::fmt nlohmann_json::nlohmann_json tl::expected)
  target_precompile_headers(steptune_headers PRIVATE
    <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp> <tl/expected.hpp> <algorithm> <filesystem> <fstream> <functional>
    <map> <memory> <optional> <ranges> <set> <span> <sstream> <string> <variant> <vector>)
  set(folders ${ARGN})
  while(folders)
    list(POP_FRONT folders folder)
    get_property(subfolders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
    list(APPEND folders ${subfolders})
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      get_target_property(options ${target} COMPILE_OPTIONS)
      get_target_property(libraries ${target} LINK_LIBRARIES)
      if(type STREQUAL STATIC_LIBRARY AND NOT options AND "fmt::fmt" IN_LIST libraries)
        target_precompile_headers(${target} REUSE_FROM steptune_headers)
      endif()
    endforeach()
  endwhile()
endfunction()
