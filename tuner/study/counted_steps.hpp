// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tuner/study/study_spec.hpp"

namespace steptune {

/// The parameter that says of how many batches an optimizer step consists, if
/// `planned_run.batch_size` counts it: by its declared role, else by its name.
[[nodiscard]] std::optional<std::string> accumulation_parameter(const StudySpec& study);

/// A parameter of batches that the Trainer's steps consist of (`hf-trainer`) and that
/// `planned_run.batch_size` leaves out, although it counts the batch.
[[nodiscard]] std::optional<std::string> forgotten_accumulation(const StudySpec& study);

/// Whether the preset's bar counts batches and not optimizer steps (`lightning`, `keras`).
[[nodiscard]] bool counts_batches(const StudySpec& study);

/// Samples of one count of a trial's progress: those of a step (`samples_per_step`), or of a batch
/// where the preset's bar counts these. Nothing where the study does not say.
[[nodiscard]] std::optional<double> samples_per_count(const StudySpec& study,
                                                      const Configuration& configuration);

}  // namespace steptune
