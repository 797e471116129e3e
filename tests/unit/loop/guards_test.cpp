// SPDX-License-Identifier: Apache-2.0
#include "tuner/loop/guards.hpp"

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/unit/verdict/fixture.hpp"
#include "trial_runner/measure/measurer.hpp"
#include "trial_runner/reports/report_reader.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Guard loss_after(double samples) {
  Guard guard;
  guard.metric = "loss";
  guard.after_samples = samples;
  guard.max_ratio_to_baseline = 1.02;
  return guard;
}

Measurement reporting(double samples, double loss) {
  Measurement measurement;
  measurement.total_samples = samples;
  measurement.metrics["loss"] = loss;
  return measurement;
}

/// Adds a measurement as if the last report had all its metrics.
void tell(GuardWindows& windows, const Measurement& current) {
  Report report;
  report.metrics = current.metrics;
  report.not_finite = current.not_finite;
  windows.add(current, report);
}

TrialRecord baseline_with(const std::string& metric, double value) {
  TrialRecord baseline = completed(1, 1.0);
  baseline.measurement = steady(0.1);
  baseline.measurement->metrics[metric] = value;
  return baseline;
}

TEST(Guards, AreJudgedInAWindowAtTheirNumberOfSamples) {
  GuardWindows windows({loss_after(1000)});
  tell(windows, reporting(990, 9.0));
  EXPECT_TRUE(windows.all().empty());
  for (double samples = 1010; samples < 1260; samples += 20)
    tell(windows, reporting(samples, 3.0));
  EXPECT_TRUE(windows.are_full());
  tell(windows, reporting(5000, 1.0));
  EXPECT_DOUBLE_EQ(windows.settled().at("loss@1000").value, 3.0);
}

TEST(Guards, AValueReportedOnceCountsOnce) {
  GuardWindows windows({loss_after(1000)});
  tell(windows, reporting(1010, 3.0));
  const Measurement later = reporting(2000, 3.0);  // the last reported loss
  for (int step = 0; step < 20; ++step)
    windows.add(later, Report{});
  EXPECT_FALSE(windows.are_full()) << "steps without a loss say nothing of it";
  EXPECT_TRUE(windows.settled().empty());
  EXPECT_TRUE(windows.awaits_samples(1200)) << "the window reaches to 1250";
  EXPECT_FALSE(windows.awaits_samples(2000));
}

TEST(Guards, AValueOfAnEarlierLineDoesNotCountAgain) {
  auto reader = ReportReader::create({}).value();
  Measurer measurer(MeasureOptions{});
  GuardWindows windows({loss_after(1000)});
  const auto print = [&](int samples, const std::string& metrics) {
    const auto report = reader.read_line(
        "[steptune] {\"v\":1,\"samples\":" + std::to_string(samples) + metrics + "}",
        0.01 * samples);
    ASSERT_TRUE(report);
    measurer.add(*report);
    windows.add(measurer.current(), *report);
  };
  print(900, ",\"loss\":9");
  for (int samples = 1000; samples < 1300; samples += 20)
    print(samples, "");
  EXPECT_TRUE(windows.all().empty()) << "this loss is older than the window";
  print(1300, ",\"loss\":3");
  print(1320, "");
  EXPECT_DOUBLE_EQ(windows.all().at("loss@1000").value, 3.0);
  EXPECT_FALSE(windows.are_full());
}

TEST(Guards, AWindowHasSeveralReports) {
  GuardWindows windows({loss_after(1000)});
  for (int report = 1; report <= 4; ++report)
    tell(windows, reporting(1000.0 * report, 3.0));
  EXPECT_FALSE(windows.are_full());
  EXPECT_TRUE(windows.settled().empty());
  EXPECT_DOUBLE_EQ(windows.all().at("loss@1000").value, 3.0)
      << "the only value if the trial ends now";
}

/// Speed matters more than the loss of each launch, so no launch waits for it.
TEST(Guards, OverLaunchesJudgeNoTrial) {
  Guard guard = loss_after(1000);
  guard.over_launches = true;
  const TrialRecord baseline = baseline_with("loss@1000", 1.0);
  GuardWindows windows({guard});
  EXPECT_FALSE(windows.awaits_samples(500));
  tell(windows, reporting(1000, 9.0));
  EXPECT_TRUE(windows.all().empty()) << "launches are compared over whole windows only";
  for (double samples = 1010; samples < 1300; samples += 20)
    tell(windows, reporting(samples, 9.0));
  EXPECT_DOUBLE_EQ(windows.settled().at("loss@1000").value, 9.0);
  EXPECT_FALSE(violated_guard({guard}, windows.all(), {}, &baseline, GuardMoment::ended));
  EXPECT_FALSE(violated_guard({guard}, {}, {}, &baseline, GuardMoment::ended));
  const GuardedValues diverged{{"loss@1000", {std::nan("")}}};
  EXPECT_EQ(violated_guard({guard}, diverged, {}, &baseline, GuardMoment::running),
            "loss@1000 is not a finite number");
  GuardWindows silent({guard});
  Measurement late;
  late.total_samples = 1800;
  silent.add(late, Report{});
  EXPECT_TRUE(silent.are_full()) << "a launch without a loss is measured all the same";
}

TEST(Guards, WithoutSamplesJudgeTheLastValueAtTheEnd) {
  Guard guard = loss_after(0);
  guard.max_ratio_to_baseline.reset();
  guard.max = 2.0;
  GuardWindows windows({guard});
  tell(windows, reporting(10, 9.0));
  EXPECT_FALSE(violated_guard({guard}, windows.all(), {}, nullptr, GuardMoment::running));
  EXPECT_TRUE(violated_guard({guard}, windows.all(), {}, nullptr, GuardMoment::ended));
  tell(windows, reporting(500, 1.0));
  EXPECT_FALSE(violated_guard({guard}, windows.all(), {}, nullptr, GuardMoment::ended));
}

/// Returns a trial's loss with 5 % noise, correlated or not, around a falling value.
GuardedValues noisy_loss(double level, double correlation, std::uint64_t seed) {
  GuardWindows windows({loss_after(1000)});
  Rng rng(seed, "loss");
  double noise = rng.normal();
  for (double samples = 500; samples < 2500; samples += 32) {
    tell(windows, reporting(samples, level * std::pow(samples, -0.1) * (1.0 + 0.05 * noise)));
    noise = correlation * noise + std::sqrt(1.0 - correlation * correlation) * rng.normal();
  }
  return windows.settled();
}

/// Returns the share of configurations that are judged infeasible, each beside its own baseline.
double infeasible_share(double ratio_of_levels, double correlation, double max_ratio) {
  Guard guard = loss_after(1000);
  guard.max_ratio_to_baseline = max_ratio;
  int infeasible = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    TrialRecord baseline = completed(1, 1.0);
    baseline.measurement = steady(0.1);
    const GuardedValue value = noisy_loss(2.0, correlation, 2 * seed).at("loss@1000");
    baseline.measurement->metrics[judged_metric(guard)] = value.value;
    baseline.measurement->metric_errors[judged_metric(guard)] = value.standard_error;
    const auto violation =
        violated_guard({guard}, noisy_loss(2.0 * ratio_of_levels, correlation, 2 * seed + 1), {},
                       &baseline, GuardMoment::running);
    infeasible += violation ? 1 : 0;
  }
  return infeasible / 400.0;
}

TEST(Guards, CallNoEqualConfigurationInfeasibleForItsNoise) {
  // If a single report of each trial decided, 39 of 100 would be infeasible.
  EXPECT_LE(infeasible_share(1.0, 0.0, 1.02), 0.05);
  EXPECT_LE(infeasible_share(1.0, 0.5, 1.02), 0.08);
  EXPECT_LE(infeasible_share(1.02, 0.0, 1.02), 0.09) << "at the limit itself";
  EXPECT_GE(infeasible_share(1.15, 0.0, 1.02), 0.95) << "a clearly worse loss is detected";
}

TEST(Guards, CompareWithTheBaselineAtTheSameNumberOfSamples) {
  const std::vector<Guard> guards{loss_after(1000)};
  const TrialRecord baseline = baseline_with("loss@1000", 2.0);
  const auto violation = [&](double loss) {
    return violated_guard(guards, {{"loss@1000", {loss}}}, {}, &baseline, GuardMoment::running);
  };
  EXPECT_FALSE(violation(2.04));
  ASSERT_TRUE(violation(2.05));
  EXPECT_THAT(*violation(2.05), HasSubstr("above 1.02 times the baseline's 2"));
}

TEST(Guards, AllowTheSameRatioForNegativeValues) {
  Guard guard = loss_after(1000);
  guard.min_ratio_to_baseline = 0.9;
  const TrialRecord baseline = baseline_with("loss@1000", -5.0);
  const auto violation = [&](double loss) {
    return violated_guard({guard}, {{"loss@1000", {loss}}}, {}, &baseline, GuardMoment::running);
  };
  EXPECT_FALSE(violation(-5.0)) << "equals the baseline's loss";
  EXPECT_FALSE(violation(-4.91));
  EXPECT_FALSE(violation(-5.49));
  ASSERT_TRUE(violation(-4.89));
  EXPECT_THAT(*violation(-4.89),
              HasSubstr("loss@1000 is -4.89, above 0.98 times the baseline's -5"));
  ASSERT_TRUE(violation(-5.51));
  EXPECT_THAT(*violation(-5.51), HasSubstr("below 1.1 times the baseline's -5"));
  const GuardLimit limit = limit_of(guard, baseline);
  EXPECT_DOUBLE_EQ(limit.max.value(), -4.9);
  EXPECT_DOUBLE_EQ(limit.min.value(), -5.5);
}

TEST(Guards, HaveJudgedATrialThatReportedAllMetrics) {
  Guard memory;
  memory.metric = "peak_memory_bytes";
  memory.max = 1e9;
  const std::vector<Guard> guards{loss_after(1000), memory};
  EXPECT_TRUE(was_judged(guards, baseline_with("loss@1000", 2.0)));
  EXPECT_FALSE(was_judged(guards, baseline_with("loss", 2.0)))
      << "the baseline did not reach that sample count";
  EXPECT_FALSE(was_judged(guards, completed(2, 1.0)));
  EXPECT_TRUE(was_judged({}, completed(2, 1.0)));
}

TEST(Guards, UseTheTighterLimitOnceTheBaselineIsKnown) {
  Guard guard = loss_after(1000);
  guard.max = 2.5;
  const GuardLimit unknown = limit_of(guard, completed(1, 1.0));
  EXPECT_EQ(unknown.metric, "loss@1000");
  EXPECT_EQ(unknown.max, 2.5);
  EXPECT_FALSE(unknown.baseline) << "the baseline reported no loss";
  const GuardLimit known = limit_of(guard, baseline_with("loss@1000", 2.0));
  EXPECT_DOUBLE_EQ(known.max.value(), 2.04);
  EXPECT_DOUBLE_EQ(known.baseline.value(), 2.0);
  EXPECT_FALSE(known.min);
  guard.min_ratio_to_baseline = 0.5;
  EXPECT_DOUBLE_EQ(limit_of(guard, baseline_with("loss@1000", 2.0)).min.value(), 1.0);
}

TEST(Guards, AnUnknownValueViolatesAtTheEnd) {
  const std::vector<Guard> guards{loss_after(1000)};
  const TrialRecord baseline = baseline_with("loss@1000", 2.0);
  EXPECT_FALSE(violated_guard(guards, {}, {}, &baseline, GuardMoment::running));
  const auto violation = violated_guard(guards, {}, {}, &baseline, GuardMoment::ended);
  ASSERT_TRUE(violation);
  EXPECT_THAT(*violation, HasSubstr("1000 samples"));
}

TEST(Guards, ALossThatIsNotFiniteViolatesThem) {
  const std::vector<Guard> guards{loss_after(1000)};
  Measurement measurement = reporting(2000, 1.0);
  measurement.not_finite = {"loss"};
  GuardWindows windows(guards);
  tell(windows, measurement);
  const auto violation =
      violated_guard(guards, windows.settled(), {}, nullptr, GuardMoment::running);
  ASSERT_TRUE(violation);
  EXPECT_THAT(*violation, HasSubstr("not a finite number"));
}

TEST(Guards, PeakMemoryIsGuardedAtTheEnd) {
  Guard guard;
  guard.metric = "peak_memory_bytes";
  guard.max = 1e9;
  EXPECT_TRUE(GuardWindows({guard}).are_full());
  EXPECT_FALSE(violated_guard({guard}, {}, 0.9e9, nullptr, GuardMoment::ended));
  EXPECT_TRUE(violated_guard({guard}, {}, 1.1e9, nullptr, GuardMoment::ended));
}

TEST(Guards, ALowerLimitMayBeARatioToTheBaseline) {
  Guard guard;
  guard.metric = "accuracy";
  guard.min_ratio_to_baseline = 0.9;
  const TrialRecord baseline = baseline_with("accuracy", 0.5);
  EXPECT_FALSE(violated_guard({guard}, {{"accuracy", {0.46}}}, {}, &baseline, GuardMoment::ended));
  EXPECT_TRUE(violated_guard({guard}, {{"accuracy", {0.44}}}, {}, &baseline, GuardMoment::ended));
}

TEST(Guards, ABaselineWithoutTheMetricIsReported) {
  const std::vector<Guard> guards{loss_after(1000)};
  const TrialRecord silent = completed(1, 1.0);
  EXPECT_THAT(metrics_missing_in_baseline(guards, silent), ElementsAre("loss@1000"));
  EXPECT_FALSE(violated_guard(guards, {{"loss@1000", {99.0}}}, {}, &silent, GuardMoment::ended));
}

TEST(Guards, AWindowBeginsAndEndsAtItsNumbersOfSamples) {
  GuardWindows windows({loss_after(1000)});
  EXPECT_TRUE(windows.awaits_samples(1249));
  EXPECT_FALSE(windows.awaits_samples(1250));
  tell(windows, reporting(1000, 2.0));
  for (int report = 0; report < 3; ++report)
    tell(windows, reporting(1100, 3.0));
  EXPECT_FALSE(windows.are_full());
  EXPECT_TRUE(windows.awaits_samples(1249));
  tell(windows, reporting(1250, 4.0));
  EXPECT_TRUE(windows.are_full());
  EXPECT_FALSE(windows.awaits_samples(1249)) << "the window is complete";
  EXPECT_DOUBLE_EQ(windows.settled().at("loss@1000").value, 3.0) << "the report at 1000 counts";
}

TEST(Guards, InfrequentReportsAreAwaitedBeyondTheWindow) {
  GuardWindows windows({loss_after(1000)});
  for (double samples = 1050; samples < 1270; samples += 100)
    tell(windows, reporting(samples, 3.0));
  EXPECT_TRUE(windows.awaits_samples(1250)) << "three reports are too few";
  EXPECT_TRUE(windows.awaits_samples(1749));
  EXPECT_FALSE(windows.awaits_samples(1750)) << "but not beyond 1750 samples";
  tell(windows, reporting(1350, 3.0));
  tell(windows, reporting(1450, 3.0));
  EXPECT_FALSE(windows.awaits_samples(1450));
  EXPECT_TRUE(windows.are_full());
}

TEST(Guards, FewNoisyReportsShowNoViolation) {
  GuardWindows windows({loss_after(1000)});
  for (const double loss : {2.28, 2.06, 1.99, 1.89})
    tell(windows, reporting(1100, loss));
  TrialRecord baseline = baseline_with("loss@1000", 1.98);
  baseline.measurement->metric_errors["loss@1000"] = 0.05;
  const auto judged = [&](const GuardedValues& values) {
    return violated_guard({loss_after(1000)}, values, {}, &baseline, GuardMoment::ended);
  };
  EXPECT_FALSE(judged(windows.all())) << *judged(windows.all());
  GuardWindows worse({loss_after(1000)});
  for (const double loss : {3.28, 3.06, 2.99, 2.89})
    tell(worse, reporting(1100, loss));
  EXPECT_TRUE(judged(worse.all()));
}

TEST(Guards, AWindowOfVeryManyReportsIsFullBeforeItsEnd) {
  GuardWindows windows({loss_after(1e6)});
  for (int report = 0; report < 255; ++report)
    tell(windows, reporting(1e6 + report, 3.0));
  EXPECT_FALSE(windows.are_full());
  tell(windows, reporting(1e6 + 255, 3.0));
  EXPECT_TRUE(windows.are_full());
}

TEST(Guards, WithoutSamplesNoneAreAwaited) {
  const GuardWindows windows({loss_after(0)});
  EXPECT_FALSE(windows.awaits_samples(0));
  EXPECT_FALSE(windows.are_full()) << "nothing was reported yet";
}

TEST(Guards, WithoutSamplesUseTheErrorOfSixteenReports) {
  GuardWindows windows({loss_after(0)});
  for (int report = 0; report < 10; ++report)
    tell(windows, reporting(report, report % 2 == 0 ? 9.0 : 1.0));
  EXPECT_GT(windows.all().at("loss").standard_error, 1.0);
  for (int report = 10; report < 25; ++report)
    tell(windows, reporting(report, 3.0));
  EXPECT_GT(windows.all().at("loss").standard_error, 0.1)
      << "one of the first ten values is among them";
  tell(windows, reporting(25, 3.0));
  EXPECT_NEAR(windows.all().at("loss").standard_error, 0.0, 1e-9);
  EXPECT_DOUBLE_EQ(windows.all().at("loss").value, 3.0);
}

TEST(Guards, ALastValueThatIsFiniteAgainCounts) {
  GuardWindows windows({loss_after(0)});
  Measurement overflown = reporting(10, 1.0);
  overflown.metrics.clear();
  overflown.not_finite = {"loss"};
  tell(windows, overflown);
  EXPECT_TRUE(windows.are_full()) << "NaN is a known value";
  EXPECT_TRUE(std::isnan(windows.all().at("loss").value));
  EXPECT_TRUE(windows.settled().empty()) << "the loss may become a number again";
  tell(windows, reporting(20, 3.0));
  EXPECT_DOUBLE_EQ(windows.all().at("loss").value, 3.0);
}

TEST(Guards, AllWindowsOfAStudyMustBeFull) {
  GuardWindows windows({loss_after(100), loss_after(1000)});
  for (int report = 0; report < 5; ++report)
    tell(windows, reporting(200 + report, 3.0));
  EXPECT_FALSE(windows.are_full());
  EXPECT_TRUE(windows.awaits_samples(300));
  EXPECT_EQ(windows.settled().size(), 1U);
  for (int report = 0; report < 5; ++report)
    tell(windows, reporting(2000 + report, 3.0));
  EXPECT_TRUE(windows.are_full());
}

TEST(WindowValue, HasAnErrorFromThreeValuesOn) {
  EXPECT_EQ(window_value({}, false).value, 0.0);
  EXPECT_EQ(window_value({}, true).value, 0.0);
  EXPECT_EQ(window_value({1, 2}, false).standard_error, 0.0);
  EXPECT_EQ(window_value({1, 2}, false).degrees_of_freedom, 0.0);
  EXPECT_EQ(window_value({1, 2, 1, 2}, true).standard_error, 0.0)
      << "the last value has an error from five values on";
  EXPECT_GT(window_value({1, 2, 1}, false).standard_error, 0.0);
  EXPECT_DOUBLE_EQ(window_value({1, 2, 1}, false).degrees_of_freedom, 1.0);
  const GuardedValue five = window_value({1, 2, 1, 2, 1}, false);
  EXPECT_GT(five.standard_error, 0.0);
  EXPECT_DOUBLE_EQ(five.degrees_of_freedom, 3.0);
  EXPECT_DOUBLE_EQ(five.value, 1.4);
}

TEST(WindowValue, TheLastValueHasTheErrorOfASingleOne) {
  const std::vector<double> values{3.1, 2.9, 3.2, 2.8, 3.0, 3.1, 2.9, 3.0};
  const GuardedValue last = window_value(values, true);
  EXPECT_DOUBLE_EQ(last.value, 3.0);
  EXPECT_GT(last.standard_error, 1.5 * window_value(values, false).standard_error);
}

TEST(WindowValue, ALineHasNoError) {
  const GuardedValue falling = window_value({5, 4, 3, 2, 1}, true);
  EXPECT_DOUBLE_EQ(falling.value, 1.0);
  EXPECT_NEAR(falling.standard_error, 0.0, 1e-9) << "a loss that falls is not noisy";
}

Guard limited(const std::string& metric) {
  Guard guard;
  guard.metric = metric;
  return guard;
}

TEST(Guards, AValueAtItsLimitIsWithinIt) {
  Guard most = limited("loss");
  most.max = 2.0;
  Guard least = limited("accuracy");
  least.min = 0.9;
  const auto violation = [](const Guard& guard, double value) {
    return violated_guard({guard}, {{guard.metric, {value}}}, {}, nullptr, GuardMoment::ended);
  };
  EXPECT_FALSE(violation(most, 2.0));
  EXPECT_EQ(violation(most, 2.1), "loss is 2.1, above the limit of 2");
  EXPECT_FALSE(violation(least, 0.9));
  EXPECT_EQ(violation(least, 0.8), "accuracy is 0.8, below the limit of 0.9");
}

TEST(Guards, SayHowSureTheViolationIs) {
  Guard guard = limited("loss");
  guard.max = 2.0;
  const auto violation = [&](const GuardedValue& value) {
    return violated_guard({guard}, {{"loss", value}}, {}, nullptr, GuardMoment::ended);
  };
  EXPECT_EQ(violation({3.0, 0.1, 20.0}), "loss is 3 +-0.2, above the limit of 2");
  EXPECT_FALSE(violation({2.1, 0.1, 20.0})) << "the difference is within the error";
  EXPECT_TRUE(violation({2.1, 0.1, 0.0})) << "an error with 0 degrees of freedom is ignored";
  EXPECT_FALSE(violation({2.3, 0.1, 1.0}))
      << "with one degree of freedom, the difference must exceed 6.3 errors";
}

TEST(Guards, TheBaselinesErrorExplainsADifferenceToo) {
  const Guard guard = loss_after(1000);
  TrialRecord baseline = baseline_with("loss@1000", 2.0);
  const auto violation = [&] {
    return violated_guard({guard}, {{"loss@1000", {2.14, 0.01, 30.0}}}, {}, &baseline,
                          GuardMoment::ended);
  };
  EXPECT_TRUE(violation());
  baseline.measurement->metric_errors["loss@1000"] = 0.1;
  EXPECT_FALSE(violation());
}

TEST(Guards, SayWhichMetricWasNotReported) {
  Guard guard = limited("loss");
  guard.max = 2.0;
  EXPECT_EQ(violated_guard({guard}, {}, {}, nullptr, GuardMoment::ended),
            "the guard on loss could not be checked: the trial did not report it");
  EXPECT_FALSE(violated_guard({guard}, {}, {}, nullptr, GuardMoment::again))
      << "it was judged when the configuration was first measured";
  guard.after_samples = 3.0;
  EXPECT_EQ(violated_guard({guard}, {}, {}, nullptr, GuardMoment::ended, {"epochs"}),
            "the guard on loss could not be checked: the trial did not report it after 3 epochs");
  Guard memory = limited("peak_memory_bytes");
  memory.max = 1e9;
  EXPECT_TRUE(violated_guard({memory}, {}, {}, nullptr, GuardMoment::ended));
}

TEST(Guards, PeakMemoryIgnoresTheNumberOfSamples) {
  Guard guard = limited("peak_memory_bytes");
  guard.after_samples = 1000;
  EXPECT_EQ(judged_metric(guard), "peak_memory_bytes");
}

TEST(Guards, PeakMemoryIsComparedWithTheBaselines) {
  Guard guard = limited("peak_memory_bytes");
  guard.max_ratio_to_baseline = 1.5;
  TrialRecord baseline = completed(1, 1.0);
  EXPECT_THAT(metrics_missing_in_baseline({guard}, baseline), ElementsAre("peak_memory_bytes"));
  EXPECT_FALSE(violated_guard({guard}, {}, 9e9, &baseline, GuardMoment::ended));
  baseline.peak_memory_bytes = 2e9;
  EXPECT_THAT(metrics_missing_in_baseline({guard}, baseline), ElementsAre());
  EXPECT_FALSE(violated_guard({guard}, {}, 3e9, &baseline, GuardMoment::ended));
  EXPECT_TRUE(violated_guard({guard}, {}, 3.1e9, &baseline, GuardMoment::ended));
}

TEST(Guards, OnlyThoseThatCompareWithTheBaselineNeedItsMetric) {
  Guard absolute = limited("loss");
  absolute.max = 2.0;
  EXPECT_THAT(metrics_missing_in_baseline({absolute}, completed(1, 1.0)), ElementsAre());
  EXPECT_THAT(metrics_missing_in_baseline({loss_after(1000)}, baseline_with("loss@1000", 2.0)),
              ElementsAre());
}

TEST(Guards, AskForTheTighterOfTwoLowerLimits) {
  Guard guard = limited("accuracy");
  guard.min = 0.8;
  guard.min_ratio_to_baseline = 0.9;
  EXPECT_DOUBLE_EQ(limit_of(guard, baseline_with("accuracy", 0.5)).min.value(), 0.8);
  const GuardLimit limit = limit_of(guard, baseline_with("accuracy", 1.0));
  EXPECT_DOUBLE_EQ(limit.min.value(), 0.9);
  EXPECT_FALSE(limit.max);
}

TEST(MemoryHeadroom, IsMissingIfLittleMemoryIsLeft) {
  Outcome outcome;
  EXPECT_FALSE(missing_headroom(0.9, outcome, nullptr)) << "nothing is known";
  outcome.peak_memory_bytes = 16e9;
  outcome.peak_unreclaimable_bytes = 5e9;
  outcome.usable_memory_bytes = 16e9;
  EXPECT_FALSE(missing_headroom(0.9, outcome, nullptr)) << "pages of files are given back";
  outcome.peak_unreclaimable_bytes = 15e9;
  const auto missing = missing_headroom(0.9, outcome, nullptr);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->find("takes 94 % of the memory that it may use"), 0U) << *missing;
  EXPECT_FALSE(missing_headroom(0.95, outcome, nullptr));
  EXPECT_FALSE(missing_headroom(1.0, outcome, nullptr)) << "switched off";
  TrialRecord baseline = completed(1, 4.0);
  baseline.peak_memory_bytes = 15.5e9;
  EXPECT_FALSE(missing_headroom(0.9, outcome, &baseline))
      << "the baseline takes nearly all memory, too: the program may take all from the start";
  baseline.peak_unreclaimable_bytes = 4e9;
  EXPECT_TRUE(missing_headroom(0.9, outcome, &baseline)) << "most of that memory was page cache";
  baseline.peak_unreclaimable_bytes.reset();
  baseline.peak_memory_bytes = 8e9;
  EXPECT_TRUE(missing_headroom(0.9, outcome, &baseline));
}

TEST(MemoryHeadroom, AGpuThatOthersUseIsNotJudged) {
  Outcome outcome;
  outcome.gpu.emplace();
  outcome.gpu->peak_memory_share = 0.96;
  EXPECT_TRUE(missing_headroom(0.9, outcome, nullptr));
  outcome.gpu->most_other_processes = 1;
  EXPECT_FALSE(missing_headroom(0.9, outcome, nullptr));
}

TEST(MemoryHeadroom, ExactlyTheShareIsLeft) {
  Outcome outcome;
  outcome.peak_unreclaimable_bytes = 12e9;
  outcome.usable_memory_bytes = 16e9;
  EXPECT_FALSE(missing_headroom(0.75, outcome, nullptr));
  outcome.usable_memory_bytes = 0.0;
  EXPECT_FALSE(missing_headroom(0.75, outcome, nullptr)) << "the usable memory is not known";
  outcome.usable_memory_bytes.reset();
  EXPECT_FALSE(missing_headroom(0.75, outcome, nullptr));
}

TEST(MemoryHeadroom, IsNotRequiredIfTheBaselineLeavesNone) {
  Outcome outcome;
  outcome.gpu.emplace();
  outcome.gpu->peak_memory_share = 0.96;
  TrialRecord baseline = completed(1, 4.0);
  EXPECT_TRUE(missing_headroom(0.9, outcome, &baseline)) << "nothing is known of the baseline";
  baseline.gpu.emplace();
  baseline.gpu->peak_memory_share = 0.9;
  EXPECT_TRUE(missing_headroom(0.9, outcome, &baseline));
  baseline.gpu->peak_memory_share = 0.95;
  EXPECT_FALSE(missing_headroom(0.9, outcome, &baseline))
      << "the baseline takes nearly all memory, too: the program may take all from the start";
  baseline.gpu->most_other_processes = 1;
  EXPECT_FALSE(missing_headroom(0.9, outcome, &baseline))
      << "it may take all memory beside other processes";
  EXPECT_FALSE(missing_headroom(1.0, outcome, nullptr)) << "switched off";
}

TEST(MemoryHeadroom, MachineMemoryIsJudgedBesideAGpu) {
  Outcome outcome;
  outcome.gpu.emplace();
  outcome.gpu->peak_memory_share = 0.5;
  outcome.peak_unreclaimable_bytes = 15e9;
  outcome.usable_memory_bytes = 16e9;
  EXPECT_TRUE(missing_headroom(0.9, outcome, nullptr));
}

}  // namespace
}  // namespace steptune
