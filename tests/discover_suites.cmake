# Runs after a test program was built: lists its suites, and writes a file for CTest with one test for each suite.
# Divides a suite of more than AT_MOST tests evenly. Its parts are long, so CTest starts them early (COST).
#
#   cmake -D PROGRAM=... -D NAME=... -D FILE=... -D FOLDER=... -D AT_MOST=... -D PROPERTIES=... -P discover_suites.cmake

execute_process(COMMAND "${PROGRAM}" --gtest_list_tests
  WORKING_DIRECTORY "${FOLDER}" OUTPUT_VARIABLE listed RESULT_VARIABLE status TIMEOUT 60)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests failed: ${status}\n${listed}")
endif()

# Remove values after "#" first, since they may contain anything. A suite's name begins a line; its tests follow,
# indented.
string(REGEX REPLACE " *#[^\n]*" "" listed "${listed}")
string(REPLACE "\n" ";" lines "${listed}")
set(suites)
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z0-9_/]+)\\.$")
    set(suite "${CMAKE_MATCH_1}")
    list(APPEND suites "${suite}")
    set("tests_of_${suite}" 0)
  elseif(line MATCHES "^  ")
    math(EXPR "tests_of_${suite}" "${tests_of_${suite}} + 1")
  endif()
endforeach()
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} lists no test:\n${listed}")
endif()

set(script "")
foreach(suite IN LISTS suites)
  math(EXPR parts "(${tests_of_${suite}} + ${AT_MOST} - 1) / ${AT_MOST}")
  foreach(part RANGE 1 ${parts})
    set(test "${NAME}.${suite}")
    set(environment "")
    if(parts GREATER 1)
      string(APPEND test ".${part}of${parts}")
      math(EXPR index "${part} - 1")
      set(environment "COST 50 ENVIRONMENT \"GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}\"")
    endif()
    string(APPEND script "add_test([[${test}]] [[${PROGRAM}]] [[--gtest_filter=${suite}.*]])\n"
      "set_tests_properties([[${test}]] PROPERTIES WORKING_DIRECTORY [[${FOLDER}]] ${environment}")
    foreach(word IN LISTS PROPERTIES)
      string(APPEND script " [[${word}]]")
    endforeach()
    string(APPEND script ")\n")
  endforeach()
endforeach()
file(WRITE "${FILE}" "${script}")
