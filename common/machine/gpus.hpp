// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/machine/system_files.hpp"

namespace steptune {

enum class GpuVendor { none, nvidia, amd };

/// Returns `NVIDIA` or `AMD`; empty for `none`.
[[nodiscard]] std::string_view display_name(GpuVendor vendor);

/// GPUs of one vendor.
struct GpuCount {
  GpuVendor vendor = GpuVendor::none;
  int count = 0;
};

/// Counts the GPUs that programs can compute on. Counts AMD's GPUs only if there are none of
/// NVIDIA's. The count agrees with the indices of CUDA_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES.
///
/// - NVIDIA: the smaller of the driver's list (/proc/driver/nvidia/gpus) and the number of device
///   files (/dev/nvidiaN), because a container may hide either. If one of the two is absent, the
///   other is used: the system makes device files only at the first use of a GPU.
/// - AMD: the driver's compute nodes (/sys/class/kfd) with a GPU, if /dev/kfd exists. A container
///   without /dev/kfd lists the GPUs, but cannot use them.
[[nodiscard]] GpuCount count_gpus(const SystemFiles& files);

/// Variables that tell CUDA and HIP which GPUs a program sees.
inline constexpr std::array<const char*, 2> k_visible_gpu_variables{"CUDA_VISIBLE_DEVICES",
                                                                    "HIP_VISIBLE_DEVICES"};

/// Returns the GPUs that a program with these variables sees. These are the GPUs listed in
/// CUDA_VISIBLE_DEVICES, otherwise in HIP_VISIBLE_DEVICES, up to the first entry that names no GPU.
/// If neither is set, returns the indices of all GPUs that `count_gpus` finds.
[[nodiscard]] std::vector<std::string> visible_gpus(
    const SystemFiles& files, const std::map<std::string, std::string>& variables);

/// Returns the vendor of a GPU on the PCI bus that programs cannot use because its driver is
/// missing. An NVIDIA GPU needs NVIDIA's own driver; for an AMD GPU, any driver counts. Call this
/// only if `count_gpus` finds no GPU.
[[nodiscard]] GpuVendor find_gpu_without_driver(const SystemFiles& files);

}  // namespace steptune
