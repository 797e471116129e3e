// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "trial_runner/runner_kind.hpp"

namespace steptune {

/// All kinds of runners that this program knows. The first is a study's that names none.
[[nodiscard]] std::span<const RunnerKind* const> runner_kinds();

/// Null if there is none of this name.
[[nodiscard]] const RunnerKind* find_runner_kind(std::string_view name);

}  // namespace steptune
