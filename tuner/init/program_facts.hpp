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
  std::string name;                          ///< as the command has it
  std::vector<ProgramOption> settings;       ///< its scalars, by their path: `data.batch_size`
  std::map<std::string, std::string> fixed;  ///< why those that cannot be replaced cannot
};

/// What can be known of a program before it is run.
struct ProgramFacts {
  std::vector<std::string> argv;
  std::string help_style;  ///< empty: its help was not understood
  std::string script;      ///< name of the Python script that was read; empty: none
  std::vector<NamedConfig> configs;
  std::vector<ProgramOption> options;  ///< that may be given on its command line
  /// Options as the script declares them, where the help may say otherwise.
  std::vector<ProgramOption> source_defaults{};
  /// What loops of the script count to (`loop_bounds_of`); no options.
  std::vector<ProgramOption> loop_bounds;

  /// What the program uses as it is: the command's value, else the named file's, else the default.
  struct Today {
    std::string value;
    std::string from;  ///< `the command`, `config.yaml`, `--help`, `train.py`
  };
  [[nodiscard]] std::optional<Today> today(const ProgramOption& option) const;

  /// The option that is typed exactly so, else the one of the same plain name (`find_option`);
  /// null: there is none.
  [[nodiscard]] const ProgramOption* option_called(const std::string& name) const;

  /// The first option that this one needs and that the command does not give; empty: none.
  [[nodiscard]] std::string missing_for(const ProgramOption& option) const;
};

/// Configuration files that the command names, below `folder`; of Python (`train.py config.py`) the
/// top-level assignments. What cannot be read is left out: it may be none.
[[nodiscard]] std::vector<NamedConfig> configs_of(const std::vector<std::string>& argv,
                                                  const std::filesystem::path& folder);

/// Options of the help, with what the source says where the help does not; options of the source
/// alone where there is no help; and keys of the configuration where the program is given settings
/// as `key=value`.
[[nodiscard]] std::vector<ProgramOption> merged_options(std::vector<ProgramOption> from_help,
                                                        std::vector<ProgramOption> from_source);

}  // namespace steptune
