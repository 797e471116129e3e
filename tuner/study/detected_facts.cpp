// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/detected_facts.hpp"

#include <algorithm>
#include <cmath>

#include <unistd.h>

#include "common/child_process.hpp"
#include "common/machine/cgroup.hpp"
#include "common/machine/cpus.hpp"
#include "common/machine/gpus.hpp"
#include "common/machine/memory.hpp"
#include "common/units.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {

Facts study::facts_of(const SystemFiles& files, int allowed_cpus,
                      const std::map<std::string, std::string>& variables) {
  // Tenths of a GiB, rounded down, so that a kernel update does not look like another machine.
  const double memory_gb = std::floor(usable_memory_bytes(files) / k_gib_bytes * 10.0) / 10.0;
  // The variables may name more GPUs than exist.
  const double gpus = std::min<double>(count_gpus(files).count,
                                       static_cast<double>(visible_gpus(files, variables).size()));
  return {{"cpus", usable_cpus(allowed_cpus, cgroup_cpu_quota(files))},
          {"gpus", gpus},
          {"memory_gb", memory_gb}};
}

Facts detected_facts() {
  const auto allowed = allowed_cpus();
  const auto count = allowed ? static_cast<long>(allowed->size()) : sysconf(_SC_NPROCESSORS_ONLN);
  return study::facts_of(SystemFiles{}, static_cast<int>(std::max(1L, count)), process_variables());
}

}  // namespace steptune
