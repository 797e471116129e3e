// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/counter_names.hpp"

#include <algorithm>
#include <array>

namespace steptune {
namespace {

struct NamedCounter {
  std::string_view name;
  CounterName counter;
};

constexpr CounterName k_update{.rank = update_rank};
constexpr CounterName k_step{.rank = step_rank};
constexpr CounterName k_iteration{.rank = iteration_rank};
constexpr CounterName k_samples{.counts_samples = true};
constexpr CounterName k_samples_of_line{.counts_samples = true, .may_be_of_window = true};

constexpr CounterName doubtful(CounterName counter) {
  counter.may_be_size = true;
  return counter;
}

constexpr std::array<NamedCounter, 61> k_counters{{
    {"update", k_update},
    {"num_updates", k_update},
    {"nupdates", k_update},
    {"up", k_update},
    {"updates", doubtful(k_update)},
    {"optimizer_step", k_update},
    {"opt_step", k_update},
    {"global_step", k_update},
    {"global_batch_idx", k_update},
    {"batch_idx_train", doubtful(k_update)},
    {"total_step", doubtful(k_update)},
    {"step", k_step},
    {"steps", doubtful(k_step)},
    {"num_steps", doubtful(k_step)},
    {"total_steps", doubtful(k_step)},
    {"iter", k_iteration},
    {"iters", doubtful(k_iteration)},
    {"iteration", k_iteration},
    {"iterations", doubtful(k_iteration)},
    {"it", k_iteration},
    {"itr", k_iteration},
    {"global_iter", k_iteration},
    {"generation", k_iteration},
    {"gen", k_iteration},
    {"round", k_iteration},
    {"episode", k_iteration},
    {"episodes", doubtful(k_iteration)},
    {"n_iter", doubtful(k_iteration)},
    {"num_iter", doubtful(k_iteration)},
    {"batch", doubtful({})},
    {"minibatch", doubtful({})},
    {"batches", doubtful({})},
    {"minibatches", doubtful({})},
    {"batch_idx", doubtful({})},
    {"consumed_samples", k_samples},
    {"consumed_train_samples", k_samples},
    {"seen_samples", k_samples},
    {"samples_seen", k_samples},
    {"samples", k_samples_of_line},
    {"num_samples", doubtful(k_samples)},
    {"total_samples", doubtful(k_samples)},
    {"examples", doubtful(k_samples)},
    {"num_examples", doubtful(k_samples)},
    {"total_exs", doubtful(k_samples)},
    {"images", doubtful(k_samples)},
    {"imgs", doubtful(k_samples)},
    {"records", doubtful(k_samples)},
    {"rows", doubtful(k_samples)},
    {"frames", doubtful(k_samples)},
    {"sequences", doubtful(k_samples)},
    {"sentences", doubtful(k_samples)},
    {"sen", doubtful(k_samples)},
    {"timestep", doubtful(k_samples)},
    {"timesteps", doubtful(k_samples)},
    {"total_timesteps", doubtful(k_samples)},
    {"num_timesteps", doubtful(k_samples)},
    {"timesteps_total", doubtful(k_samples)},
    {"env_step", doubtful(k_samples)},
    {"env_steps", doubtful(k_samples)},
    {"total_env_steps", doubtful(k_samples)},
    {"agent_steps", doubtful(k_samples)},
}};

constexpr std::array<std::string_view, 5> k_prefixes{"train_", "training_", "learning_", "current_",
                                                     "cur_"};

}  // namespace

std::optional<CounterName> counter_name(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t length = name.size();
  for (const std::string_view prefix : k_prefixes) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  const bool has_prefix = name.size() < length;
  while (name.ends_with('.'))
    name.remove_suffix(1);
  const auto found = std::ranges::find(k_counters, name, &NamedCounter::name);
  if (found == k_counters.end()) return std::nullopt;
  // Programs print `Train samples: 60000` for the size of the data.
  return has_prefix && found->counter.counts_samples ? doubtful(found->counter) : found->counter;
}

}  // namespace steptune
