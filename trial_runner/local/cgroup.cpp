// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trial_runner/local/proc.hpp"

namespace steptune::local {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_kills = "oom_kill";

std::optional<double> to_double(std::string_view text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return number;
}

/// The folders that may hold this process's limits for a controller, innermost first. Version 2 has
/// one tree for all controllers; in a container the path that /proc tells is often that of the host
/// while the tree's top is the container's own, so the way up to the top belongs to it.
std::vector<fs::path> cgroup_folders(std::string_view controller) {
  const std::string memberships = read_text("/proc/self/cgroup").value_or("");
  std::string_view rest = memberships;
  std::vector<fs::path> folders;
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string names = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const bool version_2 = names == ",,";
    if (!version_2 && names.find("," + std::string(controller) + ",") == names.npos) continue;
    const fs::path top =
        version_2 ? fs::path("/sys/fs/cgroup") : fs::path("/sys/fs/cgroup") / controller;
    fs::path inner = fs::path(line.substr(second + 1)).relative_path();
    for (; !inner.empty(); inner = inner.parent_path())
      folders.push_back(top / inner);
    folders.push_back(top);
  }
  return folders;
}

/// The number after `name ` at the begin of a line.
std::optional<std::uint64_t> counter(const fs::path& file, std::string_view name) {
  const std::string text = "\n" + read_text(file).value_or("");
  const std::string key = "\n" + std::string(name) + " ";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  const auto number = to_double(std::string_view(text).substr(at + key.size()));
  if (!number) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

/// The innermost of the folders' files that tells of kills.
fs::path counter_file(const std::vector<fs::path>& folders, const char* name) {
  for (const fs::path& folder : folders) {
    if (counter(folder / name, k_kills)) return folder / name;
  }
  return {};
}

/// `MAX PERIOD` of version 2, or the two files of version 1.
std::optional<double> quota_of(const fs::path& folder) {
  if (const auto text = read_text(folder / "cpu.max")) {
    const auto quota = to_double(*text);
    const auto period =
        to_double(std::string_view(*text).substr(std::min(text->find(' ') + 1, text->size())));
    if (quota && period && *period > 0) return *quota / *period;
  }
  const auto quota = to_double(read_text(folder / "cpu.cfs_quota_us").value_or(""));
  const auto period = to_double(read_text(folder / "cpu.cfs_period_us").value_or(""));
  if (quota && period && *quota > 0 && *period > 0) return *quota / *period;
  return std::nullopt;
}

}  // namespace

std::optional<double> cgroup_cpu_quota() {
  std::optional<double> least;
  for (const fs::path& folder : cgroup_folders("cpu")) {
    const auto quota = quota_of(folder);
    if (quota && (!least || *quota < *least)) least = quota;
  }
  return least;
}

bool any_grown(const OomKills& before, const OomKills& after) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] && after[i] && *after[i] > *before[i]) return true;
  }
  return false;
}

OomWatch::OomWatch() {
  const std::vector<fs::path> folders = cgroup_folders("memory");
  version_2_ = counter_file(folders, "memory.events");
  version_1_ = counter_file(folders, "memory.oom_control");
}

OomKills OomWatch::read() const {
  const auto count = [](const fs::path& file) {
    return file.empty() ? std::nullopt : counter(file, k_kills);
  };
  return {count(version_2_), count(version_1_), counter("/proc/vmstat", k_kills)};
}

}  // namespace steptune::local
