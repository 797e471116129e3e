// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "trial_runner/measure/measurement.hpp"
#include "trial_runner/runner.hpp"

namespace steptune {

/// Members of a struct in a trial's record. Their names are used in the database and in output.
template <typename T, std::size_t N, typename Member = double>
using NamedMembers = std::array<std::pair<std::string_view, Member T::*>, N>;

inline constexpr NamedMembers<PhaseEstimate, 6> k_phase_numbers{{
    {"count", &PhaseEstimate::count},
    {"seconds", &PhaseEstimate::seconds},
    {"seconds_error", &PhaseEstimate::seconds_error},
    {"period_samples", &PhaseEstimate::period_samples},
    {"period_error", &PhaseEstimate::period_error},
    {"spacing_samples", &PhaseEstimate::spacing_samples},
}};
inline constexpr NamedMembers<LevelChange, 3> k_level_change_numbers{{
    {"at_samples", &LevelChange::at_samples},
    {"at_s", &LevelChange::at_s},
    {"ratio", &LevelChange::ratio},
}};
inline constexpr NamedMembers<MachineFigureChange, 2> k_machine_change_numbers{{
    {"before", &MachineFigureChange::before},
    {"after", &MachineFigureChange::after},
}};
inline constexpr NamedMembers<CpuClock, 2> k_cpu_clock_numbers{{
    {"mean_hz", &CpuClock::mean_hz},
    {"lowest_hz", &CpuClock::lowest_hz},
}};
inline constexpr NamedMembers<GpuUse, 5> k_gpu_use_numbers{{
    {"peak_memory_bytes", &GpuUse::peak_memory_bytes},
    {"peak_memory_share", &GpuUse::peak_memory_share},
    {"utilisation", &GpuUse::utilisation},
    {"sm_clock_hz", &GpuUse::sm_clock_hz},
    {"slowed_share", &GpuUse::slowed_share},
}};

}  // namespace steptune
