// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/job_price.hpp"
#include "trial_runner/sagemaker/trial_pack.hpp"

namespace steptune {

/// What is told of a warm pool that a job has left behind. Statuses: `Available`, `InUse`,
/// `Reused`, `Terminated`.
struct PoolState {
  std::string status;
  std::optional<double> retained_s;  ///< billed per instance
  std::string reused_by;             ///< job
};

/// A training job as DescribeTrainingJob tells it. Times in seconds since 1970; what has not
/// happened is absent.
struct JobDescription {
  std::string name;
  std::string status;     ///< `InProgress`, `Completed`, `Failed`, `Stopping`, `Stopped`, ...
  std::string secondary;  ///< of an open set: only shown, but for the two limits that were hit
  std::string failure_reason;
  double created_wall_s = 0.0;
  std::optional<double> billed_since_wall_s;    ///< `TrainingStartTime`, the download included
  std::optional<double> billed_until_wall_s;    ///< `TrainingEndTime`
  std::optional<double> training_since_wall_s;  ///< latest begin of the stage `Training`
  std::optional<double> training_until_wall_s;  ///< and its end
  std::optional<double> downloading_s;          ///< of input data, all attempts
  bool spot = false;                            ///< managed spot
  int interruptions = 0;                        ///< spot capacity taken away
  std::optional<double> billable_s;             ///< per instance
  std::optional<PoolState> pool;
  std::vector<PackedTrial> trials;  ///< that it runs in turn; none: it is no pack
  std::optional<JobPrice> price;    ///< as its study counts; nothing: the job does not tell
  Json resources = Json::object();  ///< `ResourceConfig` as requested

  /// Statuses that never change again; ones that are not known count as under way.
  [[nodiscard]] bool ended() const;
  /// Ending: the next change is seconds away.
  [[nodiscard]] bool ending() const;
};

/// A line of ListTrainingJobs.
struct JobSummary {
  std::string name;
  std::string status;
  double modified_wall_s = 0.0;  ///< 0: not told
  std::optional<PoolState> pool;
};

/// SageMaker's training-job operations, typed. What a repeated request would meet (the job exists,
/// has ended, is unknown) counts as success where that is what was wanted. Errors are those of the
/// service. Source: SageMaker API Reference; botocore's service model 2017-07-24.
class TrainingJobs {
 public:
  /// `client` outlives the object.
  TrainingJobs(aws::JsonClient& client, aws::JsonService service)
      : client_(client), service_(std::move(service)) {}

  /// `input` of CreateTrainingJob. False if a job of this name existed already (an earlier request
  /// whose answer was lost).
  [[nodiscard]] aws::AwsResult<bool> create(const Json& input);
  /// Nothing if there is no such job.
  [[nodiscard]] aws::AwsResult<std::optional<JobDescription>> describe(const std::string& name);
  [[nodiscard]] aws::AwsResult<void> stop(const std::string& name);
  /// How long the job's warm pool is kept from now on; 0 ends it. Only while it is Available: false
  /// if it is not.
  [[nodiscard]] aws::AwsResult<bool> set_keep_alive(const std::string& name, int seconds);

  struct Query {
    std::string name_contains;
    std::string pool_status;       ///< empty: any
    double created_after_s = 0.0;  ///< since 1970
  };
  /// All pages, newest first. Filters apply after pages are cut, so empty ones may come between.
  [[nodiscard]] aws::AwsResult<std::vector<JobSummary>> list(const Query& query);

 private:
  [[nodiscard]] aws::AwsResult<Json> call(const std::string& operation, const Json& input) {
    return client_.call(service_, operation, input);
  }

  aws::JsonClient& client_;
  aws::JsonService service_;
};

/// Reads a DescribeTrainingJob response; members that are absent or of another type stay empty.
[[nodiscard]] JobDescription job_description_from_json(const Json& description);

}  // namespace steptune
