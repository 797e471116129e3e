// SPDX-License-Identifier: Apache-2.0

// Part of SlurmRunner that requests allocations and gives them back.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/text.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"

namespace steptune {

using slurm::Allocation;
using slurm::AllocationState;
using slurm::Setback;
using slurm::StepTrial;

namespace {

/// Number of allocations that may wait in the queue, in addition to those that trials could use at
/// once.
constexpr int k_more_pending = 3;
/// Seconds for which an idle allocation is kept while another kind of allocation is needed or
/// pending.
constexpr double k_keep_beside_pending_s = 3.0;
/// A trial that waits for more than this many seconds counts as waiting in the queue. In this time,
/// the study gives back idle allocations that use the needed nodes. An idle cluster then grants new
/// ones.
constexpr double k_soon_s = 30.0;
/// Largest number of trials that may wait in the queue. The searcher chooses each of them without
/// the results of the earlier ones.
constexpr int k_most_in_queue = 16;

/// Matches `Job violates accounting/QOS policy (job submit limit, ...)` and `AssocGrpNodeLimit`.
bool names_a_limit(std::string_view why) {
  return why.find("limit") != std::string_view::npos || why.find("Limit") != std::string_view::npos;
}

std::string too_short(double lasts_s, double needed_s) {
  return fmt::format(
      "an allocation of {} is too short for a trial that may take {} (\"launch_limit\", \"wall\" "
      "of "
      "\"limits\", and time to end): give \"time\" of \"runner\" more, or lower \"wall\" and "
      "\"max_trial\"",
      format_duration(lasts_s), format_duration(needed_s));
}

}  // namespace

double SlurmRunner::longest_s(const TrialSpec& spec) const {
  return slurm::longest_trial_s(spec.limits, options_.launch_limit_s);
}

bool SlurmRunner::is_waited_for(const std::string& kind) const {
  return std::ranges::any_of(
      trials_, [&](const StepTrial& trial) { return trial.waits() && kind_of(trial) == kind; });
}

int SlurmRunner::trials_in_queue() const {
  std::set<std::string> granted;
  for (const Allocation& allocation : allocations_.all()) {
    if (allocation.state == AllocationState::running) granted.insert(allocation.kind);
  }
  int in_queue = 0;
  std::set<std::string> queued;
  for (const StepTrial& trial : trials_) {
    if (!trial.waits() || clock_.now_s() - trial.waits_since_s() < k_soon_s) continue;
    const std::string kind = kind_of(trial);
    if (granted.contains(kind)) continue;  // this trial starts when another trial ends
    ++in_queue;
    queued.insert(kind);
  }
  return allocations_.has_others(queued, k_soon_s) ? std::min(in_queue, k_most_in_queue) : 0;
}

std::vector<TrialKey> SlurmRunner::trials_without_machine() const {
  std::vector<TrialKey> keys;
  for (const StepTrial& trial : trials_) {
    if (trial.waits() && clock_.now_s() - trial.waits_since_s() >= k_soon_s)
      keys.push_back(trial.key());
  }
  return keys;
}

double SlurmRunner::expected_start_s(const Resources& resources) const {
  const auto requested = slurm::allocation_spec_of(resources);
  const std::string kind = requested ? slurm::allocation_kind(*requested, options_) : "";
  const double start_s = allocations_.expected_start_s(kind);
  const auto waiting = std::ranges::count_if(
      trials_, [&](const StepTrial& trial) { return trial.waits() && kind_of(trial) == kind; });
  // If enough trials of this kind wait already, they use every allocation that Slurm grants.
  return waiting < options_.parallel ? start_s : k_infinity;
}

void SlurmRunner::heed_setbacks() {
  for (const std::string& kind : allocations_.take_accepted())
    backoff_.on_accepted(kind);
  for (slurm::AllocationSetback& event : allocations_.take_setbacks()) {
    if (event.setback == Setback::refused && event.avoids_nodes) {
      // Slurm may have no other nodes, so allow the lost nodes again.
      lost_nodes_.clear();
      continue;
    }
    // A limit may refuse this allocation only because the study holds other allocations.
    if (event.setback == Setback::refused && names_a_limit(event.why) && held_of_kind("") > 0) {
      event.setback = Setback::full;
    }
    const auto hopeless = backoff_.on_setback(event.kind, event.setback, event.why,
                                              held_of_kind(event.kind), clock_.now_s());
    if (!is_waited_for(event.kind)) continue;
    if (hopeless) {
      give_up_waiting(event.kind, *hopeless);
    } else {
      notices_.add_once(
          "setback " + event.kind + event.why,
          fmt::format("could not get an allocation, trials wait for another: {}", event.why));
    }
  }
}

void SlurmRunner::give_up_waiting(const std::string& kind, const std::string& why) {
  for (auto trial = trials_.begin(); trial != trials_.end();) {
    if (!trial->waits() || kind_of(*trial) != kind) {
      ++trial;
      continue;
    }
    finish(*trial, {.kind = OutcomeKind::not_started, .detail = why});
    trial = trials_.erase(trial);
  }
}

int SlurmRunner::held_of_kind(const std::string& kind) const {
  return static_cast<int>(
      std::ranges::count_if(allocations_.all(), [&](const Allocation& allocation) {
        return allocation.state != AllocationState::ending &&
               (kind.empty() || allocation.kind == kind);
      }));
}

void SlurmRunner::ask_for_allocations() {
  if (running_trials() >= options_.parallel) return;  // no further trial could start
  int pending = 0;
  std::map<std::string, int> of_kind;
  for (const Allocation& allocation : allocations_.all()) {
    if (allocation.state == AllocationState::ending) continue;
    ++of_kind[allocation.kind];
    if (allocation.state != AllocationState::running) ++pending;
  }
  std::map<std::string, int> wanted;
  for (const StepTrial& trial : trials_)
    ++wanted[kind_of(trial)];
  for (auto trial = trials_.begin(); trial != trials_.end();) {
    if (!trial->waits()) {
      ++trial;
      continue;
    }
    const std::string kind = kind_of(*trial);
    const auto limit_s =
        slurm::time_limit_s(trial->allocation_spec().value_of("time").value_or(""));
    const double lasts_s = limit_s.value_or(options_.default_time_s);
    if (lasts_s < longest_s(trial->spec())) {
      finish(*trial, {.kind = OutcomeKind::not_started,
                      .detail = too_short(lasts_s, longest_s(trial->spec()))});
      trial = trials_.erase(trial);
      continue;
    }
    if (of_kind[kind] < std::min(wanted[kind], options_.parallel) &&
        pending < options_.parallel + k_more_pending &&
        clock_.now_s() >= backoff_.may_ask_at_s(kind, of_kind[kind])) {
      allocations_.submit(trial->allocation_spec(), lost_nodes_.to_avoid(clock_.now_s()));
      ++of_kind[kind];
      ++pending;
    }
    ++trial;
  }
}

void SlurmRunner::replace_short(Allocation& allocation, double needed_s) {
  const double lasts_s = allocation.end_wall_s - allocation.start_wall_s;
  if (allocation.used || allocation.former) {
    allocations_.give_back(allocation);
    return;
  }
  // If a list of the queue came late, too little of this allocation may be left, but the next one
  // may last long enough. If the total length is too short, the next one is too short as well.
  const auto setback = lasts_s < needed_s ? Setback::refused : Setback::unused;
  allocations_.give_back_as(allocation, setback,
                            fmt::format("job {}: {}", allocation.id, too_short(lasts_s, needed_s)));
}

void SlurmRunner::give_back_surplus() {
  const double now_s = clock_.now_s();
  std::map<std::string, double> needed_s;  // longest trial that waits, by kind
  for (const StepTrial& trial : trials_) {
    if (!trial.waits()) continue;
    double& longest = needed_s[kind_of(trial)];
    longest = std::max(longest, longest_s(trial.spec()));
  }
  const auto running = [this] {
    return std::ranges::count(allocations_.all(), AllocationState::running, &Allocation::state);
  };
  const bool others_wait =
      std::ranges::any_of(needed_s,
                          [this](const auto& kind) { return held_of_kind(kind.first) == 0; }) ||
      std::ranges::any_of(allocations_.all(), [](const Allocation& allocation) {
        return allocation.state == AllocationState::pending;
      });
  for (Allocation& allocation : allocations_.all()) {
    if (allocation.user || allocation.state == AllocationState::ending ||
        allocation.state == AllocationState::submitting) {
      continue;
    }
    const auto needed = needed_s.find(allocation.kind);
    const bool wanted = needed != needed_s.end();
    const bool idle = allocation.state == AllocationState::running;
    if (idle && wanted && allocation.end_wall_s < clock_.wall_time_s() + needed->second) {
      replace_short(allocation, needed->second);
      continue;
    }
    // Another allocation may wait for exactly these idle nodes.
    const double keep_s = others_wait ? std::min(k_keep_beside_pending_s, options_.keep_alive_s)
                                      : options_.keep_alive_s;
    const bool unwanted =
        !wanted && (!idle || further_trials_ == 0 || running() > options_.parallel ||
                    now_s - allocation.free_since_s >= keep_s);
    if (unwanted) allocations_.give_back(allocation);
  }
}

}  // namespace steptune
