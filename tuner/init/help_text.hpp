// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/init/program_option.hpp"

namespace steptune {

/// The options found in a program's help.
struct HelpText {
  /// `argparse`, `click`, `typer`, `absl`, `gflags`, `CLI11`, `Hydra`, or `options` for text that
  /// only looks like options; empty if not understood.
  std::string style;
  std::vector<ProgramOption> options;
  bool usage_has_defaults = false;  ///< usage lines show defaults: `[--threads N (8)]`

  [[nodiscard]] bool understood() const { return !style.empty(); }
  /// True for a list of options with descriptions or defaults. False if a message only mentions
  /// some options.
  [[nodiscard]] bool is_list() const;
};

/// Reads a help text of any of these styles. Accepts any bytes, takes linear time and reads at most
/// 1 MiB. If an option is repeated, only the first description counts.
[[nodiscard]] HelpText parse_help(std::string_view bytes);

/// Returns the options in brackets of usage lines: `usage: train [--threads N (8)] [-b|--batch
/// N=32]`.
[[nodiscard]] std::vector<ProgramOption> options_in_usage(const std::vector<std::string>& lines);

/// Returns `bytes` as UTF-8 lines of at most 2000 bytes, without terminal sequences and box
/// drawing.
[[nodiscard]] std::vector<std::string> plain_lines(std::string_view bytes);

/// Adds a name as typed: the first long name becomes the option's name, other names its aliases.
/// `--no-amp` after another long name becomes its negation.
void add_name(std::string name, ProgramOption& option);

/// Parses an option's names and placeholder, `-b N, --batch-size N`, without its description.
/// `name` of the result is empty if `heading` is no option.
[[nodiscard]] ProgramOption parse_heading(const std::string& heading);

/// Adds default, choices and type from the description.
void read_description(const std::string& description, ProgramOption& option);

/// Returns the printable texts of a native executable, one per line, at most 1 MiB. The usage text
/// of a program without `--help` is often among them. Returns an empty text if the file cannot be
/// read.
[[nodiscard]] std::string texts_of_executable(const std::filesystem::path& file);

}  // namespace steptune
