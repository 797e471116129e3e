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

/// State of a warm pool that a job has left. `status` is `Available`, `InUse`, `Reused` or
/// `Terminated`.
struct PoolState {
  std::string status;
  std::optional<double> retained_s;  ///< idle seconds of the pool so far, billed for each instance
  std::string reused_by;             ///< job that uses the pool; empty: none
};

/// A training job as reported by DescribeTrainingJob. Times are seconds since 1970. A member stays
/// empty until its event has happened.
struct JobDescription {
  std::string name;
  std::string status;     ///< `InProgress`, `Completed`, `Failed`, `Stopping`, `Stopped`, ...
  std::string secondary;  ///< `SecondaryStatus`; the service may add values
  std::string failure_reason;
  double created_wall_s = 0.0;
  std::optional<double> billed_since_wall_s;    ///< `TrainingStartTime`: before the download
  std::optional<double> billed_until_wall_s;    ///< `TrainingEndTime`
  std::optional<double> training_since_wall_s;  ///< latest start of the stage `Training`
  std::optional<double> training_until_wall_s;  ///< end of that stage
  std::optional<double> downloading_s;          ///< download of input data, over all attempts
  bool spot = false;                            ///< managed spot
  /// Number of spot interruptions.
  int interruptions = 0;
  std::optional<double> billable_s;  ///< billed seconds of each instance
  std::optional<PoolState> pool;
  std::vector<PackedTrial> trials;  ///< trials that the job runs in turn; empty: the job is no pack
  std::optional<JobPrice> price;    ///< study's price; nullopt: the job does not contain it
  Json resources = Json::object();  ///< `ResourceConfig` as requested

  /// True if the status never changes again. A job with an unknown status counts as under way.
  [[nodiscard]] bool ended() const;
  /// True if the job is being stopped or uploads its results.
  [[nodiscard]] bool ending() const;
};

/// An entry of ListTrainingJobs.
struct JobSummary {
  std::string name;
  std::string status;
  double modified_wall_s = 0.0;  ///< 0: unknown
  std::optional<PoolState> pool;
};

/// SageMaker's training-job operations as typed functions. If an earlier request already had the
/// effect (the job exists, has ended or is unknown), a repeated request succeeds. Errors are the
/// service's. Source: SageMaker API Reference; botocore's service model 2017-07-24.
class TrainingJobs {
 public:
  /// `client` outlives the object.
  TrainingJobs(aws::JsonClient& client, aws::JsonService service)
      : client_(client), service_(std::move(service)) {}

  /// Creates a job from the input of CreateTrainingJob. Returns false if a job of this name already
  /// exists, because the answer to an earlier request was lost.
  [[nodiscard]] aws::AwsResult<bool> create(const Json& input);
  /// Describes a job; nullopt if there is no such job.
  [[nodiscard]] aws::AwsResult<std::optional<JobDescription>> describe(const std::string& name);
  [[nodiscard]] aws::AwsResult<void> stop(const std::string& name);
  /// Sets how long the job's warm pool is kept from now on; 0 ends it. Returns false if the pool is
  /// not Available.
  [[nodiscard]] aws::AwsResult<bool> set_keep_alive(const std::string& name, int seconds);

  struct Query {
    std::string name_contains;
    std::string pool_status;       ///< empty: any
    double created_after_s = 0.0;  ///< since 1970
  };
  /// Lists all pages, newest first. The service filters after cutting pages, so a page may be
  /// empty.
  [[nodiscard]] aws::AwsResult<std::vector<JobSummary>> list(const Query& query);

 private:
  [[nodiscard]] aws::AwsResult<Json> call(const std::string& operation, const Json& input) {
    return client_.call(service_, operation, input);
  }

  aws::JsonClient& client_;
  aws::JsonService service_;
};

/// Reads a DescribeTrainingJob response. Members that are absent or of another type stay empty.
[[nodiscard]] JobDescription job_description_from_json(const Json& description);

}  // namespace steptune
