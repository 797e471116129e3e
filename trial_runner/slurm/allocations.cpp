// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/allocations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "common/sha256.hpp"
#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/slurm/process_host.hpp"
#include "trial_runner/slurm/submission_answer.hpp"
#include "trial_runner/slurm/submit_words.hpp"

namespace steptune::slurm {
namespace {

/// Seconds from a change until the queue's list is requested.
constexpr double k_change_shows_s = 1.0;
/// Seconds between scancel calls for an allocation that does not end; doubled each time.
constexpr double k_first_cancel_gap_s = 10.0;
constexpr double k_longest_cancel_gap_s = 120.0;
/// Time between checks for the placeholder's file, as a share of the time waited so far.
constexpr double k_holder_look_share = 0.05;
constexpr double k_least_holder_look_s = 0.25;
constexpr double k_longest_holder_look_s = 10.0;
/// Seconds for which an accepted job may be missing from the list before it counts as gone.
constexpr double k_missing_s = 10.0;
/// Shortest lease, in seconds. Shared file systems cache attributes for up to a minute, so a
/// placeholder may notice a renewal late.
constexpr double k_least_lease_s = 120.0;
/// Seconds for which writing a lease may fail, because a shared file system may fail for a moment.
/// After this time, leases still last for half a minute.
constexpr double k_longest_unwritable_s = 60.0;
constexpr double k_unwritable_gap_s = 5.0;

/// Returns a command that cancels by name and id, because Slurm may have reassigned the id after a
/// restart.
std::vector<std::string> cancel_command(const Allocation& allocation) {
  return {"scancel", "--name=" + allocation.name, allocation.id};
}

bool is_listed_live(const QueueRow& row) {
  return phase_of(row.state) != JobPhase::over;
}

}  // namespace

std::string allocation_kind(const AllocationSpec& requested, const SlurmOptions& options) {
  const Resources held = to_resources(requested);
  const std::string text =
      fmt::format("{} {}\n{} {} {} {:.0f}", held.instance_count, held.instance_type,
                  held_tasks_per_node(options), fixed_cpus_per_task(options).value_or(0),
                  options.exclusive, options.default_time_s);
  return sha256_hex(text).substr(0, 8);
}

Allocations::Allocations(const Clock& clock, SubmitHost& host, Notices& notices,
                         const SlurmOptions& options)
    : clock_(clock),
      host_(host),
      notices_(notices),
      options_(options),
      queue_(clock, host, notices, options,
             [this](const std::vector<QueueRow>& rows) { return on_listed(rows); }) {}

Result<void> Allocations::begin(const std::string& prefix) {
  prefix_ = prefix;
  allocations_.clear();
  return queue_.begin();
}

void Allocations::adopt_unknown_jobs(const std::vector<QueueRow>& rows) {
  for (const QueueRow& row : rows) {
    if (!row.name.starts_with(prefix_) || !is_listed_live(row) || find(row.name) != nullptr)
      continue;
    Allocation allocation;
    allocation.name = row.name;
    allocation.kind =
        row.name.substr(prefix_.size(), row.name.find('.', prefix_.size()) - prefix_.size());
    allocation.state = AllocationState::pending;
    allocation.id = row.id;
    allocation.requested_s = clock_.now_s();
    allocation.submit_wall_s = row.submit_wall_s.value_or(clock_.wall_time_s());
    allocation.former = true;
    next_renewal_s_ = 0.0;
    allocations_.push_back(std::move(allocation));
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
  constexpr double k_step_start_s = 0.1;
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

void Allocations::know(const AllocationSpec& requested) {
  specs_.try_emplace(allocation_kind(requested, options_), requested);
}

std::optional<double> Allocations::usd_per_node_hour(const Allocation& allocation) const {
  const NodePrices& prices = options_.usd_per_node_hour;
  if (!prices.are_given()) return std::nullopt;
  const auto requested = specs_.find(allocation.kind);
  return requested == specs_.end() ? prices.highest() : prices.of(requested->second);
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
  allocation.lease_until_wall_s =
      allocation.submit_wall_s + std::max(k_least_lease_s, options_.keep_alive_s);
  if (const auto leased = host_.set_lease(allocation.name, allocation.lease_until_wall_s);
      !leased) {
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
  next_holder_look_s_ = clock_.now_s();
}

void Allocations::on_submitted(const std::string& name, const CommandResult& result) {
  Allocation* allocation = find(name);
  if (allocation == nullptr) return;
  const bool wanted = allocation->state == AllocationState::submitting;
  const SubmissionAnswer answer = read_submission(result);
  queue_.ask_soon(k_change_shows_s);
  switch (answer.submission) {
    case Submission::accepted:
      on_accepted(*allocation, answer.job_id);
      if (wanted) {
        allocation->state = AllocationState::pending;
      } else {
        cancel(*allocation);
      }
      return;
    case Submission::unclear:
      if (wanted) allocation->state = AllocationState::doubtful;
      allocation->submission_fault = last_words(result);
      notices_.add_once("submission",
                        fmt::format("sbatch has failed; looking for its job in the queue: {}",
                                    allocation->submission_fault));
      return;
    case Submission::full:
    case Submission::refused:
      break;
  }
  setbacks_.push_back({allocation->kind,
                       answer.submission == Submission::full ? Setback::full : Setback::refused,
                       "sbatch: " + last_words(result), allocation->avoids_nodes});
  host_.forget_allocation(name);
  allocations_.remove_if([&name](const Allocation& each) { return each.name == name; });
}

void Allocations::cancel(Allocation& allocation) {
  allocation.cancel_gap_s = allocation.cancel_gap_s == 0.0
                                ? k_first_cancel_gap_s
                                : std::min(2.0 * allocation.cancel_gap_s, k_longest_cancel_gap_s);
  allocation.next_cancel_s = clock_.now_s() + allocation.cancel_gap_s;
  host_.run(cancel_command(allocation), {}, [](const CommandResult&) {});
}

void Allocations::give_back(Allocation& allocation) {
  if (allocation.state == AllocationState::ending) return;
  allocation.state = AllocationState::ending;
  allocation.given_back = true;
  // Let the lease expire as well, in case scancel does not reach the controller.
  (void)host_.set_lease(allocation.name, 0.0);
  queue_.ask_soon(k_change_shows_s);
  if (!allocation.id.empty()) cancel(allocation);
}

void Allocations::give_back_as(Allocation& allocation, Setback setback, std::string why) {
  setbacks_.push_back({allocation.kind, setback, std::move(why), allocation.avoids_nodes});
  give_back(allocation);
}

void Allocations::set_user(Allocation& allocation, TrialKey key, double longest_s) {
  allocation.user = key;
  allocation.user_started = false;
  allocation.user_until_wall_s = clock_.wall_time_s() + longest_s;
  next_renewal_s_ = 0.0;
  // Write the lease now, so that the trial survives if the tuner dies. Failures are retried later.
  if (host_.set_lease(allocation.name, allocation.user_until_wall_s)) {
    allocation.lease_until_wall_s =
        std::max(allocation.lease_until_wall_s, allocation.user_until_wall_s);
  }
}

void Allocations::set_free(Allocation& allocation) {
  count_cost();
  allocation.user.reset();
  allocation.user_started = false;
  allocation.user_until_wall_s = 0.0;
  allocation.free_since_s = clock_.now_s();
  allocation.lease_until_wall_s = 0.0;  // the supervisor may have shortened the lease
  next_renewal_s_ = 0.0;
}

void Allocations::set_paid_by_trial(Allocation& allocation, bool paid) {
  if (allocation.user_started == paid) return;
  count_cost();
  allocation.user_started = paid;
  if (paid) allocation.used = true;
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
  unused_.end(allocation.name);
  host_.forget_allocation(allocation.name);
  if (allocation.given_back || allocation.used || allocation.former) return;
  if (!allocation.submission_fault.empty()) {
    setbacks_.push_back(
        {allocation.kind, Setback::unclear, "sbatch: " + allocation.submission_fault});
    return;
  }
  setbacks_.push_back({allocation.kind, Setback::unused,
                       fmt::format("job {} is {}", allocation.id, words_of(state))});
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
    return now_s - *allocation.missing_since_s < k_missing_s;
  }
  allocation.missing_since_s.reset();
  // The job is listed, so it was submitted, whatever sbatch reported.
  if (allocation.id.empty()) on_accepted(allocation, row->id);
  allocation.id = row->id;
  allocation.job_state = row->state;
  allocation.reason = row->reason;
  if (row->nodes > 0) allocation.nodes = row->nodes;
  const JobPhase phase = phase_of(row->state);
  if (phase == JobPhase::over) {
    count_unseen(allocation, *row);
    count_cost();
    if (row->state != "COMPLETING") return false;
    // If a node does not answer, the job remains in this state for minutes, or until a person acts.
    // Trials use other allocations.
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
                        fmt::format("the allocation {} was suspended and is given back: what ran "
                                    "there measured nothing",
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
    count_cost();
    unused_.end(allocation.name);
    allocation.state = AllocationState::pending;
    allocation.requested_s = std::max(allocation.requested_s, allocation.counted_until_s);
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
  // Count only from this tuner's start: the former tuner has reported earlier time.
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
    // The job may be missing for a moment only; later lists decide.
    return allocation->missing_since_s ? std::nullopt : std::optional(allocation->job_state);
  }
  const auto gone = gone_.find(name);
  return gone == gone_.end() ? std::string(k_gone_state) : gone->second;
}

Result<void> Allocations::renew_leases() {
  const double wall_s = clock_.wall_time_s();
  const double lease_s = std::max(k_least_lease_s, options_.keep_alive_s);
  for (Allocation& allocation : allocations_) {
    if (allocation.state == AllocationState::ending) continue;
    // A trial continues without a tuner, so the lease lasts to its latest end. Its supervisor
    // shortens the lease when the trial has ended.
    const double until_wall_s = std::max(wall_s + lease_s, allocation.user_until_wall_s);
    if (until_wall_s <= allocation.lease_until_wall_s) continue;
    if (auto set = host_.set_lease(allocation.name, until_wall_s); !set) {
      const double now_s = clock_.now_s();
      if (!unwritable_since_s_) unwritable_since_s_ = now_s;
      if (now_s - *unwritable_since_s_ > k_longest_unwritable_s) return set;
      notices_.add_once("unwritable", set.error().text() + "; it is tried again");
      next_renewal_s_ = now_s + k_unwritable_gap_s;
      return {};
    }
    allocation.lease_until_wall_s = until_wall_s;
  }
  if (unwritable_since_s_) notices_.end_topic("unwritable");
  unwritable_since_s_.reset();
  next_renewal_s_ = clock_.now_s() + lease_s / 4.0;
  return {};
}

void Allocations::count_unseen(Allocation& allocation, const QueueRow& row) {
  if (allocation.counted_until_s > 0.0 || allocation.former || !row.start_wall_s) return;
  const double wall_s = clock_.wall_time_s();
  const double end_wall_s = std::min(row.end_wall_s.value_or(wall_s), wall_s);
  add_held(allocation, end_wall_s, std::max(0.0, end_wall_s - *row.start_wall_s));
  allocation.counted_until_s = clock_.now_s();
}

void Allocations::add_held(const Allocation& allocation, double to_wall_s, double held_s) {
  if (allocation.user_started) return unused_.end(allocation.name);
  unused_.add(allocation.name, to_wall_s, held_s,
              usage_usd(usd_per_node_hour(allocation).value_or(0.0), allocation.nodes * held_s));
}

void Allocations::count_cost() {
  const double now_s = clock_.now_s();
  for (Allocation& allocation : allocations_) {
    const bool held = allocation.counted_until_s > 0.0 && allocation.is_charged &&
                      (allocation.state == AllocationState::running ||
                       allocation.state == AllocationState::ending);
    if (!held || now_s <= allocation.counted_until_s) continue;
    add_held(allocation, clock_.wall_time_s(), now_s - allocation.counted_until_s);
    allocation.counted_until_s = now_s;
  }
}

std::vector<UnusedTime> Allocations::take_unused() {
  count_cost();
  return unused_.take();
}

void Allocations::look_at_holders() {
  const double now_s = clock_.now_s();
  next_holder_look_s_ = std::numeric_limits<double>::infinity();
  for (Allocation& allocation : allocations_) {
    if (allocation.state != AllocationState::pending || allocation.is_up) continue;
    allocation.is_up = host_.holder_is_up(allocation.name);
    if (allocation.is_up) {
      queue_.ask_soon(0.0);  // the queue's list must confirm it
      continue;
    }
    const double pace_s = std::clamp(k_holder_look_share * (now_s - allocation.requested_s),
                                     k_least_holder_look_s, k_longest_holder_look_s);
    next_holder_look_s_ = std::min(next_holder_look_s_, now_s + pace_s);
  }
}

Result<void> Allocations::advance() {
  count_cost();
  const double now_s = clock_.now_s();
  if (now_s >= next_holder_look_s_) look_at_holders();
  queue_.ask_if_due();
  if (now_s >= next_renewal_s_ && !allocations_.empty()) {
    if (auto renewed = renew_leases(); !renewed) return renewed;
  }
  return queue_.check_outage();
}

double Allocations::next_due_s() const {
  double due_s = queue_.next_due_s();
  if (!allocations_.empty()) due_s = std::min({due_s, next_renewal_s_, next_holder_look_s_});
  return due_s;
}

}  // namespace steptune::slurm
