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

/// Reason for not varying a setting that changes the training, if no loss is known.
inline constexpr const char* k_no_loss =
    "it changes what is learnt, and no loss is known that a guard could check (docs/study-file.md, "
    "guards)";

/// Facts from which a study file is made.
struct GuessInput {
  std::string name;
  ProgramFacts program;
  /// Search space of the known trainer; null: use options by their names.
  const ReadySpace* space = nullptr;
  std::optional<OutputReading> reading = {};
  std::optional<Survey> survey = {};
  /// Libraries in the program. Their environment variables are varied if progress can be read from
  /// the output and there is no survey by the hook.
  NativeRuntimes runtimes = {};
  /// Threads, CPU use and waiting of the program while it was examined.
  std::optional<ProcessActivity> activity = {};
  std::filesystem::path folder;            ///< folder in which the command runs
  Facts machine;                           ///< contains `cpus`, `gpus` and `memory_gb`
  bool cpu_computes_bfloat16 = true;       ///< true if the hardware computes it
  Facts given_facts = {};                  ///< facts of the space that the user states
  std::filesystem::path model_cache = {};  ///< cache of Hugging Face's hub; may be empty
  /// Do not vary settings that change the training (batch size, accumulation).
  bool same_training = false;
  /// Called regularly while files are counted. If it returns true, the counting stops.
  std::function<bool()> interrupted = {};
};

/// Returns the name of the training loss; empty if none is known. Searches the metrics that the
/// hook or the output showed, or that are listed for a known trainer.
[[nodiscard]] std::string known_loss(const GuessInput& input);

/// Returns the samples per step from the program's output. If the output has none, returns the
/// number that the hook saw; nullopt if unknown.
[[nodiscard]] std::optional<double> seen_samples_per_step(const GuessInput& input);

/// True if the program's output is known to count optimizer steps: for a known trainer, or if the
/// samples per step were seen. If only its configuration file identifies a program, it is no known
/// trainer. Other outputs may count parts of a step, for example a progress bar over a loader.
[[nodiscard]] bool counts_optimizer_steps(const GuessInput& input);

}  // namespace steptune
