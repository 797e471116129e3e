// SPDX-License-Identifier: Apache-2.0
// The jobs of a SageMakerRunner, from the request to the last line of output.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/sagemaker/failure.hpp"
#include "trial_runner/sagemaker/job_name.hpp"
#include "trial_runner/sagemaker/job_request.hpp"
#include "trial_runner/sagemaker/sagemaker_runner.hpp"

namespace steptune {
namespace {

/// From so many jobs on one request for all of them is cheaper than one for each.
constexpr std::size_t k_list_from_jobs = 4;

bool is_quota(const aws::AwsError& error) {
  return error.code == "ResourceLimitExceeded";
}

/// A quota of nothing will not become more by waiting; nor will a type that a region lacks.
bool is_hopeless(const aws::AwsError& error) {
  return error.message.find("is 0 Instances") != std::string::npos ||
         error.message.find("is not available in this region") != std::string::npos;
}

}  // namespace

Result<bool> SageMakerRunner::start_next() {
  std::vector<Jobs::iterator> waiting;
  std::vector<std::optional<PoolKey>> queue;
  std::vector<std::optional<PoolKey>> busy;
  const double now_s = clock_.now_s();
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    if (job->ended) continue;
    if (job->submitted()) {
      busy.push_back(job->pool_key);
    } else if (job->not_before_s <= now_s) {
      waiting.push_back(job);
      queue.push_back(job->pool_key);
    }
  }
  if (waiting.empty()) return false;
  const PoolDecision decision =
      next_pool_decision(queue, pools_, busy, static_cast<std::size_t>(options_.parallel));
  if (const auto* release = std::get_if<ReleasePool>(&decision)) {
    const std::size_t before = pools_.size();
    if (auto released = release_pool(release->job); !released) {
      return tl::unexpected(released.error());
    }
    return pools_.size() < before;
  }
  const auto* start = std::get_if<StartTrial>(&decision);
  if (start == nullptr) return false;
  JobInFlight& job = *waiting[start->index];
  job.pool_job = start->pool_job;
  if (auto submitted = submit(job); !submitted) return tl::unexpected(submitted.error());
  if (!job.refusal.empty()) {
    Outcome outcome;
    outcome.kind = OutcomeKind::not_started;
    outcome.detail = job.refusal;
    finish(waiting[start->index], std::move(outcome));
  }
  return true;
}

Result<void> SageMakerRunner::submit(JobInFlight& job) {
  JobSettings settings = options_.settings;
  settings.max_runtime_s = job.spec.limits.wall_s;
  settings.max_wait_s = std::max(settings.max_wait_s, settings.max_runtime_s);
  job.keep_alive_s = keep_alive_for(job);
  const std::string name = job_name(prefix_, job.spec.key, job.launch);
  const Json input =
      create_training_job_input(settings, {name, job.spec, job.spec.resources, job.keep_alive_s});
  if (auto valid = check_training_job_input(input); !valid) {
    job.refusal = valid.error().text();
    return {};
  }
  const auto created = jobs_api_.create(input);
  if (!created) {
    job.pool_job.reset();
    return on_refused(job, created.error());
  }
  answered();
  const double now_s = clock_.now_s();
  job.job = name;
  job.submitted_s = now_s;
  job.next_look_s = now_s + options_.look_s;
  job.pool_checked = !job.pool_job;
  if (job.pool_job) {
    const auto used = std::ranges::find(pools_, *job.pool_job, &WarmPool::job);
    // Half of a long wait is forgotten with each shorter one.
    if (used != pools_.end()) {
      think_time_s_ = std::max(now_s - used->since_s, 0.5 * think_time_s_);
    }
    std::erase_if(pools_, [&](const WarmPool& pool) { return pool.job == *job.pool_job; });
  }
  return {};
}

Result<void> SageMakerRunner::on_refused(JobInFlight& job, const aws::AwsError& error) {
  const double now_s = clock_.now_s();
  if (is_quota(error) && !is_hopeless(error)) {
    job.not_before_s = now_s + options_.quota_wait_s;
    notice_once(
        "quota " + error.message,
        fmt::format("waiting for quota, trial {} is tried again every {}: {}", job.spec.key.trial,
                    format_duration(options_.quota_wait_s), printable_line(error.message)));
    // Instances that wait for another trial count against the quota as well.
    for (const WarmPool& pool : std::vector<WarmPool>(pools_)) {
      if (!pool.available) continue;
      if (auto released = release_pool(pool.job); !released) return released;
    }
    return {};
  }
  if (is_quota(error)) {
    job.refusal = error.to_error().text();
    return {};
  }
  job.not_before_s = now_s + options_.look_s;
  auto borne = bear(error);
  if (!borne) {
    if (error.code == "ValidationException") {
      job.refusal = borne.error().text();
      return {};
    }
    // Whatever else is refused (permissions, a missing role) would be refused for every trial.
    return borne;
  }
  return {};
}

Result<void> SageMakerRunner::look_at_jobs() {
  std::vector<JobInFlight*> due;
  const double now_s = clock_.now_s();
  for (JobInFlight& job : jobs_) {
    if (job.submitted() && !job.ended && job.next_look_s <= now_s) due.push_back(&job);
  }
  std::set<std::string> unchanged;
  const auto plain = static_cast<std::size_t>(
      std::ranges::count_if(due, [](const JobInFlight* job) { return !job->closely_watched; }));
  if (plain >= k_list_from_jobs) {
    double since_s = std::numeric_limits<double>::infinity();
    for (const JobInFlight* job : due)
      since_s = std::min(since_s, job->submitted_s);
    // An hour for clocks that disagree.
    const double since_wall_s = clock_.wall_time_s() - (now_s - since_s) - 3600.0;
    const auto summaries = jobs_api_.list({prefix_, {}, since_wall_s});
    if (!summaries) return bear(summaries.error());
    answered();
    for (const JobSummary& summary : *summaries) {
      for (JobInFlight* job : due) {
        if (job->job != summary.name || job->closely_watched) continue;
        if (job->modified_wall_s == summary.modified_wall_s) unchanged.insert(summary.name);
        job->modified_wall_s = summary.modified_wall_s;
      }
    }
  }
  for (JobInFlight* job : due) {
    if (unchanged.contains(job->job)) {
      job->next_look_s = clock_.now_s() + options_.look_s;
      continue;
    }
    if (auto looked = look_at(*job); !looked) return looked;
  }
  return {};
}

Result<void> SageMakerRunner::look_at(JobInFlight& job) {
  if (job.end_request != JobEndRequest::none && !job.stop_accepted) {
    request_stop(job, job.end_request);
  }
  auto described = jobs_api_.describe(job.job);
  const double now_s = clock_.now_s();
  job.next_look_s = now_s + options_.look_s;
  if (!described) return bear(described.error());
  answered();
  if (!*described) {
    JobState missing;
    missing.status = "Stopped";
    job.ended = missing;
    job.logs_until_s = now_s;
    return {};
  }
  const JobState& state = **described;
  const bool has_instances = state.ended() || state.training_since_wall_s ||
                             (state.secondary != "Starting" && state.secondary != "Pending");
  if (has_instances) {
    if (auto checked = check_reuse(job); !checked) return checked;
  }
  if (state.training_since_wall_s && !job.started_s) {
    const double started_s = std::max(job.submitted_s, wall_to_clock(*state.training_since_wall_s));
    if (!job.adopted) start_times_.add(job.pool_job.has_value(), started_s - job.submitted_s);
    job.tell_start(started_s, events_);
  }
  if (state.interruptions > job.interruptions) {
    job.interruptions = state.interruptions;
    notice(
        fmt::format("trial {}: spot capacity was taken away; the service starts it again from "
                    "its checkpoint",
                    job.spec.key.trial));
  }
  job.closely_watched = state.ending() || job.stop_accepted;
  if (job.closely_watched) job.next_look_s = now_s + options_.close_look_s;
  if (state.ended()) on_job_ended(job, state);
  return {};
}

void SageMakerRunner::on_job_ended(JobInFlight& job, const JobState& state) {
  const double now_s = clock_.now_s();
  job.add_bill(state.billable_s.value_or(0.0));
  // The pool of a job that ended before this tuner began may have been found already.
  const bool is_known = std::ranges::find(pools_, job.job, &WarmPool::job) != pools_.end();
  const bool leaves_pool = job.keep_alive_s > 0 && job.pool_key && !is_known &&
                           (state.status != "Failed" || state.training_since_wall_s);
  if (leaves_pool) {
    pools_.push_back({*job.pool_key, job.job, false, now_s, job.usd_per_hour});
    next_pools_s_ = now_s;
  }
  if (launch_again(job, state)) return;
  job.ended = state;
  const double printed_until_s =
      state.training_until_wall_s ? wall_to_clock(*state.training_until_wall_s) : now_s;
  // What was asked to end has told enough.
  job.logs_until_s = job.end_request == JobEndRequest::stop || !state.training_since_wall_s
                         ? -std::numeric_limits<double>::infinity()
                         : printed_until_s + options_.log_delay_s;
}

bool SageMakerRunner::launch_again(JobInFlight& job, const JobState& state) {
  if (state.status != "Failed" || job.end_request != JobEndRequest::none) return false;
  // Other failures cost money: whether that is spent again is for the caller to decide.
  if (classify_failure(state.failure_reason) != JobFailure::capacity ||
      ++job.capacity_failures >= options_.capacity_attempts) {
    return false;
  }
  job.not_before_s =
      clock_.now_s() + options_.capacity_wait_s * std::exp2(job.capacity_failures - 1);
  notice_once(
      "capacity " + job.spec.resources.instance_type,
      fmt::format("no capacity for trial {} ({}): trying again, up to {} times", job.spec.key.trial,
                  job.spec.resources.instance_type, options_.capacity_attempts));
  job.job.clear();
  ++job.launch;
  job.pool_job.reset();
  return true;
}

Result<void> SageMakerRunner::read_logs() {
  const double now_s = clock_.now_s();
  bool due = false;
  for (const JobInFlight& job : jobs_) {
    if (!job.submitted()) continue;
    due = due || now_s >= next_logs_s_ ||
          (job.ended && now_s >= job.logs_until_s && logs_read_s_ < job.logs_until_s);
  }
  if (!due) return {};
  next_logs_s_ = now_s + options_.read_logs_s;
  const auto lines = logs_->poll();
  if (!lines) return bear(lines.error());
  answered();
  logs_read_s_ = now_s;
  for (const LogLine& line : *lines) {
    const auto job = std::ranges::find(jobs_, line.job, &JobInFlight::job);
    if (job != jobs_.end()) job->read_line(wall_to_clock(line.wall_s), line, events_);
  }
  return {};
}

void SageMakerRunner::end_silent_jobs() {
  for (JobInFlight& job : jobs_) {
    if (!job.started_s || job.ended || job.end_request != JobEndRequest::none) continue;
    if (clock_.now_s() - job.last_output_s > job.spec.limits.idle_s + options_.log_delay_s) {
      request_stop(job, JobEndRequest::idle);
    }
  }
}

void SageMakerRunner::request_stop(JobInFlight& job, JobEndRequest request) {
  if (job.ended || job.stop_accepted) return;
  job.end_request = request;
  // A refused request is repeated at the next look.
  job.stop_accepted = jobs_api_.stop(job.job).has_value();
  job.next_look_s = clock_.now_s() + options_.close_look_s;
}

void SageMakerRunner::finish_jobs() {
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const auto next = std::next(job);
    if (job->ended && logs_read_s_ >= job->logs_until_s) {
      watch_utilisation(*job);
      finish(job, job->outcome_of(*job->ended));
    }
    job = next;
  }
}

void SageMakerRunner::watch_utilisation(const JobInFlight& job) {
  const JobState& state = *job.ended;
  if (!utilisation_ || !state.training_since_wall_s || !state.training_until_wall_s) return;
  utilisation_->add(
      {job.job, job.spec.resources, *state.training_since_wall_s, *state.training_until_wall_s,
       state.downloading_s.value_or(0.0), options_.settings.input_mode},
      clock_.now_s(), options_.types);
}

void SageMakerRunner::take_advice(bool last) {
  if (!utilisation_) return;
  for (std::string& advice : utilisation_->look(clock_.now_s(), options_.types, last))
    notice(std::move(advice));
}

void SageMakerRunner::finish(Jobs::iterator job, Outcome outcome) {
  events_.emplace_back(job->finish(clock_.now_s(), std::move(outcome)));
  jobs_.erase(job);
}

}  // namespace steptune
