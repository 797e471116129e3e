// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/allocations.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "common/numbers.hpp"
#include "common/pause.hpp"
#include "common/text.hpp"
#include "trial_runner/slurm/process_host.hpp"
#include "trial_runner/slurm/submission.hpp"

namespace steptune::slurm {
namespace {

/// Time between checks for the placeholder's file, as a share of the time waited so far. The longer
/// the wait, the less a late check matters.
constexpr double k_holder_poll_share = 0.05;
/// Longest such time, in seconds.
constexpr double k_longest_holder_poll_s = 10.0;

}  // namespace

Allocations::Allocations(const Clock& clock, SubmitHost& host, Notices& notices,
                         const SlurmOptions& options)
    : clock_(clock),
      host_(host),
      notices_(notices),
      options_(options),
      leases_(clock, host, notices, options),
      costs_(clock, options),
      queue_(clock, host, notices, options,
             [this](const std::vector<QueueRow>& rows) { return on_listed(rows); }) {}

Result<void> Allocations::begin(const std::string& prefix) {
  prefix_ = prefix;
  allocations_.clear();
  return queue_.begin();
}

void Allocations::adopt_unknown_jobs(const std::vector<QueueRow>& rows) {
  for (const QueueRow& row : rows) {
    const bool is_live = phase_of(row.state) != JobPhase::over;
    if (!row.name.starts_with(prefix_) || !is_live || find(row.name) != nullptr) continue;
    allocations_.push_back(former_allocation(row, prefix_, clock_));
    leases_.renew_soon();
  }
}

Allocation* Allocations::find(const std::string& name) {
  const auto found = std::ranges::find(allocations_, name, &Allocation::name);
  return found == allocations_.end() ? nullptr : &*found;
}

Allocation* Allocations::free_for(const std::string& kind, double needed_s) {
  const double until_wall_s = clock_.wall_time_s() + needed_s;
  for (Allocation& allocation : allocations_) {
    if (allocation.state == AllocationState::running && !allocation.user &&
        allocation.kind == kind && allocation.end_wall_s >= until_wall_s) {
      return &allocation;
    }
  }
  return nullptr;
}

double Allocations::expected_start_s(const std::string& kind) const {
  const double usual_s = waits_.usual_s(kind, options_.expected_wait_s);
  std::optional<double> pending_s;
  for (const Allocation& allocation : allocations_) {
    if (allocation.kind != kind) continue;
    if (allocation.state == AllocationState::running && !allocation.user) return k_step_start_s;
    if (allocation.state != AllocationState::pending) continue;
    const double wait_s = allocation.expected_start_wall_s
                              ? *allocation.expected_start_wall_s - clock_.wall_time_s()
                              : std::max(usual_s, clock_.now_s() - allocation.requested_s);
    pending_s = std::min(pending_s.value_or(wait_s), wait_s);
  }
  return std::max(2.0 * k_step_start_s, pending_s.value_or(usual_s));
}

bool Allocations::has_others(const std::set<std::string>& kinds, double soon_s) const {
  return std::ranges::any_of(allocations_,
                             [&](const Allocation& allocation) {
                               return allocation.state == AllocationState::running &&
                                      !kinds.contains(allocation.kind);
                             }) ||
         waits_.any_other_within(kinds, soon_s);
}

void Allocations::submit(const AllocationSpec& requested, const std::string& avoided) {
  Allocation allocation;
  // The number is unique among all allocations of the study, including allocations of earlier
  // tuners.
  last_number_ = std::max(last_number_ + 1, static_cast<std::int64_t>(clock_.wall_time_s()));
  allocation.kind = allocation_kind(requested, options_);
  allocation.name = fmt::format("{}{}.p{}", prefix_, allocation.kind, last_number_);
  allocation.requested_s = clock_.now_s();
  allocation.submit_wall_s = clock_.wall_time_s();
  allocation.avoids_nodes = !avoided.empty();
  if (const auto leased = leases_.begin(allocation); !leased) {
    setbacks_.push_back({allocation.kind, Setback::unclear, leased.error().text()});
    return;
  }
  host_.run(
      submit_words(requested, options_, allocation.name, avoided),
      host_.holder_script(allocation.name),
      [this, name = allocation.name](const CommandResult& result) { on_submitted(name, result); });
  allocations_.push_back(std::move(allocation));
}

void Allocations::on_accepted(Allocation& allocation, const std::string& id) {
  allocation.id = id;
  allocation.submission_fault.clear();
  accepted_.push_back(allocation.kind);
  next_holder_poll_s_ = clock_.now_s();
}

void Allocations::on_submitted(const std::string& name, const CommandResult& result) {
  Allocation* allocation = find(name);
  // If a list of the queue has already named the job's id, sbatch's late answer adds nothing.
  if (allocation == nullptr || !allocation->id.empty()) return;
  const bool wanted = allocation->state == AllocationState::submitting;
  const auto job_id = read_submission(result);
  queue_.ask_soon(k_least_request_gap_s);
  if (job_id) {
    on_accepted(*allocation, *job_id);
    if (wanted) {
      allocation->state = AllocationState::pending;
    } else {
      cancel(*allocation);
    }
    return;
  }
  if (job_id.error() == Setback::unclear) {
    if (wanted) allocation->state = AllocationState::doubtful;
    allocation->submission_fault = last_words(result);
    notices_.add_once("submission",
                      fmt::format("sbatch has failed; looking for its job in the queue: {}",
                                  allocation->submission_fault));
    return;
  }
  setbacks_.push_back({allocation->kind, job_id.error(), "sbatch: " + last_words(result),
                       allocation->avoids_nodes});
  host_.forget_allocation(name);
  allocations_.remove_if([&name](const Allocation& each) { return each.name == name; });
}

void Allocations::cancel(Allocation& allocation) {
  allocation.cancel_gap_s = allocation.cancel_gap_s == 0.0
                                ? k_settling_s
                                : std::min(2.0 * allocation.cancel_gap_s, k_longest_request_gap_s);
  allocation.next_cancel_s = clock_.now_s() + allocation.cancel_gap_s;
  host_.run(cancel_command(allocation), {}, [](const CommandResult&) {});
}

void Allocations::give_back(Allocation& allocation) {
  if (allocation.state == AllocationState::ending) return;
  allocation.state = AllocationState::ending;
  allocation.given_back = true;
  // Let the lease expire as well, in case scancel does not reach the controller.
  leases_.end(allocation);
  queue_.ask_soon(k_least_request_gap_s);
  if (!allocation.id.empty()) cancel(allocation);
}

void Allocations::give_back_as(Allocation& allocation, Setback setback, std::string why) {
  setbacks_.push_back({allocation.kind, setback, std::move(why), allocation.avoids_nodes});
  give_back(allocation);
}

void Allocations::set_user(Allocation& allocation, TrialKey key, double longest_s) {
  allocation.user = key;
  allocation.user_until_wall_s = clock_.wall_time_s() + longest_s;
  leases_.extend_for_user(allocation);
}

void Allocations::set_paid_by_trial(Allocation& allocation, double from_s) {
  if (allocation.user_pays) return;
  costs_.count(allocation, from_s);
  costs_.end(allocation.name);
  allocation.user_pays = true;
  allocation.used = true;
}

void Allocations::set_free(Allocation& allocation, std::optional<double> ended_s) {
  // A job without nodes, such as a pending one, costs nothing (`counted_until_s` is 0).
  if (allocation.user_pays && allocation.counted_until_s > 0.0) {
    allocation.counted_until_s =
        std::max(allocation.counted_until_s, ended_s.value_or(clock_.now_s()));
  }
  allocation.user.reset();
  allocation.user_pays = false;
  allocation.user_until_wall_s = 0.0;
  allocation.free_since_s = clock_.now_s();
  allocation.lease_until_wall_s = 0.0;  // the supervisor may have shortened the lease
  leases_.renew_soon();
}

QueueInterest Allocations::queue_interest() const {
  if (allocations_.empty()) return QueueInterest::none;
  const bool any_changing = std::ranges::any_of(allocations_, [](const Allocation& allocation) {
    return allocation.state != AllocationState::running || allocation.missing_since_s;
  });
  return any_changing ? QueueInterest::changing : QueueInterest::calm;
}

void Allocations::on_gone(const Allocation& allocation, const std::string& state) {
  gone_[allocation.name] = state;
  costs_.end(allocation.name);
  host_.forget_allocation(allocation.name);
  if (allocation.given_back || allocation.used || allocation.former) return;
  const bool existed = allocation.submission_fault.empty();
  setbacks_.push_back({allocation.kind, existed ? Setback::unused : Setback::unclear,
                       existed ? fmt::format("job {} is {}", allocation.id, words_of(state))
                               : "sbatch: " + allocation.submission_fault});
}

QueueInterest Allocations::on_listed(const std::vector<QueueRow>& rows) {
  adopt_unknown_jobs(rows);
  for (auto allocation = allocations_.begin(); allocation != allocations_.end();) {
    const QueueRow* latest = nullptr;
    for (const QueueRow& row : rows) {
      if (row.name != allocation->name) continue;
      if (latest == nullptr || row.submit_wall_s >= latest->submit_wall_s) latest = &row;
    }
    if (update(*allocation, latest)) {
      ++allocation;
      continue;
    }
    costs_.count(*allocation, clock_.now_s());
    on_gone(*allocation, latest == nullptr ? std::string(k_gone_state) : latest->state);
    allocation = allocations_.erase(allocation);
  }
  return queue_interest();
}

bool Allocations::update(Allocation& allocation, const QueueRow* row) {
  const double now_s = clock_.now_s();
  if (row == nullptr) {
    if (allocation.state == AllocationState::submitting) return true;
    if (allocation.state == AllocationState::ending && !allocation.id.empty()) return false;
    if (!allocation.missing_since_s) allocation.missing_since_s = now_s;
    // Wait for further lists: a job that was just accepted may be missing from one.
    return now_s - *allocation.missing_since_s < k_settling_s;
  }
  allocation.missing_since_s.reset();
  // The queue lists the job, so sbatch has submitted it, even if sbatch reported a failure.
  if (allocation.id.empty()) on_accepted(allocation, row->id);
  allocation.id = row->id;
  allocation.job_state = row->state;
  allocation.reason = row->reason;
  if (row->nodes > 0) allocation.nodes = row->nodes;
  const JobPhase phase = phase_of(row->state);
  if (phase == JobPhase::over) {
    costs_.count_unseen(allocation, *row);
    if (row->state != "COMPLETING") return false;
    costs_.count(allocation, now_s);
    // If a node does not answer, the job may stay in this state for minutes, or until a person
    // acts. Meanwhile trials use other allocations.
    allocation.is_charged = false;
    allocation.state = AllocationState::ending;
    return true;
  }
  if (allocation.state == AllocationState::ending) {
    // Repeat scancel, because a request may have been lost.
    if (now_s >= allocation.next_cancel_s) cancel(allocation);
    return true;
  }
  switch (phase) {
    case JobPhase::waiting:
      if (allocation.state == AllocationState::running && !is_in_queue(row->state)) break;
      on_waiting(allocation, *row);
      break;
    case JobPhase::usable:
      on_running(allocation, *row);
      break;
    case JobPhase::suspended:
      notices_.add_once("suspended " + allocation.name,
                        fmt::format("the allocation {} was suspended and is given back; a trial "
                                    "that ran in it is lost",
                                    allocation.id));
      if (!allocation.used) {
        setbacks_.push_back({allocation.kind, Setback::unused,
                             fmt::format("job {} is {}", allocation.id, words_of(row->state))});
      }
      give_back(allocation);
      break;
    case JobPhase::held:
      give_back_as(allocation, Setback::unused,
                   fmt::format("job {} is {}", allocation.id, words_of(row->state)));
      break;
    case JobPhase::over:
      break;
  }
  return true;
}

void Allocations::on_waiting(Allocation& allocation, const QueueRow& row) {
  if (allocation.state != AllocationState::pending) {
    // A requeued job holds no nodes until it runs again.
    costs_.count(allocation, clock_.now_s());
    costs_.end(allocation.name);
    allocation.state = AllocationState::pending;
    if (allocation.counted_until_s > 0.0) allocation.requested_s = clock_.now_s();
    allocation.counted_until_s = 0.0;
  }
  allocation.expected_start_wall_s = row.start_wall_s;
  const WaitKind kind = wait_kind(row.reason);
  if (kind == WaitKind::never) {
    give_back_as(allocation, Setback::refused,
                 fmt::format("Slurm will not start it: {}", printable_line(row.reason)));
  } else if (clock_.now_s() - allocation.requested_s > options_.queue_wait_s) {
    give_back_as(allocation, Setback::refused,
                 fmt::format("waited in the queue for {} (\"queue_wait\"): {}",
                             format_duration(options_.queue_wait_s), printable_line(row.reason)));
  } else if (kind == WaitKind::held) {
    notices_.add_once("held " + allocation.name,
                      fmt::format("job {} is held in the queue ({}): somebody must release it",
                                  row.id, printable_line(row.reason)));
  }
}

void Allocations::on_running(Allocation& allocation, const QueueRow& row) {
  const double now_s = clock_.now_s();
  allocation.cpus = row.cpus;
  allocation.node_list = row.node_list;
  if (row.start_wall_s) allocation.start_wall_s = *row.start_wall_s;
  if (row.end_wall_s) allocation.end_wall_s = *row.end_wall_s;
  if (allocation.state == AllocationState::running) return;
  allocation.state = AllocationState::running;
  const double since_s =
      row.start_wall_s ? now_s - std::max(0.0, clock_.wall_time_s() - *row.start_wall_s) : now_s;
  allocation.free_since_s = now_s;
  // Count only from this tuner's start, because the earlier tuner has reported the time before.
  allocation.counted_until_s = std::max(since_s, allocation.requested_s);
  if (!allocation.former) {
    waits_.add(allocation.kind, std::max(0.0, since_s - allocation.requested_s));
  }
}

std::optional<std::string> Allocations::state_after(const std::string& name, double time_s) {
  if (queue_.listed_as_of_s() <= time_s) {
    if (!queue_.is_asking()) queue_.ask_soon(0.0);
    return std::nullopt;
  }
  if (const Allocation* allocation = find(name)) {
    // The job may be missing only for a moment, so wait for later lists.
    return allocation->missing_since_s ? std::nullopt : std::optional(allocation->job_state);
  }
  const auto gone = gone_.find(name);
  return gone == gone_.end() ? std::string(k_gone_state) : gone->second;
}

void Allocations::poll_holders() {
  const double now_s = clock_.now_s();
  next_holder_poll_s_ = k_infinity;
  for (Allocation& allocation : allocations_) {
    if (allocation.state != AllocationState::pending || allocation.is_up) continue;
    allocation.is_up = host_.node_cpus(allocation.name).has_value();
    if (allocation.is_up) {
      queue_.ask_soon(0.0);  // the list of the queue must confirm it
      continue;
    }
    const double pace_s = std::clamp(k_holder_poll_share * (now_s - allocation.requested_s),
                                     k_poll_s, k_longest_holder_poll_s);
    next_holder_poll_s_ = std::min(next_holder_poll_s_, now_s + pace_s);
  }
}

Result<void> Allocations::advance() {
  costs_.count(allocations_);
  const double now_s = clock_.now_s();
  if (now_s >= next_holder_poll_s_) poll_holders();
  queue_.ask_if_due();
  if (now_s >= leases_.next_renewal_s() && !allocations_.empty()) {
    if (auto renewed = leases_.renew(allocations_); !renewed) return renewed;
  }
  return queue_.check_outage();
}

double Allocations::next_due_s() const {
  double due_s = queue_.next_due_s();
  if (!allocations_.empty())
    due_s = std::min({due_s, leases_.next_renewal_s(), next_holder_poll_s_});
  return due_s;
}

}  // namespace steptune::slurm
