// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/job_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "trial_runner/sagemaker/failure.hpp"

namespace steptune {
namespace {

/// From so many jobs on one request for all of them is cheaper than one for each.
constexpr std::size_t k_list_from_jobs = 4;
/// Clocks may disagree by so much.
constexpr double k_clock_margin_s = 3600.0;
constexpr double k_infinity = std::numeric_limits<double>::infinity();

}  // namespace

void JobMonitor::begin(std::string prefix, LogFollower logs) {
  prefix_ = std::move(prefix);
  logs_.emplace(std::move(logs));
}

double JobMonitor::wall_to_clock(double wall_s) const {
  return std::min(clock_.now_s(), clock_.now_s() + wall_s - clock_.wall_time_s());
}

void JobMonitor::adopt(TrialJob& job, const std::string& name, int launch,
                       const JobDescription& state) {
  logs_->reach_back_to(state.created_wall_s);
  JobLaunch former;
  former.job = name;
  former.number = launch;
  former.keep_alive_s = count_at(state.resources, "KeepAlivePeriodInSeconds").value_or(0);
  former.requested_s = wall_to_clock(state.created_wall_s);
  former.adopted = true;
  job.request(std::move(former), clock_.now_s());
}

void JobMonitor::request_stop(TrialJob& job, StopReason reason) {
  if (!job.under_way() || job.stop_accepted()) return;
  job.stop(reason);
  if (api_.stop(job.launch().job)) job.accept_stop();
  job.watch().next_look_s = clock_.now_s() + options_.close_look_s;
}

Result<void> JobMonitor::look(TrialJobs& jobs, std::vector<TrialEvent>& events) {
  std::vector<TrialJob*> due;
  for (TrialJob& job : jobs) {
    if (job.under_way() && job.watch().next_look_s <= clock_.now_s()) due.push_back(&job);
  }
  const auto to_look_at = changed(std::move(due));
  if (!to_look_at) return tl::unexpected(to_look_at.error());
  for (TrialJob* job : *to_look_at) {
    if (auto looked = look_at(*job, events); !looked) return looked;
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
  const double since_wall_s = clock_.wall_time_s() - (clock_.now_s() - since_s) - k_clock_margin_s;
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
    if (std::exchange(watch.modified_wall_s, summary.modified_wall_s) != summary.modified_wall_s) {
      continue;
    }
    watch.next_look_s = clock_.now_s() + options_.look_s;
    due.erase(listed);
  }
  return due;
}

Result<void> JobMonitor::look_at(TrialJob& job, std::vector<TrialEvent>& events) {
  if (job.stop_reason()) request_stop(job, *job.stop_reason());
  auto described = api_.describe(job.launch().job);
  const double now_s = clock_.now_s();
  job.watch().next_look_s = now_s + options_.look_s;
  if (!described) return outage_.on_failure(described.error());
  outage_.on_success();
  if (!*described) {
    JobDescription missing;
    missing.status = "Stopped";
    job.end(std::move(missing), now_s);
    return {};
  }
  const JobDescription& state = **described;
  const bool has_instances = state.ended() || state.training_since_wall_s ||
                             (state.secondary != "Starting" && state.secondary != "Pending");
  if (has_instances) {
    if (auto settled = pools_.settle(job); !settled) return settled;
  }
  const bool starts = job.state() == JobState::requested || !job.has_started();
  if (state.training_since_wall_s && starts) {
    const JobLaunch& launch = job.launch();
    const double started_s =
        std::max(launch.requested_s, wall_to_clock(*state.training_since_wall_s));
    if (!launch.adopted) {
      pools_.add_start(launch.pool_job.has_value(), started_s - launch.requested_s);
    }
    job.start(started_s, events);
  }
  JobWatch& watch = job.watch();
  if (state.interruptions > watch.interruptions) {
    watch.interruptions = state.interruptions;
    notices_.add(
        fmt::format("trial {}: spot interruption; SageMaker restarts the job from its checkpoint",
                    job.key().trial));
  }
  watch.closely = state.ending() || job.stop_accepted();
  if (watch.closely) watch.next_look_s = now_s + options_.close_look_s;
  if (state.ended()) on_ended(job, state);
  return {};
}

void JobMonitor::on_ended(TrialJob& job, const JobDescription& state) {
  job.add_bill(state.billable_s.value_or(0.0));
  const JobLaunch& launch = job.launch();
  const bool leaves_pool = launch.keep_alive_s > 0 && job.pool_key() &&
                           (state.status != "Failed" || state.training_since_wall_s);
  if (leaves_pool) pools_.add_ended(*job.pool_key(), launch.job, job.usd_per_hour());
  if (launch_again(job, state)) return;
  // What was asked to end has told enough.
  const bool is_complete = job.stop_reason() == StopReason::caller || !state.training_since_wall_s;
  const double printed_until_s =
      state.training_until_wall_s ? wall_to_clock(*state.training_until_wall_s) : clock_.now_s();
  job.end(state, is_complete ? -k_infinity : printed_until_s + options_.log_delay_s);
}

bool JobMonitor::launch_again(TrialJob& job, const JobDescription& state) {
  if (state.status != "Failed" || !can_move(job.state(), JobState::waiting)) return false;
  // Other failures cost money: whether that is spent again is for the caller to decide.
  const int failures = job.capacity_failures() + 1;
  if (classify_failure(state.failure_reason) != JobFailure::capacity ||
      failures >= options_.capacity_attempts) {
    return false;
  }
  const std::string& type = job.spec().resources.instance_type;
  notices_.add_once("capacity " + type,
                    fmt::format("no capacity for trial {} ({}): up to {} attempts", job.key().trial,
                                type, options_.capacity_attempts));
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
  next_output_s_ = now_s + options_.read_logs_s;
  const auto lines = logs_->poll();
  if (!lines) return outage_.on_failure(lines.error());
  outage_.on_success();
  output_read_s_ = now_s;
  for (const LogLine& line : *lines) {
    const auto job = std::ranges::find_if(
        jobs, [&](const TrialJob& each) { return !each.waits() && each.launch().job == line.job; });
    if (job != jobs.end()) job->read_line(wall_to_clock(line.wall_s), line, events);
  }
  return {};
}

double JobMonitor::next_due_s(const TrialJobs& jobs) const {
  double due_s = k_infinity;
  for (const TrialJob& job : jobs) {
    if (job.waits()) continue;
    due_s = std::min(
        {due_s, next_output_s_, job.under_way() ? job.watch().next_look_s : job.output_until_s()});
  }
  return due_s;
}

}  // namespace steptune
