// SPDX-License-Identifier: Apache-2.0
// Fake of NVIDIA's driver library with two GPUs. The second is nearly full, hot and used by process
// 1. FAKE_GPU_0 and FAKE_GPU_1 list further computing processes, as `PID PID`.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct Utilization {
  unsigned int gpu;
  unsigned int memory;
};
struct Process {
  unsigned int pid;
  unsigned long long used_memory;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

int gpus[2] = {0, 1};
constexpr int k_not_found = 6;
constexpr int k_too_small = 7;
constexpr unsigned long long k_gib = 1ULL << 30;

int index_of(const void* device) {
  return *static_cast<const int*>(device);
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  if (index > 1) return k_not_found;
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (std::strcmp(uuid, "GPU-second") != 0) return k_not_found;
  *device = &gpus[1];
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  memory->total = 10 * k_gib;
  memory->used = index_of(device) == 1 ? 9 * k_gib : 2 * k_gib;
  memory->free = memory->total - memory->used;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* utilization) {
  utilization->gpu = index_of(device) == 1 ? 100 : 50;
  utilization->memory = 0;
  return 0;
}
int nvmlDeviceGetClockInfo(void* device, unsigned int /*type*/, unsigned int* mhz) {
  *mhz = index_of(device) == 1 ? 900 : 1800;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  constexpr unsigned long long k_idle = 0x1;
  constexpr unsigned long long k_thermal = 0x40;
  *reasons = index_of(device) == 1 ? k_thermal : k_idle;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count, Process* processes) {
  const int index = index_of(device);
  std::vector<Process> found;
  if (index == 1) found.push_back({1, k_gib, 0, 0});
  const char* others = std::getenv(("FAKE_GPU_" + std::to_string(index)).c_str());
  for (char* end = nullptr; others != nullptr && *others != '\0'; others = end) {
    const unsigned long pid = std::strtoul(others, &end, 10);
    if (end == others) break;
    found.push_back({static_cast<unsigned int>(pid), k_gib, 0, 0});
  }
  const bool fits = found.size() <= *count;
  *count = static_cast<unsigned int>(found.size());
  if (fits) std::copy(found.begin(), found.end(), processes);
  return fits ? 0 : k_too_small;
}

}  // extern "C"
