// SPDX-License-Identifier: Apache-2.0
#include "common/machine/gpus.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

namespace steptune {
namespace {

namespace fs = std::filesystem;

bool is_nvidia_device(std::string_view name) {
  constexpr std::string_view k_prefix = "nvidia";
  return name.size() > k_prefix.size() && name.starts_with(k_prefix) &&
         name.find_first_not_of("0123456789", k_prefix.size()) == std::string_view::npos;
}

int count_nvidia(const SystemFiles& files) {
  const auto listed = static_cast<int>(files.names("proc/driver/nvidia/gpus").size());
  const auto devices =
      static_cast<int>(std::ranges::count_if(files.names("dev"), is_nvidia_device));
  return listed > 0 && devices > 0 ? std::min(listed, devices) : std::max(listed, devices);
}

int count_amd(const SystemFiles& files) {
  if (!files.exists("dev/kfd")) return 0;
  const fs::path nodes = "sys/class/kfd/kfd/topology/nodes";
  // Count only nodes with a gpu_id above 0. CPUs are also nodes, with gpu_id 0. In a container, the
  // nodes of GPUs that it may not use are unreadable.
  return static_cast<int>(std::ranges::count_if(files.names(nodes), [&](const std::string& node) {
    return files.number(nodes / node / "gpu_id").value_or(0.0) > 0.0;
  }));
}

/// True for an index, the first characters of a UUID, and an empty text.
bool names_a_device(std::string_view text) {
  return text.starts_with("GPU-") || text.starts_with("MIG-") ||
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// Parses a list of devices. An entry that names no device ends the list: -1, or Slurm's
/// `NoDevFiles`.
std::vector<std::string> parse_devices(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view part = without_blanks(text.substr(0, end));
    if (!names_a_device(part)) break;
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::string_view display_name(GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::nvidia:
      return "NVIDIA";
    case GpuVendor::amd:
      return "AMD";
    case GpuVendor::none:
      break;
  }
  return "";
}

GpuCount count_gpus(const SystemFiles& files) {
  if (const int nvidia = count_nvidia(files); nvidia > 0) return {GpuVendor::nvidia, nvidia};
  if (const int amd = count_amd(files); amd > 0) return {GpuVendor::amd, amd};
  return {};
}

std::vector<std::string> visible_gpus(const SystemFiles& files,
                                      const std::map<std::string, std::string>& variables) {
  for (const char* variable : k_visible_gpu_variables) {
    const auto found = variables.find(variable);
    if (found != variables.end()) return parse_devices(found->second);
  }
  std::vector<std::string> gpus;
  const int count = count_gpus(files).count;
  for (int i = 0; i < count; ++i)
    gpus.push_back(std::to_string(i));
  return gpus;
}

GpuVendor find_gpu_without_driver(const SystemFiles& files) {
  const fs::path bus = "sys/bus/pci/devices";
  for (const std::string& name : files.names(bus)) {
    const fs::path device = bus / name;
    const std::string kind = files.line(device / "class").value_or("");
    // PCI base classes: 03 display controllers, 12 processing accelerators.
    if (!kind.starts_with("0x03") && !kind.starts_with("0x12")) continue;
    const std::string vendor = files.line(device / "vendor").value_or("");
    if (vendor == "0x10de") return GpuVendor::nvidia;
    if (vendor == "0x1002" && !files.exists(device / "driver")) return GpuVendor::amd;
  }
  return GpuVendor::none;
}

}  // namespace steptune
