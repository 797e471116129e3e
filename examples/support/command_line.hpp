// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "common/error.hpp"

namespace CLI {
class App;
}

namespace steptune::example {

/// Parses the command line, runs `body` and returns the program's exit status: 0, 2 for a wrong
/// command line or unusable data, 1 for other errors. Prints errors on standard error.
[[nodiscard]] int run_program(CLI::App& app, int argc, char** argv,
                              const std::function<Result<void>()>& body);

}  // namespace steptune::example
