// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/job_description.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace steptune::simulated {
namespace {

long long whole_seconds(double seconds) {
  return std::max(1LL, std::llround(seconds));
}

}  // namespace

Json warm_pool_status(const SimulatedJob& job, const DescriptionContext& context) {
  if (context.pool != nullptr) return context.pool->describe(context.now_s);
  if (!job.over() && job.keep_alive_s() > 0.0) return {{"Status", "InUse"}};
  return nullptr;
}

Json summary(const SimulatedJob& job, const DescriptionContext& context) {
  const double wall_s = context.wall_minus_clock_s;
  Json json = {{"TrainingJobName", job.name()},
               {"TrainingJobArn", context.arn},
               {"CreationTime", wall_s + job.created_s()},
               {"LastModifiedTime", wall_s + job.modified_s()},
               {"TrainingJobStatus", job.status()},
               {"SecondaryStatus", job.secondary()}};
  if (job.training_end_s()) json["TrainingEndTime"] = wall_s + *job.training_end_s();
  if (const Json pool = warm_pool_status(job, context); !pool.is_null()) {
    json["WarmPoolStatus"] = pool;
  }
  return json;
}

Json description(const SimulatedJob& job, const DescriptionContext& context) {
  const double wall_s = context.wall_minus_clock_s;
  Json json = job.input();
  json.erase("Tags");
  json.update(summary(job, context));
  json["SecondaryStatusTransitions"] = Json::array();
  for (const StatusTransition& transition : job.transitions()) {
    Json entry = {{"Status", transition.status}, {"StartTime", wall_s + transition.start_s}};
    if (transition.end_s) entry["EndTime"] = wall_s + *transition.end_s;
    entry["StatusMessage"] = transition.message;
    json["SecondaryStatusTransitions"].push_back(entry);
  }
  if (!job.failure_reason().empty()) json["FailureReason"] = job.failure_reason();
  if (job.training_start_s()) json["TrainingStartTime"] = wall_s + *job.training_start_s();
  if (job.training_end_s()) {
    json["TrainingTimeInSeconds"] = whole_seconds(*job.training_end_s() - *job.training_start_s());
    json["BillableTimeInSeconds"] = whole_seconds(job.billed_s());
    if (job.status() != "Failed") {
      auto output = job.input().at("OutputDataConfig").at("S3OutputPath").get<std::string>();
      while (output.ends_with('/'))
        output.pop_back();
      json["ModelArtifacts"] = {
          {"S3ModelArtifacts", fmt::format("{}/{}/output/model.tar.gz", output, job.name())}};
    }
  }
  return json;
}

}  // namespace steptune::simulated
