// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/trial_spec.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verdict/fixture.hpp"
#include "tuner/loop/end_cause.hpp"
#include "tuner/loop/hook_check.hpp"

namespace steptune {
namespace {

StudySpec hooked_study(const char* trials = "attached") {
  Json document = parse_json(R"({
    "name": "s", "command": ["python3", "train.py"],
    "hooks": {"python": {"num_workers": "{x}"}},
    "parameters": {"x": {"type": "int", "low": 0, "high": 4}}, "baseline": {"x": 0}
  })",
                             "study")
                      .value();
  document["trials"] = trials;
  return study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
}

/// Returns the baseline's time per sample that a live trial is given. The arguments are the
/// baseline's seconds per sample: `step_rate` in steps alone, `rate` in all.
std::optional<double> level(double step_rate, double rate) {
  TrialRecord baseline;
  baseline.measurement = steady(rate);
  baseline.measurement->step_seconds_per_sample = step_rate;
  TrialRecord trial;
  trial.number = 2;
  trial.purpose = TrialPurpose::search;
  trial.configuration.set("x", std::int64_t{3});
  const TrialSpec spec = make_trial_spec(hooked_study(), trial, &baseline);
  EXPECT_TRUE(spec.live);
  return spec.live ? spec.live->baseline_seconds_per_sample : std::nullopt;
}

TEST(TrialSpecOfLiveTrial, HasTheBaselinesStepTimeOrElseItsWholeTime) {
  constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(level(0.25, 0.5), 0.25);
  EXPECT_EQ(level(k_unknown, 0.5), 0.5);
  EXPECT_EQ(level(k_unknown, k_unknown), std::nullopt);
}

TEST(TrialSpecOfLiveTrial, ConfirmingTrialsTakeNoTurns) {
  TrialRecord baseline;
  baseline.measurement = steady(0.5);
  TrialRecord trial;
  trial.number = 3;
  trial.purpose = TrialPurpose::confirm_incumbent;
  trial.configuration.set("x", std::int64_t{3});
  const auto live = make_trial_spec(hooked_study("attached"), trial, &baseline).live;
  ASSERT_TRUE(live);
  EXPECT_EQ(live->knobs.size(), 1U);
  EXPECT_FALSE(live->baseline_seconds_per_sample);
}

TEST(TrialSpecOfLiveTrial, NeedsTheSameConfigurationFile) {
  Json document = hooked_study().document;
  document["parameters"]["batch"] = {{"type", "int"}, {"low", 1}, {"high", 8}};
  document["baseline"]["batch"] = 2;
  document["command"].push_back("{conf}");
  document["config_files"]["conf"] = {
      {"file", "/none/conf.yaml"}, {"content", "batch: 2\n"}, {"edits", {{"batch", "{batch}"}}}};
  const StudySpec study =
      study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
  TrialRecord trial;
  trial.number = 2;
  trial.log_path = "/logs/trial-2.log";
  trial.configuration = study.baseline;
  trial.configuration.set("x", std::int64_t{3});
  EXPECT_TRUE(make_trial_spec(study, trial).live);
  EXPECT_EQ(make_trial_spec(study, trial).argv.back(), "/logs/trial-2.conf.yaml");
  trial.configuration.set("batch", std::int64_t{4});
  EXPECT_FALSE(make_trial_spec(study, trial).live);
}

TEST(TrialSpecOfForkedTrial, SearchTrialsMayBeForkedAndConfirmingOnesMayNot) {
  TrialRecord trial;
  trial.number = 3;
  trial.configuration.set("x", std::int64_t{3});
  for (const TrialPurpose purpose :
       {TrialPurpose::baseline, TrialPurpose::search, TrialPurpose::sentinel}) {
    trial.purpose = purpose;
    EXPECT_TRUE(make_trial_spec(hooked_study("forked"), trial).forked_modules);
    EXPECT_FALSE(make_trial_spec(hooked_study("fresh"), trial).forked_modules);
    EXPECT_FALSE(make_trial_spec(hooked_study("forked"), trial).live);
  }
  for (const TrialPurpose purpose :
       {TrialPurpose::confirm_incumbent, TrialPurpose::confirm_baseline}) {
    trial.purpose = purpose;
    EXPECT_FALSE(make_trial_spec(hooked_study("forked"), trial).forked_modules);
  }
}

TEST(HookOfATrial, NamesTheFamiliesOfTheStudysKnobs) {
  const StudySpec study = hooked_study("fresh");
  TrialRecord trial;
  trial.configuration = study.baseline;
  const auto request =
      parse_json(make_trial_spec(study, trial).environment.at("STEPTUNE_PYTHON"), "request");
  EXPECT_EQ((*request)["families"], (Json{"pytorch"})) << "also without a changed knob";
  EXPECT_EQ((*request)["knobs"], Json::object());
}

TEST(HookOfATrial, HasNoFileOnRemoteMachines) {
  TrialRecord trial;
  trial.log_path = "/logs/trial-1.log";
  const auto names_for = [&trial](const std::string& runner) {
    Json document = hooked_study("fresh").document;
    document["runner"] = parse_json(runner, "runner").value();
    const StudySpec study =
        study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
    trial.configuration = study.baseline;
    const TrialSpec spec = make_trial_spec(study, trial);
    EXPECT_FALSE(spec.python_path.empty()) << runner;
    return std::pair(spec.environment.at("STEPTUNE_PYTHON"), study);
  };
  const std::string sagemaker = R"({"type": "sagemaker", "region": "us-east-1", "image": "image",
    "role": "arn:aws:iam::123456789012:role/training", "output": "s3://bucket/out",
    "instance_type": "ml.g5.xlarge"})";
  EXPECT_THAT(names_for(R"({"type": "local"})").first,
              testing::HasSubstr("/logs/trial-1.log.hook"));
  EXPECT_THAT(names_for(R"({"type": "slurm"})").first,
              testing::HasSubstr("/logs/trial-1.log.hook"));
  const auto [hook_log, study] = names_for(sagemaker);
  EXPECT_THAT(hook_log, testing::Not(testing::HasSubstr("events")));
  EXPECT_THAT(check_hook(study, study.baseline, HookLog(), "/nonexistent").missing.value_or(""),
              testing::HasSubstr("the hook reported nothing"));
}

TEST(CheckHook, ReportsABaselineThatDiffersFromTheProgram) {
  const StudySpec study = hooked_study("fresh");
  HookLog hook_log;
  hook_log.add(R"({"event":"patched","pid":7,"torch":"1.13.1","device":"cpu"})");
  hook_log.add(R"({"event":"knob","knob":"num_workers","may":true,"today":2,"value":2})");
  EXPECT_EQ(check_hook(study, study.baseline, hook_log, "/nonexistent").not_applied,
            "num_workers=0 could not be set, it is 2; \"baseline\" must be what the program does "
            "without the hook: write that value there");
  Configuration other;
  other.set("x", std::int64_t{3});
  EXPECT_EQ(check_hook(study, other, hook_log, "/nonexistent").not_applied,
            "num_workers=3 could not be set, it is 2");
}

TEST(VariablesUnlikeBaseline, AreThoseOfKnobsAndOfTheStudy) {
  Json document = hooked_study("fresh").document;
  document["env"] = {{"NCCL_DEBUG", "WARN"}, {"NCCL_NSOCKS_PERTHREAD", "{x}"}};
  document["hooks"]["python"]["omp_wait_policy"] = "{policy}";
  document["parameters"]["policy"] = {{"type", "categorical"}, {"choices", {"default", "active"}}};
  document["baseline"]["policy"] = "default";
  const StudySpec study =
      study_from_json(document, "/studies/study.json", {{"cpus", 1}, {"gpus", 0}}).value();
  Configuration other = study.baseline;
  EXPECT_EQ(variables_unlike_baseline(study, other), "");
  other.set("policy", std::string("active"));
  other.set("x", std::int64_t{3});
  EXPECT_EQ(variables_unlike_baseline(study, other),
            "it set NCCL_NSOCKS_PERTHREAD=3 OMP_WAIT_POLICY=active, and the baseline did not: if "
            "that hangs again, remove the value from the study file");
}

}  // namespace
}  // namespace steptune
