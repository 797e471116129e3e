// SPDX-License-Identifier: Apache-2.0
#include "support/command_line.hpp"

#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace steptune::example {

namespace {

constexpr int k_exit_fault = 1;
constexpr int k_exit_usage = 2;

}  // namespace

int run_program(CLI::App& app, int argc, char** argv, const std::function<Result<void>()>& body) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_shown) {
    return app.exit(help_shown);
  } catch (const CLI::ParseError& fault) {
    fmt::print(stderr, "{}: {}\n  {} --help lists the options\n", app.get_name(), fault.what(),
               app.get_name());
    return k_exit_usage;
  }
  try {
    const Result<void> done = body();
    if (done) return 0;
    fmt::print(stderr, "{}: {}\n", app.get_name(), done.error().text());
    return done.error().kind == ErrorKind::internal ? k_exit_fault : k_exit_usage;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), fault.what());
    return k_exit_fault;
  }
}

}  // namespace steptune::example
