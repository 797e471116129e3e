// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/command.hpp"

int main(int argc, char** argv) {
  steptune::secure_standard_streams();
  steptune::Console console(steptune::process_environment());
  const steptune::SystemClock clock;
  return static_cast<int>(steptune::run_program(argc, argv, console, clock));
}
