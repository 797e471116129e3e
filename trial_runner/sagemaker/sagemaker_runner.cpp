// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/sagemaker_runner.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/hooks/hook_files.hpp"
#include "trial_runner/sagemaker/earlier_jobs.hpp"
#include "trial_runner/sagemaker/failure.hpp"
#include "trial_runner/sagemaker/held_machines.hpp"
#include "trial_runner/sagemaker/job_name.hpp"
#include "trial_runner/sagemaker/job_request.hpp"

namespace steptune {
namespace {

/// Shortest wait, in seconds. Without it, a virtual clock that does not advance during requests
/// would stand still.
constexpr double k_least_wait_s = 0.01;
/// Seconds after which the service usually knows a job that it has accepted.
constexpr double k_until_known_s = 5.0;
/// Seconds before a job that exceeded a quota is tried again.
constexpr double k_quota_wait_s = 30.0;

}  // namespace

SageMakerRunner::SageMakerRunner(const Clock& clock, SageMakerConnection connection,
                                 SageMakerOptions options)
    : clock_(clock),
      options_(std::move(options)),
      connection_(std::move(connection)),
      outage_(clock_, notices_, options_.longest_outage_s),
      api_(connection_.client, connection_.sagemaker),
      pools_(clock_, api_, outage_, notices_, options_),
      monitor_(clock_, api_, outage_, notices_, pools_, options_) {
  if (connection_.cloudwatch)
    utilisation_.emplace(connection_.client, *connection_.cloudwatch, options_.types);
  // Keep the study's own data if the price table has the same type.
  auto known = options_.prices.instances;
  known.merge(options_.types.instances);
  options_.types.instances = std::move(known);
}

int SageMakerRunner::open_places() const {
  // If a trial waits although a later one has started, request no new trials. Otherwise the waiting
  // trial could wait for ever.
  const bool any_deferred = std::ranges::any_of(
      jobs_, [](const TrialJob& job) { return job.waits() && job.is_deferred(); });
  if (any_deferred) return 0;
  const auto waiting = std::ranges::count_if(jobs_, &TrialJob::waits);
  const auto free = options_.parallel - std::ssize(jobs_under_way(jobs_));
  // The backlog includes trials of ended jobs, until their last output has arrived.
  const std::ptrdiff_t places =
      std::min(free * options_.trials_per_job - waiting, backlog() - std::ssize(jobs_));
  return static_cast<int>(std::max<std::ptrdiff_t>(0, places));
}

double SageMakerRunner::expected_start_s(const Resources& resources) const {
  const auto key = pool_key(options_.settings, resources);
  const double start_s = pools_.expected_start_s(key);
  if (options_.trials_per_job == 1) return start_s;
  const auto free = options_.parallel - std::ssize(jobs_under_way(jobs_));
  return expected_packed_start_s(options_, jobs_, key, start_s, free);
}

std::vector<TrialKey> SageMakerRunner::trials_without_machine() const {
  std::vector<TrialKey> keys;
  for (const TrialJob& job : jobs_) {
    if (job.waits() && job.not_before_s() > clock_.now_s()) keys.push_back(job.key());
  }
  return keys;
}

Result<void> SageMakerRunner::begin_study(const std::string& name, const std::string& identity) {
  if (auto first = admission_.check_no_study(); !first) return first;
  prefix_ = job_name_prefix(name, identity);
  monitor_.begin(prefix_,
                 LogFollower(connection_.client, connection_.logs, prefix_, clock_.wall_time_s()));
  if (auto found = find_earlier_pools(); !found) return found;
  admission_.begin_study(name);
  return {};
}

Result<void> SageMakerRunner::find_earlier_pools() {
  pools_.clear();
  const auto jobs = api_.list({prefix_, "Available", 0.0});
  if (!jobs) return tl::unexpected(jobs.error().to_error());
  for (const JobSummary& summary : *jobs) {
    const auto state = api_.describe(summary.name);
    if (!state) return tl::unexpected(state.error().to_error());
    if (!*state || !(*state)->pool || (*state)->pool->status != "Available") continue;
    const Resources resources = resources_from_json((*state)->resources);
    auto key = pool_key(options_.settings, resources);
    if (!key) continue;
    const auto price = options_.prices.usd_per_hour(resources);
    const double now_wall_s = clock_.wall_time_s();
    const double since_end_s =
        std::max(0.0, now_wall_s - (*state)->billed_until_wall_s.value_or(now_wall_s));
    pools_.add_available(*std::move(key), summary.name, price ? *price : 0.0,
                         (*state)->pool->retained_s.value_or(since_end_s));
  }
  return {};
}

Result<TrialJob> SageMakerRunner::make_job(const TrialSpec& spec) const {
  const auto usd_per_hour = options_.prices.usd_per_hour(spec.resources);
  if (!usd_per_hour) return tl::unexpected(usd_per_hour.error());
  auto output = JobOutput::create(spec);
  if (!output) return tl::unexpected(output.error());
  return TrialJob(spec, pool_key(options_.settings, spec.resources), *usd_per_hour,
                  *std::move(output));
}

Result<void> SageMakerRunner::start(const TrialSpec& spec) {
  if (auto admitted = admission_.check_start(spec.key, keys_of(jobs_), backlog()); !admitted) {
    return admitted;
  }
  auto job = make_job(spec);
  if (!job) return tl::unexpected(job.error());
  jobs_.push_back(*std::move(job));
  return {};
}

Result<std::vector<TrialKey>> SageMakerRunner::adopt(std::span<const Orphan> orphans) {
  if (auto begun = admission_.check_study(); !begun) return tl::unexpected(begun.error());
  std::optional<double> packs_since_wall_s;
  if (options_.trials_per_job > 1) packs_since_wall_s = clock_.wall_time_s() - k_longest_holding_s;
  EarlierJobs earlier(
      api_, monitor_, prefix_, [this](const TrialSpec& spec) { return make_job(spec); },
      [this] { connection_.wait_until(clock_.now_s() + k_until_known_s); });
  auto found = earlier.of(orphans, packs_since_wall_s);
  if (!found) return tl::unexpected(found.error());
  std::vector<TrialKey> adopted = keys_of(*found);
  jobs_.splice(jobs_.end(), *found);
  return adopted;
}

Result<void> SageMakerRunner::advance() {
  if (auto polled = monitor_.poll(jobs_, events_); !polled) return polled;
  if (auto polled = pools_.poll(); !polled) return polled;
  while (true) {
    const auto changed = start_next();
    if (!changed) return tl::unexpected(changed.error());
    if (!*changed) break;
  }
  if (auto read = monitor_.read_output(jobs_, events_); !read) return read;
  monitor_.stop_silent_jobs(jobs_);
  finish_ended_jobs();
  if (auto released = pools_.release_surplus(pools_are_wanted()); !released) return released;
  take_advice(false);
  return {};
}

double SageMakerRunner::next_due_s() const {
  double due_s = std::min(monitor_.next_due_s(jobs_), pools_.next_poll_s());
  for (const TrialJob& job : jobs_) {
    if (job.waits() && job.not_before_s() > clock_.now_s())
      due_s = std::min(due_s, job.not_before_s());
  }
  return due_s;
}

Result<bool> SageMakerRunner::start_next() {
  JobTrials waiting;
  const double now_s = clock_.now_s();
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    if (job->waits() && job->not_before_s() <= now_s) waiting.push_back(job);
  }
  if (waiting.empty()) return false;
  // Trials that can use warm machines overtake others, and a searcher may suggest such trials again
  // and again. So first start trials that were overtaken.
  const bool any_deferred =
      std::ranges::any_of(waiting, [](const auto& job) { return job->is_deferred(); });
  JobTrials next = waiting;
  if (any_deferred) std::erase_if(next, [](const auto& job) { return !job->is_deferred(); });
  std::vector<std::optional<PoolKey>> queue;
  for (const TrialJobs::iterator job : next)
    queue.push_back(job->pool_key());
  std::vector<std::optional<PoolKey>> busy;
  for (const TrialJob* job : jobs_under_way(jobs_))
    busy.push_back(job->pool_key());
  const PoolDecision decision =
      next_pool_decision(queue, pools_.pools(), busy, static_cast<std::size_t>(options_.parallel));
  if (const auto* release = std::get_if<ReleasePool>(&decision)) {
    return pools_.release(release->job);
  }
  const auto* start = std::get_if<StartTrial>(&decision);
  if (start == nullptr) return false;
  return request(trials_of_job(options_, next[start->index], waiting), start->pool_job).map([] {
    return true;
  });
}

bool SageMakerRunner::pools_are_wanted(const JobTrials& except) const {
  return further_trials_ != 0 || std::ranges::any_of(jobs_, [&](const TrialJob& job) {
           return job.waits() &&
                  std::ranges::none_of(except, [&](const auto& each) { return &*each == &job; });
         });
}

Result<void> SageMakerRunner::read_hook(const TrialSpec& spec) {
  if (spec.python_path.empty() || !hook_.empty()) return {};
  const auto files = read_hook_files(spec.python_path, spec.environment);
  if (!files) return tl::unexpected(files.error());
  hook_ = packed_text(*files);
  return {};
}

Result<void> SageMakerRunner::request(JobTrials pack, std::optional<std::string> pool_job) {
  TrialJob& first = *pack.front();
  if (const auto read = read_hook(first.spec()); !read) {
    give_up(pack.front(), OutcomeKind::not_started, read.error().text());
    return {};
  }
  JobLaunch launch;
  launch.job = job_name(prefix_, first.key(), first.next_launch());
  launch.pool_settled = !pool_job;
  launch.pool_job = std::move(pool_job);
  if (may_be_packed(options_, first)) {
    for (const TrialJobs::iterator job : pack)
      launch.pack.push_back({job->key(), packed_seconds(job->spec())});
  }
  Json input;
  const auto prepare = [&] {
    launch.keep_alive_s = pools_.keep_alive_s(first.pool_key(), pools_are_wanted(pack));
    input = job_input(options_, pack, launch, hook_);
    return check_training_job_input(input);
  };
  auto valid = prepare();
  // The commands of all trials may be too long for one request, so remove the last trial until they
  // fit. If even one trial is too long for the pack's shell, request it without that shell.
  while (!valid && !launch.pack.empty()) {
    launch.pack.pop_back();
    if (pack.size() > 1) pack.pop_back();
    valid = prepare();
  }
  if (!valid) {
    give_up(pack.front(), OutcomeKind::not_started, valid.error().text());
    return {};
  }
  const auto created = api_.create(input);
  if (!created) return on_refused(pack, created.error());
  outage_.on_success();
  launch.requested_s = clock_.now_s();
  if (!*created && !launch.pack.empty()) {
    const auto state = api_.describe(launch.job);
    if (!state) return on_refused(pack, state.error());
    if (*state) keep_trials_of(**state, launch, pack);
  }
  if (launch.pool_job) pools_.take(*launch.pool_job, launch.job);
  for (const TrialJobs::iterator job : pack) {
    launch.number = job->next_launch();
    job->request(launch, clock_.now_s() + options_.poll_interval_s);
  }
  for (TrialJob& job : jobs_) {
    if (job.waits()) job.defer();
  }
  return {};
}

Result<void> SageMakerRunner::on_refused(const JobTrials& pack, const aws::AwsError& error) {
  const double now_s = clock_.now_s();
  const auto postpone = [&](double seconds) {
    for (const TrialJobs::iterator job : pack)
      job->postpone(now_s + seconds);
  };
  const auto give_up_all = [&](const Error& why) {
    for (const TrialJobs::iterator job : pack)
      give_up(job, OutcomeKind::not_started, why.text());
    return Result<void>();
  };
  if (is_quota(error) && !is_hopeless(error)) {
    postpone(k_quota_wait_s);
    const std::int64_t trial = pack.front()->key().trial;
    notices_.add_once("quota " + error.message,
                      fmt::format("trial {} is waiting for quota, retried every {}: {}", trial,
                                  format_duration(k_quota_wait_s), printable_line(error.message)),
                      trial);
    // Release idle pools, because they count against the quota as well.
    return pools_.release_available();
  }
  if (is_quota(error)) return give_up_all(error.to_error());
  postpone(options_.poll_interval_s);
  auto failed = outage_.on_failure(error);
  if (!failed && error.code == "ValidationException") return give_up_all(failed.error());
  // Other refusals (permissions, a missing role) affect every trial, so `wait` returns them.
  return failed;
}

Result<std::vector<TrialEvent>> SageMakerRunner::wait(double deadline_s) {
  while (true) {
    if (auto advanced = advance(); !advanced) return tl::unexpected(advanced.error());
    const double now_s = clock_.now_s();
    if (!events_.empty() || now_s >= deadline_s) break;
    const double due_s = std::max(next_due_s(), now_s + k_least_wait_s);
    connection_.wait_until(std::min(deadline_s, due_s));
  }
  return std::exchange(events_, {});
}

void SageMakerRunner::stop(TrialKey key) {
  const auto job = std::ranges::find(jobs_, key, &TrialJob::key);
  if (job == jobs_.end()) return;
  if (job->waits()) {
    give_up(job, OutcomeKind::stopped, {});
  } else {
    monitor_.request_stop(jobs_, *job, StopCause::caller);
  }
}

void SageMakerRunner::kill_all() {
  for (const TrialKey key : keys_of(jobs_))
    stop(key);
}

void SageMakerRunner::finish_ended_jobs() {
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const auto next = std::next(job);
    if (job->state() != JobState::ended || !monitor_.has_all_output(*job)) {
      job = next;
      continue;
    }
    monitor_.close_pack(jobs_, *job, events_);
    if (monitor_.was_left_out(*job)) {
      job->give_back();
    } else {
      if (job->job_has_ended()) watch_utilisation(*job);
      events_.emplace_back(job->finish(clock_.now_s()));
      jobs_.erase(job);
    }
    job = next;
  }
}

void SageMakerRunner::give_up(TrialJobs::iterator job, OutcomeKind kind, std::string detail) {
  events_.emplace_back(job->give_up(clock_.now_s(), kind, std::move(detail)));
  jobs_.erase(job);
}

void SageMakerRunner::watch_utilisation(const TrialJob& job) {
  const JobDescription& state = job.last_description();
  if (!utilisation_ || !state.training_since_wall_s || !state.training_until_wall_s) return;
  utilisation_->add({job.launch().job, job.spec().resources, *state.training_since_wall_s,
                     *state.training_until_wall_s, state.downloading_s.value_or(0.0),
                     options_.settings.input_mode},
                    clock_.now_s());
}

void SageMakerRunner::take_advice(bool last) {
  if (!utilisation_) return;
  for (std::string& advice : utilisation_->poll(clock_.now_s(), last))
    notices_.add(std::move(advice));
}

Result<std::string> SageMakerRunner::detach() {
  std::string text = detached_jobs_text(jobs_, options_.keep_alive_s);
  jobs_.clear();
  events_.clear();
  // If the release fails, return the text with the error, because jobs still cost money.
  if (const auto released = release(0.0); !released) text += released.error().text() + '\n';
  return text;
}

Result<void> SageMakerRunner::release(double longest_s) {
  further_trials_ = 0;
  const double until_s = clock_.now_s() + longest_s;
  while (!jobs_.empty() || !pools_.empty()) {
    if (auto advanced = advance(); !advanced) {
      // If the service still answers, it may accept other requests.
      const bool answers = advanced.error().kind != ErrorKind::unavailable;
      if (answers) static_cast<void>(pools_.release_available());
      add_leftover_notices();
      return advanced;
    }
    const double now_s = clock_.now_s();
    if (jobs_.empty() && pools_.empty()) break;
    if (now_s >= until_s) {
      add_leftover_notices();
      break;
    }
    connection_.wait_until(std::max(now_s + k_least_wait_s, std::min(next_due_s(), until_s)));
  }
  take_advice(true);
  events_.clear();
  return {};
}

void SageMakerRunner::add_leftover_notices() {
  for (std::string& text : leftover_texts(jobs_, pools_.pools(), options_.keep_alive_s))
    notices_.add(std::move(text));
}

}  // namespace steptune
