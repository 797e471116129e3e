// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/numbers.hpp"
#include "common/units.hpp"
#include "trial_runner/sagemaker/failure.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"

namespace steptune {
namespace {

/// From this number of jobs on, one request for the list replaces one request for each job.
constexpr std::size_t k_list_from_jobs = 4;

/// True if the ended job should leave a warm pool. A stopped job leaves one if it was billed. A
/// failed job leaves one if its program has run and the service is not at fault. If the service
/// terminates an expected pool at once, the runner concludes that the account has no quota for
/// pools.
bool may_leave_pool(const JobDescription& state) {
  if (state.status == "Stopped") return state.billed_since_wall_s.has_value();
  return state.status != "Failed" ||
         (state.training_since_wall_s &&
          classify_failure(state.failure_reason) != JobFailure::internal);
}

}  // namespace

void JobMonitor::begin(std::string prefix, LogFollower logs) {
  prefix_ = std::move(prefix);
  logs_.emplace(std::move(logs));
}

double JobMonitor::wall_to_clock(double wall_s) const {
  return std::min(clock_.now_s(), clock_.now_s() + wall_s - clock_.wall_time_s());
}

void JobMonitor::adopt(TrialJob& job, const std::string& name, int launch,
                       const JobDescription& state, std::optional<std::string> pool_job) {
  logs_->reach_back_to(state.created_wall_s);
  JobLaunch former;
  former.job = name;
  former.number = launch;
  former.pool_job = std::move(pool_job);
  former.keep_alive_s = count_at(state.resources, "KeepAlivePeriodInSeconds").value_or(0);
  former.requested_s = wall_to_clock(state.created_wall_s);
  former.adopted = true;
  former.pack = state.trials;
  job.request(std::move(former), clock_.now_s());
  job.watch().known = true;
  if (job.is_packed() && state.billed_since_wall_s) {
    turns_of(job).set_billed_since(*state.billed_since_wall_s);
  }
}

void JobMonitor::request_stop(TrialJobs& jobs, TrialJob& job, StopCause reason) {
  if (!job.under_way() || job.stop_accepted()) return;
  job.stop(reason);
  const std::vector<TrialJob*> open = open_trials_of(jobs, job.launch().job);
  const bool others_go_on = std::ranges::any_of(
      open, [](const TrialJob* each) { return !each->stop_reason() && !each->turn_end(); });
  if (others_go_on) return;
  const std::string& name = job.launch().job;
  const auto stopped = api_.stop(name);
  const bool accepted = stopped.has_value();
  if (accepted) {
    outage_.on_success();
  } else if (const auto failed = outage_.on_failure(stopped.error()); !failed) {
    notices_.add_once("stop", fmt::format("jobs such as {} cannot be stopped, and cost money until "
                                          "they end by themselves: {}",
                                          name, failed.error().text()));
  }
  for (TrialJob* each : open) {
    if (accepted && each->stop_reason()) each->accept_stop();
    each->watch().next_poll_s = clock_.now_s() + options_.close_poll_interval_s();
  }
}

Result<void> JobMonitor::poll(TrialJobs& jobs, std::vector<TrialEvent>& events) {
  std::vector<TrialJob*> due;
  for (TrialJob& job : jobs) {
    if (leads_job(jobs, job) && job.watch().next_poll_s <= clock_.now_s()) due.push_back(&job);
  }
  const auto to_read = changed(std::move(due));
  if (!to_read) return tl::unexpected(to_read.error());
  for (TrialJob* job : *to_read) {
    if (auto polled = poll_one(jobs, *job, events); !polled) return polled;
  }
  return {};
}

Result<std::vector<TrialJob*>> JobMonitor::changed(std::vector<TrialJob*> due) {
  const auto is_listed = [](const TrialJob* job) { return !job->watch().closely; };
  if (static_cast<std::size_t>(std::ranges::count_if(due, is_listed)) < k_list_from_jobs) {
    return due;
  }
  double since_s = k_infinity;
  for (const TrialJob* job : due)
    since_s = std::min(since_s, job->launch().requested_s);
  // The local clock and the service's clock may differ by up to an hour.
  const double since_wall_s = clock_.wall_time_s() - (clock_.now_s() - since_s) - k_hour_s;
  const auto summaries = api_.list({prefix_, {}, since_wall_s});
  if (!summaries) {
    if (auto failed = outage_.on_failure(summaries.error()); !failed) {
      return tl::unexpected(failed.error());
    }
    return std::vector<TrialJob*>{};
  }
  outage_.on_success();
  for (const JobSummary& summary : *summaries) {
    const auto listed = std::ranges::find_if(due, [&](const TrialJob* job) {
      return is_listed(job) && job->launch().job == summary.name;
    });
    if (listed == due.end()) continue;
    JobWatch& watch = (*listed)->watch();
    watch.listed_wall_s = summary.modified_wall_s;
    if (watch.listed_wall_s == 0.0 || watch.listed_wall_s != watch.read_wall_s) continue;
    watch.next_poll_s = clock_.now_s() + options_.poll_interval_s;
    due.erase(listed);
  }
  return due;
}

Result<void> JobMonitor::poll_one(TrialJobs& jobs, TrialJob& job, std::vector<TrialEvent>& events) {
  if (job.stop_reason()) request_stop(jobs, job, *job.stop_reason());
  auto described = api_.describe(job.launch().job);
  const double now_s = clock_.now_s();
  job.watch().next_poll_s = now_s + options_.poll_interval_s;
  if (!described) return outage_.on_failure(described.error());
  outage_.on_success();
  const std::vector<TrialJob*> open = open_trials_of(jobs, job.launch().job);
  if (!*described) {
    if (!job.watch().known && now_s - job.launch().requested_s < k_longest_lag_s) return {};
    JobDescription missing;
    missing.status = "Stopped";
    for (TrialJob* each : open)
      each->end(missing, now_s);
    return {};
  }
  const JobDescription& state = **described;
  job.watch().known = true;
  const bool has_instances = state.ended() || state.training_since_wall_s ||
                             (state.secondary != "Starting" && state.secondary != "Pending");
  if (has_instances) {
    if (auto settled = pools_.settle(job); !settled) return settled;
    if (!job.launch().pool_settled) return {};  // the next poll settles the pool
    for (TrialJob* each : open) {
      if (!each->launch().pool_settled) each->settle_pool(job.launch().pool_job.has_value());
    }
  }
  // Record this only now, so that the next poll describes the job again after a failure.
  job.watch().read_wall_s = job.watch().listed_wall_s;
  if (job.is_packed() && state.billed_since_wall_s) {
    turns_of(job).set_billed_since(*state.billed_since_wall_s);
  }
  const bool starts = job.state() == JobState::requested || !job.has_started();
  if (state.training_since_wall_s && starts && !job.is_packed()) {
    const JobLaunch& launch = job.launch();
    const double started_s =
        std::max(launch.requested_s, wall_to_clock(*state.training_since_wall_s));
    if (!launch.adopted) {
      pools_.add_start(launch.pool_job.has_value(), started_s - launch.requested_s);
    }
    job.start(started_s, events);
  }
  JobWatch& watch = job.watch();
  watch.trains = !state.training_until_wall_s;
  if (state.training_since_wall_s) job.runs_since(wall_to_clock(*state.training_since_wall_s));
  if (state.interruptions > watch.interruptions) {
    watch.interruptions = state.interruptions;
    notices_.add(
        fmt::format("trial {}: spot interruption; SageMaker restarts the job from its checkpoint",
                    job.key().trial),
        job.key().trial);
  }
  watch.closely = state.ending() || job.stop_accepted();
  if (watch.closely) watch.next_poll_s = now_s + options_.close_poll_interval_s();
  if (state.ended()) on_ended(open, state);
  return {};
}

PackTurns& JobMonitor::turns_of(const TrialJob& job) {
  return packs_.try_emplace(job.launch().job, job.launch().pack.size()).first->second;
}

void JobMonitor::on_ended(const std::vector<TrialJob*>& sharing, const JobDescription& state) {
  const TrialJob& first = *sharing.front();
  const JobLaunch launch = first.launch();
  const bool leaves_pool = launch.keep_alive_s > 0 && first.pool_key() && may_leave_pool(state);
  if (leaves_pool) pools_.add_ended(*first.pool_key(), launch.job, first.usd_per_hour());
  // Do not wait for more output if the caller has stopped all trials, because they have reported
  // enough.
  const bool is_complete =
      !state.training_since_wall_s || std::ranges::all_of(sharing, [](const TrialJob* job) {
        return job->stop_reason() == StopCause::caller;
      });
  const double printed_until_s =
      state.training_until_wall_s ? wall_to_clock(*state.training_until_wall_s) : clock_.now_s();
  const double output_until_s =
      is_complete ? -k_infinity : printed_until_s + options_.log_delay_s();
  // `close_pack` divides the bill of a pack when all of its turns are known.
  const double billable_s = state.billable_s.value_or(0.0);
  if (first.is_packed()) turns_of(first).set_billable(billable_s);
  for (TrialJob* job : sharing) {
    if (!job->is_packed()) job->add_bill(billable_s);
    if (!launch_again(*job, state)) job->end(state, output_until_s);
  }
}

void JobMonitor::close_pack(TrialJobs& jobs, const TrialJob& ended,
                            std::vector<TrialEvent>& events) {
  if (!ended.is_packed() || !ended.job_has_ended()) return;
  PackTurns& turns = turns_of(ended);
  const std::vector<TrialJob*> of_job = trials_of(jobs, ended.launch().job);
  for (const LogLine& line : turns.take_until(k_infinity))
    read_line_of_pack(of_job, line, events);
  std::vector<TrialJob*> charged;
  for (TrialJob* job : of_job) {
    // Trials that wait for another job do not pay for this job.
    if (answers_for_end(*job) || job->has_started()) charged.push_back(job);
  }
  const double rest_s = turns.take_rest_s();
  for (TrialJob* job : charged)
    job->add_bill(rest_s / static_cast<double>(charged.size()));
}

bool JobMonitor::launch_again(TrialJob& job, const JobDescription& state) {
  // Other failures have cost money, so the caller decides about another attempt.
  if (!lacked_capacity(state) || !can_move(job.state(), JobState::waiting)) return false;
  const int failures = job.capacity_failures() + 1;
  if (failures >= options_.capacity_attempts) return false;
  const std::string machines = to_text(job.spec().resources);
  notices_.add_once("capacity " + machines,
                    fmt::format("no capacity for trial {} ({}): up to {} attempts", job.key().trial,
                                machines, options_.capacity_attempts));
  job.launch_again(clock_.now_s() + options_.capacity_wait_s * std::exp2(failures - 1));
  return true;
}

Result<void> JobMonitor::read_output(TrialJobs& jobs, std::vector<TrialEvent>& events) {
  const double now_s = clock_.now_s();
  const bool due = std::ranges::any_of(jobs, [&](const TrialJob& job) {
    if (job.waits()) return false;
    const bool is_last =
        job.state() == JobState::ended && now_s >= job.output_until_s() && !has_all_output(job);
    return now_s >= next_output_s_ || is_last;
  });
  if (!due) return {};
  next_output_s_ = now_s + options_.poll_interval_s;
  const auto lines = logs_->poll();
  if (!lines) {
    auto borne = logs_outage_.on_failure(lines.error());
    // If only the logs service fails, jobs can still be stopped, so the error is not `unavailable`.
    if (!borne && !outage_.lasts()) borne.error().kind = ErrorKind::runner;
    return borne;
  }
  logs_outage_.on_success();
  output_read_s_ = now_s;
  for (const LogLine& line : *lines) {
    service_origin_wall_s_ = std::max(service_origin_wall_s_, line.wall_s - clock_.now_s());
    const std::vector<TrialJob*> of_job = trials_of(jobs, line.job);
    if (of_job.empty()) continue;
    if (of_job.front()->is_packed()) {
      turns_of(*of_job.front()).keep(line);
    } else {
      of_job.front()->read_line(wall_to_clock(line.wall_s), line, events);
    }
  }
  read_packs(jobs, events);
  return {};
}

void JobMonitor::read_packs(TrialJobs& jobs, std::vector<TrialEvent>& events) {
  for (auto& [name, turns] : packs_) {
    const std::vector<TrialJob*> of_job = trials_of(jobs, name);
    if (of_job.empty()) continue;
    // The marks before a line show the trial that printed it. So read only lines that are so old
    // that no earlier line can still arrive.
    const double service_wall_s =
        std::max(clock_.wall_time_s(), service_origin_wall_s_ + clock_.now_s());
    for (const LogLine& line : turns.take_until(service_wall_s - options_.log_delay_s()))
      read_line_of_pack(of_job, line, events);
  }
}

void JobMonitor::read_line_of_pack(const std::vector<TrialJob*>& sharing, const LogLine& line,
                                   std::vector<TrialEvent>& events) {
  PackTurns& turns = turns_of(*sharing.front());
  const double time_s = wall_to_clock(line.wall_s);
  const auto find = [&](TrialKey key) {
    const auto found = std::ranges::find(sharing, key, &TrialJob::key);
    return found == sharing.end() ? nullptr : *found;
  };
  const auto mark = read_pack_mark(line.text);
  if (!mark) {
    const auto key = turns.whose_turn();
    TrialJob* job = key ? find(*key) : nullptr;
    if (job != nullptr) job->read_line(time_s, line, events);
    return;
  }
  TrialJob* job = find(mark->key);
  switch (mark->kind) {
    case PackMark::Kind::begin: {
      const bool is_first = turns.none_has_begun();
      if (!turns.begin(mark->key, line.wall_s) || job == nullptr) return;
      const JobLaunch& launch = job->launch();
      const double started_s = std::max(launch.requested_s, time_s);
      if (is_first && !launch.adopted) {
        pools_.add_start(launch.pool_job.has_value(), started_s - launch.requested_s);
      }
      job->start(started_s, events);
      return;
    }
    case PackMark::Kind::slow:
      turns.set_limit(mark->key, TurnLimit::slowness);
      return;
    case PackMark::Kind::idle:
      turns.set_limit(mark->key, TurnLimit::silence);
      return;
    case PackMark::Kind::over:
      turns.set_limit(mark->key, TurnLimit::time);
      return;
    case PackMark::Kind::end:
      end_turn(sharing, *mark, line.wall_s);
      return;
  }
}

void JobMonitor::end_turn(const std::vector<TrialJob*>& sharing, const PackMark& mark,
                          double wall_s) {
  PackTurns& turns = turns_of(*sharing.front());
  const bool is_news = turns.end(mark.key, wall_s);
  const auto found = std::ranges::find(sharing, mark.key, &TrialJob::key);
  if (!is_news) return;
  const double share_s = turns.take_share_s(mark.key);
  if (found == sharing.end()) return;
  TrialJob& job = **found;
  job.end_turn({wall_to_clock(wall_s), mark.exit_code, turns.limit_of(mark.key)});
  job.add_bill(share_s);
  // The last trial stays under way until the job's end and bill are known.
  const bool others_go_on = std::ranges::any_of(sharing, [&](const TrialJob* each) {
    return each != &job && each->under_way() && !each->turn_end();
  });
  if (others_go_on && job.under_way()) job.leave_pack();
}

bool JobMonitor::was_left_out(const TrialJob& job) {
  if (!job.is_packed() || job.turn_end() || !job.job_has_ended()) return false;
  // If the job failed before its first turn, no single trial is the reason, so all of its trials
  // fail.
  if (job.last_description().status == "Failed" && turns_of(job).none_has_begun()) return false;
  // A trial that the caller has stopped needs no other job.
  const bool is_wanted = job.stop_reason() != StopCause::caller;
  return is_wanted && !job.has_started() && !answers_for_end(job);
}

bool JobMonitor::answers_for_end(const TrialJob& job) {
  const PackTurns& turns = turns_of(job);
  const auto first = std::ranges::find_if(
      job.launch().pack, [&](const PackedTrial& trial) { return !turns.has_ended(trial.key); });
  return first != job.launch().pack.end() && first->key == job.key();
}

void JobMonitor::stop_silent_jobs(TrialJobs& jobs) {
  for (TrialJob& job : jobs) {
    const bool is_watched = job.under_way() && job.has_started() && !job.stop_reason();
    if (!is_watched || job.phase_under_way() || !job.watch().trains) continue;
    const double longest_s = job.spec().limits.idle_s + options_.log_delay_s();
    // Compare with the time of the last reading, because missing log data is not silence.
    if (output_read_s() - job.last_output_s() > longest_s) {
      request_stop(jobs, job, StopCause::no_output);
    }
  }
}

double JobMonitor::next_due_s(const TrialJobs& jobs) const {
  double due_s = k_infinity;
  for (const TrialJob& job : jobs) {
    if (job.waits()) continue;
    due_s = std::min(due_s, next_output_s_);
    if (!job.under_way()) {
      due_s = std::min(due_s, job.output_until_s());
    } else if (leads_job(jobs, job)) {
      due_s = std::min(due_s, job.watch().next_poll_s);
    }
  }
  return due_s;
}

}  // namespace steptune
