// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/sagemaker_runner.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/sagemaker/job_name.hpp"
#include "trial_runner/sagemaker/json_fields.hpp"

namespace steptune {
namespace {

/// What may pass by itself, or once the user has renewed his credentials.
bool may_pass(const aws::AwsError& error) {
  return aws::is_throttling(error) || aws::is_transient(error) || error.code == "NoCredentials" ||
         error.code == "ExpiredToken" || error.code == "ExpiredTokenException";
}

}  // namespace

SageMakerRunner::SageMakerRunner(const Clock& clock, SageMakerConnection connection,
                                 SageMakerOptions options)
    : clock_(clock),
      options_(std::move(options)),
      jobs_api_(connection.client, connection.sagemaker),
      connection_(std::move(connection)) {
  if (connection_.cloudwatch) utilisation_.emplace(connection_.client, *connection_.cloudwatch);
  // What the study says of a type goes before what the table says.
  auto known = options_.prices.instances;
  known.merge(options_.types.instances);
  options_.types.instances = std::move(known);
}

int SageMakerRunner::backlog() const {
  return std::max(options_.parallel, options_.backlog);
}

double SageMakerRunner::expected_start_s(const Resources& resources) const {
  const auto key = pool_key(options_.settings, resources);
  const bool warm =
      key && options_.keep_alive_s > 0 &&
      std::ranges::any_of(pools_, [&](const WarmPool& pool) { return pool.key == *key; });
  return start_times_.expected_s(warm);
}

double SageMakerRunner::wall_to_clock(double wall_s) const {
  return std::min(clock_.now_s(), clock_.now_s() + wall_s - clock_.wall_time_s());
}

void SageMakerRunner::notice(std::string message) {
  notices_.push_back(std::move(message));
}

void SageMakerRunner::notice_once(const std::string& topic, std::string message) {
  if (noticed_.insert(topic).second) notice(std::move(message));
}

std::vector<std::string> SageMakerRunner::take_notices() {
  return std::exchange(notices_, {});
}

double SageMakerRunner::take_overhead_usd() {
  return std::exchange(overhead_usd_, 0.0);
}

Result<void> SageMakerRunner::bear(const aws::AwsError& error) {
  if (!may_pass(error)) return tl::unexpected(error.to_error());
  const double now_s = clock_.now_s();
  if (!outage_since_s_) {
    outage_since_s_ = now_s;
    notice(fmt::format("AWS does not answer as it should, trying again for {}: {}",
                       format_duration(options_.longest_outage_s), error.to_error().text()));
  }
  if (now_s - *outage_since_s_ > options_.longest_outage_s) return tl::unexpected(error.to_error());
  return {};
}

Result<void> SageMakerRunner::begin_study(const std::string& name, const std::string& identity) {
  if (auto first = admission_.check_no_study(); !first) return first;
  prefix_ = job_name_prefix(name, identity);
  logs_.emplace(connection_.client, connection_.logs, prefix_, clock_.wall_time_s());
  pools_.clear();
  if (auto found = find_former_pools(); !found) return found;
  admission_.begin_study(name);
  return {};
}

Result<JobInFlight> SageMakerRunner::make_job(const TrialSpec& spec) const {
  const auto usd_per_hour = options_.prices.usd_per_hour(spec.resources);
  if (!usd_per_hour) return tl::unexpected(usd_per_hour.error());
  if (auto reader = ReportReader::create(spec.report_format); !reader) {
    return tl::unexpected(reader.error());
  }
  LogFile log;
  if (!spec.log_path.empty()) {
    auto created = LogFile::create(spec.log_path, spec.limits.log_bytes);
    if (!created) return tl::unexpected(created.error());
    log = *std::move(created);
  }
  return JobInFlight(spec, pool_key(options_.settings, spec.resources), *usd_per_hour,
                     std::move(log));
}

Result<void> SageMakerRunner::start(const TrialSpec& spec) {
  std::vector<TrialKey> under_way;
  for (const JobInFlight& job : jobs_)
    under_way.push_back(job.spec.key);
  if (auto admitted = admission_.check_start(spec.key, under_way, backlog()); !admitted) {
    return admitted;
  }
  auto job = make_job(spec);
  if (!job) return tl::unexpected(job.error());
  jobs_.push_back(*std::move(job));
  return {};
}

Result<std::vector<TrialKey>> SageMakerRunner::adopt(std::span<const Orphan> orphans) {
  if (auto begun = admission_.check_study(); !begun) return tl::unexpected(begun.error());
  std::vector<TrialKey> adopted;
  for (const Orphan& orphan : orphans) {
    std::optional<JobInFlight> job;
    std::optional<JobState> latest;
    for (int launch = 1;; ++launch) {
      const std::string name = job_name(prefix_, orphan.spec.key, launch);
      auto state = jobs_api_.describe(name);
      if (!state) return tl::unexpected(state.error().to_error());
      if (!*state) break;
      if (!job) {
        auto made = make_job(orphan.spec);
        if (!made) return tl::unexpected(made.error());
        job.emplace(*std::move(made));
      }
      if (latest) job->add_bill(latest->billable_s.value_or(0.0));
      latest = *std::move(state);
      job->job = name;
      job->launch = launch;
    }
    if (!job) continue;
    logs_->reach_back_to(latest->created_wall_s);
    job->submitted_s = wall_to_clock(latest->created_wall_s);
    job->keep_alive_s = count_of(latest->resources, "KeepAlivePeriodInSeconds").value_or(0);
    job->pool_checked = true;
    job->adopted = true;
    job->next_look_s = clock_.now_s();
    adopted.push_back(orphan.spec.key);
    jobs_.push_back(*std::move(job));
  }
  return adopted;
}

Result<void> SageMakerRunner::advance() {
  if (auto looked = look_at_jobs(); !looked) return looked;
  if (auto looked = look_at_pools(); !looked) return looked;
  while (true) {
    const auto changed = start_next();
    if (!changed) return tl::unexpected(changed.error());
    if (!*changed) break;
  }
  if (auto read = read_logs(); !read) return read;
  end_silent_jobs();
  finish_jobs();
  if (auto released = release_surplus(); !released) return released;
  take_advice(false);
  return {};
}

double SageMakerRunner::next_due_s() const {
  double due_s = std::numeric_limits<double>::infinity();
  bool any_submitted = false;
  for (const JobInFlight& job : jobs_) {
    if (job.ended) {
      due_s = std::min(due_s, job.logs_until_s);
    } else if (job.submitted()) {
      due_s = std::min(due_s, job.next_look_s);
    } else if (job.not_before_s > clock_.now_s()) {
      due_s = std::min(due_s, job.not_before_s);
    }
    any_submitted = any_submitted || job.submitted();
  }
  if (any_submitted) due_s = std::min(due_s, next_logs_s_);
  if (!pools_.empty()) due_s = std::min(due_s, next_pools_s_);
  return due_s;
}

Result<std::vector<TrialEvent>> SageMakerRunner::wait(double deadline_s) {
  while (true) {
    if (auto advanced = advance(); !advanced) return tl::unexpected(advanced.error());
    const double now_s = clock_.now_s();
    if (!events_.empty() || now_s >= deadline_s) break;
    // A moment at least, so that a clock that stands still within requests goes on.
    if (!connection_.wait_until(std::min(deadline_s, std::max(next_due_s(), now_s + 0.01)))) break;
  }
  return std::exchange(events_, {});
}

void SageMakerRunner::stop(TrialKey key) {
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    if (job->spec.key != key) continue;
    if (job->submitted()) {
      request_stop(*job, JobEndRequest::stop);
    } else {
      Outcome outcome;
      outcome.kind = OutcomeKind::stopped;
      finish(job, std::move(outcome));
    }
    return;
  }
}

void SageMakerRunner::kill_all() {
  std::vector<TrialKey> keys;
  for (const JobInFlight& job : jobs_)
    keys.push_back(job.spec.key);
  for (const TrialKey key : keys)
    stop(key);
}

Result<std::string> SageMakerRunner::detach() {
  std::string text;
  double usd_per_hour = 0.0;
  for (const JobInFlight& job : jobs_) {
    if (!job.submitted() || job.ended) continue;
    text += fmt::format("job {} goes on, {} per hour, for at most {}\n", job.job,
                        format_usd(job.usd_per_hour), format_duration(job.spec.limits.wall_s));
    usd_per_hour += job.usd_per_hour;
  }
  if (usd_per_hour > 0.0) {
    text += fmt::format("together {} per hour; warm pools that they leave are kept for {} each\n",
                        format_usd(usd_per_hour), format_duration(options_.keep_alive_s));
  }
  jobs_.clear();
  events_.clear();
  if (auto released = release(0.0); !released) return tl::unexpected(released.error());
  return text;
}

Result<void> SageMakerRunner::release(double longest_s) {
  further_trials_ = 0;
  const double until_s = clock_.now_s() + longest_s;
  while (!jobs_.empty() || !pools_.empty()) {
    if (auto advanced = advance(); !advanced) return advanced;
    const double now_s = clock_.now_s();
    if (jobs_.empty() && pools_.empty()) break;
    if (now_s >= until_s ||
        !connection_.wait_until(std::max(now_s + 0.01, std::min(next_due_s(), until_s)))) {
      tell_what_is_left();
      break;
    }
  }
  take_advice(true);
  events_.clear();
  return {};
}

void SageMakerRunner::tell_what_is_left() {
  for (const JobInFlight& job : jobs_) {
    if (!job.submitted() || job.ended) continue;
    notice(fmt::format("job {} {}: {} per hour; the next run of the study finds it again", job.job,
                       job.stop_accepted ? "is still being stopped" : "still runs",
                       format_usd(job.usd_per_hour)));
  }
  for (const WarmPool& pool : pools_) {
    notice(
        fmt::format("the warm pool of job {} ({}) is not given back: {} per hour for at most {}; "
                    "`steptune pools --release` ends it",
                    pool.job, pool.key.instance_type, format_usd(pool.usd_per_hour),
                    format_duration(options_.keep_alive_s)));
  }
}

}  // namespace steptune
