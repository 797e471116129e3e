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
  double loading_s = 0.0;    ///< loading time, even if the training loop does not wait for it
  double data_wait_s = 0.0;  ///< time that the training loop waits for data
  double transfer_s = 0.0;   ///< time of the transfer from host to device
  double compute_s = 0.0;
  double communication_s = 0.0;
  double startup_s = 0.0;  ///< start-up time of the whole run, divided by the run's samples

  /// Returns the objective: the total of all parts.
  [[nodiscard]] double seconds_per_sample() const {
    return data_wait_s + transfer_s + compute_s + communication_s + startup_s;
  }
};

/// Model of the time of one made-up training program on one made-up machine. Parameters:
/// - `batch_size` (per device, powers of two), `workers`, `prefetch`, `precision`, `devices`;
/// - in some members `threads` (of each worker) and `pin_memory`.
///
/// Loading: decoding time divided by the workers' throughput. Threads raise the throughput by
/// Amdahl's law, more processes than CPUs lower it, and every further worker lowers it a little.
/// Without `prefetch`, the loop waits for all of the loading. With `prefetch`, loading runs in
/// parallel with the computation. The loop then waits for the excess, and for uneven loading times,
/// which deeper queues hide. Compute: a constant time per step, plus a time per sample that depends
/// on the precision. Small batches do not fill the device, and very large batches lose speed again.
/// Communication: latency and bandwidth of a ring that passes 2 (n - 1) / n of the gradients;
/// slower beyond one node. Start-up: a constant time, plus a time for each worker and each device.
/// Memory: states, plus activations for each sample.
struct StepTimeModel {
  // Loading.
  double decode_s = 0.0;
  double serial_share = 0.0;  ///< share of a worker's decoding that threads do not speed up
  /// Relative cost of workers to the process that gathers batches. It grows with their number
  /// squared.
  double burden_by_worker = 0.0;
  /// Share of the loading time for which the loop waits if the queue has room for one batch.
  double unevenness = 0.0;
  double hand_over_s = 0.0;  ///< time per step to pass a batch to the training loop
  int cpus = 8;
  // Compute.
  double launch_s = 0.0;             ///< constant compute time per step
  std::array<double, 3> sample_s{};  ///< compute time per sample by `precision`: fp32, fp16, bf16
  std::array<double, 3> extra_launch{};  ///< relative increase of `launch_s` by `precision`
  double filling_batch = 8.0;     ///< much smaller batches take as long as a batch of this size
  double spilling_batch = 256.0;  ///< batches larger than this lose speed
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
  double activation_bytes = 0.0;  ///< activations of a sample in fp32
  double memory_limit_bytes = 0.0;
  /// Relative standard deviation of a trial's measured value, 0.01 to 0.05.
  double noise = 0.01;

  /// 5 to 7 parameters, as a study file would declare them.
  std::vector<Parameter> parameters;

  [[nodiscard]] double memory_bytes(const Configuration& configuration) const;
  /// Returns the parts of the step time; nullopt if memory does not suffice.
  [[nodiscard]] std::optional<StepParts> parts_of(const Configuration& configuration) const;
};

/// Draws member `number` of the family of `seed`. The result is the same on every platform.
[[nodiscard]] StepTimeModel draw_step_time_model(std::uint64_t seed, std::uint64_t number);

}  // namespace steptune::search_quality
