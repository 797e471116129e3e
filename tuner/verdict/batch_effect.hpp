// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial_runner/hooks/hook_log.hpp"
#include "tuner/history/history.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/verdict/launch_variation.hpp"

namespace steptune {

/// Evidence that a program trains with another batch size than the baseline.
enum class BatchEvidence {
  loader,     ///< batch size of the data loader, as the hook sees it
  rate,       ///< samples or tokens per second that the program prints
  step_time,  ///< longer steps for more samples, beyond noise
  memory,     ///< more memory for more samples, beyond noise
  length,     ///< another number of steps until the program ends by itself
  nothing,    ///< no evidence: the program may ignore the setting
};

/// Comparison of a trial with the baseline by their batch sizes. The comparison applies if the
/// study, not the program, gives the samples per step, and the two numbers differ. Here, a step is
/// one count of the program's progress.
struct BatchEffect {
  BatchEvidence evidence = BatchEvidence::nothing;
  /// True if the loader or a printed rate shows the number of samples, whether it changed or not.
  bool shows_samples = false;
  /// True if only the batch size differs, so that any effect comes from it.
  bool is_alone = false;
  std::string setting;  ///< `batch_size=128`
  double samples = 0.0;
  double baseline_samples = 0.0;
  double step_s = 0.0;
  double baseline_step_s = 0.0;
  double noise = 0.0;  ///< noise of the ratio of both step times, as a share (95 % interval)
  std::optional<double> memory_bytes;
  std::optional<double> baseline_memory_bytes;
};

/// Compares a trial with the baseline. Returns nullopt if the program reports samples, or if the
/// study gives the same number for both. Also returns nullopt if too little was measured. `hook`:
/// the events of the trial's hook, if it had one.
[[nodiscard]] std::optional<BatchEffect> batch_effect(const StudySpec& study,
                                                      const TrialRecord& trial,
                                                      const TrialRecord& baseline,
                                                      const LaunchVariation& launches,
                                                      const HookLog* hook = nullptr);

/// Answer to the question if the program applies the batch size of its configuration.
enum class BatchApplied { unknown, yes, no };
/// Judges by all trials if the program applies its batch size. Uses trials that change nothing
/// else, and trials whose samples the program itself shows. Returns `yes` if one of these trials
/// shows an effect of the batch size. Returns `no` if none does, although one has at least twice or
/// at most half of the baseline's samples.
[[nodiscard]] BatchApplied batch_applied(const StudySpec& study,
                                         const std::vector<TrialRecord>& trials,
                                         const TrialRecord* baseline,
                                         const LaunchVariation& launches);

/// Returns why the program does not seem to apply its batch size; nullopt if it may apply it.
[[nodiscard]] std::optional<std::string> why_not_applied(const BatchEffect& effect,
                                                         BatchApplied applied);

/// True if the hook counts samples as steps multiplied by a number that the study gave to it.
[[nodiscard]] bool has_given_samples(const HookLog& hook);

/// Returns a note that the samples per step of the recommended configuration were assumed. Returns
/// nullopt if the program reported them or if they do not matter.
[[nodiscard]] std::optional<std::string> assumed_samples_note(
    const StudySpec& study, const std::vector<TrialRecord>& trials, const TrialRecord& recommended,
    const TrialRecord& baseline, const LaunchVariation& launches);

}  // namespace steptune
