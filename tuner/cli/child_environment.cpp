// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/child_environment.hpp"

#include "common/child_process.hpp"

namespace steptune {

std::vector<std::string> child_environment(const std::map<std::string, std::string>& variables) {
  auto all = process_variables();
  for (const auto& [name, value] : variables)
    all.insert_or_assign(name, value);
  return assignments(all);
}

}  // namespace steptune
