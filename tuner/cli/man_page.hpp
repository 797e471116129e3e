// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace steptune {

struct ManPage {
  std::string name;  ///< `steptune-run`
  std::string text;  ///< in the language of man(7)
};

/// A page for the program and one for each of its commands, made from the same declarations as
/// `--help`. Commands that help hides have none. `version` is shown in the footer.
[[nodiscard]] std::vector<ManPage> man_pages(const CLI::App& program, const std::string& version);

}  // namespace steptune
