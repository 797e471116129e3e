// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/oom_kill_counters.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/machine/cgroup.hpp"

namespace steptune::local {
namespace {

namespace fs = std::filesystem;

/// Returns the number in the line `oom_kill NUMBER`.
std::optional<std::uint64_t> read_count(const SystemFiles& files, const fs::path& file) {
  constexpr std::string_view k_key = "\noom_kill ";
  if (file.empty()) return std::nullopt;
  const std::string text = "\n" + files.text(file).value_or("");
  const std::size_t at = text.find(k_key);
  if (at == std::string::npos) return std::nullopt;
  std::uint64_t count = 0;
  const char* const begin = text.data() + at + k_key.size();
  if (std::from_chars(begin, text.data() + text.size(), count).ec != std::errc{}) {
    return std::nullopt;
  }
  return count;
}

/// Returns the counter file of the innermost group that has one.
fs::path find_counter(const SystemFiles& files, const std::vector<fs::path>& groups,
                      const char* name) {
  for (const fs::path& group : groups) {
    if (read_count(files, group / name)) return group / name;
  }
  return {};
}

}  // namespace

OomKillPlace oom_kills_between(const OomKills& before, const OomKills& after) {
  const auto is_known = [&](std::size_t i) { return before[i] && after[i]; };
  const auto has_grown = [&](std::size_t i) { return is_known(i) && *after[i] > *before[i]; };
  // Order of the counts: group of version 2, group of version 1, machine.
  if (has_grown(0) || has_grown(1)) return OomKillPlace::here;
  if (!has_grown(2)) return OomKillPlace::nowhere;
  return is_known(0) || is_known(1) ? OomKillPlace::elsewhere : OomKillPlace::here;
}

OomKillCounters::OomKillCounters(SystemFiles files) : files_(std::move(files)) {
  const std::vector<fs::path> groups = cgroup_folders(files_, "memory");
  version_2_ = find_counter(files_, groups, "memory.events");
  version_1_ = find_counter(files_, groups, "memory.oom_control");
}

OomKills OomKillCounters::read() const {
  return {read_count(files_, version_2_), read_count(files_, version_1_),
          read_count(files_, "proc/vmstat")};
}

}  // namespace steptune::local
