// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/training_jobs.hpp"

#include "common/json_fields.hpp"

namespace steptune {
namespace {

std::optional<PoolState> pool_of(const Json& json) {
  const auto found = json.find("WarmPoolStatus");
  if (found == json.end() || !found->is_object()) return std::nullopt;
  return PoolState{text_at(*found, "Status"),
                   number_at(*found, "ResourceRetainedBillableTimeInSeconds"),
                   text_at(*found, "ReusedByJob")};
}

void read_transitions(const Json& description, JobDescription& state) {
  const auto found = description.find("SecondaryStatusTransitions");
  if (found == description.end() || !found->is_array()) return;
  for (const Json& transition : *found) {
    if (!transition.is_object()) continue;
    const std::string status = text_at(transition, "Status");
    const auto start_s = number_at(transition, "StartTime");
    const auto end_s = number_at(transition, "EndTime");
    if (status == "Training" && start_s) {
      state.training_since_wall_s = start_s;
      state.training_until_wall_s = end_s;
    }
    if (status == "Downloading" && start_s && end_s) {
      state.downloading_s = state.downloading_s.value_or(0.0) + *end_s - *start_s;
    }
    if (status == "Interrupted") ++state.interruptions;
  }
}

bool mentions(const aws::AwsError& error, const char* phrase) {
  return error.message.find(phrase) != std::string::npos;
}

/// For a missing job, the service returns a validation error with this text instead of a code.
bool is_unknown_job(const aws::AwsError& error) {
  return error.code == "ResourceNotFound" || mentions(error, "Requested resource not found") ||
         mentions(error, "Could not find job");
}

}  // namespace

bool JobDescription::ended() const {
  return status == "Completed" || status == "Failed" || status == "Stopped";
}

bool JobDescription::ending() const {
  return status == "Stopping" || secondary == "Uploading" || secondary == "Stopping";
}

JobDescription job_description_from_json(const Json& description) {
  JobDescription state;
  state.name = text_at(description, "TrainingJobName");
  state.status = text_at(description, "TrainingJobStatus");
  state.secondary = text_at(description, "SecondaryStatus");
  const auto spot = description.find("EnableManagedSpotTraining");
  state.spot = spot != description.end() && spot->is_boolean() && spot->get<bool>();
  state.failure_reason = text_at(description, "FailureReason");
  state.created_wall_s = number_at(description, "CreationTime").value_or(0.0);
  state.billed_since_wall_s = number_at(description, "TrainingStartTime");
  state.billed_until_wall_s = number_at(description, "TrainingEndTime");
  state.billable_s = number_at(description, "BillableTimeInSeconds");
  state.pool = pool_of(description);
  const auto environment = description.find("Environment");
  if (environment != description.end() && environment->is_object()) {
    state.trials = pack_of(*environment);
    state.price = job_price_of(*environment);
  }
  const auto resources = description.find("ResourceConfig");
  if (resources != description.end() && resources->is_object()) state.resources = *resources;
  read_transitions(description, state);
  return state;
}

aws::AwsResult<bool> TrainingJobs::create(const Json& input) {
  const auto created = call("CreateTrainingJob", input);
  if (created) return true;
  if (created.error().code == "ResourceInUse") return false;
  return tl::unexpected(created.error());
}

aws::AwsResult<std::optional<JobDescription>> TrainingJobs::describe(const std::string& name) {
  const auto description = call("DescribeTrainingJob", {{"TrainingJobName", name}});
  if (description) return job_description_from_json(*description);
  if (is_unknown_job(description.error())) return std::nullopt;
  return tl::unexpected(description.error());
}

aws::AwsResult<void> TrainingJobs::stop(const std::string& name) {
  const auto stopped = call("StopTrainingJob", {{"TrainingJobName", name}});
  if (stopped || is_unknown_job(stopped.error()) ||
      mentions(stopped.error(), "because the training job is in status")) {
    return {};
  }
  return tl::unexpected(stopped.error());
}

aws::AwsResult<bool> TrainingJobs::set_keep_alive(const std::string& name, int seconds) {
  const auto updated = call(
      "UpdateTrainingJob",
      {{"TrainingJobName", name}, {"ResourceConfig", {{"KeepAlivePeriodInSeconds", seconds}}}});
  if (updated) return true;
  // If a pool is gone, in use or not there yet, the service answers with a validation error.
  if (is_unknown_job(updated.error()) || updated.error().code == "ValidationException") {
    return false;
  }
  return tl::unexpected(updated.error());
}

aws::AwsResult<std::vector<JobSummary>> TrainingJobs::list(const Query& query) {
  Json input = {{"MaxResults", 100}, {"SortBy", "CreationTime"}, {"SortOrder", "Descending"}};
  if (!query.name_contains.empty()) input["NameContains"] = query.name_contains;
  if (!query.pool_status.empty()) input["WarmPoolStatusEquals"] = query.pool_status;
  if (query.created_after_s > 0.0) input["CreationTimeAfter"] = query.created_after_s;
  std::vector<JobSummary> jobs;
  while (true) {
    const auto page = call("ListTrainingJobs", input);
    if (!page) return tl::unexpected(page.error());
    const auto summaries = page->find("TrainingJobSummaries");
    if (summaries != page->end() && summaries->is_array()) {
      for (const Json& summary : *summaries) {
        if (!summary.is_object()) continue;
        jobs.push_back({text_at(summary, "TrainingJobName"), text_at(summary, "TrainingJobStatus"),
                        number_at(summary, "LastModifiedTime").value_or(0.0), pool_of(summary)});
      }
    }
    const std::string next = text_at(*page, "NextToken");
    if (next.empty()) return jobs;
    input["NextToken"] = next;
  }
}

}  // namespace steptune
