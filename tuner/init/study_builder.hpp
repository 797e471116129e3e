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

/// A study's document as it is put together: parameters, and how the command, copies of files, the
/// environment or the hook give their values to the program. It judges nothing that it is given.
class StudyBuilder {
 public:
  /// For the program as `argv` runs it. `machine` outlives the object.
  StudyBuilder(std::vector<std::string> argv, const Facts& machine);

  [[nodiscard]] bool empty() const { return parameters_.empty(); }
  [[nodiscard]] bool has(const std::string& parameter) const {
    return parameters_.contains(parameter);
  }
  /// The first parameter of this role; empty: there is none.
  [[nodiscard]] std::string parameter_of(const std::string& role) const {
    return guess_.parameter_of(role);
  }
  [[nodiscard]] const std::vector<std::string>& left() const { return guess_.left; }

  /// Takes in a parameter. `knob.range` follows from the declaration; `baseline` is null where the
  /// parameter is inactive today.
  void add(GuessedKnob knob, Json declaration, const Json& baseline, std::string comment);
  /// Says that something is not varied, and why.
  void leave(const std::string& what, const std::string& why);
  void add_constraint(std::string constraint, std::string comment = "");

  // How a parameter that has been added reaches the program.
  void give_option(const std::string& parameter, const ProgramOption& option);
  /// `option`: the one that the setting begins with.
  void give_setting(const std::string& parameter, const KnobSetting& setting,
                    const ProgramOption& option);
  /// `key` of the file that the command calls `file`.
  void give_in_file(const std::string& parameter, const std::string& file, const std::string& key);
  void give_variable(const std::string& parameter, const std::string& variable);
  /// The hook is put into the program, with these rules: `{"num_workers": "{num_workers}"}`.
  void use_hook(Json rules);

  /// How a parameter is declared, to be changed in place.
  [[nodiscard]] Json& declaration(const std::string& parameter) { return parameters_[parameter]; }
  /// False for what is no parameter, too.
  [[nodiscard]] bool is_active_today(const std::string& parameter) const {
    return baseline_.contains(parameter);
  }
  /// Of one that is active today.
  [[nodiscard]] const Json& today(const std::string& parameter) const {
    return baseline_.at(parameter);
  }

  [[nodiscard]] StudyGuess finish(const std::string& name) &&;

 private:
  void give_truth(const std::string& parameter, const ProgramOption& option);
  /// It replaces the value that the command has now.
  void give_in_place(const std::string& parameter, const ProgramOption& option,
                     const ValuePlace& place);
  /// The words of the command, with what parameters set.
  [[nodiscard]] Json command() const;
  [[nodiscard]] Json edited_files(Json& command);
  [[nodiscard]] std::string placeholder_of(const std::string& file, const Json& taken) const;

  const Facts& machine_;
  StudyGuess guess_;
  std::vector<std::string> argv_;         ///< without the options that parameters set
  Json parts_ = Json::array();            ///< of the command, that set them
  std::map<std::string, Json> in_place_;  ///< likewise, by the word of `argv_` that they replace
  std::map<std::string, Json> edits_;     ///< by configuration file: values by key
  Json parameters_ = Json::object();
  Json constraints_ = Json::array();
  Json baseline_ = Json::object();
  Json environment_ = Json::object();  ///< variables, as templates
  std::optional<Json> hook_rules_;
};

}  // namespace steptune
