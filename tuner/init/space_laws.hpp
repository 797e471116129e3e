// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "search/space/expression.hpp"
#include "tuner/init/guess_input.hpp"
#include "tuner/init/study_builder.hpp"

namespace steptune {

/// Numbers that the laws of a ready-made space mention, for one program.
struct SpaceFacts {
  Facts numbers;                              ///< facts of the space that are known
  std::map<std::string, std::string> from;    ///< source of each known fact, for people
  std::map<std::string, std::string> wanted;  ///< how the user can state each unknown fact
  Configuration today;                        ///< value of each knob in the unchanged program
  /// Words to add to the command: options of facts that have `is_set` and are not set yet.
  std::vector<std::string> words;
};

/// Returns the value of an expression over knobs and facts; NaN if it mentions an unknown name.
[[nodiscard]] double value_today(const std::string& expression, const Configuration& today,
                                 const Facts& facts);

/// Returns an error if the user gives a fact that the space does not have. `space` may be null.
[[nodiscard]] Result<void> check_facts(const Facts& given, const ReadySpace* space);

/// Finds the facts of `input.space` in the command, its files, the model's files and the program's
/// defaults. `input.given_facts` have precedence.
[[nodiscard]] SpaceFacts space_facts(const GuessInput& input);

/// Applies the facts and laws of a ready-made space to a study.
class SpaceLaws {
 public:
  /// `input` must outlive the object. Without a space there are no laws.
  SpaceLaws(const GuessInput& input, SpaceFacts facts);

  /// Returns the machine's facts and the known facts of the space.
  [[nodiscard]] const Facts& facts() const { return facts_; }
  /// Returns the rule with numbers in place of bounds that mention facts of the space.
  [[nodiscard]] SpaceKnob with_numbers(SpaceKnob rule) const;
  /// Returns why a knob must keep today's value: a law mentions an unknown number, or today's
  /// values violate it. Empty if the knob may vary.
  [[nodiscard]] std::string why_fixed(const SpaceKnob& rule) const;
  /// Adds the laws as constraints over the study's parameters.
  void add_to(StudyBuilder& study) const;
  /// Returns the memory terms (`search.memory_terms`) that depend on the study's parameters.
  [[nodiscard]] std::vector<std::string> memory_terms(const StudyBuilder& study) const;

 private:
  [[nodiscard]] std::string why_unknown(const std::string& expression) const;
  [[nodiscard]] std::string in_study(const std::string& law, const StudyBuilder& study) const;
  [[nodiscard]] std::string sources(const std::string& law) const;

  const GuessInput& input_;
  SpaceFacts found_;
  Facts facts_;
};

}  // namespace steptune
