// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace steptune::local {

/// One sample of an NVIDIA GPU.
struct GpuReading {
  double memory_bytes = 0.0;  ///< total
  double memory_used_bytes = 0.0;
  double utilisation = 0.0;  ///< share of the driver's last sampling period with a kernel running
  double sm_clock_hz = 0.0;
  bool slowed = false;  ///< heat, the power supply or the power limit lowers the clocks
  /// Processes that compute on the GPU, as far as this container can see.
  std::vector<pid_t> processes;
};

/// NVIDIA's management library, opened at run time so that the program also works without it.
/// Functions and structures are from the NVML API reference, release 11 and later. For use by one
/// thread.
class Nvml {
 public:
  static constexpr const char* k_library = "libnvidia-ml.so.1";

  /// Opens the library. Returns null if the library does not exist or finds no driver.
  [[nodiscard]] static std::unique_ptr<Nvml> open(const std::string& library = k_library);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  /// Reads a GPU. `gpu` is a name as in CUDA_VISIBLE_DEVICES: an index in PCI bus order (CUDA's
  /// order if CUDA_DEVICE_ORDER is PCI_BUS_ID), or a whole UUID. nullopt if the driver
  /// does not know it. Values that the driver cannot read are 0.
  [[nodiscard]] std::optional<GpuReading> read(const std::string& gpu) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
};

}  // namespace steptune::local
