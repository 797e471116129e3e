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
  std::string role;     ///< as a `SpaceKnob`'s; empty: none that others speak of
  std::string option;   ///< `--batch-size`; a knob of a hook or of the environment: empty
  std::string range{};  ///< `8..256`, `fp32|bf16`
  std::string today;    ///< empty: inactive
  std::string from;     ///< where today's value was read
};

struct StudyGuess {
  Json document;
  StudyComments comments;
  std::vector<GuessedKnob> tuned;
  std::vector<std::string> left;   ///< `--threads: its default is not told`
  std::vector<std::string> notes;  ///< how output is read, the planned run: one line each

  /// The first parameter of this role; empty: there is none.
  [[nodiscard]] std::string parameter_of(const std::string& role) const;
};

/// A study file's document for this program on this machine. Counts files of the data where
/// nothing else tells the planned run's samples, for seconds at most. An error where nothing may be
/// varied.
[[nodiscard]] Result<StudyGuess> guess_study(const GuessInput& input);

}  // namespace steptune
