// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/cpu_clock_watch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune::local {
namespace {

/// Smallest busy share of a CPU whose clock counts. A CPU that is idle for longer may have lowered
/// its clock.
constexpr double k_least_busy = 0.5;

constexpr std::array k_cpufreq_files{"cpuinfo_avg_freq", "scaling_cur_freq", "cpuinfo_cur_freq"};

std::optional<double> cpufreq_hz(const SystemFiles& files, int cpu, const char* file) {
  const auto khz = files.number(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/{}", cpu, file));
  return khz && *khz > 0.0 ? std::optional(1e3 * *khz) : std::nullopt;
}

/// Name and value of a line such as `cpu MHz\t\t: 2445.404`.
struct CpuInfoLine {
  std::string_view name;
  std::string_view value;
};

CpuInfoLine cpu_info_line(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  const auto name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
  const auto value = line.find_first_not_of(' ', colon + 1);
  return {name, value == std::string_view::npos ? std::string_view() : line.substr(value)};
}

template <typename Use>
void for_each_cpu_info_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    use(cpu_info_line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool counts_cycles(std::string_view cpuinfo) {
  bool counts = false;
  for_each_cpu_info_line(cpuinfo, [&](const CpuInfoLine& line) {
    if (line.name == "flags") counts = counts || line.value.find("aperfmperf") != line.value.npos;
  });
  return counts;
}

std::vector<std::optional<double>> cpuinfo_hz(std::string_view cpuinfo, std::span<const int> cpus) {
  std::vector<std::optional<double>> clocks(cpus.size());
  std::optional<double> cpu;
  for_each_cpu_info_line(cpuinfo, [&](const CpuInfoLine& line) {
    if (line.name == "processor") cpu = parse_finite(line.value);
    if (line.name != "cpu MHz" || !cpu) return;
    const auto mhz = parse_finite(line.value);
    const auto at = std::ranges::find(cpus, static_cast<int>(*cpu));
    if (!mhz || !(*mhz > 0.0) || at == cpus.end()) return;
    clocks[static_cast<std::size_t>(at - cpus.begin())] = 1e6 * *mhz;
  });
  return clocks;
}

}  // namespace

CpuClocks::CpuClocks(SystemFiles files, int cpu) : files_(std::move(files)) {
  for (const char* file : k_cpufreq_files) {
    if (!cpufreq_hz(files_, cpu, file)) continue;
    source_ = Source::cpufreq;
    file_ = file;
    return;
  }
  if (counts_cycles(files_.text("proc/cpuinfo").value_or(""))) source_ = Source::cpuinfo;
}

std::vector<std::optional<double>> CpuClocks::read(std::span<const int> cpus) const {
  if (source_ == Source::cpuinfo) {
    return cpuinfo_hz(files_.text("proc/cpuinfo").value_or(""), cpus);
  }
  std::vector<std::optional<double>> clocks(cpus.size());
  if (source_ == Source::none) return clocks;
  for (std::size_t i = 0; i < cpus.size(); ++i)
    clocks[i] = cpufreq_hz(files_, cpus[i], file_);
  return clocks;
}

CpuClockWatch::CpuClockWatch(std::span<const int> cpus, SystemFiles files)
    : cpus_(cpus.begin(), cpus.end()), files_(std::move(files)) {}

std::optional<double> CpuClockWatch::sample(double now_s, std::string_view proc_stat) {
  if (clocks_ && !clocks_->are_known()) return std::nullopt;
  const auto before = std::exchange(times_, times_of_cpus(proc_stat, cpus_));
  const double span_s = now_s - std::exchange(sampled_s_, now_s);
  std::vector<int> busy_cpus;
  std::vector<double> busy_s;
  for (std::size_t i = 0; i < times_.size() && before.size() == times_.size(); ++i) {
    const double computed_s = times_[i].time.busy_s - before[i].time.busy_s;
    // If a CPU was switched on or off in between, the two lists do not match.
    if (times_[i].cpu != before[i].cpu || computed_s < k_least_busy * span_s) continue;
    busy_cpus.push_back(times_[i].cpu);
    busy_s.push_back(computed_s);
  }
  if (busy_cpus.empty()) return std::nullopt;
  // Choose the source only now, by a busy CPU: an idle CPU may show no clock, and a trial that ends
  // at once needs no source.
  if (!clocks_) clocks_.emplace(files_, busy_cpus.front());
  const auto clocks = clocks_->read(busy_cpus);
  double seconds = 0.0;
  double cycles = 0.0;
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    if (!clocks[i]) continue;
    seconds += busy_s[i];
    cycles += busy_s[i] * *clocks[i];
  }
  return seconds > 0.0 ? std::optional(cycles / seconds) : std::nullopt;
}

}  // namespace steptune::local
