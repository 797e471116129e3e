// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/training_service.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "trial_runner/sagemaker/simulated_account/job_list.hpp"
#include "trial_runner/sagemaker/simulated_account/job_validation.hpp"

namespace steptune::simulated {
namespace {

int quota(const std::map<std::string, int>& quotas, const std::string& type) {
  const auto named = quotas.find(type);
  if (named != quotas.end()) return named->second;
  const auto others = quotas.find("*");
  return others == quotas.end() ? 0 : others->second;
}

}  // namespace

TrainingService::TrainingService(AccountParts account, double wall_minus_clock_s)
    : account_(account), wall_minus_clock_s_(wall_minus_clock_s) {}

double TrainingService::next_event_s() const {
  double next_s = k_infinity;
  for (const Entry* entry : active_)
    next_s = std::min(next_s, entry->job.next_event_s());
  for (const WarmPool* pool : kept_)
    next_s = std::min(next_s, pool->expires_s());
  return next_s;
}

void TrainingService::play_until(double now_s) {
  for (double event_s = next_event_s(); event_s <= now_s; event_s = next_event_s()) {
    for (WarmPool* pool : kept_) {
      if (pool->expires_s() <= event_s) pool->terminate(pool->expires_s());
    }
    std::erase_if(kept_, [](const WarmPool* pool) { return !pool->kept(); });
    const auto due = std::find_if(active_.begin(), active_.end(), [&](const Entry* entry) {
      return entry->job.next_event_s() <= event_s;
    });
    if (due == active_.end()) continue;
    Entry& entry = **due;
    entry.job.process_event();
    if (!entry.job.over()) continue;
    active_.erase(due);
    leave_pool(entry, event_s);
  }
}

int TrainingService::kept_instances(const std::string& type) const {
  int count = 0;
  for (const WarmPool* pool : kept_) {
    if (pool->match().instance_type == type) count += pool->match().instance_count;
  }
  return count;
}

void TrainingService::leave_pool(Entry& entry, double now_s) {
  const auto match = pool_match(entry.job.input());
  if (!match || entry.job.keep_alive_s() <= 0.0) return;
  const bool room = kept_instances(match->instance_type) + match->instance_count <=
                    quota(account_.options.warm_pool_quota, match->instance_type);
  if (!room || !entry.job.left_healthy_machines()) {
    // Report success, because the real service does so, too, but keeps no pool without a quota.
    entry.pool = std::make_unique<WarmPool>(*match, now_s, 0.0);
    entry.pool->terminate(now_s);
    return;
  }
  const double ready_s = now_s + account_.options.stages.pool_ready_s;
  entry.pool = std::make_unique<WarmPool>(*match, ready_s, entry.job.keep_alive_s());
  if (account_.faults.for_job(entry.job.name(), FaultKind::steal_pool)) {
    entry.pool->reuse("a-strangers-job", ready_s);
  } else {
    kept_.push_back(entry.pool.get());
  }
}

DescriptionContext TrainingService::context_of(const Entry& entry, double now_s) const {
  return {entry.arn, entry.pool.get(), now_s, wall_minus_clock_s_};
}

TrainingService::Entry* TrainingService::find(const Json& request) const {
  const auto found = by_name_.find(request.at("TrainingJobName").get<std::string>());
  return found == by_name_.end() ? nullptr : found->second;
}

WarmPool* TrainingService::matching_pool(const Json& request, double now_s) const {
  const auto match = pool_match(request);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const WarmPool* pool) {
    return match && pool->available(now_s) && pool->match() == *match;
  });
  return found == kept_.end() ? nullptr : *found;
}

std::optional<ServiceError> TrainingService::quota_fault(const Json& request,
                                                         const WarmPool* pool) const {
  const Json& resources = request.at("ResourceConfig");
  const Json groups = resources.value("InstanceGroups", Json::array({resources}));
  for (const Json& group : groups) {
    const auto type = group.at("InstanceType").get<std::string>();
    const int wanted = group.value("InstanceCount", 1);
    int used = kept_instances(type);
    for (const Entry* entry : active_) {
      for (const auto& [held_type, count] : entry->job.instances()) {
        if (held_type == type) used += count;
      }
    }
    const int freed = pool == nullptr ? 0 : pool->match().instance_count;
    const int limit = quota(account_.options.training_quota, type);
    if (used - freed + wanted <= limit) continue;
    return ServiceError{
        "ResourceLimitExceeded",
        fmt::format("The account-level service limit '{} for training job usage' is {} Instances, "
                    "with current utilization of {} Instances and a request delta of {} Instances. "
                    "Please contact AWS support to request an increase for this limit.",
                    type, limit, used, wanted)};
  }
  return std::nullopt;
}

Answer<Json> TrainingService::create(const Json& request, double now_s) {
  if (const auto fault = training_job_fault(request)) return tl::unexpected(*fault);
  const auto name = request["TrainingJobName"].get<std::string>();
  const std::string arn = fmt::format("arn:aws:sagemaker:{}:{}:training-job/{}",
                                      account_.options.region, account_.options.account_id, name);
  if (by_name_.contains(name)) {
    return refuse("ResourceInUse",
                  fmt::format("Training job names must be unique within an AWS account and region, "
                              "and a training job with this name already exists ({})",
                              arn));
  }
  WarmPool* pool = matching_pool(request, now_s);
  if (const auto fault = quota_fault(request, pool)) return tl::unexpected(*fault);
  if (pool != nullptr) {
    pool->reuse(name, now_s);
    std::erase(kept_, pool);
  }
  entries_.push_back(std::make_unique<Entry>(
      Entry{SimulatedJob(request, now_s, pool != nullptr, account_), arn, nullptr}));
  by_name_[name] = entries_.back().get();
  active_.push_back(entries_.back().get());
  return Json{{"TrainingJobArn", arn}};
}

Answer<Json> TrainingService::describe(const Json& request, double now_s) {
  const Entry* entry = find(request);
  if (entry == nullptr) return refuse_unknown_job();
  return description(entry->job, context_of(*entry, now_s));
}

Answer<Json> TrainingService::list(const Json& request, double now_s) {
  std::vector<ListedJob> jobs;
  for (const auto& entry : entries_)
    jobs.push_back({&entry->job, context_of(*entry, now_s)});
  return list_page(std::move(jobs), request);
}

Answer<Json> TrainingService::stop(const Json& request, double now_s) {
  Entry* entry = find(request);
  if (entry == nullptr) return refuse_unknown_job();
  if (entry->job.over()) {
    return refuse_input(fmt::format(
        "The request was rejected because the training job is in status {}.", entry->job.status()));
  }
  if (entry->job.status() != "Stopping") entry->job.stop(now_s);
  return Json();
}

Answer<Json> TrainingService::update(const Json& request, double now_s) {
  Entry* entry = find(request);
  if (entry == nullptr) return refuse_unknown_job();
  const Json::json_pointer keep_alive("/ResourceConfig/KeepAlivePeriodInSeconds");
  if (!request.contains(keep_alive)) {
    return refuse_input("Invalid UpdateTrainingJobRequest, the request cannot be empty");
  }
  if (!entry->pool || !entry->pool->available(now_s)) {
    return refuse_input("The warm pool of the training job is not available");
  }
  entry->pool->set_keep_alive(request.at(keep_alive).get<double>(), now_s);
  if (!entry->pool->kept()) std::erase(kept_, entry->pool.get());
  return Json{{"TrainingJobArn", entry->arn}};
}

Answer<Json> TrainingService::handle(const std::string& operation, const Json& request,
                                     double now_s) {
  if (operation == "CreateTrainingJob") return create(request, now_s);
  if (operation == "DescribeTrainingJob") return describe(request, now_s);
  if (operation == "ListTrainingJobs") return list(request, now_s);
  if (operation == "StopTrainingJob") return stop(request, now_s);
  if (operation == "UpdateTrainingJob") return update(request, now_s);
  return refuse("UnknownOperationException", fmt::format("Unknown operation {}", operation));
}

const SimulatedJob* TrainingService::job(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second->job;
}

void TrainingService::audit(AccountAudit& audit, double now_s) const {
  for (const auto& entry : entries_) {
    const SimulatedJob& job = entry->job;
    audit.jobs.push_back({job.name(), job.status(), job.secondary(), job.failure_reason(),
                          job.warm(), job.spot(), job.instances(), job.created_s(), job.billed_s(),
                          job.transitions()});
    for (const ContainerRun& run : job.runs()) {
      JobAudit& job_audit = audit.jobs.back();
      job_audit.pack = job_audit.pack || !run.trials.empty();
      std::ranges::copy(run.trials_ended_by(now_s), std::back_inserter(job_audit.trials_over));
    }
    if (!entry->pool) continue;
    const WarmPool& pool = *entry->pool;
    audit.pools.push_back({job.name(), pool.status(now_s), pool.reused_by(),
                           pool.match().instance_type, pool.match().instance_count,
                           pool.retained_s(now_s)});
  }
}

}  // namespace steptune::simulated
