// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "trial_runner/runner_kind.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

/// Number of configurations of a space.
struct SpaceSize {
  /// Number without regard to conditions and constraints; nullopt if a parameter is continuous.
  std::optional<std::uint64_t> product;
  /// Number that conditions and constraints allow; nullopt if too many to count.
  std::optional<std::uint64_t> feasible;
};
[[nodiscard]] SpaceSize space_size(const SearchSpace& space);

/// Returns a validated study as `check` prints it, a line for each part; ends with a newline.
/// `of_runner` is its `RunnerSettings::summary`.
[[nodiscard]] std::string study_summary(const StudySpec& study, const SpaceSize& size,
                                        std::span<const SummaryLine> of_runner);

/// Returns `64 .. 512 (log2), 4 values`.
[[nodiscard]] std::string parameter_summary(const Parameter& parameter);

}  // namespace steptune
