// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/output_schema.hpp"

namespace steptune::golden {

::testing::AssertionResult is_as_defined(const Sandbox& sandbox, const std::string& document,
                                         const std::string& definition) {
  sandbox.write("document.json", document);
  const Ended ended = sandbox.program({"/bin/sh", "-c",
                                       "exec /usr/bin/python3 -B " STEPTUNE_SOURCE_DIR
                                       "/tests/support/output_schema.py \"$0\" "
                                       "< document.json",
                                       definition});
  if (ended.exit_code == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << definition << ":\n"
                                       << ended.out << ended.err << document.substr(0, 4000);
}

}  // namespace steptune::golden
