// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace steptune::local {

/// One look at an NVIDIA GPU.
struct GpuReading {
  double memory_bytes = 0.0;  ///< that it has
  double memory_used_bytes = 0.0;
  double utilisation = 0.0;  ///< share of the driver's last sampling period with a kernel running
  double sm_clock_hz = 0.0;
  bool slowed = false;  ///< clocks are held down by heat, the power supply or the power limit
  std::vector<pid_t> processes;  ///< that compute on it, as far as this container may know them
};

/// NVIDIA's management library, opened at run time: programs run the same without it. Its functions
/// and structures are those of the NVML API reference, release 11 and later. One thread.
class Nvml {
 public:
  static constexpr const char* k_library = "libnvidia-ml.so.1";

  /// Null where there is no such library, or it finds no driver.
  [[nodiscard]] static std::unique_ptr<Nvml> open(const std::string& library = k_library);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  /// `gpu` as CUDA_VISIBLE_DEVICES names it: an index (by the PCI bus, as CUDA counts where
  /// CUDA_DEVICE_ORDER is PCI_BUS_ID) or the beginning of a UUID. Nothing where the driver does not
  /// know it. What a driver cannot tell stays 0.
  [[nodiscard]] std::optional<GpuReading> read(const std::string& gpu) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);

  std::unique_ptr<Library> library_;
};

}  // namespace steptune::local
