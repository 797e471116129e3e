// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/advice.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"

namespace steptune {
namespace {

/// Most machines without accelerators in the proposed cluster.
constexpr int k_most_helpers = 4;
// Limits beyond which a job's utilisation leads to advice. Values are shares, except the last.
constexpr double k_busy = 0.85;        ///< median of cores; saturated at or above this
constexpr double k_waiting = 0.7;      ///< median of accelerators; waiting for data up to this
constexpr double k_unused = 0.05;      ///< maximum of accelerators; unused at or below this
constexpr double k_idle = 0.3;         ///< maximum of cores and accelerators; idle up to this
constexpr double k_full = 0.9;         ///< maximum of memory and disk; near the limit from this on
constexpr double k_download_s = 30.0;  ///< ignore shorter downloads

int percent(double share) {
  return static_cast<int>(std::lround(100.0 * share));
}

/// Cores and accelerators, summed over all machines.
struct Cluster {
  double vcpus = 0.0;
  double vcpus_used = 0.0;
  double gpus = 0.0;
  double gpus_used = 0.0;
  double gpu_most = 0.0;
  bool known = true;  ///< false if the utilisation of some machine is unknown
};

Cluster cluster_of(const JobUtilisation& utilisation) {
  Cluster cluster;
  for (const MachineUtilisation& machine : utilisation.machines) {
    if (!machine.cpu || (machine.size.gpus > 0 && !machine.gpu)) {
      cluster.known = false;
      continue;
    }
    cluster.vcpus += machine.count * machine.size.vcpus;
    cluster.vcpus_used += machine.count * machine.size.vcpus * *machine.cpu;
    if (machine.size.gpus == 0) continue;
    cluster.gpus += machine.count * machine.size.gpus;
    cluster.gpus_used += machine.count * machine.size.gpus * *machine.gpu;
    cluster.gpu_most = std::max(cluster.gpu_most, machine.gpu_most.value_or(*machine.gpu));
  }
  cluster.known = cluster.known && cluster.vcpus > 0.0;
  return cluster;
}

/// Returns the cheapest machines of one type without accelerators that together have `vcpus` cores.
/// At equal price, the fewest machines. Empty if more than `k_most_helpers` would be needed.
std::string helpers_text(const PriceTable& types, double vcpus) {
  std::string best;
  double best_usd = 0.0;
  int best_count = 0;
  for (const auto& [name, type] : types.instances) {
    if (type.gpus > 0 || type.vcpus <= 0) continue;
    const int count = static_cast<int>(std::ceil(vcpus / type.vcpus));
    const double usd = count * type.usd_per_hour;
    if (count > k_most_helpers) continue;
    const bool cheaper = usd < best_usd - 1e-9;
    const bool fewer = usd < best_usd + 1e-9 && count < best_count;
    if (best.empty() || cheaper || fewer) {
      best = fmt::format("{} {}", count, name);
      best_usd = usd;
      best_count = count;
    }
  }
  return best;
}

class Adviser {
 public:
  Adviser(const JobUtilisation& utilisation, const PriceTable& types)
      : utilisation_(utilisation), types_(types) {}

  std::vector<Advice> all() {
    look_at_balance();
    for (const MachineUtilisation& machine : utilisation_.machines) {
      look_at_idling(machine);
      look_at_limits(machine);
    }
    look_at_download();
    return std::move(advice_);
  }

 private:
  void add(const char* topic, const std::string& machines, const std::string& text) {
    advice_.push_back(
        {fmt::format("{} {}", topic, machines), fmt::format("{}: {}", machines, text)});
  }

  void look_at_balance() {
    const Cluster cluster = cluster_of(utilisation_);
    if (!cluster.known || cluster.gpus <= 0.0) return;
    const std::string machines = to_text(utilisation_.job.resources);
    if (cluster.gpu_most <= k_unused) {
      add("unused", machines,
          fmt::format(
              "the GPUs are idle (at most {} % used): check that the program finds them, or "
              "use a type without GPUs",
              percent(cluster.gpu_most)));
      return;
    }
    const double cpu = cluster.vcpus_used / cluster.vcpus;
    const double gpu = cluster.gpus_used / cluster.gpus;
    if (cpu < k_busy || gpu > k_waiting) return;
    const double wanted = cluster.vcpus_used / std::max(gpu, k_unused);
    const std::string helpers = helpers_text(types_, wanted - cluster.vcpus);
    add("balance", machines,
        fmt::format(
            "the CPUs are saturated ({} %) and the GPUs underused ({} %): {} GPUs need about "
            "{} vCPUs ({} each), the machines have {}; use a type with more vCPUs per GPU{}",
            percent(cpu), percent(gpu), cluster.gpus, std::lround(wanted),
            std::lround(wanted / cluster.gpus), std::lround(cluster.vcpus),
            helpers.empty()
                ? std::string(", or a heterogeneous cluster")
                : fmt::format(", or a heterogeneous cluster: {} + {}", machines, helpers)));
  }

  void look_at_idling(const MachineUtilisation& machine) {
    if (!machine.cpu_most || *machine.cpu_most > k_idle) return;
    const bool has_gpus = machine.size.gpus > 0;
    if (has_gpus && (!machine.gpu_most || *machine.gpu_most > k_idle)) return;
    const std::string gpus =
        has_gpus ? fmt::format(" and {} % of GPU", percent(*machine.gpu_most)) : std::string();
    add("idle", machine.instance_type,
        fmt::format("at most {} % of CPU{} used: a smaller type may be as fast",
                    percent(*machine.cpu_most), gpus));
  }

  void look_at_limits(const MachineUtilisation& machine) {
    if (machine.memory_most && *machine.memory_most >= k_full) {
      add("memory", machine.instance_type,
          fmt::format(
              "memory was {} % full: the program is close to running out of memory; use a larger "
              "type or fewer workers",
              percent(*machine.memory_most)));
    }
    if (machine.disk_most && *machine.disk_most >= k_full) {
      add("disk", machine.instance_type,
          fmt::format("the disk was {} % full: use a larger volume", percent(*machine.disk_most)));
    }
  }

  void look_at_download() {
    const EndedJob& job = utilisation_.job;
    const double training_s = job.training_until_wall_s - job.training_since_wall_s;
    if (job.downloading_s < k_download_s || job.downloading_s <= training_s) return;
    const char* remedy =
        job.input_mode == "FastFile"
            ? "use fewer and larger files, or FSx for Lustre"
            : "use input mode \"FastFile\" or FSx for Lustre, which start without a download";
    add("download", to_text(job.resources),
        fmt::format("the download ({}) took longer than the training ({}): {}",
                    format_duration(job.downloading_s), format_duration(training_s), remedy));
  }

  const JobUtilisation& utilisation_;
  const PriceTable& types_;
  std::vector<Advice> advice_;
};

}  // namespace

std::vector<Advice> advise(const JobUtilisation& utilisation, const PriceTable& types) {
  return Adviser(utilisation, types).all();
}

}  // namespace steptune
