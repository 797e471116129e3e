// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/init/space_facts.hpp"
#include "tuner/init/study_builder.hpp"

namespace steptune {

/// Applies the facts and laws of a ready-made space to a study.
class SpaceLaws {
 public:
  /// `input` must outlive the object. Without a space there are no laws.
  SpaceLaws(const GuessInput& input, SpaceFacts facts);

  /// Returns the machine's facts and the known facts of the space.
  [[nodiscard]] const Facts& facts() const { return facts_; }
  /// Returns the rule; bounds that mention facts of the space become numbers.
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
