// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/json.hpp"
#include "tuner/mcp/tools.hpp"

namespace steptune::mcp {

/// A program that ended, and the part of its output that was kept.
struct EndedProgram {
  int exit_code = -1;  ///< 128 + signal if a signal ended it
  std::string out;
  std::string err;  ///< the end of its stderr
};

/// A condensed answer.
struct Answer {
  Json json = Json::object();
  bool is_error = false;
};

/// Returns the verdict, the figures and the next step from a program's JSON document. Without a
/// document, returns the program's error. `about` is the argument of the tool `explain`; empty for
/// other tools. If `about` is `output`, returns the last lines of the trial's output instead.
[[nodiscard]] Answer condensed(ToolName tool, const std::string& about, const EndedProgram& ended);

/// Returns the error for an agent, with the hint as the next step.
[[nodiscard]] Answer error_answer(const Error& error);

}  // namespace steptune::mcp
