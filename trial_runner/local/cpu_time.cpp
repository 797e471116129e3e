// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/cpu_time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "common/machine/system_files.hpp"

namespace steptune::local {
namespace {

/// With fewer ticks than this, rounding errors are too large.
constexpr double k_min_ticks = 20.0;

/// A CPU counts all time, busy or idle, so the sum should equal the elapsed time. It falls below
/// this share if the machine was suspended or a virtual machine was paused.
constexpr double k_least_counted = 0.5;

/// Parses the line at the start of `text` if its name is `name`.
std::optional<CpuTime> time_of_line(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return std::nullopt;
  std::array<std::uint64_t, 8> ticks{};
  const char* at = text.data() + name.size();
  const char* const end = text.data() + text.size();
  for (std::uint64_t& field : ticks) {
    while (at < end && *at == ' ')
      ++at;
    const auto [next, error] = std::from_chars(at, end, field);
    if (error != std::errc{}) return std::nullopt;
    at = next;
  }
  const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto all =
      static_cast<double>(std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0}));
  // Guest time is part of user.
  const auto& [user, nice, kernel, idle, iowait, irq, softirq, steal] = ticks;
  const auto unused = static_cast<double>(idle + iowait + steal);
  CpuTime time;
  time.total_s = all * tick_s;
  time.busy_s = (all - unused) * tick_s;
  time.steal_s = static_cast<double>(steal) * tick_s;
  time.iowait_s = static_cast<double>(iowait) * tick_s;
  return time;
}

std::optional<CpuTime> time_of_machine(std::string_view proc_stat) {
  auto time = time_of_line(proc_stat, "cpu ");
  if (time) time->cpus = std::max<std::size_t>(1, times_of_cpus(proc_stat, {}).size());
  return time;
}

}  // namespace

std::vector<TimeOfCpu> times_of_cpus(std::string_view proc_stat, std::span<const int> cpus) {
  constexpr std::string_view k_cpu = "cpu";
  std::vector<TimeOfCpu> times;
  // The first line is the sum of all CPUs, so skip it.
  for (auto at = proc_stat.find('\n'); at != std::string_view::npos;
       at = proc_stat.find('\n', at + 1)) {
    const std::string_view line = proc_stat.substr(at + 1);
    if (!line.starts_with(k_cpu)) break;
    int cpu = 0;
    const auto [number_end, error] =
        std::from_chars(line.data() + k_cpu.size(), line.data() + line.size(), cpu);
    if (error != std::errc{}) break;
    if (!cpus.empty() && std::ranges::find(cpus, cpu) == cpus.end()) continue;
    const auto name_size = static_cast<std::size_t>(number_end - line.data());
    const auto time = time_of_line(line, line.substr(0, name_size));
    if (time) times.push_back({cpu, *time});
  }
  return cpus.empty() || times.size() == cpus.size() ? times : std::vector<TimeOfCpu>();
}

std::optional<CpuTime> cpu_time_of(std::string_view proc_stat, std::span<const int> cpus) {
  if (cpus.empty()) return time_of_machine(proc_stat);
  const auto times = times_of_cpus(proc_stat, cpus);
  if (times.empty()) return time_of_machine(proc_stat);
  CpuTime sum;
  sum.cpus = cpus.size();
  for (const TimeOfCpu& of_cpu : times) {
    sum.total_s += of_cpu.time.total_s;
    sum.busy_s += of_cpu.time.busy_s;
    sum.steal_s += of_cpu.time.steal_s;
    sum.iowait_s += of_cpu.time.iowait_s;
  }
  return sum;
}

std::optional<CpuTime> read_cpu_time(std::span<const int> cpus) {
  const auto text = read_system_file("/proc/stat");
  return text ? cpu_time_of(*text, cpus) : std::nullopt;
}

std::optional<Disturbance> disturbance_between(const CpuTime& before, const CpuTime& after,
                                               double own_s) {
  const double total_s = after.total_s - before.total_s;
  if (total_s * static_cast<double>(::sysconf(_SC_CLK_TCK)) < k_min_ticks) return std::nullopt;
  const double others_s = after.busy_s - before.busy_s - own_s;
  Disturbance disturbance;
  disturbance.other_load = std::clamp(others_s / total_s, 0.0, 1.0);
  disturbance.steal = std::clamp((after.steal_s - before.steal_s) / total_s, 0.0, 1.0);
  return disturbance;
}

double own_cpu_seconds(std::span<const ProcessStat> processes, double reaped_cpu_s) {
  double own_s = reaped_cpu_s;
  for (const ProcessStat& process : processes)
    own_s += process.cpu_s;
  return own_s;
}

void CpuUse::sample(double now_s, double own_s) {
  // If the sum fell, a process has vanished with its CPU time. Start again.
  if (!first_ || own_s < latest_.own_s) first_ = {now_s, own_s};
  latest_ = {now_s, own_s};
}

std::optional<double> CpuUse::busy_share(int cpus) const {
  if (!first_ || latest_.at_s - first_->at_s < k_least_span_s) return std::nullopt;
  const double used_s = latest_.own_s - first_->own_s;
  return std::clamp(used_s / ((latest_.at_s - first_->at_s) * std::max(1, cpus)), 0.0, 1.0);
}

DisturbanceWatch::DisturbanceWatch(double now_s, const std::optional<CpuTime>& counters)
    : sampled_s_(now_s), counters_(counters) {}

DisturbanceWatch::Span DisturbanceWatch::sample(double now_s,
                                                const std::optional<CpuTime>& counters,
                                                double own_s) {
  Span span{std::exchange(sampled_s_, now_s), std::nullopt};
  const auto before = std::exchange(counters_, counters);
  const double own_before_s = std::exchange(own_s_, own_s);
  if (!before || !counters) return span;
  // If a process vanished between two samples, its time would look like another program's.
  if (own_s >= own_before_s) {
    span.disturbance = disturbance_between(*before, *counters, own_s - own_before_s);
  }
  const double span_s = now_s - span.from_s;
  const double counted_s =
      (counters->total_s - before->total_s) / static_cast<double>(counters->cpus);
  if (counted_s > 0.0 && counted_s < k_least_counted * span_s) {
    if (!span.disturbance) span.disturbance = Disturbance{.other_load = MachineSecond::k_unknown};
    span.disturbance->steal = 1.0 - counted_s / span_s;
  }
  return span;
}

}  // namespace steptune::local
