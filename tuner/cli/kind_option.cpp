// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/kind_option.hpp"

#include <fmt/format.h>

namespace steptune {

void add_kind_option(CLI::App& command, const std::vector<const RunnerKind*>& kinds,
                     std::string& name) {
  std::vector<std::string> names;
  for (const RunnerKind* kind : kinds)
    names.emplace_back(kind->name());
  name = names.front();
  add_value_option(command, "--runner", name, "KIND",
                   fmt::format("Kind of runner [default: {}]", name))
      ->check(CLI::IsMember(names));
}

}  // namespace steptune
