// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "tuner/init/program_option.hpp"

namespace steptune {

/// A configuration file that a command names.
struct NamedConfig {
  std::string name;                          ///< name as in the command
  std::vector<ProgramOption> settings;       ///< scalars of the file, by path: `data.batch_size`
  std::map<std::string, std::string> fixed;  ///< settings that cannot be replaced, and why
};

/// Facts about a program before it runs.
struct ProgramFacts {
  std::vector<std::string> argv;
  std::string help_style;  ///< empty if its help was not understood
  std::string script;      ///< name of the Python script that was read; may be empty
  std::vector<NamedConfig> configs;
  std::vector<ProgramOption> options;  ///< options that may be given on its command line
  /// Options as declared in the script; the help may differ.
  std::vector<ProgramOption> source_defaults{};
  /// Numbers to which loops of the script count (`loop_bounds_of`); these are no options.
  std::vector<ProgramOption> loop_bounds;

  /// Value that the unchanged program uses, from the command, a named file or the default.
  struct Today {
    std::string value;
    std::string from;  ///< `the command`, `config.yaml`, `--help`, `train.py`
  };
  [[nodiscard]] std::optional<Today> today(const ProgramOption& option) const;

  /// Returns the value that the command states for a setting of the program or its launcher; `true`
  /// for a flag.
  [[nodiscard]] std::optional<Today> stated_in_command(const std::string& name) const;
  /// Returns the value that the command states. If it states none, returns the value in a file that
  /// it names. Ignores defaults.
  [[nodiscard]] std::optional<Today> stated(const std::string& name) const;

  /// Returns the option that is typed exactly as `name`, or the option with the same plain name
  /// (`find_option`). Returns null if there is none.
  [[nodiscard]] const ProgramOption* option_called(const std::string& name) const;

  /// Returns the first option that `option` needs and that the command lacks; empty if there is
  /// none.
  [[nodiscard]] std::string missing_for(const ProgramOption& option) const;
};

/// Reads a configuration file, whose path is relative to `folder`. Returns nullopt if the file is
/// missing, has an unknown extension, is too large, or cannot be parsed.
[[nodiscard]] std::optional<NamedConfig> read_config(const std::string& name,
                                                     const std::filesystem::path& folder);

/// Reads the configuration files that the command names, with paths relative to `folder`. For
/// Python files (`train.py config.py`) reads the top-level assignments. Leaves out files that
/// cannot be parsed, because they need not be configurations. Settings that several files have
/// cannot be replaced.
[[nodiscard]] std::vector<NamedConfig> configs_of(const std::vector<std::string>& argv,
                                                  const std::filesystem::path& folder);

/// Merges options: returns the help's options, completed from the source. If the help has none,
/// returns the source's options.
[[nodiscard]] std::vector<ProgramOption> merged_options(std::vector<ProgramOption> from_help,
                                                        std::vector<ProgramOption> from_source);

}  // namespace steptune
