// SPDX-License-Identifier: Apache-2.0
#include "tuner/serve/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using testing::HasSubstr;
using testing::Not;

StudyFigures study_of(const std::string& name) {
  StudyFigures study;
  study.listed.record.name = name;
  study.listed.record.status = StudyStatus::running;
  study.listed.record.elapsed_s = 90.0;
  study.listed.record.overhead_usd = 0.25;  // cost of idle machines
  study.listed.counts = {{TrialStatus::completed, 3}, {TrialStatus::failed, 2}};
  study.spending = {60.0, 1.5, 4};  // billed seconds, US dollars, relaunches
  study.idle_s = 45.5;
  study.machines = {{"1 ml.g5.xlarge", 2}};
  return study;
}

TEST(Metrics, GroupSamplesByNameUnderOneHelpAndTypeLine) {
  StudyFigures study = study_of("nightly");
  study.objectives =
      objective_views(Json{{"objectives", {"time", "cost"}}, {"planned_run", {{"samples", 1e9}}}});
  study.best = {3600.0, 2.5};
  const std::string text = metrics_text({study, study_of("other")}, "1.2.3");
  for (const char* line :
       {"steptune_build_info{version=\"1.2.3\"} 1\n", "# TYPE steptune_trials gauge\n",
        "steptune_study_running{study=\"nightly\"} 1\n",
        "steptune_trials{study=\"nightly\",state=\"completed\"} 3\n",
        "steptune_trials{study=\"nightly\",state=\"running\"} 0\n",
        "steptune_machines_in_use{study=\"nightly\",machines=\"1 ml.g5.xlarge\"} 2\n",
        "steptune_trial_faults_total{study=\"nightly\",kind=\"failed\"} 2\n",
        "steptune_trial_faults_total{study=\"nightly\",kind=\"relaunched\"} 4\n",
        "steptune_best_planned_run_seconds{study=\"nightly\"} 3600\n",
        "steptune_best_planned_run_dollars{study=\"nightly\"} 2.5\n",
        "steptune_spend_dollars_total{study=\"nightly\",for=\"trials\"} 1.5\n",
        "steptune_spend_dollars_total{study=\"nightly\",for=\"idle_machines\"} 0.25\n",
        "steptune_billed_seconds_total{study=\"nightly\"} 60\n",
        "# HELP steptune_machines_idle_seconds_total Seconds ",
        "# TYPE steptune_machines_idle_seconds_total counter\n",
        "steptune_machines_idle_seconds_total{study=\"nightly\"} 45.5\n",
        "steptune_tuning_seconds_total{study=\"other\"} 90\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  const std::string head = "# TYPE steptune_trials gauge";
  EXPECT_EQ(text.find(head), text.rfind(head)) << "samples of a name stand together";
  EXPECT_TRUE(text.ends_with('\n'));
}

TEST(Metrics, AnUnreadableStudyShowsOnlyStateCountsAndRecordedFigures) {
  StudyFigures study;
  study.listed = study_of("broken").listed;
  study.fault = "trial 3 is damaged";
  const std::string text = metrics_text({study, study_of("sound")}, "1");
  EXPECT_THAT(text, HasSubstr("steptune_study_unreadable{study=\"broken\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("steptune_study_unreadable{study=\"sound\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("steptune_trials{study=\"broken\",state=\"completed\"} 3\n"));
  EXPECT_THAT(text, Not(HasSubstr("steptune_billed_seconds_total{study=\"broken\"}")));
  EXPECT_THAT(text, Not(HasSubstr("{study=\"broken\",for=\"trials\"}")));
  EXPECT_THAT(text, Not(HasSubstr("steptune_machines_idle_seconds_total{study=\"broken\"}")));
}

TEST(Metrics, NamesDifferByTheUnitOfTheObjective) {
  StudyFigures per_sample = study_of("a");
  per_sample.objectives = objective_views(Json{{"objectives", {"time"}}});
  per_sample.best = {12.0};
  StudyFigures with_metric = study_of("b");
  with_metric.objectives = objective_views(
      Json::parse(R"({"objectives": [{"metric": "loss", "direction": "minimize"}]})"));
  with_metric.best = {0.5};
  const std::string text = metrics_text({per_sample, with_metric}, "1");
  EXPECT_THAT(text, HasSubstr("steptune_best_million_samples_seconds{study=\"a\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("steptune_best_metric{study=\"b\",metric=\"loss\"} 0.5\n"));
  EXPECT_THAT(text, Not(HasSubstr("planned_run")));
}

TEST(Metrics, EscapeNamesOfStudies) {
  const std::string text = metrics_text({study_of("a\"} 1\nevil{b=\"\\ \xff \x1b[31m")}, "1");
  EXPECT_THAT(text,
              HasSubstr("steptune_study_running{study=\"a\\\"} 1\\nevil{b=\\\"\\\\ \xef\xbf\xbd "));
  EXPECT_THAT(text, Not(HasSubstr("\nevil")));
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    EXPECT_TRUE(line.starts_with("steptune_") || line.starts_with("# ")) << line;
  }
}

TEST(Metrics, WithoutStudiesOnlyTheProgramsVersionIsShown) {
  EXPECT_EQ(metrics_text({}, "1"),
            "# HELP steptune_build_info 1, labelled with the version of the program.\n"
            "# TYPE steptune_build_info gauge\nsteptune_build_info{version=\"1\"} 1\n");
}

}  // namespace
}  // namespace steptune
