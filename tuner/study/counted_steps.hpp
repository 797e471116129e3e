// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Two counts of samples agree if they differ by less than this share. A program may drop or pad
/// the last batch of an epoch.
inline constexpr double k_same_count = 0.1;

/// Returns the parameter for the number of batches in an optimizer step, if
/// `planned_run.batch_size` uses it. Recognizes the parameter by its declared role, or if it has
/// none, by its name.
[[nodiscard]] std::optional<std::string> accumulation_parameter(const StudySpec& study);

/// Returns the parameter for the number of batches in a step of the Trainer (`hf-trainer`), if the
/// study forgot it: `planned_run.batch_size` uses the size of a batch but not this parameter.
[[nodiscard]] std::optional<std::string> forgotten_accumulation(const StudySpec& study);

/// True if the preset's progress bar counts batches, not optimizer steps (`lightning`, `keras`).
[[nodiscard]] bool counts_batches(const StudySpec& study);

/// Returns the samples in one count of a trial's progress bar. One count is a step
/// (`samples_per_step`), or a batch if `counts_batches`. Returns nullopt if the study does not
/// state the samples.
[[nodiscard]] std::optional<double> samples_per_count(const StudySpec& study,
                                                      const Configuration& configuration);

}  // namespace steptune
