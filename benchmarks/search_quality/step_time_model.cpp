// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/step_time_model.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "common/rng.hpp"

namespace steptune::search_quality {
namespace {

constexpr std::array<const char*, 3> k_precisions = {"fp32", "fp16", "bf16"};
constexpr double k_half_precision_activations = 0.55;
constexpr double k_smallest_batch = 8.0;

/// Values of a configuration. Parameters that the simulated program does not have get usual values.
struct Knobs {
  double batch = 0.0;
  double workers = 0.0;
  double prefetch = 0.0;
  double devices = 0.0;
  double threads = 1.0;
  bool pinned = true;
  std::size_t precision = 0;
};

Knobs knobs_of(const Configuration& configuration) {
  Knobs knobs;
  const auto number = [&](const char* name, double otherwise) {
    const Value* value = configuration.find(name);
    return value != nullptr ? to_number(*value) : otherwise;
  };
  knobs.batch = number("batch_size", k_smallest_batch);
  knobs.workers = number("workers", 1.0);
  knobs.prefetch = number("prefetch", 0.0);
  knobs.devices = number("devices", 1.0);
  knobs.threads = number("threads", 1.0);
  knobs.pinned = number("pin_memory", 1.0) != 0.0;
  if (const Value* value = configuration.find("precision")) {
    const auto found = std::find(k_precisions.begin(), k_precisions.end(), to_text(*value));
    knobs.precision = static_cast<std::size_t>(found - k_precisions.begin());
  }
  return knobs;
}

/// Returns the loading time of one sample of the job, for all devices together.
double loading_s(const StepTimeModel& model, const Knobs& knobs) {
  const double processes = knobs.workers * knobs.threads + knobs.devices;
  const double crowding = std::max(1.0, processes / model.cpus);
  const double by_threads = 1.0 / (model.serial_share + (1.0 - model.serial_share) / knobs.threads);
  // Processes that share CPUs also lose time at every context switch.
  const double slowdown = crowding * (1.0 + 0.15 * (crowding - 1.0));
  const double decoding = model.decode_s * slowdown / (knobs.workers * by_threads);
  return decoding * (1.0 + model.burden_by_worker * knobs.workers * knobs.workers);
}

double compute_s_per_step(const StepTimeModel& model, const Knobs& knobs) {
  const double launch = model.launch_s * (1.0 + model.extra_launch[knobs.precision]);
  const double filled = std::hypot(knobs.batch, model.filling_batch);
  const double beyond = std::max(0.0, std::log2(knobs.batch / model.spilling_batch));
  return launch + model.sample_s[knobs.precision] * filled * (1.0 + model.spill * beyond * beyond);
}

double communication_s_per_step(const StepTimeModel& model, const Knobs& knobs) {
  if (knobs.devices <= 1.0) return 0.0;
  const double bytes = model.gradient_bytes * (knobs.precision == 0 ? 1.0 : 0.5);
  const double bytes_per_s = knobs.devices > model.devices_per_node
                                 ? model.bytes_per_s_between_nodes
                                 : model.bytes_per_s_in_node;
  return 2.0 * (knobs.devices - 1.0) * (model.latency_s + bytes / (knobs.devices * bytes_per_s));
}

double between(Rng& rng, double low, double high) {
  return low + (high - low) * rng.uniform();
}

double log_between(Rng& rng, double low, double high) {
  return low * std::pow(high / low, rng.uniform());
}

template <std::size_t count>
double one_of(Rng& rng, const std::array<double, count>& choices) {
  return choices[rng.below(count)];
}

Parameter integer(const char* name, double low, double high, Scale scale = Scale::linear) {
  Parameter parameter;
  parameter.name = name;
  parameter.low = low;
  parameter.high = high;
  parameter.scale = scale;
  return parameter;
}

std::vector<Parameter> draw_parameters(Rng& rng, double largest_batch) {
  std::vector<Parameter> parameters;
  parameters.push_back(integer("batch_size", k_smallest_batch, largest_batch, Scale::log2));
  parameters.back().memory = MemoryEffect::increases;
  parameters.push_back(integer("workers", 1, one_of(rng, std::array{8.0, 12.0, 16.0})));
  Parameter prefetch;
  prefetch.name = "prefetch";
  prefetch.kind = ParameterKind::ordinal;
  for (const std::int64_t depth : {0, 1, 2, 4, 8})
    prefetch.choices.emplace_back(depth);
  parameters.push_back(std::move(prefetch));
  Parameter precision;
  precision.name = "precision";
  precision.kind = ParameterKind::categorical;
  for (const char* choice : k_precisions)
    precision.choices.emplace_back(std::string(choice));
  parameters.push_back(std::move(precision));
  parameters.push_back(integer("devices", 1, one_of(rng, std::array{4.0, 8.0}), Scale::log2));
  if (rng.uniform() < 0.5) parameters.push_back(integer("threads", 1, 4));
  if (rng.uniform() < 0.5) {
    Parameter pin_memory;
    pin_memory.name = "pin_memory";
    pin_memory.kind = ParameterKind::boolean;
    parameters.push_back(std::move(pin_memory));
  }
  return parameters;
}

}  // namespace

double StepTimeModel::memory_bytes(const Configuration& configuration) const {
  const Knobs knobs = knobs_of(configuration);
  const bool full = knobs.precision == 0;
  // Half precision keeps a second copy of the weights, an eighth of the size of weights and
  // optimizer states.
  return state_bytes * (full ? 1.0 : 1.125) +
         knobs.batch * activation_bytes * (full ? 1.0 : k_half_precision_activations);
}

std::optional<StepParts> StepTimeModel::parts_of(const Configuration& configuration) const {
  if (memory_bytes(configuration) > memory_limit_bytes) return std::nullopt;
  const Knobs knobs = knobs_of(configuration);
  const double samples_per_step = knobs.batch * knobs.devices;
  StepParts parts;
  parts.loading_s = loading_s(*this, knobs);
  parts.compute_s = compute_s_per_step(*this, knobs) / samples_per_step;
  parts.data_wait_s = hand_over_s / samples_per_step;
  if (knobs.prefetch > 0.0) {
    parts.data_wait_s += std::max(0.0, parts.loading_s - parts.compute_s) +
                         unevenness * parts.loading_s / knobs.prefetch;
  } else {
    parts.data_wait_s += parts.loading_s;
  }
  const double transfer_rate = knobs.pinned ? pinned_bytes_per_s : pageable_bytes_per_s;
  parts.transfer_s = sample_bytes / (transfer_rate * knobs.devices);
  parts.communication_s = communication_s_per_step(*this, knobs) / samples_per_step;
  parts.startup_s = (startup_s + startup_by_worker_s * knobs.workers * knobs.devices +
                     startup_by_device_s * (knobs.devices - 1.0)) /
                    run_samples;
  return parts;
}

StepTimeModel draw_step_time_model(std::uint64_t seed, std::uint64_t number) {
  Rng rng(seed, "step-time model", number);
  StepTimeModel model;
  const double largest_batch = one_of(rng, std::array{256.0, 512.0, 1024.0});
  model.parameters = draw_parameters(rng, largest_batch);

  const double sample_s = log_between(rng, 5e-4, 5e-3);
  model.sample_s = {sample_s, sample_s * between(rng, 0.35, 0.7),
                    sample_s * between(rng, 0.35, 0.9)};
  model.extra_launch = {0.0, between(rng, 0.1, 0.5), between(rng, 0.0, 0.3)};
  model.launch_s = log_between(rng, 3e-3, 3e-2);
  model.filling_batch = log_between(rng, 4.0, 48.0);
  model.spilling_batch = largest_batch / one_of(rng, std::array{2.0, 4.0, 8.0});
  model.spill = between(rng, 0.02, 0.15);

  // The decoding time is a multiple of the compute time, so that some members wait for data and
  // others do not.
  model.decode_s = sample_s * log_between(rng, 1.0, 20.0);
  model.serial_share = between(rng, 0.1, 0.5);
  model.burden_by_worker = log_between(rng, 5e-4, 1e-2);
  model.unevenness = between(rng, 0.05, 0.4);
  model.hand_over_s = log_between(rng, 2e-4, 4e-3);
  model.cpus = static_cast<int>(one_of(rng, std::array{8.0, 16.0, 32.0}));

  model.sample_bytes = log_between(rng, 1e5, 2e6);
  model.pinned_bytes_per_s = between(rng, 8e9, 2.4e10);
  model.pageable_bytes_per_s = between(rng, 1.5e9, 5e9);
  model.gradient_bytes = log_between(rng, 2e7, 2e9);
  model.latency_s = log_between(rng, 1e-5, 5e-4);
  model.bytes_per_s_in_node = log_between(rng, 5e9, 1e11);
  model.bytes_per_s_between_nodes = log_between(rng, 1e9, 1e10);
  model.devices_per_node = static_cast<int>(one_of(rng, std::array{1.0, 2.0, 4.0, 8.0}));

  model.startup_s = between(rng, 10.0, 60.0);
  model.startup_by_worker_s = between(rng, 0.1, 1.0);
  model.startup_by_device_s = between(rng, 1.0, 10.0);
  // A run takes half an hour to six hours on one device.
  model.run_samples = log_between(rng, 1800.0, 21600.0) / sample_s;

  model.memory_limit_bytes = one_of(rng, std::array{16e9, 24e9, 40e9, 80e9});
  model.state_bytes = model.memory_limit_bytes * between(rng, 0.1, 0.5);
  const double fitting_batch = largest_batch / one_of(rng, std::array{1.0, 2.0, 4.0}) * 0.9;
  model.activation_bytes = (model.memory_limit_bytes - model.state_bytes) / fitting_batch;
  model.noise = between(rng, 0.01, 0.05);
  return model;
}

}  // namespace steptune::search_quality
