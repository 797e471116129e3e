// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"

namespace steptune::aws {

/// Runs a program to its end without a shell (stdin empty, stderr discarded: it may hold secrets)
/// and returns what it wrote to stdout, at most 1 MiB. Errors: it cannot be started, or its exit
/// status is not 0.
[[nodiscard]] Result<std::string> process_output(const std::vector<std::string>& argv);

/// Splits a command line into words by the POSIX shell's quoting rules, without expanding anything.
/// An unclosed quote is an error.
[[nodiscard]] Result<std::vector<std::string>> split_words(const std::string& command);

}  // namespace steptune::aws
