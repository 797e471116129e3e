// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "search/space/expression.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/program_option.hpp"
#include "tuner/init/ready_space.hpp"
#include "tuner/init/study_guess.hpp"

namespace steptune {

/// Builds a study's document: its parameters, and how their values reach the program. They reach it
/// by its command, copies of files, the environment or the hook. Does not check its input.
class StudyBuilder {
 public:
  /// Place of options that the command does not have yet.
  enum class NewOptions {
    last,                 ///< after the program's words (`options_end`)
    before_other_options  ///< before all other options: many native programs accept no
                          ///< options behind file names
  };
  /// Builds a study of the program that `argv` runs. `machine` must outlive the object.
  StudyBuilder(std::vector<std::string> argv, const Facts& machine,
               NewOptions new_options = NewOptions::last);

  [[nodiscard]] bool empty() const { return parameters_.empty(); }
  [[nodiscard]] bool has(const std::string& parameter) const {
    return parameters_.contains(parameter);
  }
  /// Returns the first parameter of this role; empty if there is none.
  [[nodiscard]] std::string parameter_of(const std::string& role) const {
    return guess_.parameter_of(role);
  }
  [[nodiscard]] const std::vector<std::string>& left_out() const { return guess_.left_out; }

  /// Adds a parameter. `finish` computes `knob.range` from the declaration. `baseline` is null if
  /// the parameter is inactive today.
  void add(GuessedKnob knob, Json declaration, const Json& baseline, std::string comment);
  /// Records that the option or setting `what` is not varied, and why.
  void leave(const std::string& what, const std::string& why);
  void add_constraint(std::string constraint, std::string comment = "");

  // The functions below define how a parameter reaches the program. The parameter must have been
  // added.
  void give_option(const std::string& parameter, const ProgramOption& option);
  /// Removes `options`, which must be all options of the setting, from the command.
  void give_setting(const std::string& parameter, const KnobSetting& setting,
                    const std::vector<ProgramOption>& options);
  /// Sets `key` in the file that the command calls `file`.
  void give_in_file(const std::string& parameter, const std::string& file, const std::string& key);
  void give_variable(const std::string& parameter, const std::string& variable);
  /// Loads the hook into the program, with these rules: `{"num_workers": "{num_workers}"}`.
  void use_hook(Json rules);

  /// Returns the declaration of a parameter, which the caller may change.
  [[nodiscard]] Json& declaration(const std::string& parameter) { return parameters_[parameter]; }
  /// False if the parameter is inactive today, or if there is no such parameter.
  [[nodiscard]] bool is_active_today(const std::string& parameter) const {
    return baseline_.contains(parameter);
  }
  /// Returns the value of a parameter that is active today.
  [[nodiscard]] const Json& today(const std::string& parameter) const {
    return baseline_.at(parameter);
  }

  [[nodiscard]] StudyGuess finish(const std::string& name) &&;

 private:
  void give_truth(const std::string& parameter, const ProgramOption& option);
  /// Replaces the option's value in the command by a placeholder.
  void give_in_place(const std::string& parameter, const ProgramOption& option,
                     const ValuePlace& place);
  /// Returns the words of the command, including those that parameters set.
  [[nodiscard]] Json command() const;
  [[nodiscard]] Json edited_files(Json& command);
  [[nodiscard]] std::string placeholder_of(const std::string& file, const Json& taken) const;

  const Facts& machine_;
  NewOptions new_options_;
  StudyGuess guess_;
  std::vector<std::string> argv_;         ///< the command without options that parameters set
  Json parts_ = Json::array();            ///< parts of the command that set parameters
  std::map<std::string, Json> in_place_;  ///< parts that replace words of `argv_`, by word
  std::map<std::string, Json> edits_;     ///< values by key, for each configuration file
  Json parameters_ = Json::object();
  Json constraints_ = Json::array();
  Json baseline_ = Json::object();
  Json environment_ = Json::object();  ///< environment variables, as templates
  std::optional<Json> hook_rules_;
};

}  // namespace steptune
