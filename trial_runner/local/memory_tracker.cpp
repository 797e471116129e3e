// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/memory_tracker.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "common/machine/system_files.hpp"
#include "trial_runner/local/cpu_time.hpp"
#include "trial_runner/local/usage.hpp"

namespace steptune::local {
namespace {

/// Exact sizes are read again after the sum of resident sizes has grown by this factor.
constexpr double k_worth_examining = 1.05;

std::string read_file_of(pid_t pid, const char* file) {
  return read_system_file(fmt::format("/proc/{}/{}", pid, file)).value_or("");
}

/// Returns the value after `name` in a file of /proc/PID, converted from KiB to bytes.
std::optional<double> size_in(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(at + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  double kib = 0.0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), kib).ec != std::errc{}) {
    return std::nullopt;
  }
  return 1024.0 * kib;
}

}  // namespace

bool MemoryTracker::sample(std::span<const ProcessStat> processes, double now_s) {
  double sum = 0.0;
  for (const ProcessStat& process : processes)
    sum += static_cast<double>(process.resident_bytes);
  const bool suspicious = limit_bytes_ && sum > *limit_bytes_;
  if (processes.size() == 1) {
    const std::string status = read_file_of(processes.front().id.pid, "status");
    raise(std::max(sum, size_in(status, "VmHWM:").value_or(0.0)));
    raise_unreclaimable(size_in(status, "RssAnon:"), size_in(status, "RssShmem:"));
    return suspicious;
  }
  const bool grown = sum > k_worth_examining * examined_sum_bytes_;
  if (!(grown || suspicious) || now_s < next_exact_s_) return false;
  double exact = 0.0;
  std::optional<double> anonymous, shared;
  for (const ProcessStat& process : processes) {
    const std::string sizes = read_file_of(process.id.pid, "smaps_rollup");
    exact += size_in(sizes, "\nPss:").value_or(static_cast<double>(process.resident_bytes));
    if (const auto size = size_in(sizes, "\nPss_Anon:"))
      anonymous = anonymous.value_or(0.0) + *size;
    if (const auto size = size_in(sizes, "\nPss_Shmem:")) shared = shared.value_or(0.0) + *size;
  }
  raise_unreclaimable(anonymous, shared);
  examined_sum_bytes_ = sum;
  // Reading the exact sizes of a large process takes long, and locks memory structures that the
  // trial needs.
  next_exact_s_ = now_s + k_sample_interval_s;
  raise(exact);
  return limit_bytes_ && exact > *limit_bytes_;
}

void MemoryTracker::add(const rusage& usage) {
  // The kernel's peak includes the time before the child became the trial's program, when it was a
  // copy of this program. A peak below this program's size says nothing about the trial.
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  if (usage.ru_maxrss > own.ru_maxrss) raise(1024.0 * static_cast<double>(usage.ru_maxrss));
}

void MemoryTracker::raise_unreclaimable(std::optional<double> anonymous_bytes,
                                        std::optional<double> shared_bytes) {
  if (!anonymous_bytes || !shared_bytes) return;
  const double bytes = *anonymous_bytes + *shared_bytes;
  peak_unreclaimable_bytes_ = std::max(peak_unreclaimable_bytes_.value_or(0.0), bytes);
}

void MemoryTracker::raise(double bytes) {
  if (bytes > 0.0) peak_bytes_ = std::max(peak_bytes_.value_or(0.0), bytes);
}

}  // namespace steptune::local
