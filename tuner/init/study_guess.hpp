// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "tuner/init/guess_input.hpp"
#include "tuner/init/study_text.hpp"

namespace steptune {

/// A parameter of the study, and where it came from.
struct GuessedKnob {
  std::string parameter;
  std::string role;     ///< as in `SpaceKnob`; empty if no other rule refers to it
  std::string option;   ///< `--batch-size`; empty for a knob of a hook or of the environment
  std::string range{};  ///< `8..256`, `fp32|bf16`
  std::string today;    ///< empty: inactive
  std::string from;     ///< source of today's value
};

struct StudyGuess {
  Json document;
  StudyComments comments;
  std::vector<GuessedKnob> tuned;
  std::vector<std::string> left_out;  ///< `--threads: its default is unknown`
  /// Notes of one line each: how the output is read, how long the planned run is.
  std::vector<std::string> notes;

  /// Returns the first parameter of this role; empty if there is none.
  [[nodiscard]] std::string parameter_of(const std::string& role) const;
};

/// Returns a study file's document for this program on this machine. If the number of samples in
/// the planned run is otherwise unknown, counts the data's files, for some seconds at most. Fails
/// if no parameter can be varied.
[[nodiscard]] Result<StudyGuess> guess_study(const GuessInput& input);

}  // namespace steptune
