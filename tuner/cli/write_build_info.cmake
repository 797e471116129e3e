# Writes build_info.cpp if its content has changed. Runs at every build, because a commit changes no
# file that the build system watches.
execute_process(
  COMMAND git -C "${SOURCE_DIR}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE STEPTUNE_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
if(result EQUAL 0)
  execute_process(
    COMMAND git -C "${SOURCE_DIR}" status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND STEPTUNE_COMMIT "+")
  endif()
else()
  set(STEPTUNE_COMMIT "")
endif()
configure_file("${SOURCE_DIR}/tuner/cli/build_info.cpp.in" "${OUTPUT}" @ONLY)
