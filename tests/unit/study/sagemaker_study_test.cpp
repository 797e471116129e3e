// SPDX-License-Identifier: Apache-2.0
// Tests studies whose trials rent machines: templates, prices, facts, and requests that the service
// would refuse.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"
#include "trial_runner/sagemaker/sagemaker_settings.hpp"

namespace steptune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::read;
using testing::sound;

Json cloud_document(const std::string& patch = "{}") {
  Json document = *parse_json(R"({
    "name": "cloud", "command": ["python3", "train.py", "--batch-size", "{batch_size}"],
    "parameters": {
      "batch_size": {"type": "int", "low": 16, "high": 64, "scale": "log2"},
      "instance": {"type": "categorical", "choices": ["ml.g5.xlarge", "ml.p3.2xlarge"]},
      "helpers": {"type": "int", "low": 0, "high": 2}
    },
    "baseline": {"batch_size": 32, "instance": "ml.g5.xlarge", "helpers": 0},
    "objectives": ["cost"],
    "runner": {
      "type": "sagemaker", "region": "us-east-1",
      "role": "arn:aws:iam::123456789012:role/training",
      "image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1",
      "code": "s3://bucket/code", "output": "s3://bucket/out",
      "channels": {"train": "s3://bucket/train/",
                   "labels": {"s3": "s3://bucket/labels/", "input_mode": "File"}},
      "instance_groups": [
        {"name": "trainer", "instance_type": "{instance}"},
        {"name": "helpers", "instance_type": "ml.c5.9xlarge", "instance_count": "helpers"}
      ]
    }
  })",
                              "cloud");
  document.merge_patch(*parse_json(patch, "patch"));
  return document;
}

/// Returns the document with one type of machine instead of groups.
Json plain_document(const std::string& type, const std::string& patch = "{}") {
  Json document = cloud_document();
  document["runner"].erase("instance_groups");
  document["runner"]["instance_type"] = type;
  document["command"].push_back("--on={instance}{helpers}");
  document.merge_patch(*parse_json(patch, "patch"));
  return document;
}

Configuration with(const StudySpec& study, const std::string& instance, std::int64_t helpers) {
  Configuration configuration = study.baseline;
  configuration.set("instance", instance);
  configuration.set("helpers", helpers);
  return configuration;
}

const SageMakerSection& jobs_of(const StudySpec& study) {
  return dynamic_cast<const SageMakerSettings&>(*study.runner).section();
}

/// Returns the study of a program without options, whose settings PyTorch's hook changes.
Json hooked_document(const std::string& patch = "{}") {
  Json document = plain_document("ml.g5.xlarge", R"({
    "command": ["python3", "train.py", "{instance}", "{helpers}"],
    "hooks": {"python": {"num_workers": "{batch_size}"}}, "try": null})");
  document.merge_patch(*parse_json(patch, "patch"));
  return document;
}

std::string fault_of(const Json& document) {
  const auto study = read(document);
  return study ? "" : study.error().text();
}

TEST(SageMakerStudy, ReadsTheSettingsOfItsJobs) {
  const StudySpec study = sound(cloud_document(
      R"({"limits": {"wall": "30m"}, "runner": {"subnets": ["subnet-1"], "parallel": 3,
          "security_groups": ["sg-1"], "tags": {"team": "vision"}, "volume_gb": 100,
          "checkpoints": "s3://bucket/checkpoints/", "keep_alive": "10m"}})"));
  const JobSettings& job = jobs_of(study).job;
  EXPECT_EQ(jobs_of(study).region, "us-east-1");
  EXPECT_EQ(job.role_arn, "arn:aws:iam::123456789012:role/training");
  ASSERT_EQ(job.channels.size(), 2U);
  EXPECT_EQ(job.channels[0].name, "train");
  EXPECT_EQ(job.channels[0].s3_uri, "s3://bucket/train/");
  EXPECT_EQ(job.channels[1].input_mode, "File");
  EXPECT_EQ(job.code_s3_uri, "s3://bucket/code");
  EXPECT_EQ(job.checkpoint_s3_uri, "s3://bucket/checkpoints");
  EXPECT_THAT(job.subnets, ElementsAre("subnet-1"));
  EXPECT_THAT(job.security_group_ids, ElementsAre("sg-1"));
  EXPECT_THAT(job.tags, ElementsAre(Pair("team", "vision")));
  EXPECT_EQ(job.volume_gb, 100);
  EXPECT_EQ(job.max_runtime_s, 1800.0);
  EXPECT_EQ(jobs_of(study).keep_alive_s, 600.0);
  EXPECT_EQ(study.runner->traits().parallel, 3);
}

TEST(SageMakerStudy, AFileSystemIsAChannel) {
  const StudySpec study = sound(cloud_document(
      R"({"runner": {"subnets": ["subnet-1"], "security_groups": ["sg-1"], "channels": {"labels":
          {"s3": null, "input_mode": null, "file_system": "fs-0123456789abcdef0",
           "file_system_type": "FSxLustre", "path": "/fsx/train"}}}})"));
  const Channel& channel = jobs_of(study).job.channels.at(1);
  EXPECT_EQ(channel.file_system_id, "fs-0123456789abcdef0");
  EXPECT_EQ(channel.file_system_type, "FSxLustre");
  EXPECT_EQ(channel.directory_path, "/fsx/train");
}

TEST(SageMakerStudy, MachinesFollowTheConfiguration) {
  const StudySpec study = sound(cloud_document());
  const Resources alone = study.runner->resources_of(with(study, "ml.p3.2xlarge", 0));
  EXPECT_EQ(alone, (Resources{"ml.p3.2xlarge", 1, {}})) << "no group left to speak of";
  const Resources helped = study.runner->resources_of(with(study, "ml.g5.xlarge", 2));
  EXPECT_THAT(helped.groups, ElementsAre(InstanceGroup{"trainer", "ml.g5.xlarge", 1},
                                         InstanceGroup{"helpers", "ml.c5.9xlarge", 2}));
}

TEST(SageMakerStudy, ACommandFitsIntoAContainersArguments) {
  Json document = cloud_document();
  document["command"].push_back(std::string(256, 'x'));
  EXPECT_EQ(fault_of(document), "");
  document["command"].push_back(std::string(257, 'x'));
  EXPECT_THAT(fault_of(document),
              AllOf(HasSubstr("#/command: "), HasSubstr("257 characters long; the limit is 256")));
  document = cloud_document();
  while (document["command"].size() < 101)
    document["command"].push_back("-v");
  EXPECT_THAT(fault_of(document),
              AllOf(HasSubstr("#/command: "), HasSubstr("entries; the limit is 100")));
}

TEST(SageMakerStudy, LabelsStandForTheirTexts) {
  const StudySpec study = sound(plain_document(
      "ml.{instance}", R"({"baseline": {"instance": "small"}, "parameters": {"instance":
                           {"choices": {"small": "g5.xlarge", "large": "g5.2xlarge"}}}})"));
  EXPECT_EQ(study.runner->resources_of(with(study, "large", 0)).instance_type, "ml.g5.2xlarge");
}

TEST(SageMakerStudy, PricesComeFromTheTableUnlessStated) {
  const StudySpec study = sound(cloud_document(R"({"runner": {"prices": {"ml.g5.xlarge": 1.0}}})"));
  EXPECT_DOUBLE_EQ(usd_per_hour(study, with(study, "ml.g5.xlarge", 0)), 1.0);
  EXPECT_DOUBLE_EQ(usd_per_hour(study, with(study, "ml.p3.2xlarge", 1)), 3.825 + 1.836);
  EXPECT_EQ(jobs_of(study).instances.prices.at("ml.g5.xlarge").vcpus, 4)
      << "the machine is the table's";
  EXPECT_EQ(jobs_of(study).instances.prices.at("ml.p3.2xlarge").gpus, 1);
}

TEST(SageMakerStudy, TheLongestDiscountPatternCounts) {
  const StudySpec study = sound(cloud_document(
      R"({"runner": {"discounts": {"ml.*": 0.1, "ml.p3.*": 0.36, "ml.c5.9xlarge": 0}}})"));
  EXPECT_DOUBLE_EQ(usd_per_hour(study, with(study, "ml.g5.xlarge", 0)), 1.408 * 0.9);
  EXPECT_DOUBLE_EQ(usd_per_hour(study, with(study, "ml.p3.2xlarge", 1)), 3.825 * 0.64 + 1.836);
  EXPECT_EQ(jobs_of(study).instances.prices.at("ml.g5.xlarge").usd_per_hour, 1.408)
      << "the stored price is the list price";
  const auto& settings = dynamic_cast<const SageMakerSettings&>(*study.runner);
  EXPECT_DOUBLE_EQ(settings.options().prices.instances.at("ml.g5.xlarge").usd_per_hour, 1.408 * 0.9)
      << "bills and bounds use paid prices";
  const auto again =
      study_from_json(*parse_json(dump_json(study.document), "stored"), study.file, {{"cpus", 2}});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_DOUBLE_EQ(usd_per_hour(*again, with(*again, "ml.g5.xlarge", 0)), 1.408 * 0.9)
      << "once, also after it was stored";
}

TEST(SageMakerStudy, AnUnusedDiscountIsReported) {
  const StudySpec study =
      sound(cloud_document(R"({"runner": {"discounts": {"ml.p3.*": 0.36, "ml.g4dn.*": 0.3}}})"));
  const auto lines = study.runner->summary(with(study, "ml.g5.xlarge", 0));
  EXPECT_THAT(lines.back().text,
              HasSubstr("; the discount for ml.g4dn.* matches no instance type of this study"));
  EXPECT_THAT(lines.back().text, Not(HasSubstr("discount for ml.p3.*")));
}

TEST(SageMakerStudy, VolumesCostMoneyIfInstancesHaveNoDisk) {
  const StudySpec study =
      sound(cloud_document(R"({"runner": {"volume_gb": 360, "storage_usd_per_gb_month": 0.14}})"));
  const double volume_usd = 0.14 * 360 / 720;  // a month of 30 days
  EXPECT_DOUBLE_EQ(usd_per_hour(study, with(study, "ml.p3.2xlarge", 2)),
                   3.825 + 2 * 1.836 + 3 * volume_usd);
  EXPECT_DOUBLE_EQ(usd_per_hour(study, with(study, "ml.g5.xlarge", 0)), 1.408) << "NVMe";
  const auto lines = study.runner->summary(with(study, "ml.g5.xlarge", 0));
  EXPECT_THAT(lines.back().text, HasSubstr("ml.p3.2xlarge $3.90 (list $3.83, storage $0.07)"));
}

TEST(SageMakerStudy, JobsGetThePricesOfTheirMachines) {
  const StudySpec study = sound(cloud_document(
      R"({"runner": {"discounts": {"ml.p3.*": 0.5}, "volume_gb": 360, "spot": true,
                     "storage_usd_per_gb_month": 0.14, "spot_share": 0.4}})"));
  const auto& settings = dynamic_cast<const SageMakerSettings&>(*study.runner);
  const JobSettings job = settings.options().settings;
  EXPECT_EQ(job.price_parts.at("ml.p3.2xlarge"), (PriceParts{3.825, 3.825 / 2.0, 0.07}));
  EXPECT_EQ(job.price_parts.at("ml.g5.xlarge"), (PriceParts{1.408, 0.0, 0.0})) << "NVMe";
  EXPECT_EQ(job.spot_share, 0.4);
}

TEST(SageMakerStudy, SpotIsBoundByTheOnDemandPrice) {
  const StudySpec study = sound(cloud_document(R"({"runner": {"spot": true, "spot_share": 0.5}})"));
  const Configuration configuration = with(study, "ml.p3.2xlarge", 0);
  EXPECT_DOUBLE_EQ(usd_per_hour(study, configuration), 3.825 * 0.5);
  EXPECT_DOUBLE_EQ(on_demand_usd_per_hour(study, configuration), 3.825);
  EXPECT_EQ(jobs_of(study).job.max_wait_s, 7200.0) << "twice the wall limit";
}

TEST(SageMakerStudy, AStoredStudyReadsTheSameWithoutAPriceTable) {
  for (const char* patch :
       {"{}", R"({"runner": {"prices": {"ml.g5.xlarge": 1.0}, "region": "eu-south-9", "spot": true,
                 "channels": {"labels": {"content_type": "text/csv"}}}})"}) {
    Json document = cloud_document(patch);
    document["runner"]["region"] = "us-east-1";
    const StudySpec study = sound(document);
    Json stored = *parse_json(dump_json(study.document), "stored");
    const auto again = study_from_json(stored, study.file, {{"cpus", 2}});
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(dump_json(again->document, 1), dump_json(study.document, 1));
    EXPECT_EQ(again->fingerprint, study.fingerprint);
    stored["runner"]["region"] = "no-table-1";
    EXPECT_TRUE(study_from_json(stored, study.file, {})) << "the stored study contains its prices";
  }
}

TEST(SageMakerStudy, PricesAreThoseOfTheRegionInTheAwsConfiguration) {
  Json document = cloud_document();
  document["runner"].erase("region");
  ASSERT_EQ(::setenv("AWS_REGION", "eu-south-9", 1), 0);
  const std::string fault = fault_of(document);
  ::unsetenv("AWS_REGION");
  EXPECT_THAT(fault, HasSubstr("no price table for the region eu-south-9"));
}

TEST(SageMakerStudy, FingerprintIncludesPricesOnlyForCost) {
  const char* dearer = R"({"runner": {"prices": {"ml.g5.xlarge": 9.0}}})";
  EXPECT_NE(sound(cloud_document()).fingerprint, sound(cloud_document(dearer)).fingerprint);
  Json cheap = cloud_document();
  Json dear = cloud_document(dearer);
  cheap["objectives"] = dear["objectives"] = {"time"};
  EXPECT_EQ(sound(cheap).fingerprint, sound(dear).fingerprint);
  cheap["runner"]["role"] = "arn:aws:iam::123456789012:role/other";
  cheap["runner"]["parallel"] = 4;
  EXPECT_EQ(sound(cheap).fingerprint, sound(dear).fingerprint);
  cheap["runner"]["image"] = "train:2";
  EXPECT_NE(sound(cheap).fingerprint, sound(dear).fingerprint);
}

TEST(SageMakerStudy, FactsComeFromTheInstances) {
  const StudySpec study = sound(plain_document(
      "ml.g5.2xlarge", R"({"parameters": {"workers": {"type": "int", "low": 0, "high": "cpus"}},
                           "baseline": {"workers": 8}, "env": {"W": "{workers}"}})"));
  EXPECT_EQ(study.facts.at("cpus"), 8.0) << "not this machine's";
  EXPECT_EQ(study.facts.at("gpus"), 1.0);
  EXPECT_EQ(study.facts.at("memory_gb"), 32.0);
}

TEST(SageMakerStudy, FactsComeFromTheStudy) {
  const char* patch = R"({"parameters": {"workers": {"type": "int", "low": 0, "high": "cpus"}},
                          "baseline": {"workers": 2}, "env": {"W": "{workers}"}})";
  Json document = plain_document("ml.own.xlarge", patch);
  document["runner"]["prices"]["ml.own.xlarge"] = {{"usd_per_hour", 1.5}, {"vcpus", 6}};
  const StudySpec study = sound(document);
  EXPECT_EQ(study.facts.at("cpus"), 6.0);
  EXPECT_EQ(study.facts.at("gpus"), 0.0);
  EXPECT_FALSE(study.facts.contains("memory_gb")) << "not stated";
  EXPECT_DOUBLE_EQ(usd_per_hour(study, study.baseline), 1.5);
  document["runner"]["prices"]["ml.own.xlarge"] = 1.5;
  EXPECT_THAT(fault_of(document), HasSubstr("nothing is known about ml.own.xlarge"));
}

TEST(SageMakerStudy, CountsOfMoreThan512CombinationsAreNotChecked) {
  Json document = cloud_document(R"({"parameters": {"instance": {"choices": ["ml.g5.xlarge"]}}})");
  document["runner"]["instance_groups"][1]["instance_count"] = "helpers / 2";
  document["parameters"]["helpers"]["high"] = 511;
  EXPECT_THAT(fault_of(document), HasSubstr("\"helpers / 2\" is 0.5 for"));
  document["parameters"]["helpers"]["high"] = 512;
  EXPECT_EQ(fault_of(document), "");
  document["baseline"]["helpers"] = 1;
  EXPECT_THAT(fault_of(document), HasSubstr("\"helpers / 2\" is 0.5 for"))
      << "the baseline's is not";
}

TEST(SageMakerStudy, FactsOfSeveralTypesMustBeStated) {
  const char* patch = R"({"parameters": {"workers": {"type": "int", "low": 0, "high": "cpus"}},
                          "baseline": {"workers": 1}, "env": {"W": "{workers}"}})";
  EXPECT_THAT(fault_of(cloud_document(patch)),
              HasSubstr("#/facts: \"cpus\" is mentioned, but trials run on more than one type of "
                        "instance: state \"cpus\" under \"facts\""));
  for (const char* other : {R"({"launch": {"processes_per_node": "{gpus}"}})",
                            R"({"search": {"memory_terms": ["1 / gpus"]}})"}) {
    EXPECT_THAT(fault_of(cloud_document(other)),
                HasSubstr("#/facts: \"gpus\" is mentioned, but trials run on more than one type"));
  }
  Json document = cloud_document(patch);
  document["facts"] = {{"cpus", 4}};
  EXPECT_EQ(sound(document).facts, (Facts{{"cpus", 4.0}}));
  EXPECT_THAT(sound(cloud_document()).facts, IsEmpty());
}

TEST(SageMakerStudy, ConstraintsLimitTheMachines) {
  const char* types = R"({"parameters": {"instance": {"choices": ["ml.g5.xlarge", "ml.none"]}}})";
  EXPECT_THAT(fault_of(cloud_document(types)), HasSubstr("ml.none"));
  Json document = cloud_document(types);
  document["constraints"] = {"instance == 'ml.g5.xlarge'"};
  EXPECT_EQ(fault_of(document), "") << "never asked for";
}

TEST(SageMakerStudy, AnImageMayBringItsOwnProgram) {
  Json document = cloud_document();
  document.erase("command");
  EXPECT_THAT(fault_of(document), HasSubstr("\"command\" is missing")) << "there is code to run";
  document["runner"].erase("code");
  EXPECT_EQ(fault_of(document), "") << "parameters are hyperparameters";
}

struct Refused {
  const char* name;
  const char* patch;
  const char* pointer;
  const char* message;
};

class RefusedSageMakerStudy : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedSageMakerStudy, SaysWhereAndWhy) {
  const std::string fault = fault_of(cloud_document(GetParam().patch));
  EXPECT_THAT(fault, HasSubstr(std::string("#") + GetParam().pointer + ": "));
  EXPECT_THAT(fault, HasSubstr(GetParam().message));
}

const Refused k_refused[] = {
    {"role", R"({"runner": {"role": "training"}})", "/runner/role", "does not match arn:aws"},
    {"role_missing", R"({"runner": {"role": null}})", "/runner", "\"role\" is missing"},
    {"no_image", R"({"runner": {"image": null}})", "/runner", "give \"image\""},
    {"image_and_algorithm", R"({"runner": {"algorithm": "xgboost"}})", "/runner", "give \"image\""},
    {"output", R"({"runner": {"output": "bucket/out"}})", "/runner/output", "does not match"},
    {"channel_uri", R"({"runner": {"channels": {"train": "bucket/train/"}}})",
     "/runner/channels/train", "does not match"},
    {"channel_folder", R"({"runner": {"channels": {"train": "s3://bucket/train"}}})",
     "/runner/channels/train", "end the S3 prefix with '/'"},
    {"channel_name", R"({"runner": {"channels": {"my data": "s3://bucket/train/"}}})",
     "/runner/channels/my data", "A-Z a-z 0-9"},
    {"channel_kind", R"({"runner": {"channels": {"labels": {"file_system": "fs-01234567"}}}})",
     "/runner/channels/labels", "give \"s3\""},
    {"channel_mode", R"({"runner": {"channels": {"labels": {"input_mode": "Fast"}}}})",
     "/runner/channels/labels/input_mode", "is not one of"},
    {"code_channel", R"({"runner": {"channels": {"code": "s3://bucket/other/"}}})",
     "/runner/channels/code", "rename this channel"},
    {"channel_group", R"({"runner": {"channels": {"labels": {"instance_groups": ["trainr"]}}}})",
     "/runner/channels/labels/instance_groups/0", "did you mean \"trainer\"?"},
    {"some_groups", R"({"runner": {"channels": {"labels": {"instance_groups": ["trainer"]}}}})",
     "/runner/channels", "either all channels name instance groups or none does"},
    {"file_system_without_network",
     R"({"runner": {"channels": {"labels": {"s3": null, "input_mode": "File",
         "file_system": "fs-01234567", "file_system_type": "EFS", "path": "/"}}}})",
     "/runner/channels/labels", "needs subnets and security groups"},
    {"half_a_network", R"({"runner": {"subnets": ["subnet-1"]}})", "/runner", "belong together"},
    {"region", R"({"runner": {"region": "../us"}})", "/runner/region", "is not a region"},
    {"no_machines", R"({"runner": {"instance_groups": null}})", "/runner",
     "give \"instance_type\""},
    {"both_machines", R"({"runner": {"instance_type": "ml.g5.xlarge"}})", "/runner/instance_groups",
     "give either"},
    {"unknown_type",
     R"({"parameters": {"instance": {"choices": ["ml.g5.xlarge", "ml.g5.xlage"]}}})",
     "/runner/instance_groups/0/instance_type", "did you mean \"ml.g5.xlarge\"?"},
    {"no_such_parameter", R"({"runner": {"instance_groups": [{"name": "a",
         "instance_type": "{instanc}"}]}})",
     "/runner/instance_groups/0/instance_type", "did you mean \"instance\"?"},
    {"many_types", R"({"parameters": {"helpers": {"high": 512}}, "runner": {"instance_groups":
         [{"name": "a", "instance_type": "ml.g{helpers}.xlarge"}]}})",
     "/runner/instance_groups/0/instance_type", "more than 512 combinations of values"},
    {"groups_twice", R"({"runner": {"instance_groups": [
         {"name": "a", "instance_type": "{instance}", "instance_count": "helpers + 1"},
         {"name": "a", "instance_type": "ml.c5.9xlarge"}]}})",
     "/runner/instance_groups/1", "appears twice"},
    {"fraction", R"({"runner": {"instance_groups": [{"name": "a", "instance_type": "{instance}"},
         {"name": "b", "instance_type": "ml.c5.9xlarge", "instance_count": "helpers / 2"}]}})",
     "/runner/instance_groups/1/instance_count", "must be a whole number"},
    {"nothing_left", R"({"runner": {"instance_groups": [
         {"name": "a", "instance_type": "{instance}", "instance_count": "helpers"}]}})",
     "/runner/instance_groups", "all groups are empty for helpers=0"},
    {"no_table", R"({"runner": {"region": "eu-south-9"}})", "/runner/prices",
     "steptune prices refresh"},
    {"price_zero", R"({"runner": {"prices": {"ml.g5.xlarge": 0}}})", "/runner/prices/ml.g5.xlarge",
     "must be at least"},
    {"discount_all", R"({"runner": {"discounts": {"ml.g5.xlarge": 1}}})",
     "/runner/discounts/ml.g5.xlarge", "must be at most 0.99 (is 1)"},
    {"price_text", R"({"runner": {"prices": {"ml.g5.xlarge": "1.4"}}})",
     "/runner/prices/ml.g5.xlarge", "expected USD per hour"},
    {"price_per_hour", R"({"runner": {"price_per_hour": 2}})", "/runner/price_per_hour",
     "unknown key"},
    {"spot_wait", R"({"runner": {"spot": true, "max_wait": "10m"}})", "/runner/max_wait",
     "make \"max_wait\" at least as long"},
    {"wait_without_spot", R"({"runner": {"max_wait": "10h"}})", "/runner/max_wait",
     "give \"spot\": true"},
    {"spot_pool", R"({"runner": {"spot": true, "keep_alive": 60}})", "/runner/keep_alive",
     "managed spot cannot use warm pools"},
    {"keep_alive", R"({"runner": {"keep_alive": "7h"}})", "/runner/keep_alive", "must be between"},
    {"always_heterogeneous", R"({"runner": {"keep_alive": 60},
         "parameters": {"helpers": {"low": 1}}, "baseline": {"helpers": 1}})",
     "/runner/keep_alive", "heterogeneous clusters cannot use warm pools"},
    {"long_argument", R"({"parameters": {"instance": {"choices": ["ml.g5.xlarge"]}},
         "command": ["python3", "train.py", "{batch_size}",
         "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"]})",
     "/command", "the limit is 256"},
    {"wall", R"({"limits": {"wall": "29d"}})", "/limits/wall", "is not between"},
};
INSTANTIATE_TEST_SUITE_P(Cases, RefusedSageMakerStudy, ::testing::ValuesIn(k_refused),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(ReplayStudy, MayStandForRentedMachines) {
  Json document = cloud_document();
  document["runner"] = *parse_json(
      R"x({"type": "replay", "seconds_per_sample": "1 / (batch_size * (1 + helpers))",
           "instance_groups": [
             {"name": "trainer", "instance_type": "{instance}"},
             {"name": "helpers", "instance_type": "ml.c5.9xlarge", "instance_count": "helpers"}]})x",
      "runner");
  const StudySpec study = sound(document);
  EXPECT_DOUBLE_EQ(usd_per_hour(study, with(study, "ml.p3.2xlarge", 2)), 3.825 + 2 * 1.836);
  const auto again = study_from_json(study.document, study.file, {});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->fingerprint, study.fingerprint);
  document["runner"]["price_per_hour"] = 2.0;
  EXPECT_THAT(fault_of(document), HasSubstr("#/runner/price_per_hour: "));
}

TEST(SageMakerStudy, ProgramsMayHaveTheHookWhateverTheirJobsNeed) {
  for (const char* patch :
       {"{}", R"({"runner": {"instance_count": 2}})", R"({"runner": {"spot": true}})"}) {
    EXPECT_EQ(fault_of(hooked_document(patch)), "") << patch;
  }
  EXPECT_THAT(fault_of(hooked_document(R"({"trials": "forked"})")),
              HasSubstr("processes of this machine, and the runner is sagemaker"));
  Json without_command = hooked_document(R"({"runner": {"code": null}})");
  without_command.erase("command");
  EXPECT_THAT(fault_of(without_command), HasSubstr("give \"command\""));
}

TEST(SageMakerStudy, TheHookTakesPlacesOfHyperparameters) {
  Json document = hooked_document();
  for (int i = 0; i < 80; ++i) {
    const std::string name = "p" + std::to_string(i);
    document["parameters"][name] = {{"type", "bool"}};
    document["baseline"][name] = false;
    document["command"].push_back("{" + name + "}");
  }
  EXPECT_THAT(fault_of(document), HasSubstr("entries; the limit is 100"));
}

}  // namespace
}  // namespace steptune
