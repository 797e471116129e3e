// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace steptune {

struct ManPage {
  std::string name;  ///< `steptune-run`
  std::string text;  ///< in the format of man(7)
};

/// Makes a page for the program and one for each command, from the declarations that `--help` uses.
/// Leaves out commands that help hides. The footer shows `version`.
[[nodiscard]] std::vector<ManPage> man_pages(const CLI::App& program, const std::string& version);

}  // namespace steptune
