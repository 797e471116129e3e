// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"

namespace steptune::aws {

/// Runs a program to its end without a shell, and returns its stdout, at most
/// `k_max_document_bytes`. Its stdin is empty; its stderr is discarded because it may contain
/// secrets. Returns an error if the program cannot be started or its exit status is not 0.
[[nodiscard]] Result<std::string> process_output(const std::vector<std::string>& argv);

/// Splits a command line into words by the POSIX shell's quoting rules, without expansions. Returns
/// an error for an unclosed quote.
[[nodiscard]] Result<std::vector<std::string>> split_words(const std::string& command);

}  // namespace steptune::aws
