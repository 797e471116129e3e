// SPDX-License-Identifier: Apache-2.0
#include "tuner/verdict/planned_time.hpp"

#include <cmath>
#include <limits>
#include <set>

#include <gmock/gmock.h>

#include "common/numbers.hpp"
#include "tests/unit/verdict/fixture.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "tuner/verdict/plan_notes.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> plan_texts(const StudySpec& study, const Standing& standing,
                                    const Recommendation& recommendation) {
  return texts_of(plan_notes(study, standing, recommendation));
}

/// Returns 10 ms per sample +-1 %, 8 samples per step, 5 s of start-up, and 20 s of compilation
/// after it.
Measurement stepping() {
  Measurement measurement = steady(0.01, 0.0001, 5.0);
  measurement.step_seconds_per_sample = 0.01;
  measurement.step_half_width_s = 0.0001;
  measurement.warmup_excess_s = 20.0;
  measurement.window_steps = 1000.0;
  measurement.window_samples = 8000.0;
  measurement.total_samples = 9000.0;
  return measurement;
}

PhaseEstimate seen(double count, double seconds, double period_samples) {
  PhaseEstimate phase;
  phase.count = count;
  phase.seconds = seconds;
  phase.seconds_error = 0.1 * seconds;
  phase.period_samples = period_samples;
  phase.period_error = 0.0;
  return phase;
}

PlannedRun run_of(double samples) {
  PlannedRun plan;
  plan.samples = samples;
  return plan;
}

TEST(PlannedTime, IsStartUpWarmUpExcessAndSteps) {
  const MeasuredValue time = planned_time(run_of(1e6), stepping());
  EXPECT_DOUBLE_EQ(time.value, 25.0 + 1e4);
  EXPECT_NEAR(time.error, 1e6 * 0.0001 / 1.96, 0.01);
}

TEST(PlannedTime, WithoutSamplesNothingIsPaidOnce) {
  EXPECT_DOUBLE_EQ(planned_time({}, stepping()).value, 1e4);
}

TEST(PlannedTime, PhasesComeAsOftenAsTheyWereSeen) {
  Measurement measurement = stepping();
  measurement.phases["evaluation"] = seen(4, 2.0, 2000);
  const MeasuredValue time = planned_time(run_of(1e6), measurement);
  EXPECT_DOUBLE_EQ(time.value, 25.0 + 1e4 + 500 * 2.0);
  EXPECT_NEAR(time.error, std::hypot(51.0, 500 * 0.2), 0.1);
}

TEST(PlannedTime, PhasesComeAsOftenAsThePlanDeclares) {
  Measurement measurement = stepping();
  measurement.phases["evaluation"] = seen(4, 2.0, 2000);
  PlannedRun plan = run_of(1e6);
  plan.phases["evaluation"] = {50'000.0, std::nullopt, 30.0};
  EXPECT_DOUBLE_EQ(planned_time(plan, measurement).value, 25.0 + 1e4 + 20 * 2.0)
      << "measured seconds have priority over the plan's seconds";
  plan.phases["evaluation"] = {std::nullopt, 200.0, std::nullopt};
  EXPECT_DOUBLE_EQ(planned_time(plan, measurement).value, 25.0 + 1e4 + 625 * 2.0)
      << "200 steps of 8 samples";
}

TEST(PlannedTime, APhaseThatWasSeenOnceIsUncertain) {
  Measurement measurement = stepping();
  measurement.phases["evaluation"] = seen(1, 2.0, k_nan);
  measurement.phases["evaluation"].spacing_samples = 9000.0;
  measurement.phases["evaluation"].seconds_error = std::numeric_limits<double>::infinity();
  const MeasuredValue time = planned_time(run_of(9e5), measurement);
  EXPECT_DOUBLE_EQ(time.value, 25.0 + 9e3 + 100 * 2.0);
  EXPECT_GT(time.error, 200.0) << "the same time may pass before the next one";
  PlannedRun plan = run_of(9e5);
  plan.phases["evaluation"] = {9000.0, std::nullopt, std::nullopt};
  EXPECT_NEAR(planned_time(plan, measurement).error, std::hypot(45.9, 50.0), 1.0)
      << "a declared period leaves a quarter of its duration";
}

/// Returns steps of 0.1 s, with a second more in the steps of `hiccups`.
Measurement with_hiccups(const std::set<int>& hiccups, double first_step = 0.0) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  double now_s = 5.0;
  for (int i = 1; i <= 200; ++i) {
    now_s += hiccups.contains(i) ? 1.1 : 0.1;
    Report report;
    report.received_s = now_s;
    report.step = first_step + i;
    measurer.add(report);
  }
  return measurer.current();
}

TEST(PlannedTime, RandomPhasesCostTheirMeanInTheTrial) {
  for (const std::set<int>& hiccups :
       {std::set<int>{100, 101}, {100, 120}, {30, 100, 101}, {150}, {40, 80, 120, 160}}) {
    for (const double first_step : {0.0, 1e5}) {
      const Measurement measurement = with_hiccups(hiccups, first_step);
      ASSERT_FALSE(measurement.phases.empty());
      const MeasuredValue time = planned_time(run_of(1e6), measurement);
      EXPECT_NEAR((time.value - measurement.once_s()) / 1e6, measurement.seconds_per_sample, 1e-9);
      EXPECT_LT(measurement.seconds_per_sample, 0.126);
    }
  }
}

TEST(PlannedTime, ARunThatContinuesPaysItsStartToo) {
  EXPECT_NEAR(with_hiccups({}, 0.0).startup_s, 5.0, 1e-6);
  EXPECT_NEAR(with_hiccups({}, 1e5).startup_s, 5.0, 1e-6);
}

TEST(PlannedTime, AStallBeforeTheWindowIsPaidAsAPhaseAlone) {
  // The first 40 steps are slow, with a stall among them.
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  double now_s = 5.0;
  for (int i = 1; i <= 400; ++i) {
    now_s += i <= 40 ? 0.13 : 0.1;
    if (i == 20) now_s += 3.0;
    Report report;
    report.received_s = now_s;
    report.step = i;
    measurer.add(report);
  }
  const Measurement& measurement = measurer.current();
  ASSERT_EQ(measurement.phases.size(), 1U);
  EXPECT_NEAR(measurement.once_s(), 5.0 + 40 * 0.03, 0.2);
}

TEST(PlannedTime, UnreportedStepsHaveNoPeriod) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = {}, .buffered_steps = {}});
  for (int i = 1; i <= 200; ++i) {
    Report report;
    report.received_s = 5.0 + 0.1 * i;
    report.samples = 64.0 * i;
    measurer.add(report);
  }
  const Measurement& measurement = measurer.current();
  EXPECT_LT(measurement.window_steps, 200.0) << "a report is a step, not a sample";
  PlannedRun plan = run_of(1e6);
  plan.phases["evaluation"] = {std::nullopt, 500.0, 2.0};
  const double without_phase_s = planned_time(run_of(1e6), measurement).value;
  EXPECT_DOUBLE_EQ(planned_time(plan, measurement).value, without_phase_s);
  TrialRecord trial = completed(1, 1.0);
  trial.measurement = measurement;
  EXPECT_THAT(unseen_phases(plan, {trial}), ElementsAre(HasSubstr("\"every_samples\"")));
}

TEST(PlannedTime, ATrialTooShortForAPhaseTakesTheBaselines) {
  Measurement baseline = stepping();
  baseline.phases["evaluation"] = seen(4, 2.0, 2000);
  baseline.phases["stall"] = seen(40, 1.0, 200);
  baseline.phases["stall 2"] = seen(4, 1.0, 2000);
  const Measurement quick = stepping();
  EXPECT_DOUBLE_EQ(planned_time(run_of(1e6), quick, &baseline).value, 25.0 + 1e4 + 1000.0)
      << "stalls are the configuration's own";
}

TEST(PlannedTime, UsesTheMeanRateWithoutSeparateSteps) {
  Measurement measurement = steady(0.012, 0.0001, 5.0);
  measurement.phases["evaluation"] = seen(4, 2.0, 1000);
  EXPECT_DOUBLE_EQ(planned_time(run_of(1e6), measurement).value, 5.0 + 12e3)
      << "its phases are in the mean";
}

TEST(PlannedTime, APhaseAtTheStartAloneIsPaidOnce) {
  Measurement measurement = stepping();
  measurement.phases["evaluation"] = seen(1, 4.0, k_nan);
  EXPECT_DOUBLE_EQ(planned_time(run_of(1e6), measurement).value, 25.0 + 1e4 + 4.0);
  EXPECT_DOUBLE_EQ(planned_time(PlannedRun(), measurement).value, 1e4);
  PlannedRun declared = run_of(1e6);
  declared.phases["evaluation"] = {2000.0, std::nullopt, std::nullopt};
  EXPECT_DOUBLE_EQ(planned_time(declared, measurement).value, 25.0 + 1e4 + 500 * 4.0);
  Measurement thrice = stepping();
  thrice.phases["evaluation"] = seen(3, 4.0, k_nan);
  EXPECT_DOUBLE_EQ(planned_time(run_of(1e6), thrice).value, 25.0 + 1e4 + 3 * 4.0);
  Measurement other = stepping();
  other.phases["evaluation"] = seen(3, 4.0, 1000);
  EXPECT_DOUBLE_EQ(planned_time(run_of(1e6), measurement, &other).value, 25.0 + 1e4 + 1000 * 4.0)
      << "another trial shows how often it comes";
}

TEST(UnseenPhases, APhaseAtTheStartAloneIsNamed) {
  TrialRecord trial = completed(1, 1.0);
  trial.measurement = stepping();
  trial.measurement->phases["evaluation"] = seen(1, 4.0, k_nan);
  trial.measurement->phases["checkpoint"] = seen(1, 0.001, k_nan);
  EXPECT_THAT(unseen_phases(run_of(1e6), {trial}),
              ElementsAre("evaluation came only in the first steps and took 4.0 s: how often it "
                          "comes is not known, so it is priced once; give its \"every_steps\" in "
                          "\"planned_run\""));
  TrialRecord longer = trial;
  longer.measurement->phases["evaluation"] = seen(3, 4.0, 1000);
  EXPECT_THAT(unseen_phases(run_of(1e6), {trial, longer}), IsEmpty());
}

TEST(UnseenPhases, AreNamedWithTheirPrice) {
  PlannedRun plan = run_of(1e6);
  plan.phases["evaluation"] = {25'000.0, std::nullopt, 2.0};
  plan.phases["checkpoint"] = {std::nullopt, 5000.0, std::nullopt};
  TrialRecord trial = completed(1, 1.0);
  trial.measurement = stepping();
  EXPECT_THAT(
      unseen_phases(plan, {trial}),
      ElementsAre(
          "no checkpoint was seen and the plan gives no \"seconds\": the plan's (one every "
          "5000 steps) are not included",
          "no evaluation was seen: the plan's (40) are priced with the 2.0 s that it gives"));
  EXPECT_DOUBLE_EQ(planned_time(plan, stepping()).value, 25.0 + 1e4 + 40 * 2.0);
  trial.measurement->phases["evaluation"] = seen(1, 2.0, 1.0);
  EXPECT_THAT(unseen_phases(plan, {trial}), ElementsAre(HasSubstr("no checkpoint was seen")));
  trial.measurement->window_samples = trial.measurement->total_samples = 2.0 * 5000 * 8;
  EXPECT_THAT(unseen_phases(plan, {trial}), ElementsAre(HasSubstr("no checkpoint was seen")))
      << "trials may be too short for a checkpoint";
}

TEST(PlannedTime, AnUnreportedPhaseIsNotPaidTwice) {
  PlannedRun plan = run_of(1e6);
  plan.phases["evaluation"] = {2000.0, std::nullopt, 1.5};
  Measurement measurement = stepping();
  measurement.phases["stall"] = seen(4, 2.0, 2000);
  TrialRecord trial = completed(1, 1.0);
  trial.measurement = measurement;
  EXPECT_DOUBLE_EQ(planned_time(plan, measurement).value, 25.0 + 1e4 + 500 * 2.0);
  EXPECT_THAT(unseen_phases(plan, {trial}),
              ElementsAre("no evaluation was reported: the pauses seen in trials are assumed to be "
                          "the plan's (500); its \"seconds\" are not added"));
  // Not due yet, or pauses that are too short or too few: both count as cost.
  measurement.window_samples = 1900.0;
  EXPECT_DOUBLE_EQ(planned_time(plan, measurement).value, 25.0 + 1e4 + 1000.0 + 750.0);
  measurement.window_samples = 8000.0;
  for (const PhaseEstimate& other : {seen(40, 0.2, 200), seen(2, 2.0, 4000)}) {
    trial.measurement->phases["stall"] = measurement.phases["stall"] = other;
    EXPECT_DOUBLE_EQ(planned_time(plan, measurement).value,
                     25.0 + 1e4 + 1e6 / other.period_samples * other.seconds + 750.0);
    EXPECT_THAT(unseen_phases(plan, {trial}), ElementsAre(HasSubstr("no evaluation was seen")));
  }
}

TEST(PlannedTime, UnreportedPhasesMayCoincide) {
  PlannedRun plan = run_of(1e6);
  plan.phases["evaluation"] = {2000.0, std::nullopt, 2.0};
  plan.phases["checkpoint"] = {1000.0, std::nullopt, 1.0};
  Measurement measurement = stepping();
  measurement.phases["stall"] = seen(4, 1.0, 2000);
  measurement.phases["stall 2"] = seen(4, 3.0, 2000);
  EXPECT_DOUBLE_EQ(planned_time(plan, measurement).value, 25.0 + 1e4 + 500.0 + 1500.0);
}

TEST(UnseenPhases, AnUnseenEndOfAnEpochIsReported) {
  PlannedRun plan = run_of(1e6);
  plan.phases["epoch_end"] = {250'000.0, std::nullopt, std::nullopt};
  TrialRecord trial = completed(1, 1.0);
  trial.measurement = stepping();
  EXPECT_THAT(
      unseen_phases(plan, {trial}),
      ElementsAre("no trial reached the end of an epoch: the time of the plan's 4, with any "
                  "evaluation or checkpoint there, is not included; add \"seconds\" in "
                  "\"planned_run\" to include it"));
}

TEST(MissedLimit, NamesWhatIsTooLongOrTooDear) {
  PlannedRun plan = run_of(1e6);
  EXPECT_EQ(missed_limit(plan, {1e9, 0.0}, 10.0), std::nullopt);
  plan.deadline_s = 3600.0;
  plan.max_cost_usd = 5.0;
  EXPECT_EQ(missed_limit(plan, {3600.0, 100.0}, 5.0), std::nullopt);
  EXPECT_THAT(missed_limit(plan, {4000.0, 100.0}, 1.0).value_or(""),
              HasSubstr("deadline is 1.0 h"));
  EXPECT_THAT(missed_limit(plan, {3600.0, 0.0}, 6.0).value_or(""),
              HasSubstr("costs $6.00, at most $5.00 is allowed"));
}

StudySpec batch_study(const Json& planned_run) {
  Json document = time_study().document;
  document["planned_run"] = planned_run;
  return study_from_json(document, "/studies/study.json", {}).value();
}

TEST(PlanNotes, SayWhatAnotherBatchSizeNeeds) {
  const StudySpec study = batch_study({{"samples", 1e6}, {"batch_size", "64 * x"}});
  Standing standing(ranking_rules(study));
  TrialRecord baseline = completed(1, 200.0);
  baseline.purpose = TrialPurpose::baseline;
  baseline.measurement = stepping();
  standing.put(baseline);
  standing.put(completed(4, 100.0));
  Recommendation recommendation;
  recommendation.incumbent_trial = 4;
  recommendation.configuration = completed(4, 100.0).configuration;
  EXPECT_THAT(
      plan_texts(study, standing, recommendation),
      ElementsAre(HasSubstr("batch 256 in place of 64: the plan assumes that it needs as many")));
  EXPECT_EQ(plan_notes(study, standing, recommendation)[0].subject, NoteSubject::batch_size);

  Standing reporting(ranking_rules(study));
  baseline.measurement->metrics["gradient_noise_scale"] = 128.0;
  reporting.put(baseline);
  reporting.put(completed(4, 100.0));
  recommendation.baseline_objectives = {200.0};
  recommendation.incumbent_objectives = {100.0};
  set_samples_ratio(study, reporting, recommendation);
  EXPECT_DOUBLE_EQ(recommendation.most_samples_ratio, 2.0);
  EXPECT_THAT(plan_texts(study, reporting, recommendation),
              ElementsAre(AllOf(HasSubstr("needs 1.00 to 2.00 times the samples"),
                                HasSubstr("then takes 1 min 40 s to 3 min 20 s, and may be no "
                                          "faster than the baseline's"))));
  recommendation.configuration = study.baseline;
  EXPECT_THAT(plan_texts(study, reporting, recommendation), IsEmpty());
}

TEST(PlanNotes, GiveHoursAndPaybackForAnotherBatch) {
  const StudySpec study = batch_study({{"samples", 1e6}, {"batch_size", "64 * x"}});
  Standing standing(ranking_rules(study));
  TrialRecord baseline = completed(1, 40'000.0);
  baseline.purpose = TrialPurpose::baseline;
  baseline.measurement = stepping();
  baseline.measurement->metrics["gradient_noise_scale"] = 448.0;
  standing.put(baseline);
  standing.put(completed(4, 20'000.0));
  Recommendation recommendation;
  recommendation.incumbent_trial = 4;
  recommendation.configuration = completed(4, 20'000.0).configuration;
  recommendation.baseline_objectives = {40'000.0};
  recommendation.incumbent_objectives = {20'000.0};
  recommendation.tuning_s = 400.0;
  recommendation.payback_share = 0.02;
  set_samples_ratio(study, standing, recommendation);
  ASSERT_DOUBLE_EQ(recommendation.most_samples_ratio, 1.375);
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre(HasSubstr("the planned run then takes 5.6 h to 7.6 h, and the tuning is "
                                    "paid back after 2.0 % to 3.2 % of it")));
  recommendation.tuning_s = 12'000.0;
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre(HasSubstr("paid back after 60 % to 96 % of it")));
  recommendation.tuning_s = 16'000.0;
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre(HasSubstr("paid back after 80 % of it, or not by one planned run")));
  recommendation.tuning_s = 30'000.0;
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre(HasSubstr("and the tuning is not paid back by one planned run")));
  recommendation.tuning_s = 400.0;
  recommendation.most_samples_ratio = 1.004;
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre(HasSubstr("the tuning is paid back after 2.0 % of it")))
      << "not to 2.0 %";
}

TEST(PlanNotes, ReportADeadlineWithinTheInterval) {
  const StudySpec study = batch_study({{"samples", 1e6}, {"deadline", "2h"}});
  Standing standing(ranking_rules(study));
  standing.put(completed(4, 7000.0, 300.0));
  Recommendation recommendation;
  recommendation.incumbent_trial = 4;
  recommendation.incumbent_objectives = {7000.0};
  recommendation.incumbent_half_widths = {588.0};
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre(HasSubstr("the deadline of 2.0 h may be missed")));
  recommendation.incumbent_objectives = {6000.0};
  EXPECT_THAT(plan_texts(study, standing, recommendation), IsEmpty());
  recommendation.most_samples_ratio = 1.3;
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre("the deadline of 2.0 h may be missed: 1.7 h is expected, up to 2.4 h (95 "
                          "% interval, with the samples that its batch size may need)"));
}

TEST(PlanNotes, WarnThatCountsMayBeMicroBatches) {
  Json document = time_study().document;
  document["parameters"]["x"]["role"] = "accumulation";
  document["planned_run"] = {{"samples", 1e6}, {"batch_size", "8 * x"}};
  document["reports"] = "tqdm";
  const auto notes_where = [&](double fourth_step_s, const char* preset) {
    document["reports"] = preset;
    const StudySpec study = study_from_json(document, "/studies/study.json", {}).value();
    Standing standing(ranking_rules(study));
    for (const int x : {1, 4}) {
      TrialRecord trial = completed(x, 100.0 / x);
      if (x == 1) trial.purpose = TrialPurpose::baseline;
      trial.measurement = stepping();
      trial.measurement->samples_reported = false;
      trial.measurement->window_steps = 100.0;
      trial.measurement->window_s = 100.0 * (x == 1 ? 0.1 : fourth_step_s);
      standing.put(trial);
    }
    Recommendation recommendation;
    recommendation.configuration = study.baseline;
    return plan_texts(study, standing, recommendation);
  };
  EXPECT_THAT(notes_where(0.1, "tqdm"),
              ElementsAre(AllOf(HasSubstr("takes 100 ms with x=1 and 100 ms with x=4"),
                                HasSubstr("leave x out of \"planned_run.batch_size\""))));
  EXPECT_THAT(notes_where(0.1, "key=value"), ElementsAre(HasSubstr("leave x out")));
  EXPECT_THAT(notes_where(0.38, "tqdm"), IsEmpty()) << "steps";
  EXPECT_THAT(notes_where(0.1, "lightning"), IsEmpty()) << "known to be batches";
}

TEST(PlanNotes, SayWhetherTheCheapestFinishesInTime) {
  Json document = time_study().document;
  document["objectives"] = {"cost"};
  document["planned_run"] = {{"samples", 1e6}, {"deadline", "2h"}};
  const StudySpec study = study_from_json(document, "/studies/study.json", {}).value();
  const Standing standing(ranking_rules(study));
  Recommendation recommendation;
  recommendation.configuration = study.baseline;
  recommendation.incumbent_objectives = {5.4};  // at 3.6 USD per hour
  recommendation.incumbent_half_widths = {0.36};
  EXPECT_THAT(
      plan_texts(study, standing, recommendation),
      ElementsAre(HasSubstr("in time: the planned run takes 1.5 h, its deadline is 2.0 h")));
  recommendation.incumbent_half_widths = {2.16};
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre("the deadline of 2.0 h may be missed: 1.5 h is expected, up to 2.1 h (95 "
                          "% interval)"));
}

TEST(PlanNotes, SayWhetherTheFastestCostsTooMuch) {
  const StudySpec study = batch_study({{"samples", 1e6}, {"max_cost", 8}});
  const Standing standing(ranking_rules(study));
  Recommendation recommendation;
  recommendation.configuration = study.baseline;
  recommendation.incumbent_objectives = {7200.0};
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre("the planned run costs $7.20, at most $8.00 is allowed"));
  recommendation.incumbent_half_widths = {900.0};
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre("the planned run may cost more than $8.00: $7.20 is expected, up to "
                          "$8.10 (95 % interval)"));
}

TEST(PlanNotes, ExplainAnInfeasibleBaseline) {
  const StudySpec study = time_study();
  Standing standing(ranking_rules(study));
  TrialRecord baseline = completed(1, 7000.0);
  baseline.purpose = TrialPurpose::baseline;
  baseline.status = TrialStatus::infeasible;
  baseline.failure = "the planned run takes 1.9 h, its deadline is 1.0 h";
  standing.put(baseline);
  Recommendation recommendation;
  recommendation.claim = Claim::feasible;
  EXPECT_THAT(plan_texts(study, standing, recommendation),
              ElementsAre("the baseline is infeasible: " + baseline.failure));
  recommendation.claim = Claim::faster;
  EXPECT_THAT(plan_texts(study, standing, recommendation), IsEmpty());
}

}  // namespace
}  // namespace steptune
