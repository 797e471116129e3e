// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "trial_runner/runner_kind.hpp"

namespace steptune {

/// Returns all kinds of runners. The first kind is the default for studies that name none.
[[nodiscard]] std::span<const RunnerKind* const> runner_kinds();

/// Returns null if no kind has this name.
[[nodiscard]] const RunnerKind* find_runner_kind(std::string_view name);

}  // namespace steptune
