// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/configuration.hpp"
#include "search/space/parameter.hpp"

namespace steptune::search_quality {

/// Seconds per sample of a training job by part, without noise.
struct StepParts {
  double loading_s = 0.0;    ///< the loading itself, whether anybody waits for it or not
  double data_wait_s = 0.0;  ///< what the training loop waits for data
  double transfer_s = 0.0;   ///< from host to device
  double compute_s = 0.0;
  double communication_s = 0.0;
  double startup_s = 0.0;  ///< of the whole run, by sample

  /// The objective: everything that the job's clock sees.
  [[nodiscard]] double seconds_per_sample() const {
    return data_wait_s + transfer_s + compute_s + communication_s + startup_s;
  }
};

/// How one made-up training program on one made-up machine takes its time. Parameters:
/// - `batch_size` (per device, powers of two), `workers`, `prefetch`, `precision`, `devices`;
/// - in some members `threads` (of each worker) and `pin_memory`.
///
/// Loading: decoding time over the workers' throughput, which threads raise by Amdahl's law, more
/// processes than CPUs lower, and which every further worker burdens a little. With `prefetch` it
/// runs beside the compute and only the excess is waited for, and an unevenness that deeper queues
/// hide; without, all of it. Compute: a start of the step plus a time per sample that batches too
/// small to fill the device do not reach and very large ones lose again, by precision.
/// Communication: a ring's latency and bandwidth, 2 (n - 1) / n of the gradients, slower beyond one
/// node. Start-up: a constant, workers and devices. Memory: states plus activations by sample.
struct StepTimeModel {
  // Loading.
  double decode_s = 0.0;
  double serial_share = 0.0;      ///< of a worker's decoding, which threads do not speed up
  double burden_by_worker = 0.0;  ///< of the process that gathers, relative
  double unevenness = 0.0;        ///< of the loading time, waited for at a queue of one batch
  double hand_over_s = 0.0;       ///< by step
  int cpus = 8;
  // Compute.
  double launch_s = 0.0;                 ///< by step
  std::array<double, 3> sample_s{};      ///< by `precision`: fp32, fp16, bf16
  std::array<double, 3> extra_launch{};  ///< likewise, relative
  double filling_batch = 8.0;            ///< batches far below it cost as much as this one
  double spilling_batch = 256.0;         ///< batches above it lose speed
  double spill = 0.0;
  // Transfer and communication.
  double sample_bytes = 0.0;
  double pinned_bytes_per_s = 0.0;
  double pageable_bytes_per_s = 0.0;
  double gradient_bytes = 0.0;  ///< in fp32
  double latency_s = 0.0;
  double bytes_per_s_in_node = 0.0;
  double bytes_per_s_between_nodes = 0.0;
  int devices_per_node = 8;
  // Start-up.
  double startup_s = 0.0;
  double startup_by_worker_s = 0.0;
  double startup_by_device_s = 0.0;
  double run_samples = 1.0;
  // Memory of one device.
  double state_bytes = 0.0;
  double activation_bytes = 0.0;  ///< by sample, in fp32
  double memory_limit_bytes = 0.0;
  /// Relative standard deviation of what a trial measures, 0.01 to 0.05.
  double noise = 0.01;

  /// 5 to 7, as a study file would declare them.
  std::vector<Parameter> parameters;

  [[nodiscard]] double memory_bytes(const Configuration& configuration) const;
  /// Nothing where memory does not suffice.
  [[nodiscard]] std::optional<StepParts> parts_of(const Configuration& configuration) const;
};

/// Member `number` of the family of `seed`: the same on every platform.
[[nodiscard]] StepTimeModel draw_step_time_model(std::uint64_t seed, std::uint64_t number);

}  // namespace steptune::search_quality
