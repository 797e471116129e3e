// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/local/nvml.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include <dlfcn.h>

namespace steptune::local {

/// Declarations of the library's binary interface.
namespace nvml_api {

using NvmlReturn = int;
using NvmlDevice = void*;

struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct NvmlUtilization {
  unsigned int gpu;  // per cent
  unsigned int memory;
};
struct NvmlProcess {
  unsigned int pid;
  unsigned long long used_memory;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

struct CloseLibrary {
  void operator()(void* handle) const { ::dlclose(handle); }
};

}  // namespace nvml_api

namespace {

using nvml_api::NvmlDevice;
using nvml_api::NvmlMemory;
using nvml_api::NvmlProcess;
using nvml_api::NvmlReturn;
using nvml_api::NvmlUtilization;

constexpr NvmlReturn k_success = 0;
constexpr NvmlReturn k_too_small = 7;
constexpr std::size_t k_most_processes = 10000;
/// Clock-limit reasons: SwPowerCap, HwSlowdown, SwThermalSlowdown, HwThermalSlowdown,
/// HwPowerBrakeSlowdown.
constexpr unsigned long long k_slowed = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

template <typename Function>
bool find(void* handle, const char* name, Function*& function) {
  // POSIX allows the conversion of dlsym's object pointer to a function pointer.
  function = reinterpret_cast<Function*>(::dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

struct Nvml::Library {
  std::unique_ptr<void, nvml_api::CloseLibrary> handle;
  NvmlReturn (*init)() = nullptr;
  NvmlReturn (*shutdown)() = nullptr;
  NvmlReturn (*by_index)(unsigned int, NvmlDevice*) = nullptr;
  NvmlReturn (*by_uuid)(const char*, NvmlDevice*) = nullptr;
  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  NvmlReturn (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  NvmlReturn (*clock)(NvmlDevice, unsigned int, unsigned int*) = nullptr;
  NvmlReturn (*slowdowns)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlReturn (*processes)(NvmlDevice, unsigned int*, NvmlProcess*) = nullptr;

  [[nodiscard]] bool bind() {
    void* const h = handle.get();
    return find(h, "nvmlInit_v2", init) && find(h, "nvmlShutdown", shutdown) &&
           find(h, "nvmlDeviceGetHandleByIndex_v2", by_index) &&
           find(h, "nvmlDeviceGetHandleByUUID", by_uuid) &&
           find(h, "nvmlDeviceGetMemoryInfo", memory) &&
           find(h, "nvmlDeviceGetUtilizationRates", utilization) &&
           find(h, "nvmlDeviceGetClockInfo", clock) &&
           find(h, "nvmlDeviceGetCurrentClocksThrottleReasons", slowdowns) &&
           find(h, "nvmlDeviceGetComputeRunningProcesses_v3", processes);
  }

  [[nodiscard]] NvmlDevice device(const std::string& gpu) const {
    NvmlDevice device = nullptr;
    unsigned int index = 0;
    const auto [end, error] = std::from_chars(gpu.data(), gpu.data() + gpu.size(), index);
    const bool is_index = error == std::errc{} && end == gpu.data() + gpu.size();
    const NvmlReturn found = is_index ? by_index(index, &device) : by_uuid(gpu.c_str(), &device);
    return found == k_success ? device : nullptr;
  }

  [[nodiscard]] std::vector<pid_t> processes_on(NvmlDevice device) const {
    std::vector<NvmlProcess> found(256);
    auto count = static_cast<unsigned int>(found.size());
    NvmlReturn result = processes(device, &count, found.data());
    // More processes may start between two calls.
    while (result == k_too_small && found.size() < k_most_processes) {
      const auto wanted = std::max<std::size_t>(count, found.size());
      found.resize(2 * std::min(wanted, k_most_processes));
      count = static_cast<unsigned int>(found.size());
      result = processes(device, &count, found.data());
    }
    if (result != k_success) return {};
    found.resize(std::min<std::size_t>(count, found.size()));
    std::vector<pid_t> pids;
    for (const NvmlProcess& process : found)
      pids.push_back(static_cast<pid_t>(process.pid));
    return pids;
  }
};

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Nvml::~Nvml() {
  library_->shutdown();
}

std::unique_ptr<Nvml> Nvml::open(const std::string& library) {
  auto loaded = std::make_unique<Library>();
  loaded->handle.reset(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!loaded->handle || !loaded->bind() || loaded->init() != k_success) return nullptr;
  return std::unique_ptr<Nvml>(new Nvml(std::move(loaded)));
}

std::optional<GpuReading> Nvml::read(const std::string& gpu) const {
  const NvmlDevice device = library_->device(gpu);
  NvmlMemory memory{};
  if (device == nullptr || library_->memory(device, &memory) != k_success) return std::nullopt;
  GpuReading reading;
  reading.memory_bytes = static_cast<double>(memory.total);
  reading.memory_used_bytes = static_cast<double>(memory.used);
  NvmlUtilization utilization{};
  if (library_->utilization(device, &utilization) == k_success)
    reading.utilisation = utilization.gpu / 100.0;
  unsigned int mhz = 0;
  if (library_->clock(device, /*NVML_CLOCK_SM*/ 1, &mhz) == k_success)
    reading.sm_clock_hz = 1e6 * mhz;
  unsigned long long reasons = 0;
  if (library_->slowdowns(device, &reasons) == k_success)
    reading.slowed = (reasons & k_slowed) != 0;
  reading.processes = library_->processes_on(device);
  return reading;
}

}  // namespace steptune::local
