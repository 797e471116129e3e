// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/machine_check.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

constexpr double k_busy_load_per_cpu = 0.2;
constexpr double k_little_memory_share = 0.1;
constexpr double k_little_disk_bytes = 1024.0 * 1024.0 * 1024.0;
constexpr double k_no_disk_bytes = 32.0 * 1024.0 * 1024.0;

/// kB figures of /proc/meminfo in bytes.
std::map<std::string, double> meminfo(const MachineRoot& machine) {
  std::map<std::string, double> result;
  std::ifstream file(machine.root / "proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(' ', colon + 1);
    const std::size_t end = line.find(' ', begin);
    if (begin == std::string::npos) continue;
    if (const auto kib = parse_finite(line.substr(begin, end - begin))) {
      result[line.substr(0, colon)] = *kib * 1024.0;
    }
  }
  return result;
}

}  // namespace

std::string to_text(CheckStatus status) {
  switch (status) {
    case CheckStatus::ok:
      return "ok";
    case CheckStatus::warn:
      return "warn";
    case CheckStatus::fail:
      return "fail";
  }
  return "fail";
}

std::optional<std::string> MachineRoot::line(const std::string& path) const {
  std::ifstream file(root / path);
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  return text;
}

std::optional<double> MachineRoot::number(const std::string& path) const {
  const auto text = line(path);
  return text ? parse_finite(*text) : std::nullopt;
}

std::vector<std::filesystem::path> MachineRoot::entries(const std::string& folder) const {
  std::vector<std::filesystem::path> result;
  std::error_code fault;
  for (std::filesystem::directory_iterator entry(root / folder, fault), end; !fault && entry != end;
       entry.increment(fault)) {
    result.push_back(entry->path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

Check check_blas(const std::optional<std::filesystem::path>& library) {
  if (!library) {
    return {"blas", CheckStatus::warn, "no libblas.so.3",
            "install libopenblas0-pthread if searcher \"bayes\" is to work with Debian's LibTorch"};
  }
  const std::string path = library->string();
  for (const char* name : {"openblas", "blis", "mkl", "atlas"}) {
    if (path.find(name) != std::string::npos) {
      return {"blas", CheckStatus::ok, fmt::format("{} ({})", name, path), ""};
    }
  }
  return {"blas", CheckStatus::warn, fmt::format("reference BLAS ({})", path),
          "searcher \"bayes\" thinks about five times longer with it: apt install "
          "libopenblas0-pthread, then check 'update-alternatives --display libblas.so.3-*'"};
}

Check check_governor(const MachineRoot& machine) {
  std::map<std::string, int> governors;
  for (const auto& cpu : machine.entries("sys/devices/system/cpu/cpufreq")) {
    const auto relative = std::filesystem::relative(cpu, machine.root) / "scaling_governor";
    if (const auto governor = machine.line(relative.string())) ++governors[*governor];
  }
  if (governors.empty()) {
    return {"cpu_governor", CheckStatus::ok, "not told (virtual machine or container)", ""};
  }
  std::string names;
  for (const auto& [name, count] : governors)
    names += (names.empty() ? "" : ", ") + printable_line(name);
  if (governors.size() == 1 && governors.contains("performance")) {
    return {"cpu_governor", CheckStatus::ok, names, ""};
  }
  return {"cpu_governor", CheckStatus::warn, names,
          "clock changes blur step times: 'cpupower frequency-set -g performance' while tuning"};
}

Check check_load(const MachineRoot& machine, int usable_cpus) {
  const auto text = machine.line("proc/loadavg");
  const auto load = text ? parse_finite(text->substr(0, text->find(' '))) : std::nullopt;
  if (!load) return {"load", CheckStatus::ok, "not told", ""};
  const std::string found = fmt::format("{:.2f} over the last minute, {} CPUs", *load, usable_cpus);
  if (*load > k_busy_load_per_cpu * std::max(1, usable_cpus)) {
    return {"load", CheckStatus::warn, found,
            "other programs disturb the measurements: wait until the machine is idle"};
  }
  return {"load", CheckStatus::ok, found, ""};
}

Check check_smt(const MachineRoot& machine) {
  const auto active = machine.number("sys/devices/system/cpu/smt/active");
  if (!active) return {"smt", CheckStatus::ok, "not told", ""};
  if (*active > 0) {
    return {"smt", CheckStatus::ok, "on: two hardware threads share a core",
            "let thread counts go up to the number of cores, too"};
  }
  return {"smt", CheckStatus::ok, "off", ""};
}

Check check_memory(const MachineRoot& machine) {
  auto memory = meminfo(machine);
  if (!memory.contains("MemTotal") || !memory.contains("MemAvailable")) {
    return {"memory", CheckStatus::ok, "not told", ""};
  }
  const double total = memory["MemTotal"];
  const double available = memory["MemAvailable"];
  const double swapped = memory["SwapTotal"] - memory["SwapFree"];
  std::string found =
      fmt::format("{} available of {}", format_bytes(available), format_bytes(total));
  if (swapped > 0.01 * total) found += fmt::format(", {} swapped out", format_bytes(swapped));
  if (available < k_little_memory_share * total) {
    return {"memory", CheckStatus::warn, found,
            "trials may run out of memory that the long run would have: end other programs"};
  }
  return {"memory", CheckStatus::ok, found, ""};
}

Check check_gpu(const MachineRoot& machine) {
  const auto gpus = machine.entries("proc/driver/nvidia/gpus");
  if (!gpus.empty()) {
    return {"gpu", CheckStatus::ok,
            fmt::format("{} NVIDIA GPU{}", gpus.size(), gpus.size() == 1 ? "" : "s"), ""};
  }
  for (const auto& device : machine.entries("sys/bus/pci/devices")) {
    const auto relative = std::filesystem::relative(device, machine.root);
    const bool nvidia = machine.line((relative / "vendor").string()) == "0x10de";
    const auto kind = machine.line((relative / "class").string());
    if (nvidia && kind && kind->starts_with("0x03")) {
      return {"gpu", CheckStatus::warn, "an NVIDIA GPU without a loaded driver",
              "install the driver, or trials will train on the CPU"};
    }
  }
  return {"gpu", CheckStatus::ok, "none: trials train on the CPU", ""};
}

Check check_clock_source(const MachineRoot& machine) {
  const auto source =
      machine.line("sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source) return {"clock_source", CheckStatus::ok, "not told", ""};
  const std::string found = printable_line(*source);
  if (found == "hpet" || found == "acpi_pm" || found == "jiffies") {
    return {"clock_source", CheckStatus::warn, found,
            "reading this clock is slow, which slows training programs that time their steps"};
  }
  return {"clock_source", CheckStatus::ok, found, ""};
}

Check check_cpus(const MachineRoot& machine, const std::vector<int>& allowed,
                 std::optional<double> quota) {
  const auto online = machine.line("sys/devices/system/cpu/online");
  std::string found = fmt::format("{} usable (online {})", allowed.size(),
                                  online ? printable_line(*online) : "not told");
  if (quota && *quota < static_cast<double>(allowed.size())) {
    found += fmt::format(", cgroup grants {} CPUs' worth of time", format_number(*quota));
    return {"cpus", CheckStatus::warn, found,
            "a quota stalls all threads at once when it is used up: prefer a cpuset of whole CPUs"};
  }
  return {"cpus", CheckStatus::ok, found, ""};
}

Check check_disk(const std::filesystem::path& database) {
  std::error_code fault;
  std::filesystem::path folder = std::filesystem::absolute(database, fault).parent_path();
  while (!std::filesystem::exists(folder, fault) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  struct statvfs room {};
  if (statvfs(folder.c_str(), &room) != 0) {
    return {"disk", CheckStatus::fail, fmt::format("{}: {}", folder.string(), std::strerror(errno)),
            "choose a database elsewhere with --db"};
  }
  const double free_bytes = static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize);
  const std::string found = fmt::format("{} free at {}", format_bytes(free_bytes), folder.string());
  if (free_bytes < k_no_disk_bytes) {
    return {"disk", CheckStatus::fail, found, "no room for the history: free some, or use --db"};
  }
  if (free_bytes < k_little_disk_bytes) {
    return {"disk", CheckStatus::warn, found, "logs of trials need up to 4 MiB each"};
  }
  return {"disk", CheckStatus::ok, found, ""};
}

}  // namespace steptune
