// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trial_runner/sagemaker/failure.hpp"
#include "trial_runner/sagemaker/job_name.hpp"
#include "trial_runner/sagemaker/job_price.hpp"
#include "trial_runner/sagemaker/job_request.hpp"
#include "trial_runner/sagemaker/pool_key.hpp"

namespace steptune {
namespace {

using testing::HasSubstr;

JobSettings settings() {
  JobSettings settings;
  settings.role_arn = "arn:aws:iam::123456789012:role/training";
  settings.image = "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1";
  settings.output_s3_uri = "s3://bucket/out";
  settings.channels = {{.name = "train", .s3_uri = "s3://bucket/train/"}};
  return settings;
}

TrialSpec trial() {
  TrialSpec spec;
  spec.key = {7, 2};
  spec.argv = {"python3", "/opt/ml/code/train.py", "--batch-size", "64"};
  spec.environment = {{"OMP_NUM_THREADS", "4"}};
  spec.configuration.set("batch_size", std::int64_t{64});
  return spec;
}

Json input(const JobSettings& job, TrialSpec spec, Resources resources = {"ml.g5.xlarge"},
           int keep_alive_s = 600) {
  spec.resources = std::move(resources);
  return create_training_job_input(job, {"name-t7-a2", spec, keep_alive_s});
}

std::string faults(const Json& json) {
  const auto checked = check_training_job_input(json);
  return checked ? "" : checked.error().text();
}

TEST(JobName, IsDeterministicAndFitsTheService) {
  const std::string prefix = job_name_prefix("résnet_nightly.v2 " + std::string(100, 'x'), "db");
  const std::string name = job_name(prefix, {1'000'000'000'000, 999});
  EXPECT_LE(name.size(), 63U);
  EXPECT_EQ(name, job_name(job_name_prefix("résnet_nightly.v2 " + std::string(100, 'x'), "db"),
                           {1'000'000'000'000, 999}));
  EXPECT_THAT(name, testing::MatchesRegex("[a-zA-Z0-9-]+"));
  EXPECT_NE(prefix, job_name_prefix("résnet_nightly.v2 " + std::string(100, 'x'), "other db"));
  EXPECT_THAT(job_name_prefix("---", "db"), testing::StartsWith("study-"));
}

TEST(JobName, FurtherLaunchesOfAnAttemptHaveNamesOfTheirOwn) {
  const std::string prefix = job_name_prefix("study", "salt");
  EXPECT_EQ(job_name(prefix, {12, 3}), prefix + "t12-a3");
  EXPECT_EQ(job_name(prefix, {12, 3}, 2), prefix + "t12-a3-r2");
}

TEST(Failure, ClassesFollowTheReasonsThatTheServiceGives) {
  const auto classify = [](const char* reason) { return classify_failure(reason); };
  EXPECT_EQ(classify("CapacityError: Unable to provision requested ML compute capacity."),
            JobFailure::capacity);
  EXPECT_EQ(classify("InternalServerError: We encountered an internal error. Please try again."),
            JobFailure::internal);
  EXPECT_EQ(classify("ClientError: Please use an instance type with more memory, or reduce ..."),
            JobFailure::out_of_memory);
  EXPECT_EQ(classify("AlgorithmError: OutOfMemoryError('CUDA out of memory. Tried to allocate 2 "
                     "GiB'), exit code: 1"),
            JobFailure::out_of_memory);
  EXPECT_EQ(classify("AlgorithmError: ExecuteUserScriptError:\nExitCode 1, exit code: 1"),
            JobFailure::user_code);
  EXPECT_EQ(classify("AlgorithmError: RuntimeError('NCCL error, internal error'), exit code: 1"),
            JobFailure::user_code);
  EXPECT_EQ(classify(""), JobFailure::user_code);
}

TEST(PoolKey, OrderOfSubnetsDoesNotMatterButVolumeDoes) {
  JobSettings a = settings();
  a.subnets = {"subnet-1", "subnet-2"};
  JobSettings b = settings();
  b.subnets = {"subnet-2", "subnet-1"};
  EXPECT_EQ(pool_key(a, {"ml.g5.xlarge"}), pool_key(b, {"ml.g5.xlarge"}));
  b.volume_gb = 31;
  EXPECT_NE(pool_key(a, {"ml.g5.xlarge"}), pool_key(b, {"ml.g5.xlarge"}));
  b.spot = true;
  EXPECT_EQ(pool_key(b, {"ml.g5.xlarge"}), std::nullopt);
}

TEST(JobInput, TheProgramSeesTheSameWordsAsOnThisMachine) {
  const Json json = input(settings(), trial());
  EXPECT_EQ(faults(json), "");
  EXPECT_EQ(json["AlgorithmSpecification"]["ContainerEntrypoint"], Json::array({"python3"}));
  EXPECT_EQ(json["AlgorithmSpecification"]["ContainerArguments"],
            Json::array({"/opt/ml/code/train.py", "--batch-size", "64"}));
  EXPECT_EQ(json["HyperParameters"]["batch_size"], "64");
  EXPECT_EQ(json["Environment"]["OMP_NUM_THREADS"], "4");
  EXPECT_FALSE(json["Environment"]["STEPTUNE_TRIAL"].get<std::string>().empty())
      << "without this variable, the program reports nothing";
  EXPECT_EQ(json["ResourceConfig"]["KeepAlivePeriodInSeconds"], 600);
  EXPECT_EQ(json["ProfilerConfig"]["DisableProfiler"], true);
}

TEST(JobInput, ThePriceVariableYieldsToTheProgramsVariables) {
  JobSettings job = settings();
  job.price_parts = {{"ml.g5.xlarge", {1.408, 0.0, 0.0}}};
  TrialSpec spec = trial();
  EXPECT_TRUE(input(job, spec)["Environment"].contains(k_price_variable));
  EXPECT_FALSE(input(job, spec, {"ml.p3.2xlarge"})["Environment"].contains(k_price_variable))
      << "the price is not known";
  constexpr std::size_t k_most = 100;
  for (int i = 0; input(job, spec)["Environment"].size() < k_most; ++i)
    spec.environment[fmt::format("V{}", i)] = "1";
  // A further variable of the program takes the place of the price.
  spec.environment["OF_THE_PROGRAM"] = "1";
  const Json full = input(job, spec);
  EXPECT_EQ(full["Environment"].size(), k_most);
  EXPECT_EQ(full["Environment"]["OF_THE_PROGRAM"], "1");
  EXPECT_FALSE(full["Environment"].contains(k_price_variable));
  EXPECT_EQ(faults(full), "");
}

TEST(JobInput, CodeFromS3RunsInItsFolderWithTheSameWords) {
  JobSettings job = settings();
  job.code_s3_uri = "s3://bucket/code";
  const Json json = input(job, trial());
  EXPECT_EQ(faults(json), "");
  EXPECT_EQ(json["AlgorithmSpecification"]["ContainerEntrypoint"], Json::array({"/bin/sh"}));
  EXPECT_EQ(json["AlgorithmSpecification"]["ContainerArguments"],
            Json::array({"-c", "cd /opt/ml/input/data/code && exec \"$@\"", "steptune", "python3",
                         "/opt/ml/code/train.py", "--batch-size", "64"}));
  const Json& channel = json["InputDataConfig"].back();
  EXPECT_EQ(channel["ChannelName"], "code");
  EXPECT_EQ(channel["InputMode"], "File");
  EXPECT_EQ(channel["DataSource"]["S3DataSource"]["S3Uri"], "s3://bucket/code/");
}

TEST(JobInput, ChannelsNameOnlyTheGroupsThatTheJobHas) {
  JobSettings job = settings();
  job.code_s3_uri = "s3://bucket/code/";
  job.channels[0].instance_groups = {"helpers", "trainer"};
  job.channels.push_back({.name = "extra", .s3_uri = "s3://b/x/", .instance_groups = {"helpers"}});
  const auto groups_of = [](const Json& channel) {
    return channel["DataSource"]["S3DataSource"].value("InstanceGroupNames", Json());
  };
  Resources cluster;
  cluster.groups = {{"trainer", "ml.g5.xlarge", 1}, {"loaders", "ml.c5.xlarge", 2}};
  const Json partly = input(job, trial(), cluster, 0);
  EXPECT_EQ(faults(partly), "");
  ASSERT_EQ(partly["InputDataConfig"].size(), 2U) << "nothing reads \"extra\"";
  EXPECT_EQ(groups_of(partly["InputDataConfig"][0]), Json::array({"trainer"}));
  EXPECT_EQ(groups_of(partly["InputDataConfig"][1]), Json::array({"trainer", "loaders"}));
  const Json alone = input(job, trial(), {"ml.g5.xlarge"}, 0);
  EXPECT_EQ(faults(alone), "");
  ASSERT_EQ(alone["InputDataConfig"].size(), 3U);
  for (const Json& channel : alone["InputDataConfig"])
    EXPECT_TRUE(groups_of(channel).is_null());
}

TEST(JobInput, InvalidInputIsRefusedWithItsPlace) {
  JobSettings job = settings();
  job.role_arn = "training";
  job.channels[0].s3_uri = "s3://bucket/train";
  job.spot = true;
  job.max_wait_s = 1;
  TrialSpec spec = trial();
  spec.argv.push_back(std::string(300, 'x'));
  spec.environment["1BAD"] = "x";
  const std::string text = faults(input(job, spec));
  for (const char* expected :
       {"/RoleArn: \"training\" does not match", "end the S3 prefix with '/'",
        "/AlgorithmSpecification/ContainerArguments/3: 300 characters long; the limit is 256",
        "/Environment/1BAD", "warm pools cannot be used with managed spot",
        "at least the longest run time"}) {
    EXPECT_THAT(text, HasSubstr(expected));
  }
}

TEST(JobInput, HeterogeneousClustersTakeNoPool) {
  const Resources groups{"", 1, {{"gpu", "ml.p4d.24xlarge", 1}, {"cpu", "ml.c5.18xlarge", 2}}};
  EXPECT_EQ(faults(input(settings(), trial(), groups, 0)), "");
  EXPECT_THAT(faults(input(settings(), trial(), groups)), HasSubstr("heterogeneous"));
}

}  // namespace
}  // namespace steptune
