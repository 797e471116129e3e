// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/serve/study_figures.hpp"

namespace steptune {

/// Returns the metrics in Prometheus' text format 0.0.4. Each sample has the study's name as a
/// label. `docs/serve.md` lists them. Names and units follow Prometheus' conventions.
[[nodiscard]] std::string metrics_text(const std::vector<StudyFigures>& studies,
                                       std::string_view program_version);

/// Content type of `metrics_text`.
inline constexpr const char* k_metrics_type = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace steptune
