// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptune {

/// A number without bounds is varied from today's value divided by the first factor to today's
/// value times the second.
inline constexpr std::int64_t k_smaller = 4;
inline constexpr std::int64_t k_larger = 8;
/// A guard on the loss is checked after the baseline has trained for this many steps.
inline constexpr double k_guard_steps = 30.0;
/// Largest loss that a drafted guard allows, relative to the baseline's.
inline constexpr double k_guard_ratio = 1.02;
/// PyTorch's default number of batches that each worker loads ahead.
inline constexpr std::int64_t k_default_prefetch_factor = 2;

}  // namespace steptune
