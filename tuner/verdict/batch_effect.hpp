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

/// Shows that a program trains with another batch size than the baseline.
enum class BatchEvidence {
  loader,     ///< its loader's batches, as the hook counts them
  rate,       ///< samples or tokens a second that it prints
  step_time,  ///< longer steps for more samples, beyond noise
  memory,     ///< more memory for more samples, beyond noise
  length,     ///< fewer steps until its own end
  nothing,    ///< it may ignore the setting
};

/// A trial beside the baseline, where the study and not the program says the samples of a step, and
/// says other ones for both. One count of progress is called a step here.
struct BatchEffect {
  BatchEvidence evidence = BatchEvidence::nothing;
  /// Something told the samples themselves: `loader` or `rate`, or their word against it.
  bool is_told = false;
  /// Nothing else differs, so the batch size has any effect that is seen.
  bool is_alone = false;
  std::string setting;  ///< `batch_size=128`
  double samples = 0.0;
  double baseline_samples = 0.0;
  double step_s = 0.0;
  double baseline_step_s = 0.0;
  double noise = 0.0;  ///< of the ratio of both, as a share (95 %)
  std::optional<double> memory_bytes;
  std::optional<double> baseline_memory_bytes;
};

/// Nothing where the program tells samples, or the study says the same ones for both, or too little
/// was measured. `hook`: what the trial's hook told, if it had one.
[[nodiscard]] std::optional<BatchEffect> batch_effect(const StudySpec& study,
                                                      const TrialRecord& trial,
                                                      const TrialRecord& baseline,
                                                      const LaunchVariation& launches,
                                                      const HookLog* hook = nullptr);

/// Says if the program was seen to apply its batch size, by trials that change nothing else; of
/// those without an effect, at least twice or at most half of the baseline's samples count.
enum class BatchApplied { unknown, yes, no };
[[nodiscard]] BatchApplied batch_applied(const StudySpec& study,
                                         const std::vector<TrialRecord>& trials,
                                         const TrialRecord* baseline,
                                         const LaunchVariation& launches);

/// Why a trial's samples of a step are not those that the study says; nothing: they may be.
[[nodiscard]] std::optional<std::string> why_not_applied(const BatchEffect& effect,
                                                         BatchApplied applied);

/// True if the hook multiplies steps by the number that the study gave it.
[[nodiscard]] bool has_given_samples(const HookLog& hook);

/// For a result whose recommended configuration has assumed samples of a step; nothing
/// where the program told them, or they do not matter.
[[nodiscard]] std::optional<std::string> assumed_samples_note(
    const StudySpec& study, const std::vector<TrialRecord>& trials, const TrialRecord& recommended,
    const TrialRecord& baseline, const LaunchVariation& launches);

}  // namespace steptune
