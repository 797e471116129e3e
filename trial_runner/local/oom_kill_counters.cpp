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

/// The number of the line `oom_kill NUMBER`.
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

/// The innermost group's file that counts kills.
fs::path find_counter(const SystemFiles& files, const std::vector<fs::path>& groups,
                      const char* name) {
  for (const fs::path& group : groups) {
    if (read_count(files, group / name)) return group / name;
  }
  return {};
}

}  // namespace

bool any_grown(const OomKills& before, const OomKills& after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] && after[i] && *after[i] > *before[i]) return true;
  }
  return false;
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
