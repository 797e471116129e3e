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
  command.add_option("--runner", name, fmt::format("Kind of runner [default: {}]", name))
      ->option_text("KIND")
      ->check(CLI::IsMember(names));
}

}  // namespace steptune
