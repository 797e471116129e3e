// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tuner/study/study_spec.hpp"

namespace steptune {

/// The parameter that counts machines, GPUs or processes: the one that `nodes`, `instance_count`
/// and their like of `launch` and `runner` name, else one that is called so. Nothing where none is.
/// Reads `study.document`.
[[nodiscard]] std::optional<std::string> counting_parameter(const StudySpec& study);

/// Whether all values are numbers, and no strings that write one.
[[nodiscard]] bool is_numeric(const Parameter& parameter);

/// Whether a parameter of this name counts machines, and not what each of them has.
[[nodiscard]] bool counts_machines(std::string_view name);

}  // namespace steptune
