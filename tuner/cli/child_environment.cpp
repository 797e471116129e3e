// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/child_environment.hpp"

#include "common/child_process.hpp"
#include "trial_runner/launch/command_words.hpp"
#include "trial_runner/launch/outer_ranks.hpp"

namespace steptune {

std::vector<std::string> child_environment(const std::vector<std::string>& argv,
                                           const std::map<std::string, std::string>& variables) {
  auto all = process_variables();
  if (launcher_in(argv)) forget_outer_ranks(all);
  for (const auto& [name, value] : variables)
    all.insert_or_assign(name, value);
  return assignments(all);
}

}  // namespace steptune
