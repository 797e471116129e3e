// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/stream_accuracy/watched_cpu.hpp"

#include <algorithm>
#include <cmath>

namespace steptune {
namespace {

constexpr double k_sample_interval_s = 1.0;
constexpr double k_system_share = 0.02;

/// Returns the disturbed seconds within the second that ends at `end_s`.
double disturbed_part_s(const SimulatedProgram& program, double end_s) {
  if (!program.disturber_shows) return 0.0;
  const double from_s = std::max(end_s - k_sample_interval_s, program.disturbed_after_s);
  const double to_s = std::min(end_s, program.disturbed_after_s + program.disturbed_s);
  return std::max(0.0, to_s - from_s);
}

}  // namespace

WatchedCpu::WatchedCpu(const SimulatedProgram& program, std::uint64_t seed)
    : program_(program), rng_(seed, "watched_cpu"), watch_(0.0, local::CpuTime{}) {}

void WatchedCpu::advance(double now_s) {
  while (now_s_ + k_sample_interval_s <= now_s) {
    now_s_ += k_sample_interval_s;
    const double disturber_s =
        (1.0 - 1.0 / program_.disturbed_ratio) * disturbed_part_s(program_, now_s_);
    const double system_s = -k_system_share * std::log(1.0 - rng_.uniform());
    others_s_ += std::min(k_sample_interval_s, disturber_s + system_s);
    // The training program keeps the CPU busy.
    const local::CpuTime counters{now_s_, now_s_, 0.0};
    const auto span = watch_.sample(now_s_, counters, now_s_ - others_s_);
    if (span.disturbance && is_disturbing(*span.disturbance)) disturbed_s_ += now_s_ - span.from_s;
  }
}

}  // namespace steptune
