// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "trial_runner/runner.hpp"

namespace steptune {

/// Numbers of a trial's GPU use, with the names for storing and showing them.
inline constexpr std::array<std::pair<std::string_view, double GpuUse::*>, 5> k_gpu_use_fields{{
    {"peak_memory_bytes", &GpuUse::peak_memory_bytes},
    {"peak_memory_share", &GpuUse::peak_memory_share},
    {"utilisation", &GpuUse::utilisation},
    {"sm_clock_hz", &GpuUse::sm_clock_hz},
    {"slowed_share", &GpuUse::slowed_share},
}};

}  // namespace steptune
