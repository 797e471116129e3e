// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/slurm/allocations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "common/sha256.hpp"
#include "common/text.hpp"
#include "trial_runner/cost/usage_cost.hpp"
#include "trial_runner/slurm/process_host.hpp"
#include "trial_runner/slurm/submit_words.hpp"

namespace steptune::slurm {
namespace {

constexpr double k_first_gap_s = 0.4;
constexpr double k_gap_growth = 1.6;
/// Nothing waits: only what happens to idle allocations can be seen.
constexpr double k_calm_polls = 4.0;
/// A job that was acknowledged may be missing from a list for a moment, or for good.
constexpr double k_missing_s = 10.0;
/// Attributes of shared file systems are cached for up to a minute.
constexpr double k_least_lease_s = 120.0;
constexpr double k_away_notice_s = 60.0;

constexpr std::array<std::string_view, 10> k_passing = {
    "Socket timed out", "Unable to contact",  "temporarily", "try again",      "Connection refused",
    "Connection reset", "Transport endpoint", "Zero Bytes",  "not responding", "MaxSubmitJob"};

bool is_passing(const CommandResult& result) {
  return result.timed_out || std::ranges::any_of(k_passing, [&](std::string_view phrase) {
           return result.err.find(phrase) != std::string::npos;
         });
}

/// Of this name only: Slurm may have given the number to another job after a restart.
std::vector<std::string> cancel_command(const Allocation& allocation) {
  return {"scancel", "--name=" + allocation.name, allocation.id};
}

/// The number that begins the last line that begins with one: sites wrap sbatch and print more.
std::string job_id_of(std::string_view text) {
  std::string id;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    if (digits > 0) id = line.substr(0, digits);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return id;
}

bool is_listed_live(const QueueRow& row) {
  return phase_of(row.state) != JobPhase::over;
}

}  // namespace

std::string allocation_kind(const Need& need, const SlurmOptions& options) {
  const Resources held = to_resources(need);
  const std::string text = fmt::format(
      "{} {}\n{} {} {} {:.0f} {}", held.instance_count, held.instance_type, options.tasks_per_node,
      options.cpus_per_task.value_or(0), options.exclusive, options.default_time_s, options.memory);
  return sha256_hex(text).substr(0, 8);
}

Allocations::Allocations(const Clock& clock, SubmitHost& host, Notices& notices,
                         const SlurmOptions& options)
    : clock_(clock),
      host_(host),
      notices_(notices),
      options_(options),
      next_look_s_(std::numeric_limits<double>::infinity()) {}

Result<void> Allocations::begin(const std::string& prefix) {
  prefix_ = prefix;
  allocations_.clear();
  const CommandResult listed = run_command(host_, clock_, queue_command());
  if (!listed.ok()) {
    return fail(ErrorKind::runner, "cannot read Slurm's queue: " + last_words(listed), "squeue",
                "`steptune doctor` tells what is found of Slurm on this machine");
  }
  for (const QueueRow& row : parse_queue(listed.out)) {
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
    allocations_.push_back(std::move(allocation));
  }
  looked_s_ = clock_.now_s();
  on_listed(listed.out);
  return {};
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
  double waiting_s = options_.expected_wait_s;
  if (!waits_s_.empty()) {
    auto sorted = waits_s_;
    std::ranges::sort(sorted);
    waiting_s = sorted[sorted.size() / 2];
  }
  double start_s = std::max(waiting_s, 2.0 * k_step_start_s);
  for (const Allocation& allocation : allocations_) {
    if (allocation.kind != kind) continue;
    if (allocation.state == AllocationState::running && !allocation.user) return k_step_start_s;
    if (allocation.state == AllocationState::pending && allocation.expected_start_wall_s) {
      start_s = std::min(start_s, std::max(2.0 * k_step_start_s, *allocation.expected_start_wall_s -
                                                                     clock_.wall_time_s()));
    }
  }
  return start_s;
}

void Allocations::submit(const Need& need) {
  Allocation allocation;
  // Unique among all of the study's, those of former tuners included.
  last_number_ = std::max(last_number_ + 1, static_cast<std::int64_t>(clock_.wall_time_s()));
  allocation.kind = allocation_kind(need, options_);
  allocation.name = fmt::format("{}{}.p{}", prefix_, allocation.kind, last_number_);
  allocation.requested_s = clock_.now_s();
  allocation.submit_wall_s = clock_.wall_time_s();
  allocation.lease_until_wall_s =
      allocation.submit_wall_s + std::max(k_least_lease_s, options_.keep_alive_s);
  if (const auto leased = host_.set_lease(allocation.name, allocation.lease_until_wall_s);
      !leased) {
    refusals_.emplace_back(allocation.kind, leased.error().text());
    return;
  }
  host_.run(
      submit_words(need, options_, allocation.name), host_.holder_script(allocation.name),
      [this, name = allocation.name](const CommandResult& result) { on_submitted(name, result); });
  allocations_.push_back(std::move(allocation));
}

void Allocations::on_submitted(const std::string& name, const CommandResult& result) {
  Allocation* allocation = find(name);
  if (allocation == nullptr) return;
  const bool wanted = allocation->state == AllocationState::submitting;
  const std::string id = result.ok() ? job_id_of(result.out) : "";
  look_soon(k_first_gap_s);
  if (!id.empty()) {
    allocation->id = id;
    if (wanted) {
      allocation->state = AllocationState::pending;
    } else {
      give_back(*allocation);
    }
    return;
  }
  if (result.ok() || is_passing(result)) {
    if (wanted) allocation->state = AllocationState::doubtful;
    notices_.add_once("submission",
                      fmt::format("sbatch has failed, trying again: {}", last_words(result)));
    return;
  }
  refusals_.emplace_back(allocation->kind, "sbatch: " + last_words(result));
  host_.forget_allocation(name);
  allocations_.remove_if([&name](const Allocation& each) { return each.name == name; });
}

void Allocations::give_back(Allocation& allocation) {
  allocation.state = AllocationState::ending;
  // A second way, should the controller not hear of it.
  (void)host_.set_lease(allocation.name, 0.0);
  look_soon(k_first_gap_s);
  if (allocation.id.empty()) return;
  host_.run(cancel_command(allocation), {}, [this](const CommandResult&) { look_soon(0.1); });
}

void Allocations::set_user(Allocation& allocation, TrialKey key, double longest_s) {
  allocation.user = key;
  allocation.user_started = false;
  allocation.user_until_wall_s = clock_.wall_time_s() + longest_s;
  next_renewal_s_ = 0.0;
  // At once, so that the trial outlives a tuner that dies now; what fails is tried again.
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
  allocation.lease_until_wall_s = 0.0;  // the guard may have shortened it
  next_renewal_s_ = 0.0;
}

void Allocations::set_paid_by_trial(Allocation& allocation, bool paid) {
  if (allocation.user_started == paid) return;
  count_cost();
  allocation.user_started = paid;
}

void Allocations::look_soon(double delay_s) {
  next_look_s_ = std::min(next_look_s_, clock_.now_s() + delay_s);
  gap_s_ = k_first_gap_s;
}

void Allocations::look() {
  looking_ = true;
  next_look_s_ = std::numeric_limits<double>::infinity();
  host_.run(queue_command(), {}, [this, asked_s = clock_.now_s()](const CommandResult& result) {
    on_looked(asked_s, result);
  });
}

void Allocations::on_looked(double asked_s, const CommandResult& result) {
  looking_ = false;
  const double now_s = clock_.now_s();
  if (result.ok()) {
    if (away_since_s_ && now_s - *away_since_s_ > k_away_notice_s) {
      notices_.add("Slurm's controller answers again");
    }
    notices_.end_topic("away");
    away_since_s_.reset();
    looked_s_ = asked_s;
    on_listed(result.out);
  } else {
    // What is not answered changes nothing: the controller may be restarted.
    if (!away_since_s_) away_since_s_ = asked_s;
    away_text_ = last_words(result);
  }
  if (allocations_.empty() && !unsettled()) return;
  gap_s_ = std::min(std::max(gap_s_, k_first_gap_s) * k_gap_growth, options_.poll_s);
  const double gap_s = unsettled() ? gap_s_ : k_calm_polls * options_.poll_s;
  next_look_s_ = std::min(next_look_s_, now_s + gap_s);
}

bool Allocations::unsettled() const {
  return away_since_s_ || std::ranges::any_of(allocations_, [](const Allocation& allocation) {
           return allocation.state != AllocationState::running || allocation.missing_since_s;
         });
}

void Allocations::on_listed(const std::string& text) {
  const auto rows = parse_queue(text);
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
    gone_[allocation->name] = latest == nullptr ? "GONE" : latest->state;
    host_.forget_allocation(allocation->name);
    allocation = allocations_.erase(allocation);
  }
}

bool Allocations::update(Allocation& allocation, const QueueRow* row) {
  const double now_s = clock_.now_s();
  if (row == nullptr) {
    if (allocation.state == AllocationState::submitting) return true;
    if (allocation.state == AllocationState::ending && !allocation.id.empty()) return false;
    if (!allocation.missing_since_s) allocation.missing_since_s = now_s;
    // Not in the first list without it: what was acknowledged a moment ago is there in the next.
    return now_s - *allocation.missing_since_s < k_missing_s;
  }
  allocation.missing_since_s.reset();
  const bool id_is_new = allocation.id.empty();
  allocation.id = row->id;
  allocation.job_state = row->state;
  allocation.reason = row->reason;
  if (row->nodes > 0) allocation.nodes = row->nodes;
  const JobPhase phase = phase_of(row->state);
  if (phase == JobPhase::over) return row->state == "COMPLETING";
  if (allocation.state == AllocationState::ending) {
    // Asked for again at each look: a request may have been lost.
    if (id_is_new || phase != JobPhase::over) {
      host_.run(cancel_command(allocation), {}, [this](const CommandResult&) { look_soon(0.5); });
    }
    return true;
  }
  switch (phase) {
    case JobPhase::waiting:
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
      give_back(allocation);
      break;
    case JobPhase::held:
      refuse(allocation, fmt::format("its allocation is {}", words_of(row->state)));
      break;
    case JobPhase::over:
      break;
  }
  return true;
}

void Allocations::refuse(Allocation& allocation, std::string why) {
  refusals_.emplace_back(allocation.kind, std::move(why));
  give_back(allocation);
}

void Allocations::on_waiting(Allocation& allocation, const QueueRow& row) {
  if (allocation.state != AllocationState::pending) {
    allocation.state = AllocationState::pending;
    allocation.requested_s = std::max(allocation.requested_s, allocation.counted_until_s);
  }
  allocation.expected_start_wall_s = row.start_wall_s;
  const WaitKind kind = wait_kind(row.reason);
  if (kind == WaitKind::never) {
    refuse(allocation, fmt::format("Slurm will not start it: {}", printable_line(row.reason)));
  } else if (clock_.now_s() - allocation.requested_s > options_.queue_wait_s) {
    refuse(allocation,
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
  if (row.end_wall_s) allocation.end_wall_s = *row.end_wall_s;
  if (allocation.state == AllocationState::running) return;
  allocation.state = AllocationState::running;
  const double since_s =
      row.start_wall_s ? now_s - std::max(0.0, clock_.wall_time_s() - *row.start_wall_s) : now_s;
  allocation.free_since_s = now_s;
  // Of a former tuner's only what follows is this one's to tell.
  allocation.counted_until_s = std::max(since_s, allocation.requested_s);
  if (!allocation.former) waits_s_.push_back(std::max(0.0, since_s - allocation.requested_s));
}

std::optional<std::string> Allocations::state_after(const std::string& name, double time_s) {
  if (looked_s_ <= time_s) {
    if (!looking_) look_soon(0.0);
    return std::nullopt;
  }
  if (const Allocation* allocation = find(name)) return allocation->job_state;
  const auto gone = gone_.find(name);
  return gone == gone_.end() ? "GONE" : gone->second;
}

Result<void> Allocations::renew_leases() {
  const double wall_s = clock_.wall_time_s();
  const double lease_s = std::max(k_least_lease_s, options_.keep_alive_s);
  for (Allocation& allocation : allocations_) {
    if (allocation.state == AllocationState::ending) continue;
    // A trial goes on without a tuner; its guard shortens the lease when it has ended.
    const double until_wall_s = std::max(wall_s + lease_s, allocation.user_until_wall_s);
    if (until_wall_s <= allocation.lease_until_wall_s) continue;
    if (auto set = host_.set_lease(allocation.name, until_wall_s); !set) return set;
    allocation.lease_until_wall_s = until_wall_s;
  }
  next_renewal_s_ = clock_.now_s() + lease_s / 4.0;
  return {};
}

void Allocations::count_cost() {
  const double now_s = clock_.now_s();
  for (Allocation& allocation : allocations_) {
    const bool held =
        allocation.counted_until_s > 0.0 && (allocation.state == AllocationState::running ||
                                             allocation.state == AllocationState::ending);
    if (!held || now_s <= allocation.counted_until_s) continue;
    const double node_s = allocation.nodes * (now_s - allocation.counted_until_s);
    node_s_held_ += node_s;
    if (!allocation.user_started && options_.usd_per_node_hour) {
      overhead_usd_ += usage_usd(*options_.usd_per_node_hour, node_s);
    }
    allocation.counted_until_s = now_s;
  }
}

double Allocations::take_overhead_usd() {
  count_cost();
  return std::exchange(overhead_usd_, 0.0);
}

Result<void> Allocations::advance() {
  count_cost();
  const double now_s = clock_.now_s();
  for (const Allocation& allocation : allocations_) {
    // The placeholder has told that it runs: the queue says so, too.
    const bool told = allocation.state == AllocationState::pending &&
                      now_s - looked_s_ > k_first_gap_s && host_.holder_is_up(allocation.name);
    if (told && !away_since_s_ && !looking_) next_look_s_ = now_s;
  }
  if (!looking_ && now_s >= next_look_s_) look();
  if (now_s >= next_renewal_s_ && !allocations_.empty()) {
    if (auto renewed = renew_leases(); !renewed) return renewed;
  }
  if (!away_since_s_) return {};
  const double away_s = now_s - *away_since_s_;
  if (away_s > k_away_notice_s) {
    notices_.add_once("away", fmt::format("Slurm's controller does not answer, retrying for up to "
                                          "{}; trials that run go on: {}",
                                          format_duration(options_.longest_outage_s), away_text_));
  }
  if (away_s <= options_.longest_outage_s) return {};
  return fail(ErrorKind::unavailable,
              fmt::format("Slurm's controller has not answered for {}: {}", format_duration(away_s),
                          away_text_),
              "squeue", "once it is back, run the study again: trials that run are taken over");
}

double Allocations::next_due_s() const {
  double due_s = next_look_s_;
  if (!allocations_.empty()) due_s = std::min(due_s, next_renewal_s_);
  return due_s;
}

}  // namespace steptune::slurm
