// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/init/program_facts.hpp"

namespace steptune {

/// One of the values of a knob that is set by different options.
struct KnobSetting {
  std::string label;
  std::vector<std::string> args;  ///< none: the program as it is
  std::string needs;              ///< an expression over facts: `gpus > 0`; empty: always there
};

/// What may be varied, and how; not yet whether this program has it.
struct SpaceKnob {
  std::string parameter;  ///< its name in the study
  std::string role;       ///< what it is to an engineer: `batch`, `workers`, `precision`, ...
  std::string option;     ///< as typed: `--batch-size`, `batch`
  std::string type;       ///< `int`, `bool`, `categorical`
  /// Bounds over facts. Both empty: from a quarter of today's value to eight times as much.
  std::string low;
  std::string high;
  std::string scale;
  std::string when;    ///< over roles: `workers > 0`
  std::string memory;  ///< what raising it does to the memory: `increases`, `decreases`
  std::string needs;   ///< over facts; where it does not hold there is nothing to gain
  /// A setting that must not be on beside it: `fp16.enabled`.
  std::string excluded_by;
  std::vector<std::string> choices;
  std::vector<KnobSetting> settings;  ///< in place of `option` and `choices`
  std::string default_value;          ///< as published; the program's own word wins
};

/// A trainer that many people use.
struct ReadySpace {
  std::string name;
  std::string title;
  std::string page;  ///< where its options are documented
  // Any of these tells it: the program's name, the module after `-m`, the end of the script's path,
  // all of these options, or all of these keys of a configuration file that the command names.
  std::vector<std::string> programs;
  std::vector<std::string> modules;
  std::vector<std::string> scripts;
  std::vector<std::string> options;
  std::vector<std::string> config_keys;
  /// False: the program is not asked for help (it would train), and has all of these options.
  bool asks_help = true;
  /// Of options: `--name value`, `--name=value`, `name=value`; `in the file`: they are keys of the
  /// configuration file, of which trials read edited copies.
  std::string form;
  std::vector<SpaceKnob> knobs;
  std::string epochs;  ///< options that tell the length of the long run
  std::string steps;
  std::string
      step_size;  ///< the option that tells the samples of an optimizer step, where one does
  Json reports;   ///< as a study file has it; null: what its output shows

  /// Whether it is known by a configuration file, whatever the program that reads it.
  [[nodiscard]] bool is_of_a_file() const { return form == "in the file"; }
};

/// Reads one file of `configs/spaces`; the error tells every fault.
[[nodiscard]] Result<ReadySpace> read_ready_space(const std::filesystem::path& file);

/// All that are shipped, by name.
[[nodiscard]] Result<std::vector<ReadySpace>> shipped_spaces();

/// The space whose program's name, module or script this command has; null where none is.
[[nodiscard]] const ReadySpace* space_by_command(const std::vector<ReadySpace>& spaces,
                                                 const std::vector<std::string>& argv);
/// The space all of whose `options` this program has, the one with most of them, else the one whose
/// `config_keys` a file has that the command names; null where none.
[[nodiscard]] const ReadySpace* space_by_facts(const std::vector<ReadySpace>& spaces,
                                               const ProgramFacts& program);

/// The options that a space without help declares by its knobs.
[[nodiscard]] std::vector<ProgramOption> declared_options(const ReadySpace& space);

}  // namespace steptune
