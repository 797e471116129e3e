// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/mcp/roots.hpp"
#include "tuner/mcp/tools.hpp"

namespace steptune::mcp {

/// Limits and folders that the user gave on the server's command line.
struct ServerLimits {
  Roots roots;
  double most_time_s = 3600.0;  ///< longest time that a call may request
  std::string database;         ///< absolute path; empty: the default in each folder
};

/// A command line of this program that carries out a call.
struct Invocation {
  std::vector<std::string> words;  ///< after the program's name
  std::filesystem::path folder;    ///< working folder
  std::optional<double> time_s;    ///< the time limit on the command line, if it has one
  double most_time_s = 0.0;        ///< the server interrupts the program after this time
};

/// Returns the command line for a call whose arguments fit the tool's schema. Errors are for the
/// agent: a folder outside of the roots, a time above the limit, arguments that exclude each other.
/// `stop` has no command line.
[[nodiscard]] Result<Invocation> invocation_of(const Tool& tool, const Json& arguments,
                                               const ServerLimits& limits);

}  // namespace steptune::mcp
