// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/json.hpp"

namespace steptune {

/// Stages of a training step. They follow each other or, with workers and GPUs, overlap.
enum class StepStage { data, host_to_device, compute, communication, optimizer };
[[nodiscard]] std::string to_text(
    StepStage stage);  ///< `host_to_device`; the names must not change

/// Returns the stage that a program's name for a part of its steps means: `data_loading`,
/// `forward`, `allreduce`. nullopt for any other name.
[[nodiscard]] std::optional<StepStage> stage_of_part(std::string_view part);

/// Returns the stage that a parameter affects, by its name (`num_workers`, `precision`) and by its
/// use in the study file (`hooks.python`). nullopt if neither says so. A batch size affects all
/// stages.
[[nodiscard]] std::optional<StepStage> stage_of_parameter(const std::string& parameter,
                                                          const Json& study_document);

}  // namespace steptune
