// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/machine_facts.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include "common/text.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> words;
  for (std::string word; words.size() < 1000 && stream >> word;)
    words.push_back(word);
  return words;
}

std::optional<double> number_in(const fs::path& file) {
  const auto words = words_of(file);
  return words.empty() ? std::nullopt : parse_finite(words.front());
}

/// The process's control group of `controller` and all groups above it, whose limits add up:
/// folders of version 2 (empty controller) or 1. In a container the path may not exist; its root
/// does.
std::vector<fs::path> groups(const fs::path& root, std::string_view controller) {
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = names == ",,";
    const bool wanted = controller.empty()
                            ? unified
                            : names.find("," + std::string(controller) + ",") != std::string::npos;
    if (!wanted) continue;
    const fs::path mount = root / "sys/fs/cgroup" / controller;
    std::vector<fs::path> folders;
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path(); !group.empty();
         group = group.parent_path()) {
      folders.push_back(mount / group);
    }
    folders.push_back(mount);
    return folders;
  }
  return {};
}

double quota_cpus(const fs::path& root) {
  double cpus = std::numeric_limits<double>::infinity();
  for (const fs::path& group : groups(root, "")) {
    const auto words = words_of(group / "cpu.max");
    if (words.size() != 2) continue;
    const auto quota = parse_finite(words[0]);
    const auto period = parse_finite(words[1]);
    if (quota && period && *quota > 0 && *period > 0) cpus = std::min(cpus, *quota / *period);
  }
  for (const fs::path& group : groups(root, "cpu")) {
    const auto quota = number_in(group / "cpu.cfs_quota_us");
    const auto period = number_in(group / "cpu.cfs_period_us");
    if (quota && period && *quota > 0 && *period > 0) cpus = std::min(cpus, *quota / *period);
  }
  return cpus;
}

double memory_bytes(const fs::path& root) {
  double bytes = 0.0;
  const auto words = words_of(root / "proc/meminfo");
  const auto total = std::find(words.begin(), words.end(), "MemTotal:");
  if (total != words.end() && total + 1 != words.end()) {
    bytes = parse_finite(*(total + 1)).value_or(0.0) * 1024.0;
  }
  const auto apply = [&](const std::optional<double>& limit) {
    if (limit && *limit > 0 && *limit < bytes) bytes = *limit;
  };
  for (const fs::path& group : groups(root, ""))
    apply(number_in(group / "memory.max"));
  for (const fs::path& group : groups(root, "memory")) {
    apply(number_in(group / "memory.limit_in_bytes"));
  }
  return bytes;
}

double gpu_count(const fs::path& root) {
  std::error_code error;
  const auto count = [&](const fs::path& folder, auto&& accepts) {
    int found = 0;
    for (auto entry = fs::directory_iterator(folder, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
      if (accepts(entry->path().filename().string())) ++found;
    }
    return found;
  };
  const int listed =
      count(root / "proc/driver/nvidia/gpus", [](const std::string&) { return true; });
  if (listed > 0) return listed;
  error.clear();
  return count(root / "dev", [](const std::string& name) {
    return name.size() > 6 && name.starts_with("nvidia") &&
           name.find_first_not_of("0123456789", 6) == std::string::npos;
  });
}

}  // namespace

Facts facts_under(const std::filesystem::path& root, int affinity_cpus) {
  const double cpus = std::min<double>(affinity_cpus, std::floor(quota_cpus(root)));
  // In tenths of a GiB, rounded down: a kernel update must not look like another machine.
  const double memory_gb = std::floor(memory_bytes(root) / 0x1p30 * 10.0) / 10.0;
  return {{"cpus", std::max(cpus, 1.0)}, {"gpus", gpu_count(root)}, {"memory_gb", memory_gb}};
}

}  // namespace steptune::study

namespace steptune {
namespace {

int affinity_cpus() {
  // Machines may have more processors than a `cpu_set_t` holds; then the kernel asks for more.
  for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(size)), [](cpu_set_t* held) { CPU_FREE(held); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
    if (set == nullptr) break;
    if (sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
  }
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

Facts machine_facts() {
  return study::facts_under("/", affinity_cpus());
}

}  // namespace steptune
