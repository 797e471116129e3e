// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/json.hpp"

namespace steptune {

/// Stages of a training step. They follow each other or, with workers and GPUs, overlap.
enum class StepStage { data, host_to_device, compute, communication, optimizer };
/// Returns the stage's name, such as `host_to_device`. The names must not change.
[[nodiscard]] std::string to_text(StepStage stage);

/// Returns the stage for a program's name of a part of its steps, such as `data_loading`, `forward`
/// or `allreduce`. Returns nullopt for an unknown name.
[[nodiscard]] std::optional<StepStage> stage_of_part(std::string_view part);

/// Returns the stage that a parameter affects, by its name (`num_workers`, `precision`) and by its
/// use in the study file (`hooks.python`). Returns nullopt if neither shows a stage. An example is
/// a batch size, which affects all stages.
[[nodiscard]] std::optional<StepStage> stage_of_parameter(const std::string& parameter,
                                                          const Json& study_document);

}  // namespace steptune
