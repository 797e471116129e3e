// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/doctor_checks.hpp"

#include <algorithm>
#include <cerrno>
#include <map>

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/enum_names.hpp"
#include "common/machine/cgroup.hpp"
#include "common/machine/gpus.hpp"
#include "common/machine/memory.hpp"
#include "common/system_reason.hpp"
#include "common/text.hpp"
#include "common/units.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

constexpr const char* k_unknown = "unknown";
constexpr double k_busy_load_per_cpu = 0.2;

}  // namespace

std::string sqlite_version() {
  return SQLite::getLibVersion();
}

std::string to_text(DiagnosisStatus status) {
  static constexpr auto k_names = enum_names<DiagnosisStatus>({{DiagnosisStatus::ok, "ok"},
                                                               {DiagnosisStatus::warn, "warn"},
                                                               {DiagnosisStatus::fail, "fail"}});
  return std::string(k_names.name_of(status));
}

Diagnosis check_governor(const SystemFiles& files) {
  std::map<std::string, int> governors;
  const std::filesystem::path policies = "sys/devices/system/cpu/cpufreq";
  for (const std::string& policy : files.names(policies)) {
    const auto governor = files.line(policies / policy / "scaling_governor");
    if (governor) ++governors[*governor];
  }
  if (governors.empty()) {
    return {"cpu_governor", DiagnosisStatus::ok, "unknown (virtual machine or container)", ""};
  }
  std::string names;
  for (const auto& [name, count] : governors)
    names += (names.empty() ? "" : ", ") + printable_line(name);
  if (governors.size() == 1 && governors.contains("performance")) {
    return {"cpu_governor", DiagnosisStatus::ok, names, ""};
  }
  return {
      "cpu_governor", DiagnosisStatus::warn, names,
      "the clock rate varies, and step times with it: run 'cpupower frequency-set -g performance' "
      "before tuning"};
}

Diagnosis check_load(const SystemFiles& files, int usable_cpus) {
  const auto load = files.number("proc/loadavg");
  if (!load) return {"load", DiagnosisStatus::ok, k_unknown, ""};
  const std::string found = fmt::format("{:.2f} over the last minute, {} CPUs", *load, usable_cpus);
  if (*load > k_busy_load_per_cpu * std::max(1, usable_cpus)) {
    return {"load", DiagnosisStatus::warn, found,
            "other programs disturb the measurements: wait until the machine is idle"};
  }
  return {"load", DiagnosisStatus::ok, found, ""};
}

Diagnosis check_smt(const SystemFiles& files) {
  const auto active = files.number("sys/devices/system/cpu/smt/active");
  if (!active) return {"smt", DiagnosisStatus::ok, k_unknown, ""};
  if (*active > 0) {
    return {"smt", DiagnosisStatus::ok, "on: two hardware threads share a core",
            "include thread counts up to the number of cores in the search space"};
  }
  return {"smt", DiagnosisStatus::ok, "off", ""};
}

Diagnosis check_memory(const SystemFiles& files) {
  const MemoryInfo memory = read_memory_info(files);
  if (!memory.total_bytes || !memory.available_bytes) {
    return {"memory", DiagnosisStatus::ok, k_unknown, ""};
  }
  const double total = *memory.total_bytes;
  const double available = *memory.available_bytes;
  const double swapped = memory.swapped_bytes.value_or(0.0);
  std::string found =
      fmt::format("{} available of {}", format_bytes(available), format_bytes(total));
  const double usable = usable_memory_bytes(files);
  if (usable < total) found += fmt::format(", cgroup limit {}", format_bytes(usable));
  if (swapped > 0.01 * total) found += fmt::format(", {} swapped out", format_bytes(swapped));
  if (available < 0.1 * total) {
    return {"memory", DiagnosisStatus::warn, found,
            "trials may run out of memory where the planned run would not: end other programs"};
  }
  return {"memory", DiagnosisStatus::ok, found, ""};
}

Diagnosis check_gpu(const SystemFiles& files) {
  const GpuCount gpus = count_gpus(files);
  if (gpus.count > 0) {
    return {"gpu", DiagnosisStatus::ok,
            fmt::format("{} {} GPU{}", gpus.count, display_name(gpus.vendor),
                        gpus.count == 1 ? "" : "s"),
            ""};
  }
  const GpuVendor vendor = find_gpu_without_driver(files);
  if (vendor != GpuVendor::none) {
    return {"gpu", DiagnosisStatus::warn,
            fmt::format("{} GPU found, but its driver is not loaded", display_name(vendor)),
            "install the driver; without it trials train on the CPU"};
  }
  return {"gpu", DiagnosisStatus::ok, "none: trials train on the CPU", ""};
}

Diagnosis check_clock_source(const SystemFiles& files) {
  const auto source = files.line("sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source) return {"clock_source", DiagnosisStatus::ok, k_unknown, ""};
  const std::string found = printable_line(*source);
  if (found == "hpet" || found == "acpi_pm" || found == "jiffies") {
    return {"clock_source", DiagnosisStatus::warn, found,
            "reading this clock is slow, and so are training programs that time their steps"};
  }
  return {"clock_source", DiagnosisStatus::ok, found, ""};
}

Diagnosis check_cpus(const SystemFiles& files, const std::vector<int>& allowed) {
  const auto online = files.line("sys/devices/system/cpu/online");
  const auto quota = cgroup_cpu_quota(files);
  std::string found = fmt::format("{} usable (online {})", allowed.size(),
                                  online ? printable_line(*online) : k_unknown);
  if (quota && *quota < static_cast<double>(allowed.size())) {
    found += fmt::format(", cgroup quota of {} CPUs", format_number(*quota));
    return {"cpus", DiagnosisStatus::warn, found,
            "when the quota is used up, all threads stop until the next period: assign whole CPUs "
            "with a cpuset instead"};
  }
  return {"cpus", DiagnosisStatus::ok, found, ""};
}

Diagnosis check_file_system(const FileSystemKind& kind) {
  switch (kind.trust) {
    case FileSystemTrust::network:
      return {"file_system", DiagnosisStatus::fail,
              kind.name + ", where SQLite's locks do not exclude other machines",
              "choose a history on a local disk with --db"};
    case FileSystemTrust::doubtful:
      return {"file_system", DiagnosisStatus::warn, kind.name,
              "use the history from one machine only, or choose one on a local disk with --db"};
    case FileSystemTrust::local:
      break;
  }
  return {"file_system", DiagnosisStatus::ok, "on a local disk", ""};
}

Diagnosis check_disk(const std::filesystem::path& database) {
  const std::filesystem::path folder = present_folder_of(database);
  struct statvfs room {};
  if (statvfs(folder.c_str(), &room) != 0) {
    return {"disk", DiagnosisStatus::fail,
            fmt::format("{}: {}", folder.string(), system_reason(errno)),
            "choose a database elsewhere with --db"};
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return {"disk", DiagnosisStatus::fail,
            fmt::format("{}: cannot be written: {}", folder.string(), system_reason(errno)),
            "make the folder writable, or choose a database elsewhere with --db"};
  }
  const double free_bytes = static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize);
  const std::string found = fmt::format("{} free at {}", format_bytes(free_bytes), folder.string());
  if (free_bytes < 32.0 * k_mib_bytes) {
    return {"disk", DiagnosisStatus::fail, found,
            "no space for the history: free some, or choose another disk with --db"};
  }
  if (free_bytes < k_gib_bytes) {
    return {"disk", DiagnosisStatus::warn, found, "logs of trials need up to 4 MiB each"};
  }
  return {"disk", DiagnosisStatus::ok, found, ""};
}

}  // namespace steptune
