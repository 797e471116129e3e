// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "search/searcher.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// What the searcher `scaling` is asked in this study; nothing where another one searches. Errors
/// of kind `usage`, `where` being a JSON pointer into the study file: no parameter counts machines,
/// no objective is a time, or a scheduler would stop counts before they are measured.
[[nodiscard]] Result<std::optional<ScalingSearch>> scaling_search(const StudySpec& study);

}  // namespace steptune
