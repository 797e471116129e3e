// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/json.hpp"
#include "search/space/expression.hpp"
#include "tuner/init/native_runtimes.hpp"
#include "tuner/init/output_look.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/init/ready_space.hpp"
#include "tuner/init/study_text.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// What a study is guessed from.
struct GuessInput {
  std::string name;
  ProgramFacts program;
  const ReadySpace* space = nullptr;  ///< the trainer that it is; null: options by their names
  std::optional<OutputReading> reading = {};
  std::optional<Survey> survey = {};
  NativeRuntimes runtimes =
      {};  ///< whose variables are knobs, where output is read and no hook sets them
  std::filesystem::path folder;  ///< where the command runs
  Facts machine;
  bool same_training = false;  ///< leave what makes it another training (batch size, accumulation)
  /// Asked now and then while files are counted; true: stop.
  std::function<bool()> interrupted = {};
};

/// A parameter of the study, and where it came from.
struct GuessedKnob {
  std::string parameter;
  std::string role;
  std::string option;  ///< `--batch-size`; a knob of a hook or of the environment: empty
  std::string range;   ///< `8..256`, `fp32|bf16`
  std::string today;   ///< empty: inactive
  std::string from;    ///< where today's value was read
};

struct StudyGuess {
  Json document;
  StudyComments comments;
  std::vector<GuessedKnob> tuned;
  std::vector<std::string> left;   ///< `--threads: its default is not told`
  std::vector<std::string> notes;  ///< how output is read, the planned run: one line each
};

/// A study file's document for this program on this machine. An error where nothing may be varied.
[[nodiscard]] Result<StudyGuess> guess_study(const GuessInput& input);

/// The metric that tells the loss of training: seen in the program's output, or published; empty
/// where none is known.
[[nodiscard]] std::string known_loss(const GuessInput& input);

/// Adds `planned_run`, `guards`, `reports` and `measure` to a guess that has its parameters.
/// `by_role`: the parameter of a role.
void guess_goal(const GuessInput& input, const std::map<std::string, std::string>& by_role,
                StudyGuess& guess);

}  // namespace steptune
