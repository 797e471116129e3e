// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/json.hpp"

namespace steptune {

/// What a training step does, one after the other or, with workers and GPUs, at the same time.
enum class StepStage { data, host_to_device, compute, communication, optimizer };
[[nodiscard]] std::string to_text(StepStage stage);  ///< persistent names: `host_to_device`

/// The stage that a program means by the name of a part of its steps: `data_loading`, `forward`,
/// `allreduce`. Nothing for a name that says none of them.
[[nodiscard]] std::optional<StepStage> stage_of_part(std::string_view part);

/// The stage that a parameter acts on, by its name (`num_workers`, `precision`) and by what the
/// study file does with it (`hooks.pytorch`). Nothing where neither says; a batch size acts on all.
[[nodiscard]] std::optional<StepStage> stage_of_parameter(const std::string& parameter,
                                                          const Json& study_document);

}  // namespace steptune
