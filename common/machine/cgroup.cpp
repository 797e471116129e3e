// SPDX-License-Identifier: Apache-2.0
#include "common/machine/cgroup.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include "common/text.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

void lower(std::optional<double>& least, double value) {
  if (value > 0.0) least = std::min(least.value_or(value), value);
}

void lower_to_quota(std::optional<double>& least, std::optional<double> quota_us,
                    std::optional<double> period_us) {
  if (quota_us && period_us && *period_us > 0.0) lower(least, *quota_us / *period_us);
}

}  // namespace

std::vector<fs::path> cgroup_folders(const SystemFiles& files, std::string_view controller) {
  std::vector<fs::path> folders;
  // A line is HIERARCHY:CONTROLLERS:PATH; version 2 names no controllers.
  std::istringstream memberships(files.text("proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(memberships, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool version_2 = controllers == ",,";
    const std::string wanted = "," + std::string(controller) + ",";
    if (!version_2 && controllers.find(wanted) == std::string::npos) continue;
    fs::path top = "sys/fs/cgroup";
    if (!version_2) top /= controller;
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path(); !group.empty();
         group = group.parent_path()) {
      folders.push_back(top / group);
    }
    folders.push_back(top);
  }
  return folders;
}

std::optional<double> cgroup_cpu_quota(const SystemFiles& files) {
  std::optional<double> least;
  for (const fs::path& folder : cgroup_folders(files, "cpu")) {
    const auto words = files.words(folder / "cpu.max");
    if (words.size() == 2) {
      lower_to_quota(least, parse_finite(words[0]), parse_finite(words[1]));
    }
    lower_to_quota(least, files.number(folder / "cpu.cfs_quota_us"),
                   files.number(folder / "cpu.cfs_period_us"));
  }
  return least;
}

std::optional<double> cgroup_memory_limit_bytes(const SystemFiles& files) {
  std::optional<double> least;
  for (const fs::path& folder : cgroup_folders(files, "memory")) {
    for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
      const auto limit = files.number(folder / name);
      if (limit) lower(least, *limit);
    }
  }
  return least;
}

}  // namespace steptune
