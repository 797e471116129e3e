// SPDX-License-Identifier: Apache-2.0
#include "common/machine/cpus.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>
#include <sched.h>

#include "common/system_reason.hpp"

namespace steptune {
namespace {

/// sched_getaffinity fails if the set is smaller than the kernel's. One cpu_set_t of glibc has room
/// for only 1024 CPUs.
using CpuMask = std::array<cpu_set_t, 64>;

}  // namespace

Result<std::vector<int>> allowed_cpus() {
  CpuMask mask;
  if (::sched_getaffinity(0, sizeof mask, mask.data()) != 0) {
    return fail(ErrorKind::runner,
                "cannot read which CPUs this process may use: " + system_reason(errno));
  }
  std::vector<int> cpus;
  for (std::size_t cpu = 0; cpu < mask.size() * CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET_S(cpu, sizeof mask, mask.data())) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

int bind_calling_thread(const std::vector<int>& cpus) {
  CpuMask mask;
  CPU_ZERO_S(sizeof mask, mask.data());
  for (const int cpu : cpus)
    CPU_SET_S(static_cast<std::size_t>(cpu), sizeof mask, mask.data());
  return ::sched_setaffinity(0, sizeof mask, mask.data()) == 0 ? 0 : errno;
}

std::string format_cpus(std::vector<int> cpus) {
  std::ranges::sort(cpus);
  std::string text;
  for (std::size_t begin = 0; begin < cpus.size();) {
    std::size_t end = begin;
    while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1)
      ++end;
    if (!text.empty()) text += ',';
    text += begin == end ? fmt::format("{}", cpus[begin])
                         : fmt::format("{}-{}", cpus[begin], cpus[end]);
    begin = end + 1;
  }
  return text;
}

std::vector<int> parse_cpus(std::string_view text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  const int end_of_numbers = static_cast<int>(std::tuple_size_v<CpuMask>) * CPU_SETSIZE;
  const auto read = [&](int& number) {
    const auto [next, error] = std::from_chars(at, end, number);
    at = next;
    return error == std::errc{} && number >= 0 && number < end_of_numbers;
  };
  while (at != end) {
    int first = 0;
    if (!read(first)) return {};
    int last = first;
    if (at != end && *at == '-' && (++at, !read(last))) return {};
    for (int cpu = first; cpu <= last; ++cpu)
      cpus.push_back(cpu);
    if (at == end) break;
    if (*at++ != ',' || at == end) return {};
  }
  return cpus;
}

int usable_cpus(int allowed, std::optional<double> quota) {
  const double limit = std::min<double>(allowed, std::floor(quota.value_or(allowed)));
  return static_cast<int>(std::max(limit, 1.0));
}

}  // namespace steptune
