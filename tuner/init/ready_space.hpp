// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/init/program_facts.hpp"

namespace steptune {

/// One value of a knob, and the arguments that set it. Such a knob has different options for
/// different values.
struct KnobSetting {
  std::string label;
  std::vector<std::string> args;  ///< empty: the unchanged program
  std::string needs;              ///< condition over facts: `gpus > 0`; empty: always possible
};

/// A knob that may be varied, and its range. A particular program may lack the knob.
struct SpaceKnob {
  std::string parameter{};  ///< name in the study
  std::string role{};       ///< role in the program: `batch`, `workers`, `precision`, ...
  std::string option{};     ///< as typed: `--batch-size`, `batch`
  bool is_flag = false;     ///< the option takes no value
  std::string off{};        ///< flag that switches a flag off: `--no-amp`; may be empty
  std::string type{};       ///< `int`, `bool`, `categorical`
  /// Bounds, as expressions over facts. If both are empty: from a quarter of today's value to eight
  /// times that value.
  std::string low{};
  std::string high{};
  std::string scale{};
  std::string when{};    ///< condition over roles: `workers > 0`
  std::string memory{};  ///< effect of a larger value on the memory: `increases`, `decreases`
  std::string needs{};   ///< condition over facts; if it is false, the knob cannot gain anything
  /// Settings such as `fp16.enabled`. If one of them is on, the knob is not varied.
  std::vector<std::string> excluded_by{};
  /// If not empty, the knob is varied only if the command or its files set one of these.
  std::vector<std::string> only_with{};
  std::vector<std::string> choices{};
  std::vector<KnobSetting> settings{};  ///< used instead of `option` and `choices`
  std::string default_value{};  ///< published default; the program's own statement takes precedence
};

/// A number that describes the model or the machines. Bounds, conditions and laws of the space may
/// mention it.
struct SpaceFact {
  std::string name;  ///< `heads`
  /// Options of the program or its launcher, and keys of files, that set the number. The first one
  /// that is set counts.
  std::vector<std::string> options;
  /// Expression for the number if no option is set, over the machine's facts, earlier facts and
  /// today's values of knobs. Empty: unknown.
  std::string value;
  /// True if the model's files state the number. The number in the program's files is then ignored,
  /// because the trainer replaces it.
  bool of_model = false;
  /// True if a number that comes from `value` is added to the command by the first of `options`.
  /// Other settings then cannot change the number.
  bool is_set = false;
};

/// A condition that the trainer requires of its settings.
struct SpaceLaw {
  std::string law;  ///< over facts and parameters: `heads % tp == 0`
  std::string why;  ///< reason, for people
};

/// Ready-made search space of a widely used trainer.
struct ReadySpace {
  std::string name;
  std::string title;
  std::string page;  ///< page that documents its options
  // Each of the next five lists identifies the trainer. `options` identifies it only if the program
  // has all of them; `config_keys` only if a file that the command names has all of them. A script
  // is identified by the end of its path.
  std::vector<std::string> programs;
  std::vector<std::string> modules;
  std::vector<std::string> scripts;
  std::vector<std::string> options;
  std::vector<std::string> config_keys;
  /// If false, the program is not called with `--help`, because it would train. The program is then
  /// assumed to have all options of `knobs`.
  bool asks_help = true;
  /// Form of options: `--name value`, `--name=value` or `name=value`. If it is `in the file`,
  /// options are keys of the configuration file, and trials read edited copies of the file.
  std::string form;
  std::vector<SpaceKnob> knobs;
  /// Files that state facts of the model. A name in braces is an option that names the model:
  /// `{model_name_or_path}/config.json`.
  std::vector<std::string> models;
  std::vector<SpaceFact> facts;
  std::vector<SpaceLaw> laws;
  /// Terms of the memory that a trial needs, over facts and parameters: `search.memory_terms` of a
  /// study.
  std::vector<std::string> memory_terms;
  std::string epochs;  ///< option with the number of epochs of the long run
  std::string steps;
  std::string step_size;  ///< option with the samples of an optimizer step, if there is one
  Json reports;           ///< `reports` as in a study file; null: chosen by the program's output

  /// True if a configuration file identifies the space, whatever program reads the file.
  [[nodiscard]] bool is_of_a_file() const { return form == "in the file"; }
};

/// Reads one file of `configs/spaces`. The error lists every fault.
[[nodiscard]] Result<ReadySpace> read_ready_space(const std::filesystem::path& file);

/// Reads all installed spaces, sorted by name.
[[nodiscard]] Result<std::vector<ReadySpace>> shipped_spaces();

/// Returns the space with this command's program name, module or script; null if there is none.
[[nodiscard]] const ReadySpace* space_by_command(const std::vector<ReadySpace>& spaces,
                                                 const std::vector<std::string>& argv);
/// Returns the space that the program's options identify: the program must have all of the space's
/// `options`. If several spaces match, returns the one with most options. If none matches, returns
/// the space whose `config_keys` are all in one file that the command names. Returns null if there
/// is none.
[[nodiscard]] const ReadySpace* space_by_facts(const std::vector<ReadySpace>& spaces,
                                               const ProgramFacts& program);

/// Returns the form in which the space's program takes the value of an option.
[[nodiscard]] OptionForm option_form(const ReadySpace& space);

/// Returns the options of a space's knobs and of the run's length and step size, for a program that
/// is not called with `--help`.
[[nodiscard]] std::vector<ProgramOption> declared_options(const ReadySpace& space);

}  // namespace steptune
