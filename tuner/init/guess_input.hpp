// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "common/machine/process_activity.hpp"
#include "search/space/expression.hpp"
#include "tuner/init/native_runtimes.hpp"
#include "tuner/init/output_look.hpp"
#include "tuner/init/program_facts.hpp"
#include "tuner/init/ready_space.hpp"
#include "tuner/survey/survey.hpp"

namespace steptune {

/// Why what changes what is learnt is left as it is, where no loss is known.
inline constexpr const char* k_no_loss =
    "it changes what is learnt, and no loss is known that a guard could check (docs/study-file.md, "
    "guards)";

/// What a study is guessed from.
struct GuessInput {
  std::string name;
  ProgramFacts program;
  const ReadySpace* space = nullptr;  ///< the trainer that it is; null: options by their names
  std::optional<OutputReading> reading = {};
  std::optional<Survey> survey = {};
  /// Their variables are knobs, where output is read and no hook sets them.
  NativeRuntimes runtimes = {};
  /// Threads, CPU use and waiting while it was looked at; of a survey: the same.
  std::optional<ProcessActivity> activity = {};
  std::filesystem::path folder;  ///< where the command runs
  Facts machine;                 ///< with `cpus`, `gpus` and `memory_gb`
  bool same_training = false;  ///< leave what makes it another training (batch size, accumulation)
  /// Asked now and then while files are counted; true: stop.
  std::function<bool()> interrupted = {};
};

/// The metric that tells the loss of training: seen in the program's output, or published; empty
/// where none is known.
[[nodiscard]] std::string known_loss(const GuessInput& input);

/// Samples of a step as its output tells them, else as the hook has seen them; nothing where
/// neither does.
[[nodiscard]] std::optional<double> seen_samples_per_step(const GuessInput& input);

/// True if its output counts optimizer steps: a known trainer's does; who reads a known
/// file is not known by that. Of others, a bar over a loader counts parts of one.
[[nodiscard]] bool counts_optimizer_steps(const GuessInput& input);

}  // namespace steptune
