// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/init/program_option.hpp"

namespace steptune {

/// What a program prints when it is asked for help.
struct HelpText {
  /// `argparse`, `click`, `typer`, `absl`, `gflags`, `CLI11`, `Hydra`, `options` for what only
  /// looks like options; empty: not understood.
  std::string style;
  std::vector<ProgramOption> options;
  bool usage_tells_defaults = false;  ///< such as `[--threads N (8)]`

  [[nodiscard]] bool understood() const { return !style.empty(); }
  /// True for a list of options with what they are for, or their defaults, not some that a
  /// message mentions.
  [[nodiscard]] bool is_list() const;
};

/// Reads a help text of any of these styles. Any bytes may be given; time is linear, and no more
/// than the first 1 MiB is read. An option that is told twice counts once.
[[nodiscard]] HelpText parse_help(std::string_view bytes);

/// Options in the brackets of usage lines: `usage: train [--threads N (8)] [-b|--batch N=32]`.
[[nodiscard]] std::vector<ProgramOption> options_in_usage(const std::vector<std::string>& lines);

/// `bytes` without terminal sequences and box drawing, as UTF-8, lines of at most 2000 bytes.
[[nodiscard]] std::vector<std::string> plain_lines(std::string_view bytes);

/// An option's names and placeholder, `-b N, --batch-size N`, without its description. Nothing in
/// `name` where it is no option.
[[nodiscard]] ProgramOption parse_heading(const std::string& heading);

/// Adds what the description tells: default, choices, type.
void read_description(const std::string& description, ProgramOption& option);

}  // namespace steptune
