# Precompiled headers for every target of some size: parsing nlohmann_json, fmt and gmock anew in each
# file is most of the build. A target of one or two files would only pay for them.

set(precompiled_from 3)

function(precompile_targets_below directory)
  get_property(subdirectories DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(subdirectory IN LISTS subdirectories)
    precompile_targets_below("${subdirectory}")
  endforeach()
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    list(LENGTH sources count)
    # Targets of the project: those that take its settings.
    if(count LESS precompiled_from OR NOT "steptune::settings" IN_LIST libraries)
      continue()
    endif()
    target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp")
    if("GTest::gmock" IN_LIST libraries)
      target_precompile_headers(${target} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
    endif()
    # g++ 12 sees false bounds in std::string's operator+ (GCC bug 105329), and through a precompiled
    # header forgets that it is a system header that it complains about.
    target_compile_options(${target} PRIVATE -fpch-preprocess
      $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict>)
  endforeach()
endfunction()

if(STEPTUNE_PRECOMPILE)
  precompile_targets_below("${PROJECT_SOURCE_DIR}")
endif()
