// SPDX-License-Identifier: Apache-2.0
#include "common/machine/description.hpp"

#include <set>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>
#include <gnu/libc-version.h>

#include "common/machine/cgroup.hpp"
#include "common/machine/cpus.hpp"
#include "common/machine/gpus.hpp"
#include "common/machine/memory.hpp"
#include "common/text.hpp"
#include "common/units.hpp"

namespace steptune {
namespace {

constexpr std::string_view k_blanks = " \t\"\r\n";

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(k_blanks);
  if (begin == std::string_view::npos) return {};
  return printable_line(text.substr(begin, text.find_last_not_of(k_blanks) + 1 - begin), 200);
}

/// Returns the text after `separator` on the first line whose name before it is `key`.
std::string value_of(const std::string& text, std::string_view key, char separator) {
  for (const std::string_view line : split_lines(text)) {
    const std::size_t at = line.find(separator);
    if (at != std::string_view::npos && trimmed(line.substr(0, at)) == key) {
      return trimmed(line.substr(at + 1));
    }
  }
  return {};
}

std::string joined(const std::set<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Returns `2 x NVIDIA H200`, or the vendor's name if the model is unknown.
std::string gpus_of(const SystemFiles& files) {
  const GpuCount count = count_gpus(files);
  if (count.count == 0) return {};
  std::set<std::string> models;
  const std::filesystem::path folder = "proc/driver/nvidia/gpus";
  for (const std::string& name : files.names(folder)) {
    const auto text = files.text(folder / name / "information");
    if (std::string model = text ? value_of(*text, "Model", ':') : ""; !model.empty()) {
      models.insert(std::move(model));
    }
  }
  if (models.empty()) models.insert(std::string(display_name(count.vendor)));
  return fmt::format("{} x {}", count.count, joined(models));
}

std::string governors_of(const SystemFiles& files) {
  std::set<std::string> governors;
  const std::filesystem::path policies = "sys/devices/system/cpu/cpufreq";
  for (const std::string& policy : files.names(policies)) {
    if (const auto governor = files.line(policies / policy / "scaling_governor")) {
      governors.insert(trimmed(*governor));
    }
  }
  return joined(governors);
}

std::string container_of(const SystemFiles& files) {
  if (files.exists("var/run/secrets/kubernetes.io")) return "kubernetes";
  if (files.exists(".dockerenv")) return "docker";
  if (files.exists("run/.containerenv")) return "podman";
  // Other container runtimes can be recognized only by an overlay file system at the root.
  const auto mounts = files.text("proc/1/mounts");
  return mounts && mounts->starts_with("overlay / ") ? "overlay root" : "";
}

}  // namespace

MachineDescription describe_machine(const SystemFiles& files) {
  MachineDescription machine;
  const auto add = [&](const char* name, std::string text) {
    if (!text.empty()) machine[name] = std::move(text);
  };
  const std::string cpu_text = files.text("proc/cpuinfo").value_or("");
  add("cpu", value_of(cpu_text, "model name", ':'));
  if (const auto allowed = allowed_cpus()) {
    add("cpus",
        std::to_string(usable_cpus(static_cast<int>(allowed->size()), cgroup_cpu_quota(files))));
  }
  if (const double bytes = usable_memory_bytes(files); bytes > 0.0) {
    add("memory", fmt::format("{:.1f} GiB", bytes / k_gib_bytes));
  }
  add("gpu", gpus_of(files));
  add("gpu_driver", trimmed(files.line("proc/driver/nvidia/version").value_or("")));
  add("kernel", trimmed(files.line("proc/sys/kernel/osrelease").value_or("")));
  add("operating_system", value_of(files.text("etc/os-release").value_or(""), "PRETTY_NAME", '='));
  add("c_library", fmt::format("glibc {}", gnu_get_libc_version()));
  add("container", container_of(files));
  if (cpu_text.find(" hypervisor") != std::string::npos) add("hypervisor", "yes");
  add("cpu_governor", governors_of(files));
  return machine;
}

}  // namespace steptune
