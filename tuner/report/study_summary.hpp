// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "trial_runner/runner_kind.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// How many configurations a space has.
struct SpaceSize {
  std::optional<std::uint64_t> product;  ///< before conditions and constraints; nothing: continuous
  std::optional<std::uint64_t> feasible;  ///< after them; nothing where too many to count
};
[[nodiscard]] SpaceSize space_size(const SearchSpace& space);

/// A validated study as `check` tells it, a line per part; ends with a newline. `of_runner`: its
/// `RunnerSettings::summary`.
[[nodiscard]] std::string study_summary(const StudySpec& study, const SpaceSize& size,
                                        std::span<const SummaryLine> of_runner);

/// `64 .. 512 (log2), 4 values`
[[nodiscard]] std::string parameter_summary(const Parameter& parameter);

}  // namespace steptune
