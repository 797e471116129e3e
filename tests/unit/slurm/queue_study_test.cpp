// SPDX-License-Identifier: Apache-2.0
// Tests a whole study on a cluster under a virtual clock; one partition has a queue of hours.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"
#include "trial_runner/slurm/slurm_settings.hpp"
#include "trial_runner/slurm/virtual_cluster.hpp"
#include "tuner/factory/study_parts.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::slurm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double k_hour_s = 3600.0;
constexpr int k_trials = 12;

Json document() {
  return Json::parse(R"({
    "name": "queued", "command": ["train", "{batch}"],
    "parameters": {
      "batch": {"type": "int", "low": 1, "high": 64, "scale": "log2"},
      "partition": {"type": "categorical", "choices": ["free", "busy"]}
    },
    "baseline": {"batch": 8, "partition": "free"},
    "planned_run": {"samples": 1e7, "batch_size": "batch"},
    "objectives": ["time"],
    "search": {"searcher": "bayes", "scheduler": "none", "seed": 1},
    "measure": {"confirm_pairs": 0, "sentinels": false, "max_trial": "1m"},
    "limits": {"wall": "5m"},
    "runner": {"type": "slurm", "partition": "{partition}"}
  })");
}

/// Result of a study.
struct Course {
  LoopResult result;
  std::vector<TrialRecord> trials;
  double end_s = 0.0;
  StudyRecord study;
  std::vector<UnusedTime> unused;
  [[nodiscard]] std::ptrdiff_t ended_by(double time_s, double begin_wall_s) const {
    return std::ranges::count_if(trials, [&](const TrialRecord& trial) {
      return trial.ended_wall_s > 0.0 && trial.ended_wall_s <= begin_wall_s + time_s;
    });
  }
  [[nodiscard]] std::ptrdiff_t count(TrialStatus status) const {
    return std::ranges::count(trials, status, &TrialRecord::status);
  }
};

bool is_in(const std::string& partition, const TrialRecord& trial) {
  return to_text(*trial.configuration.find("partition")) == partition;
}

class QueueStudy : public ::testing::Test {
 protected:
  /// Runs a study. `queues`: seconds by partition; a partition without an entry has no queue.
  Course run(const Json& json, const std::map<std::string, double>& queues) {
    return run_with(json, [queues](const VirtualJob& job) {
      JobFate fate;
      if (const auto queue = queues.find(job.partition); queue != queues.end()) {
        fate.queue_s = queue->second;
      }
      return fate;
    });
  }

  Course run_with(const Json& json, std::function<JobFate(const VirtualJob&)> fate) {
    auto study = study_from_json(json, "/nowhere/study.json", {{"cpus", 4.0}, {"gpus", 0.0}});
    EXPECT_TRUE(study) << study.error().text();
    cluster_.fate = std::move(fate);
    const auto* settings = dynamic_cast<const SlurmSettings*>(study->runner.get());
    SlurmRunner runner(clock_, cluster_.make_host(), settings->section().run);
    auto searcher = make_study_searcher(*study);
    auto scheduler = make_study_scheduler(*study);
    auto history = History::open_for_writing(folder_.path() / "history.db", clock_);
    EXPECT_TRUE(searcher && scheduler && history);
    Course course;
    const double begin_s = clock_.now_s();
    auto result = run_loop({*study, **searcher, **scheduler, runner, *history, clock_, listener_,
                            folder_.path() / "logs", nullptr});
    EXPECT_TRUE(result) << result.error().text();
    if (result) course.result = *std::move(result);
    course.end_s = clock_.now_s() - begin_s;
    course.study = *history->study("queued");
    course.trials = *history->trials(course.study.id);
    course.unused = *history->unused_times(course.study.id);
    EXPECT_EQ(cluster_.live_jobs(), 0) << "an allocation is left";
    return course;
  }

  /// Returns the fate of a job that starts shortly before ten minutes are over, and whose node
  /// fails before anything is measured.
  [[nodiscard]] JobFate lost_as_time_is_over() {
    cluster_.program = [](const StepRequest&) {
      VirtualProgram slow;
      slow.starts_after_s = 50.0;
      return slow;
    };
    JobFate fate;
    fate.queue_s = 550.0 - clock_.now_s();
    fate.ends_after_s = 60.0;
    fate.ends_as = "NODE_FAIL";
    return fate;
  }

  struct Warnings : LoopListener {
    void on_warning(const std::string& message) override { messages.push_back(message); }
    std::vector<std::string> messages;
  };

  static constexpr double k_begin_wall_s = 1'795'000'000.0;
  VirtualClock clock_{k_begin_wall_s};
  VirtualCluster cluster_{clock_};
  TemporaryFolder folder_{"queued"};
  Warnings listener_;
};

class StudyWithAQueue : public QueueStudy, public ::testing::WithParamInterface<int> {};

TEST_P(StudyWithAQueue, WaitingTrialsDelayNoOthers) {
  const double busy_queue_s = 3.0 * k_hour_s;
  Json json = document();
  json["search"]["seed"] = GetParam();
  json["budget"] = {{"trials", k_trials}};
  const Course course = run(json, {{"busy", busy_queue_s}});
  ASSERT_EQ(course.trials.size(), static_cast<std::size_t>(k_trials));
  for (const TrialRecord& trial : course.trials)
    EXPECT_EQ(trial.status, TrialStatus::completed) << trial.number << ": " << trial.failure;
  const auto busy = std::ranges::count_if(
      course.trials, [](const TrialRecord& trial) { return is_in("busy", trial); });
  ASSERT_GE(busy, 1) << "nothing was waited for";
  EXPECT_EQ(course.ended_by(0.9 * busy_queue_s, k_begin_wall_s), k_trials - busy)
      << "waiting trials do not delay others";
  EXPECT_LT(course.end_s, 1.1 * busy_queue_s) << "the queue is waited for once";
  // The space-filling trials know nothing of queues; the model learns once a trial waits.
  EXPECT_LE(busy, k_trials / 2);
}

TEST_P(StudyWithAQueue, ReportsUnusedNodesAndTheirCost) {
  constexpr double k_usd_per_hour = 36.0;
  Json json = document();
  json["search"]["seed"] = GetParam();
  json["budget"] = {{"trials", k_trials}};
  json["runner"]["price_per_node_hour"] = k_usd_per_hour;
  const Course course = run(json, {{"busy", 60.0}});
  ASSERT_FALSE(course.unused.empty());
  std::set<std::string> allocations;
  for (const TrialRecord& trial : course.trials)
    allocations.insert(trial.placement.at("allocation"));
  double unused_s = 0.0;
  for (const UnusedTime& time : course.unused) {
    EXPECT_TRUE(allocations.contains(time.machine)) << time.machine << " is no trial's";
    EXPECT_GE(time.from_wall_s, k_begin_wall_s);
    EXPECT_LT(time.from_wall_s, time.to_wall_s);
    EXPECT_LE(time.to_wall_s, k_begin_wall_s + course.end_s);
    EXPECT_NEAR(time.usd, (time.to_wall_s - time.from_wall_s) * k_usd_per_hour / k_hour_s, 1e-6);
    unused_s += time.to_wall_s - time.from_wall_s;
  }
  EXPECT_NEAR(course.study.overhead_usd, total_usd(course.unused), 1e-9);
  double trials_s = 0.0;
  for (const TrialRecord& trial : course.trials)
    trials_s += trial.spent_s;
  // All held time belongs to a trial or is reported as unused. The runner notices the end of an
  // allocation when it reads the queue, every few seconds.
  EXPECT_NEAR(unused_s + trials_s, cluster_.use().held_node_s,
              5.0 * static_cast<double>(allocations.size()));
}

TEST_F(QueueStudy, ATrialInALongOutageIsAdoptedByTheNextRun) {
  Json json = document();
  json["measure"]["max_trial"] = "1h";
  json["limits"] = {{"wall", "2h"}, {"idle", "2h"}};
  json["budget"] = {{"trials", 1}};
  cluster_.program = [](const StepRequest&) {
    VirtualProgram silent;
    silent.silent_s = 2000.0;
    return silent;
  };
  cluster_.outages = {{60.0, 1500.0}};
  auto study = study_from_json(json, "/nowhere/study.json", {{"cpus", 4.0}, {"gpus", 0.0}});
  ASSERT_TRUE(study) << study.error().text();
  {
    const auto* settings = dynamic_cast<const SlurmSettings*>(study->runner.get());
    SlurmRunner runner(clock_, cluster_.make_host(), settings->section().run);
    auto searcher = make_study_searcher(*study);
    auto scheduler = make_study_scheduler(*study);
    auto history = History::open_for_writing(folder_.path() / "history.db", clock_);
    ASSERT_TRUE(searcher && scheduler && history);
    const auto result = run_loop({*study, **searcher, **scheduler, runner, *history, clock_,
                                  listener_, folder_.path() / "logs", nullptr});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().text(), HasSubstr("running trials are taken over"));
    EXPECT_THAT(listener_.messages, Contains(HasSubstr("still runs a trial")));
  }
  cluster_.pass_to(1600.0);
  const Course course = run(json, {});
  ASSERT_EQ(course.trials.size(), 1U);
  EXPECT_EQ(course.trials[0].status, TrialStatus::completed) << course.trials[0].failure;
  EXPECT_EQ(course.trials[0].attempt, 1);
  EXPECT_EQ(cluster_.programs_started().size(), 1U);
}

TEST_F(QueueStudy, WaitingTrialsAreWithdrawnWhenTimeIsOver) {
  Json json = document();
  json["budget"] = {{"time", "1h"}, {"trials", k_trials}};
  json["measure"]["confirm_pairs"] = 1;
  json["try"] = Json::array({{{"batch", 16}, {"partition", "busy"}}});
  const Course course = run(json, {{"busy", 3.0 * k_hour_s}});
  EXPECT_LE(course.end_s, k_hour_s);
  EXPECT_THAT(course.result.reason, HasSubstr("not run: no machines were available"));
  EXPECT_THAT(listener_.messages, Contains(HasSubstr("was still waiting for machines")));
  const auto confirmed = std::ranges::count_if(
      course.trials, [](const TrialRecord& trial) { return is_confirmation(trial.purpose); });
  EXPECT_GE(confirmed, 2) << "the remaining time goes to the confirmation";
  EXPECT_GE(course.count(TrialStatus::interrupted), 1);
  for (const TrialRecord& trial : course.trials) {
    SCOPED_TRACE(trial.number);
    EXPECT_EQ(trial.status,
              is_in("busy", trial) ? TrialStatus::interrupted : TrialStatus::completed);
    EXPECT_EQ(trial.spent_usd, 0.0);
  }
  // With more time, the study resumes.
  json["budget"]["time"] = "5h";
  const Course longer = run(json, {{"busy", 1800.0}});
  EXPECT_EQ(longer.count(TrialStatus::interrupted), 0);
  EXPECT_EQ(longer.trials[1].attempt, 2);
}

TEST_F(QueueStudy, EachStepAsksForTheGpusThatAreHeld) {
  Json json = document();
  json["budget"] = {{"trials", 1}};
  json["runner"]["options"] = {"--gpus=4", "--switches=1"};
  int steps = 0;
  cluster_.program = [&steps](const StepRequest& request) {
    ++steps;
    EXPECT_THAT(request.argv, Contains("--gpus=4"));
    EXPECT_THAT(request.argv, Not(Contains("--switches=1")));
    return VirtualProgram{};
  };
  run(json, {});
  EXPECT_EQ(steps, 1);
}

TEST_F(QueueStudy, ATrialLostAtTheEndIsReported) {
  Json json = document();
  json["budget"] = {{"time", "10m"}, {"trials", 2}};
  json["try"] = Json::array({{{"batch", 16}, {"partition", "busy"}}});
  const Course course = run_with(json, [this](const VirtualJob& job) {
    return job.partition == "busy" ? lost_as_time_is_over() : JobFate{};
  });
  EXPECT_EQ(course.count(TrialStatus::interrupted), 1);
  EXPECT_THAT(course.result.reason,
              HasSubstr("trial 2 was cut off, and not run again within the budget"));
  json["budget"]["time"] = "5h";
  const Course longer = run(json, {});
  EXPECT_EQ(longer.count(TrialStatus::interrupted), 0);
  EXPECT_EQ(longer.trials[1].attempt, 2);
}

TEST_F(QueueStudy, ABaselineWithoutAStepInTimeEndsTheStudy) {
  Json json = document();
  json["budget"] = {{"time", "10m"}};
  const Course course =
      run_with(json, [this](const VirtualJob&) { return lost_as_time_is_over(); });
  EXPECT_LE(course.end_s, 700.0);
  EXPECT_EQ(course.result.end, LoopEnd::too_many_failures);
  EXPECT_THAT(course.result.reason, HasSubstr("before the tuning time (10 min) was over"));
}

TEST_F(QueueStudy, ABaselineThatWaitsTooLongEndsTheStudy) {
  Json json = document();
  json["budget"] = {{"time", "20m"}};
  const Course course = run(json, {{"free", 3.0 * k_hour_s}, {"busy", 3.0 * k_hour_s}});
  EXPECT_LE(course.end_s, 1300.0);
  EXPECT_EQ(course.result.end, LoopEnd::no_feasible_trial);
  EXPECT_THAT(course.result.reason, HasSubstr("the baseline was not measured"));
  EXPECT_EQ(course.trials.size(), 1U);
}

TEST_F(QueueStudy, ConfirmingRunsAreNotWaitedForBeyondTheTimeEither) {
  Json json = document();
  json["budget"] = {{"time", "1h"}, {"trials", 2}};
  json["measure"]["confirm_pairs"] = 3;
  json["runner"]["keep_alive"] = 0;
  json["try"] = Json::array({{{"batch", 64}, {"partition", "free"}}});
  int jobs = 0;
  const Course course = run_with(json, [&jobs](const VirtualJob&) {
    JobFate fate;
    if (++jobs > 2) fate.queue_s = 3.0 * k_hour_s;
    return fate;
  });
  EXPECT_LE(course.end_s, 1.05 * k_hour_s);
  EXPECT_THAT(course.result.reason, HasSubstr("not run: no machines were available"));
  ASSERT_TRUE(course.result.recommendation);
  EXPECT_EQ(course.result.recommendation->claim, Claim::unconfirmed);
}

TEST_F(QueueStudy, ALateConfirmingRunIsNotRepeated) {
  Json json = document();
  json["budget"] = {{"time", "10m"}, {"trials", 2}};
  json["measure"]["confirm_pairs"] = 1;
  json["limits"]["idle"] = "1h";
  json["limits"]["wall"] = "2h";
  json["try"] = Json::array({{{"batch", 64}, {"partition", "free"}}});
  int programs = 0;
  cluster_.program = [&programs](const StepRequest&) {
    VirtualProgram program;
    ++programs;
    if (programs > 2) program.silent_s = 3000.0;
    if (programs > 9) program.ends_after_s = 0.0;  // otherwise it would be run again forever
    return program;
  };
  const Course course = run(json, {});
  EXPECT_EQ(programs, 3);
  EXPECT_THAT(course.result.reason, HasSubstr("trial 3 was cut off"));
}

class StudyWithMisfortunes : public QueueStudy, public ::testing::WithParamInterface<int> {
 protected:
  JobFate draw_fate() {
    JobFate fate;
    fate.queue_s = rng_.uniform() < 0.3 ? 900.0 * rng_.uniform() : 3.0 * rng_.uniform();
    if (rng_.uniform() < 0.5) return fate;
    fate.ends_as = k_job_ends.at(rng_.below(k_job_ends.size()));
    fate.ends_after_s = 30.0 + 600.0 * rng_.uniform();
    return fate;
  }

  Rng rng_{static_cast<std::uint64_t>(GetParam()), "misfortunes"};
};

TEST_P(StudyWithMisfortunes, EndsInTimeAndReportsEachTrial) {
  constexpr double k_budget_s = 1800.0;
  constexpr double k_wall_s = 300.0;
  Json json = document();
  json["search"]["seed"] = GetParam();
  json["budget"] = {{"time", "30m"}, {"trials", k_trials}};
  json["measure"]["confirm_pairs"] = 2;
  const Course course = run_with(json, [this](const VirtualJob&) { return draw_fate(); });
  // A trial that starts before the time is over may take its own limit, and be repeated once.
  EXPECT_LT(course.end_s, k_budget_s + 3.0 * k_wall_s);
  const bool tells_of_left = course.result.reason.find("not run") != std::string::npos;
  for (const TrialRecord& trial : course.trials) {
    SCOPED_TRACE(fmt::format("trial {}: {}", trial.number, course.result.reason));
    EXPECT_TRUE(is_final(trial.status) ||
                (trial.status == TrialStatus::interrupted && tells_of_left))
        << to_text(trial.status);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StudyWithAQueue, ::testing::Values(1, 2));
INSTANTIATE_TEST_SUITE_P(Seeds, StudyWithMisfortunes, ::testing::Range(1, 51));

}  // namespace
}  // namespace steptune::slurm
