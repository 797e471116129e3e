// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/simulated_account/simulated_account.hpp"

namespace steptune::simulated {

/// A simulated account with the real client. Tests change `options` and `program` before the first
/// call.
class AccountTest : public testing::Test {
 protected:
  SimulatedAccount& account() {
    if (!account_) {
      account_ = std::make_unique<SimulatedAccount>(
          clock_, [this](const Json&) { return program; }, options);
    }
    return *account_;
  }

  aws::AwsResult<Json> call(const std::string& operation, const Json& input) {
    const bool logs = operation.ends_with("Events");
    const aws::JsonService service{
        logs ? "logs" : "sagemaker", logs ? "Logs_20140328" : "SageMaker",
        "application/x-amz-json-1.1", "https",
        logs ? "logs.us-east-1.amazonaws.com" : "api.sagemaker.us-east-1.amazonaws.com"};
    return call(service, operation, input);
  }

  aws::AwsResult<Json> call(const aws::JsonService& service, const std::string& operation,
                            const Json& input) {
    if (!client_) {
      client_ = std::make_unique<aws::JsonClient>(
          aws::ClientParts{account(), clock_, limiter, rng_,
                           [this](bool refresh) -> Result<aws::Credentials> {
                             if (refresh) ++refreshes;
                             return credentials;
                           },
                           [this](double time_s) { clock_.advance_to(time_s); }, "us-east-1"},
          aws::RetryPolicy{max_attempts, 1.0, 20.0});
    }
    return client_->call(service, operation, input);
  }

  /// Returns the input of CreateTrainingJob, with members replaced by `changes`.
  static Json request(const std::string& name, const Json& changes = Json::object()) {
    Json input = {
        {"TrainingJobName", name},
        {"RoleArn", "arn:aws:iam::123456789012:role/training"},
        {"AlgorithmSpecification", {{"TrainingImage", "image"}, {"TrainingInputMode", "FastFile"}}},
        {"InputDataConfig",
         Json::array({{{"ChannelName", "train"},
                       {"DataSource",
                        {{"S3DataSource",
                          {{"S3DataType", "S3Prefix"}, {"S3Uri", "s3://data/train/"}}}}}}})},
        {"OutputDataConfig", {{"S3OutputPath", "s3://data/out"}}},
        {"ResourceConfig", resources(600)},
        {"StoppingCondition", {{"MaxRuntimeInSeconds", 36000}}}};
    input.update(changes);
    return input;
  }

  static Json resources(int keep_alive_s, int volume_gb = 10) {
    Json config = {
        {"InstanceType", "ml.m5.large"}, {"InstanceCount", 1}, {"VolumeSizeInGB", volume_gb}};
    if (keep_alive_s > 0) config["KeepAlivePeriodInSeconds"] = keep_alive_s;
    return config;
  }

  void create(const std::string& name, const Json& changes = Json::object()) {
    const auto created = call("CreateTrainingJob", request(name, changes));
    ASSERT_TRUE(created) << created.error().to_error().text();
  }

  Json describe(const std::string& name) {
    const auto description = call("DescribeTrainingJob", {{"TrainingJobName", name}});
    EXPECT_TRUE(description) << description.error().to_error().text();
    return description.value_or(Json::object());
  }

  void pass(double seconds) { account().advance_to(clock_.now_s() + seconds); }

  static std::vector<std::string> stages(const JobAudit& job) {
    std::vector<std::string> names;
    for (const StatusTransition& transition : job.transitions)
      names.push_back(transition.status);
    return names;
  }

  static double stage_s(const JobAudit& job, const std::string& name) {
    double sum_s = 0.0;
    for (const StatusTransition& transition : job.transitions) {
      if (transition.status == name) {
        sum_s += transition.end_s.value_or(transition.start_s) - transition.start_s;
      }
    }
    return sum_s;
  }

  AccountOptions options = [] {
    AccountOptions roomy;
    roomy.warm_pool_quota = {{"*", 4}};
    return roomy;
  }();
  SimulatedProgram program = [] {
    SimulatedProgram minute;
    minute.ends_after_s = 60.0;
    return minute;
  }();
  aws::RateLimiter limiter = aws::sagemaker_rate_limiter();
  aws::Credentials credentials{"AKID", Secret("sesame"), Secret("token"), {}, "test"};
  int max_attempts = 12;
  int refreshes = 0;
  VirtualClock clock_{1'795'000'000.0};

 private:
  Rng rng_{1, "rehearsal_test"};
  std::unique_ptr<SimulatedAccount> account_;
  std::unique_ptr<aws::JsonClient> client_;
};

}  // namespace steptune::simulated
