// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/parallel_plans/training_law.hpp"

#include <algorithm>
#include <cmath>

namespace steptune::parallel_plans {
namespace {

constexpr double k_flops = 989e12;          // per second, of a GPU in bfloat16
constexpr double k_best_efficiency = 0.62;  // share of `k_flops` that a large product reaches
constexpr double k_memory_speed = 2.5e12;   // bytes a second
constexpr double k_node_speed = 400e9;      // bytes a second between GPUs of a node
constexpr double k_network_speed = 45e9;    // bytes a second of a GPU to other nodes
constexpr double k_latency_s = 20e-6;       // of a collective operation
constexpr double k_hidden = 0.85;           // share of a transfer that computing can hide
constexpr double k_usable_memory = 0.94;    // share of the memory that PyTorch can use
constexpr double k_fragmentation = 1.04;
constexpr double k_bytes_of_runtime = 2.5e9;
constexpr double k_bytes_of_group = 0.5e9;  // buffers for each kind of parallelism in use

/// The settings of a launch.
class Plan {
  const Configuration& configuration_;

 public:
  explicit Plan(const Configuration& configuration) : configuration_(configuration) {}

  double tp = number("tp");
  double pp = number("pp");
  double cp = number("cp");
  double micro_batch = number("micro_batch");
  bool sequence_parallel = is_on("sequence_parallel") && tp > 1.0;
  bool flash = is_on("flash_attention");
  bool full_recompute = recomputes("full");
  bool selective_recompute = recomputes("selective");
  bool distributed_optimizer = is_on("distributed_optimizer");
  bool overlap_reduce = is_on("overlap_reduce");
  bool overlap_gather = is_on("overlap_gather");

 private:
  [[nodiscard]] double number(const char* name) const {
    const Value* value = configuration_.find(name);
    return value == nullptr ? 1.0 : to_number(*value);
  }
  [[nodiscard]] bool is_on(const char* name) const {
    const Value* value = configuration_.find(name);
    return value != nullptr && to_number(*value) != 0.0;
  }
  [[nodiscard]] bool recomputes(const char* what) const {
    const Value* value = configuration_.find("recompute");
    return value != nullptr && to_text(*value) == what;
  }
};

/// Sizes from which time and memory are computed.
struct Sizes {
  Sizes(const TrainingJob& job, const Plan& plan)
      : data_parallel(job.world() / (plan.tp * plan.pp * plan.cp)),
        micro_batches(job.global_batch / (plan.micro_batch * data_parallel)),
        shards(data_parallel * plan.cp),
        tokens(plan.micro_batch * job.sequence / plan.cp),
        embedding(job.hidden * job.vocabulary),
        layer(job.hidden * job.hidden * (2.0 + 2.0 * job.groups / job.heads) +
              3.0 * job.hidden * job.feed_forward),
        layers(job.layers / plan.pp) {}

  /// Returns the number of parameters on a rank of the first pipeline stage.
  [[nodiscard]] double parameters(const Plan& plan) const {
    const double embeddings = plan.pp > 1.0 ? 1.0 : 2.0;
    return (layers * layer + embeddings * embedding) / plan.tp;
  }

  double data_parallel;
  double micro_batches;  ///< number of micro-batches in a step
  double shards;         ///< number of ranks that share the state of the distributed optimizer
  double tokens;         ///< tokens of a micro-batch on one rank
  double embedding;      ///< number of parameters of the embedding
  double layer;          ///< number of parameters of a layer
  double layers;         ///< number of layers in a pipeline stage
};

double peak_bytes(const TrainingJob& job, const Plan& plan, const Sizes& sizes) {
  const double parameters = sizes.parameters(plan);
  const double states =
      parameters * (6.0 + 12.0 / (plan.distributed_optimizer ? sizes.shards : 1.0));
  const double row = sizes.tokens * job.hidden;
  const double scores = 5.0 * job.heads * job.sequence * sizes.tokens / plan.tp;
  const bool keeps_scores = !plan.flash && !plan.selective_recompute;
  const double layer = row * (plan.sequence_parallel ? 34.0 / plan.tp : 10.0 + 24.0 / plan.tp) +
                       (keeps_scores ? scores : 0.0);
  const double kept =
      plan.full_recompute ? 2.0 * row / (plan.sequence_parallel ? plan.tp : 1.0) : layer;
  const double recomputed = plan.full_recompute ? layer : 0.0;
  const double logits = 6.0 * sizes.tokens * job.vocabulary / plan.tp;
  const double in_flight = std::min(plan.pp, sizes.micro_batches);
  const double first = in_flight * sizes.layers * kept + recomputed;
  const double last = sizes.layers * kept + recomputed + logits;
  double buffers = k_bytes_of_runtime;
  for (const double ranks : {plan.tp, plan.pp, plan.cp})
    buffers += ranks > 1.0 ? k_bytes_of_group : 0.0;
  const double activations = plan.pp > 1.0 ? std::max(first, last) : last;
  return k_fragmentation * (states + activations) + buffers;
}

/// Returns the seconds in which each rank of a group sends and receives `bytes`.
double transfer_s(double bytes, double ranks, double speed) {
  if (ranks <= 1.0) return 0.0;
  return (ranks - 1.0) / ranks * bytes / speed + k_latency_s * std::log2(ranks);
}

/// Returns the seconds of a micro-batch in the slowest pipeline stage.
double micro_batch_s(const TrainingJob& job, const Plan& plan, const Sizes& sizes) {
  const double products = 6.0 * sizes.layer * sizes.tokens / plan.tp;
  const double attention = 6.0 * job.sequence * job.hidden * sizes.tokens / plan.tp;
  const double logits = 6.0 * sizes.embedding * sizes.tokens / plan.tp;
  const double again = plan.full_recompute ? 4.0 / 3.0 : 1.0;
  const double attention_again = plan.selective_recompute ? 4.0 / 3.0 : again;
  const double width = job.hidden / plan.tp;
  const double efficiency =
      k_best_efficiency * sizes.tokens / (sizes.tokens + 1500.0) * width / (width + 300.0);
  const double flops = sizes.layers * (again * products + attention_again * attention) + logits;
  double seconds = flops / (efficiency * k_flops);
  if (!plan.flash) {
    const double scores = 20.0 * job.heads * job.sequence * sizes.tokens / plan.tp;
    seconds += attention_again * sizes.layers * scores / k_memory_speed;
  }
  const double row_bytes = 2.0 * sizes.tokens * job.hidden;
  const double collectives = plan.full_recompute ? 6.0 : 4.0;
  seconds += sizes.layers * collectives * transfer_s(2.0 * row_bytes, plan.tp, k_node_speed);
  const bool cp_leaves_node = plan.tp * plan.cp > job.gpus_per_node;
  const double keys = 2.0 * row_bytes * job.groups / job.heads / plan.tp;
  seconds += 0.4 * 3.0 * sizes.layers *
             transfer_s(plan.cp * keys, plan.cp, cp_leaves_node ? k_network_speed : k_node_speed);
  if (plan.pp > 1.0) {
    seconds += 2.0 * row_bytes / (plan.sequence_parallel ? plan.tp : 1.0) / k_network_speed;
  }
  return seconds * (plan.overlap_reduce ? 1.01 : 1.0);
}

double step_s(const TrainingJob& job, const Plan& plan, const Sizes& sizes) {
  const double one = micro_batch_s(job, plan, sizes);
  const double computing = (sizes.micro_batches + plan.pp - 1.0) * one;
  const bool leaves_node = plan.tp * sizes.shards > job.gpus_per_node;
  const double speed = leaves_node ? k_network_speed : k_node_speed;
  const double parameters = sizes.parameters(plan);
  const double times = plan.distributed_optimizer ? 1.0 : 2.0;
  double reducing = times * transfer_s(4.0 * parameters, sizes.shards, speed);
  if (plan.overlap_reduce) reducing -= k_hidden * std::min(reducing, 0.6 * one);
  double gathering =
      plan.distributed_optimizer ? transfer_s(2.0 * parameters, sizes.shards, speed) : 0.0;
  if (plan.overlap_gather) gathering -= k_hidden * std::min(gathering, 0.3 * one);
  const double updating =
      20.0 * parameters / (plan.distributed_optimizer ? sizes.shards : 1.0) / k_memory_speed;
  return computing + reducing + gathering + updating + 5e-3;
}

TrainingJob job_of(std::string name, std::vector<std::string> plan) {
  TrainingJob job;
  job.name = std::move(name);
  job.plan = std::move(plan);
  return job;
}

}  // namespace

std::vector<TrainingJob> training_jobs() {
  std::vector<TrainingJob> jobs;
  jobs.push_back(job_of("8B, 16 GPUs", {"--tensor-model-parallel-size", "8"}));

  TrainingJob& dense =
      jobs.emplace_back(job_of("13B, 32 GPUs", {"--tensor-model-parallel-size", "8",
                                                "--pipeline-model-parallel-size", "2"}));
  dense.layers = 40.0;
  dense.heads = dense.groups = 40.0;
  dense.hidden = 5120.0;
  dense.feed_forward = 13824.0;
  dense.vocabulary = 32000.0;
  dense.sequence = 4096.0;
  dense.global_batch = 256.0;
  dense.nodes = 4.0;

  TrainingJob& large =
      jobs.emplace_back(job_of("70B, 64 GPUs", {"--tensor-model-parallel-size", "8",
                                                "--pipeline-model-parallel-size", "4"}));
  large.layers = 80.0;
  large.heads = 64.0;
  large.hidden = 8192.0;
  large.feed_forward = 28672.0;
  large.global_batch = 256.0;
  large.nodes = 8.0;

  TrainingJob& longer =
      jobs.emplace_back(job_of("8B, 32 GPUs, 64k tokens", {"--tensor-model-parallel-size", "8",
                                                           "--context-parallel-size", "2"}));
  longer.sequence = 65536.0;
  longer.global_batch = 32.0;
  longer.nodes = 4.0;
  return jobs;
}

Launch launch(const TrainingJob& job, const Configuration& configuration) {
  const Plan plan(configuration);
  const Sizes sizes(job, plan);
  Launch result;
  result.peak_bytes = peak_bytes(job, plan, sizes);
  if (result.peak_bytes <= k_usable_memory * job.memory_bytes) {
    result.step_s = step_s(job, plan, sizes);
  }
  return result;
}

}  // namespace steptune::parallel_plans
