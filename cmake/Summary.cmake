message(STATUS "steptune ${PROJECT_VERSION} (${CMAKE_BUILD_TYPE})")
message(STATUS "  compiler     ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ccache: ${CMAKE_CXX_COMPILER_LAUNCHER}")
message(STATUS "  LibTorch     ${Torch_VERSION} ${Torch_DIR}")
message(STATUS "  tests ${STEPTUNE_TESTS}, examples ${STEPTUNE_EXAMPLES}, benchmarks ${STEPTUNE_BENCHMARKS}, sanitizers '${STEPTUNE_SANITIZE}'")
