// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/pressure_watch.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/machine/cgroup.hpp"
#include "common/text.hpp"

namespace steptune::local {
namespace {

/// Number of CPUs whose throttle counters are read, to bound the time of a sample. A CPU also shows
/// the counter of its package.
constexpr int k_sampled_cpus = 16;

/// Parses `some avg10=0.00 avg60=0.00 avg300=0.00 total=1500672554`; the total is in microseconds.
std::optional<double> stalled_s(const SystemFiles& files, const char* resource) {
  constexpr std::string_view k_total = "total=";
  const auto words = files.words(fmt::format("proc/pressure/{}", resource));
  if (words.empty() || words.front() != "some" || !words.back().starts_with(k_total)) {
    return std::nullopt;
  }
  const auto total_us = parse_finite(std::string_view(words.back()).substr(k_total.size()));
  return total_us ? std::optional(1e-6 * *total_us) : std::nullopt;
}

/// Returns the number after `name` in lines of the form `name number`.
std::optional<double> number_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string word;
  double number = 0.0;
  while (lines >> word >> number) {
    if (word == name) return number;
  }
  return std::nullopt;
}

std::optional<QuotaTimes> quota_times(const SystemFiles& files) {
  for (const auto& folder : cgroup_folders(files, "cpu")) {
    const auto text = files.text(folder / "cpu.stat");
    if (!text) continue;
    const auto waited_us = number_of(*text, "throttled_usec");
    const auto ran_us = number_of(*text, "usage_usec");
    if (waited_us && ran_us) return QuotaTimes{1e-6 * *waited_us, 1e-6 * *ran_us};
    // Version 1 of control groups.
    const auto waited_ns = number_of(*text, "throttled_time");
    const auto ran_ns = files.number(folder / "cpuacct.usage");
    if (waited_ns && ran_ns) return QuotaTimes{1e-9 * *waited_ns, 1e-9 * *ran_ns};
  }
  return std::nullopt;
}

std::optional<double> throttles(const SystemFiles& files) {
  std::optional<double> sum;
  for (int cpu = 0; cpu < k_sampled_cpus; ++cpu) {
    for (const char* what : {"core", "package"}) {
      const auto count = files.number(fmt::format(
          "sys/devices/system/cpu/cpu{}/thermal_throttle/{}_throttle_count", cpu, what));
      if (count) sum = sum.value_or(0.0) + *count;
    }
  }
  return sum;
}

std::optional<double> stalled_share(std::optional<double> before_s, std::optional<double> after_s,
                                    double span_s) {
  if (!before_s || !after_s || !(span_s > 0.0)) return std::nullopt;
  return std::clamp((*after_s - *before_s) / span_s, 0.0, 1.0);
}

std::optional<double> quota_wait_share(const std::optional<QuotaTimes>& before,
                                       const std::optional<QuotaTimes>& after) {
  if (!before || !after) return std::nullopt;
  const double waited_s = std::max(0.0, after->waited_s - before->waited_s);
  const double ran_s = std::max(0.0, after->ran_s - before->ran_s);
  return waited_s > 0.0 ? waited_s / (waited_s + ran_s) : 0.0;
}

}  // namespace

std::optional<double> storage_stall_s(const SystemFiles& files) {
  return stalled_s(files, "io");
}

PressureCounters read_pressure(const SystemFiles& files) {
  return {stalled_s(files, "memory"), storage_stall_s(files), quota_times(files), throttles(files)};
}

PressureShares PressureWatch::sample(double now_s, const PressureCounters& counters) {
  const double span_s = now_s - std::exchange(sampled_s_, now_s);
  const PressureCounters before = std::exchange(counters_, counters);
  return {stalled_share(before.memory_wait_s, counters.memory_wait_s, span_s),
          stalled_share(before.storage_wait_s, counters.storage_wait_s, span_s),
          quota_wait_share(before.quota, counters.quota),
          before.throttles && counters.throttles && *counters.throttles > *before.throttles};
}

}  // namespace steptune::local
