// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/trial_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cli/trial_fixtures.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;

const std::vector<ObjectiveView>& both_objectives() {
  static const std::vector<ObjectiveView> objectives = {planned_time(), planned_cost()};
  return objectives;
}

TEST(TrialJson, HasTheFiguresOfTheRecordUnderNamesWithUnits) {
  TrialRecord trial = make_trial(7, 2000.0, 10.0, 64);
  trial.objectives = {2000.0, 3.5};
  trial.standard_errors = {10.0, 0.0};
  trial.attempt = 2;
  trial.started_wall_s = 86400.0;
  trial.ended_wall_s = 86460.0;
  trial.spent_s = 60.0;
  trial.spent_usd = 0.25;
  trial.peak_memory_bytes = 1e9;
  trial.cpu_busy = 0.75;
  trial.cpu_clock = {3.25e9, 2.5e9};
  trial.storage_read_bytes = 4096.0;
  trial.expected_improvement = 0.125;
  trial.failure = "ended by a person";
  trial.placement = {{"node", "n1"}};
  trial.log_path = "/logs/7.log";
  const Json json = trial_json(trial, both_objectives());
  EXPECT_EQ(json["number"], 7);
  EXPECT_EQ(json["status"], "completed");
  EXPECT_EQ(json["attempt"], 2);
  EXPECT_EQ(json["origin"], "sobol");
  EXPECT_EQ(json["configuration"], Json({{"batch_size", 64}, {"precision", "bf16"}}));
  EXPECT_EQ(json["started"], "1970-01-02T00:00:00Z");
  EXPECT_EQ(json["ended"], "1970-01-02T00:01:00Z");
  EXPECT_EQ(json["spent_s"], 60.0);
  EXPECT_EQ(json["spent_usd"], 0.25);
  EXPECT_EQ(json["peak_memory_bytes"], 1e9);
  EXPECT_EQ(json["cpu_busy_share"], 0.75);
  EXPECT_EQ(json["cpu_clock"], Json({{"mean_hz", 3.25e9}, {"lowest_hz", 2.5e9}}));
  EXPECT_EQ(json["storage_read_bytes"], 4096.0);
  EXPECT_EQ(json["expected_improvement"], 0.125);
  EXPECT_EQ(json["failure"], "ended by a person");
  EXPECT_EQ(json["placement"]["node"], "n1");
  EXPECT_EQ(json["log"], "/logs/7.log");
  ASSERT_EQ(json["objectives"].size(), 2U);
  EXPECT_EQ(json["objectives"][0]["metric"], "time");
  EXPECT_EQ(json["objectives"][0]["value"], 2000.0);
  EXPECT_NEAR(json["objectives"][0]["half_width_95"].get<double>(), 19.6, 0.01);
  EXPECT_EQ(json["objectives"][0]["unit"], "s");
  EXPECT_EQ(json["objectives"][1]["value"], 3.5);
  EXPECT_TRUE(json["objectives"][1]["half_width_95"].is_null()) << "an error that is not known";
  EXPECT_EQ(json["objectives"][1]["unit"], "USD");
}

TEST(TrialJson, UnknownFiguresAreNull) {
  TrialRecord trial;
  trial.number = 1;
  trial.objectives = {std::nan("")};
  trial.standard_errors = {std::nan("")};
  const Json json = trial_json(trial, both_objectives());
  for (const char* key : {"confirm_pair", "measurement", "started", "ended", "peak_memory_bytes",
                          "cpu_busy_share", "cpu_clock", "gpu", "storage_read_bytes", "disturbance",
                          "expected_improvement", "failure", "log"}) {
    ASSERT_TRUE(json.contains(key)) << key;
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  ASSERT_EQ(json["objectives"].size(), 1U) << "only measured objectives are listed";
  EXPECT_TRUE(json["objectives"][0]["value"].is_null());
  EXPECT_TRUE(json["objectives"][0]["half_width_95"].is_null());
  trial.confirm_pair = 3;
  EXPECT_EQ(trial_json(trial, both_objectives())["confirm_pair"], 3);
}

TEST(TrialJson, MeasurementsHaveStepTimesAndErrors) {
  TrialRecord trial = make_trial(1, 2000.0, 10.0, 64);
  Measurement& measured = *trial.measurement;
  measured.seconds_per_sample = 0.004;
  measured.half_width_s = 0.0001;
  measured.startup_s = 3.5;
  measured.phases["evaluation"].count = 2.0;
  measured.phases["evaluation"].seconds = 1.5;
  measured.level_changes.push_back({.at_samples = 100.0, .at_s = 5.0, .ratio = 1.25});
  measured.metrics = {{"loss", 0.5}, {"broken", std::nan("")}};
  measured.metric_errors = {{"loss", 0.125}};
  measured.parts = {{"wait", 0.001}};
  const Json json = trial_json(trial, both_objectives())["measurement"];
  EXPECT_EQ(json["status"], "steady");
  EXPECT_EQ(json["seconds_per_sample"], 0.004);
  EXPECT_EQ(json["samples_per_second"], 250.0);
  EXPECT_EQ(json["half_width_95_s"], 0.0001);
  EXPECT_EQ(json["startup_s"], 3.5);
  EXPECT_EQ(json["phases"]["evaluation"]["count"], 2.0);
  EXPECT_EQ(json["phases"]["evaluation"]["seconds"], 1.5);
  EXPECT_EQ(json["level_changes"][0]["ratio"], 1.25);
  EXPECT_EQ(json["level_changes"][0]["at_samples"], 100.0);
  EXPECT_TRUE(json["level_changes"][0]["machine"].is_null());
  measured.level_changes[0].machine = MachineFigureChange{"storage_pressure", 0.125, 0.5};
  EXPECT_EQ(trial_json(trial, {})["measurement"]["level_changes"][0]["machine"],
            Json({{"figure", "storage_pressure"}, {"before", 0.125}, {"after", 0.5}}));
  EXPECT_EQ(json["metrics"]["loss"], 0.5);
  EXPECT_TRUE(json["metrics"]["broken"].is_null());
  EXPECT_EQ(json["metric_errors"], Json({{"loss", 0.125}}));
  EXPECT_EQ(json["parts_s_per_sample"]["wait"], 0.001);
  EXPECT_TRUE(json["remark"].is_null());
  EXPECT_TRUE(json["samples_reported"].is_null());
  EXPECT_EQ(json["whole_run"], false);
  measured.seconds_per_sample = 0.0;
  EXPECT_TRUE(trial_json(trial, {})["measurement"]["samples_per_second"].is_null())
      << "never an infinite speed";
}

TEST(TrialJson, DisturbancesAndGpusAreReported) {
  TrialRecord trial = make_trial(1, 2000.0, 10.0, 64);
  trial.disturbance = Disturbance{.other_load = 0.25, .steal = 0.5};
  trial.disturbed_s = 8.0;
  trial.gpu.emplace();
  trial.gpu->most_other_processes = 2;
  trial.gpu->utilisation = 0.5;
  const Json json = trial_json(trial, {});
  EXPECT_EQ(json["disturbance"], Json({{"other_load", 0.25}, {"steal", 0.5}, {"seconds", 8.0}}));
  EXPECT_EQ(json["gpu"]["other_processes"], 2);
  EXPECT_GT(json["gpu"].size(), 3U);
}

TEST(TrialJson, DetailsHaveAttemptsAndTheCommand) {
  TrialDetails details;
  EXPECT_TRUE(details_json(details)["argv"].is_null());
  EXPECT_TRUE(details_json(details)["trace"].is_null());
  EXPECT_FALSE(details_json(details).contains("machine_hours"));
  AttemptRecord lost;
  lost.attempt = 1;
  lost.status = TrialStatus::interrupted;
  lost.started_wall_s = 86400.0;
  lost.spent_s = 5.0;
  lost.spent_usd = 0.5;
  lost.failure = "taken back";
  details.attempts = {lost, {}};
  details.machine_hours = 0.125;
  details.command.emplace();
  details.command->argv = {"train", "8"};
  details.command->environment = {{"OMP_NUM_THREADS", "2"}};
  details.command->working_directory = "/work";
  const Json json = details_json(details);
  ASSERT_EQ(json["attempts"].size(), 2U);
  EXPECT_EQ(json["attempts"][0]["started"], "1970-01-02T00:00:00Z");
  EXPECT_TRUE(json["attempts"][0]["ended"].is_null());
  EXPECT_EQ(json["attempts"][0]["spent_usd"], 0.5);
  EXPECT_EQ(json["attempts"][0]["failure"], "taken back");
  EXPECT_TRUE(json["attempts"][1]["failure"].is_null());
  EXPECT_EQ(json["machine_hours"], 0.125);
  EXPECT_THAT(json["argv"], ElementsAre("train", "8"));
  EXPECT_EQ(json["environment"]["OMP_NUM_THREADS"], "2");
  EXPECT_EQ(json["working_directory"], "/work");
}

TEST(TrialJson, StudiesAndObjectivesNameDirectionsAndUnits) {
  StudyRecord study = make_study();
  study.seed = 42;
  study.elapsed_s = 12.5;
  Json json = json_of(study);
  EXPECT_EQ(json["name"], "demo");
  EXPECT_EQ(json["seed"], 42);
  EXPECT_EQ(json["tuning_s"], 12.5);
  EXPECT_TRUE(json["stop_reason"].is_null());
  EXPECT_TRUE(json["created"].is_null());
  study.stop_reason = "budget";
  study.created_wall_s = 86400.0;
  json = json_of(study);
  EXPECT_EQ(json["stop_reason"], "budget");
  EXPECT_EQ(json["created"], "1970-01-02T00:00:00Z");
  const Json objectives =
      objectives_json({planned_time(), {Objective{"accuracy", Direction::maximize}, false}});
  EXPECT_EQ(objectives[0], Json({{"metric", "time"}, {"direction", "minimize"}, {"unit", "s"}}));
  EXPECT_EQ(objectives[1]["direction"], "maximize");
}

}  // namespace
}  // namespace steptune
