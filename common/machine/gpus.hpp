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

/// `NVIDIA`, `AMD`; empty for none.
[[nodiscard]] std::string_view display_name(GpuVendor vendor);

/// GPUs of one vendor.
struct GpuCount {
  GpuVendor vendor = GpuVendor::none;
  int count = 0;
};

/// The GPUs that programs can compute on: NVIDIA's, or AMD's where there are none of NVIDIA's, as
/// indices of CUDA_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES count them.
///
/// - NVIDIA: what the driver lists (/proc/driver/nvidia/gpus), or as many device files
///   (/dev/nvidiaN) as there are if that is fewer: a container may hide either. Where only one of
///   the two exists, it counts: device files are made at the first use of a GPU.
/// - AMD: compute nodes of the driver (/sys/class/kfd) with a GPU, if /dev/kfd is there; a
/// container
///   without it can list them, but not use them.
[[nodiscard]] GpuCount count_gpus(const SystemFiles& files);

/// By which CUDA and HIP are told the GPUs that a program sees.
inline constexpr std::array<const char*, 2> k_visible_gpu_variables{"CUDA_VISIBLE_DEVICES",
                                                                    "HIP_VISIBLE_DEVICES"};

/// The GPUs that a program with these variables sees: those that the first of these names where one
/// is set, else the indices of all that `count_gpus` finds.
[[nodiscard]] std::vector<std::string> visible_gpus(
    const SystemFiles& files, const std::map<std::string, std::string>& variables);

/// The vendor of a GPU on the PCI bus that no program can compute on because its driver is not
/// loaded: NVIDIA's own driver, or any for AMD's. To be asked where `count_gpus` finds none.
[[nodiscard]] GpuVendor find_gpu_without_driver(const SystemFiles& files);

}  // namespace steptune
