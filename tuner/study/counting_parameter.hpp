// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns the numeric parameter that counts machines, GPUs or processes. This is the parameter in
/// `nodes`, `instance_count` or a similar key of `launch` and `runner`. If these keys name no
/// parameter, returns a parameter with a usual name, such as `gpus`. Returns nullopt if there is
/// none. Reads `study.document`.
[[nodiscard]] std::optional<std::string> counting_parameter(const StudySpec& study);

/// True if all values are numbers, not strings that look like numbers.
[[nodiscard]] bool is_numeric(const Parameter& parameter);

/// True if a parameter of this name counts machines, not GPUs or processes of each machine.
[[nodiscard]] bool counts_machines(std::string_view name);

}  // namespace steptune
