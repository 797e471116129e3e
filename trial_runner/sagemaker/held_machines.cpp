// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/held_machines.hpp"

#include <algorithm>
#include <ranges>

#include "common/json_fields.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/sagemaker/job_name.hpp"

namespace steptune {
namespace {

/// Seconds between two requests while pools settle.
constexpr double k_settling_poll_s = 2.0;

std::optional<Holding> holding_of(bool ended, const std::optional<PoolState>& pool) {
  if (!ended) return Holding::running;
  if (!pool) return std::nullopt;
  if (pool->status == "Available") return Holding::kept;
  if (pool->status == "InUse") return Holding::settling;
  return std::nullopt;
}

int instance_count(const Json& group) {
  return count_at(group, "InstanceCount").value_or(1);
}

double billed_s(const HeldMachines& held, const JobDescription& state, double now_wall_s) {
  if (held.holding == Holding::kept) {
    return held.retained_s.value_or(std::max(0.0, now_wall_s - held.since_wall_s));
  }
  if (!state.billed_since_wall_s) return 0.0;
  const double until_wall_s = state.billed_until_wall_s.value_or(now_wall_s);
  return std::max(0.0, until_wall_s - *state.billed_since_wall_s);
}

void set_price(HeldMachines& held, const JobDescription& state, const PriceTable* prices) {
  // Use the stored price only for jobs of this program. Another user may have copied a trial's
  // environment into a job with other machines.
  if (state.price && held.owner) {
    held.study_price = state.price->parts;
    held.usd_per_hour = state.price->parts.usd();
    if (held.spot) held.spot_share = state.price->spot_share;
  } else if (prices != nullptr) {
    if (const auto usd = prices->usd_per_hour(held.resources)) held.usd_per_hour = *usd;
  }
}

}  // namespace

Resources resources_from_json(const Json& resource_config) {
  Resources resources;
  const auto groups = resource_config.find("InstanceGroups");
  if (groups != resource_config.end() && groups->is_array()) {
    for (const Json& group : *groups) {
      if (!group.is_object()) continue;
      resources.groups.push_back({text_at(group, "InstanceGroupName"),
                                  text_at(group, "InstanceType"), instance_count(group)});
    }
  }
  if (!resources.groups.empty()) return resources;
  resources.instance_type = text_at(resource_config, "InstanceType");
  resources.instance_count = instance_count(resource_config);
  return resources;
}

std::optional<HeldMachines> held_machines(const JobDescription& state, double now_wall_s,
                                          const PriceTable* prices) {
  const auto holding = holding_of(state.ended(), state.pool);
  if (!holding) return std::nullopt;
  HeldMachines held;
  held.job = state.name;
  held.owner = job_owner(state.name);
  held.holding = *holding;
  held.status = *holding == Holding::running ? state.secondary : state.pool->status;
  held.resources = resources_from_json(state.resources);
  held.spot = state.spot;
  held.since_wall_s = state.created_wall_s;
  if (*holding == Holding::kept) {
    held.retained_s = state.pool->retained_s;
    held.since_wall_s = held.retained_s ? now_wall_s - *held.retained_s
                                        : state.billed_until_wall_s.value_or(state.created_wall_s);
    const auto keep_alive_s = number_at(state.resources, "KeepAlivePeriodInSeconds");
    if (keep_alive_s) {
      held.left_s = std::max(0.0, held.since_wall_s + *keep_alive_s - now_wall_s);
    }
  }
  set_price(held, state, prices);
  if (held.usd_per_hour) {
    held.usd_so_far = usage_usd(*held.usd_per_hour, billed_s(held, state, now_wall_s));
  }
  return held;
}

aws::AwsResult<std::vector<HeldMachines>> find_held_machines(TrainingJobs& jobs, double now_wall_s,
                                                             const PriceTable* prices) {
  const auto summaries = jobs.list({{}, {}, std::max(0.0, now_wall_s - k_longest_holding_s)});
  if (!summaries) return tl::unexpected(summaries.error());
  std::vector<HeldMachines> all;
  for (const JobSummary& summary : std::views::reverse(*summaries)) {
    JobDescription listed;
    listed.status = summary.status;
    if (!holding_of(listed.ended(), summary.pool)) continue;
    const auto state = jobs.describe(summary.name);
    if (!state) return tl::unexpected(state.error());
    if (!*state) continue;
    if (auto held = held_machines(**state, now_wall_s, prices)) all.push_back(*std::move(held));
  }
  return all;
}

aws::AwsResult<std::vector<Release>> release_pools(TrainingJobs& jobs,
                                                   std::vector<HeldMachines> machines,
                                                   const Clock& clock,
                                                   const aws::WaitUntil& wait_until,
                                                   const PriceTable* prices, double patience_s) {
  std::erase_if(machines,
                [](const HeldMachines& held) { return held.holding == Holding::running; });
  const double until_s = clock.now_s() + patience_s;
  std::vector<Release> releases;
  while (!machines.empty()) {
    std::vector<HeldMachines> left;
    for (HeldMachines& held : machines) {
      if (held.holding == Holding::kept) {
        const auto released = jobs.set_keep_alive(held.job, 0);
        if (!released) return tl::unexpected(released.error());
        if (*released) {
          releases.push_back({std::move(held), ReleaseOutcome::released});
          continue;
        }
      }
      const auto state = jobs.describe(held.job);
      if (!state) return tl::unexpected(state.error());
      auto now_held = *state ? held_machines(**state, clock.wall_time_s(), prices) : std::nullopt;
      if (now_held) {
        left.push_back(*std::move(now_held));
      } else {
        releases.push_back({std::move(held), ReleaseOutcome::gone});
      }
    }
    machines = std::move(left);
    if (machines.empty()) break;
    if (clock.now_s() >= until_s) {
      for (HeldMachines& held : machines)
        releases.push_back({std::move(held), ReleaseOutcome::not_ready});
      break;
    }
    wait_until(clock.now_s() + k_settling_poll_s);
  }
  return releases;
}

}  // namespace steptune
