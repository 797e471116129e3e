// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "search/searcher.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Returns the settings of the searcher `scaling` in this study; nullopt if the study has another
/// searcher. Fails with kind `usage`, with `where` as a JSON pointer into the study file. Reasons:
/// no parameter counts machines, the searcher cannot use that parameter, or no objective is a time.
/// Or a scheduler would stop trials early, or trials would run at the same time.
[[nodiscard]] Result<std::optional<ScalingSearch>> scaling_search(const StudySpec& study);

}  // namespace steptune
