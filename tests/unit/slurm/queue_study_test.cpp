// SPDX-License-Identifier: Apache-2.0
// A whole study on a cluster under a virtual clock, one partition of which has a queue of hours.
#include <algorithm>
#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/slurm/virtual_cluster.hpp"
#include "trial_runner/slurm/need.hpp"
#include "trial_runner/slurm/slurm_runner.hpp"
#include "trial_runner/slurm/slurm_settings.hpp"
#include "tuner/assembly/study_parts.hpp"
#include "tuner/loop/loop.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::slurm {
namespace {

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

/// What became of a study.
struct Course {
  std::vector<TrialRecord> trials;
  double end_s = 0.0;
  [[nodiscard]] std::ptrdiff_t ended_by(double time_s, double begin_wall_s) const {
    return std::ranges::count_if(trials, [&](const TrialRecord& trial) {
      return trial.ended_wall_s > 0.0 && trial.ended_wall_s <= begin_wall_s + time_s;
    });
  }
};

class StudyWithAQueue : public ::testing::TestWithParam<int> {
 protected:
  Course run(double busy_queue_s) {
    Json json = document();
    json["search"]["seed"] = GetParam();
    json["budget"] = {{"trials", k_trials}};
    auto study = study_from_json(json, "/nowhere/study.json", {{"cpus", 4.0}, {"gpus", 0.0}});
    EXPECT_TRUE(study) << study.error().text();
    cluster_.fate = [busy_queue_s](const VirtualJob& job) {
      JobFate fate;
      if (job.partition == "busy") fate.queue_s = busy_queue_s;
      return fate;
    };
    const auto* settings = dynamic_cast<const SlurmSettings*>(study->runner.get());
    SlurmRunner runner(clock_, cluster_.make_host(), settings->options());
    auto searcher = make_study_searcher(*study);
    auto scheduler = make_study_scheduler(*study);
    auto history = History::open_for_writing(folder_.path() / "history.db", clock_);
    EXPECT_TRUE(searcher && scheduler && history);
    LoopListener nobody;
    const auto result = run_loop({*study, **searcher, **scheduler, runner, *history, clock_, nobody,
                                  folder_.path() / "logs", nullptr});
    EXPECT_TRUE(result) << result.error().text();
    Course course;
    course.end_s = clock_.now_s();
    course.trials = *history->trials(history->study("queued")->id);
    EXPECT_EQ(cluster_.live_jobs(), 0) << "an allocation is left";
    return course;
  }

  static constexpr double k_begin_wall_s = 1'795'000'000.0;
  VirtualClock clock_{k_begin_wall_s};
  VirtualCluster cluster_{clock_, 1};
  TemporaryFolder folder_{"queued"};
};

TEST_P(StudyWithAQueue, GoesOnWhereTheQueueIsShortAndEnds) {
  const double busy_queue_s = 3.0 * k_hour_s;
  const Course course = run(busy_queue_s);
  ASSERT_EQ(course.trials.size(), static_cast<std::size_t>(k_trials));
  for (const TrialRecord& trial : course.trials)
    EXPECT_EQ(trial.status, TrialStatus::completed) << trial.number << ": " << trial.failure;
  const auto busy = std::ranges::count_if(course.trials, [](const TrialRecord& trial) {
    return to_text(*trial.configuration.find("partition")) == "busy";
  });
  ASSERT_GE(busy, 1) << "nothing was waited for";
  EXPECT_EQ(course.ended_by(0.9 * busy_queue_s, k_begin_wall_s), k_trials - busy)
      << "what waits holds up nothing";
  EXPECT_LT(course.end_s, 1.1 * busy_queue_s) << "the queue is waited for once";
  // The space-filling trials know nothing of queues; the model does once one is waited for.
  EXPECT_LE(busy, k_trials / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StudyWithAQueue, ::testing::Values(1, 2));

}  // namespace
}  // namespace steptune::slurm
