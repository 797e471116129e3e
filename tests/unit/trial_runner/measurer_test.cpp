// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/measure/measurer.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"

namespace steptune {
namespace {

constexpr double k_step_s = 0.1;

/// Seconds of step i.
using StepTimes = std::function<double(int)>;

StepTimes autocorrelated(const std::shared_ptr<Rng>& rng, double phi, double noise) {
  auto state = std::make_shared<double>(noise * rng->normal());
  return [=](int) {
    *state = phi * *state + noise * std::sqrt(1.0 - phi * phi) * rng->normal();
    return k_step_s * (1.0 + *state);
  };
}

/// Measures a run of `steps` steps that starts ten seconds after the trial, and reports every
/// `every`-th step.
Measurement measure(const StepTimes& seconds, int steps, int every = 1) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  double now_s = 10.0;
  for (int i = 0; i < steps; ++i) {
    now_s += seconds(i);
    if (i % every != 0) continue;
    Report report;
    report.received_s = now_s;
    report.step = i + 1;
    measurer.add(report);
  }
  return measurer.current();
}

Report at(double received_s, double step) {
  Report report;
  report.received_s = received_s;
  report.step = step;
  return report;
}

struct Coverage {
  double share = 0.0;  ///< of the steady runs whose interval contains the truth
  int steady = 0;
};

Coverage coverage(const std::function<StepTimes(std::shared_ptr<Rng>)>& make, double truth_s,
                  int steps, int every) {
  constexpr int k_seeds = 400;
  Coverage result;
  int covered = 0;
  for (int seed = 0; seed < k_seeds; ++seed) {
    const auto rng = std::make_shared<Rng>(static_cast<std::uint64_t>(seed), "coverage");
    const Measurement m = measure(make(rng), steps, every);
    if (m.status != MeasurementStatus::steady) continue;
    ++result.steady;
    covered += std::abs(m.seconds_per_sample - truth_s) <= m.half_width_s ? 1 : 0;
  }
  result.share = covered / static_cast<double>(std::max(1, result.steady));
  return result;
}

TEST(MeasurerCalibration, IntervalsCoverTheMeanOfAutocorrelatedSteps) {
  for (const double phi : {0.0, 0.5, 0.8}) {
    const auto make = [&](auto rng) { return autocorrelated(rng, phi, 0.05); };
    const Coverage result = coverage(make, k_step_s, 300, 1);
    EXPECT_GE(result.share, 0.90) << "phi " << phi;
    // At a fixed length intervals are wider than necessary, since trials end at the first tight
    // one.
    EXPECT_LE(result.share, 0.999) << "phi " << phi << ": needlessly wide";
    EXPECT_GE(result.steady, 396) << "phi " << phi;
  }
}

TEST(MeasurerCalibration, IntervalsCoverTheMeanWithPeriodicStalls) {
  const auto make = [](const std::shared_ptr<Rng>& rng) -> StepTimes {
    const int offset = static_cast<int>(rng->below(8));
    return [=](int i) {
      return k_step_s * (1.0 + 0.05 * rng->normal()) + ((i + offset) % 8 == 0 ? 0.3 : 0.0);
    };
  };
  for (const int every : {1, 3}) {
    const Coverage result = coverage(make, k_step_s + 0.3 / 8, 300, every);
    EXPECT_GE(result.share, 0.93);
    EXPECT_GE(result.steady, 396);
  }
}

TEST(MeasurerCalibration, IntervalsCoverTheMeanAfterASlowStart) {
  const auto make = [](const std::shared_ptr<Rng>& rng) -> StepTimes {
    return [base = autocorrelated(rng, 0.5, 0.05)](int i) {
      return base(i) + (i < 15 ? std::exp(-i / 5.0) : 0.0);
    };
  };
  const Coverage result = coverage(make, k_step_s, 300, 1);
  EXPECT_GE(result.share, 0.90);
  EXPECT_GE(result.steady, 396);
}

TEST(MeasurerCalibration, IntervalsCoverTheMeanAfterPrefetching) {
  const auto make = [](const std::shared_ptr<Rng>& rng) -> StepTimes {
    return
        [base = autocorrelated(rng, 0.3, 0.05)](int i) { return (i < 20 ? 0.2 : 1.0) * base(i); };
  };
  const Coverage result = coverage(make, k_step_s, 300, 1);
  EXPECT_GE(result.share, 0.90);
  EXPECT_GE(result.steady, 392);
}

TEST(MeasurerCalibration, RareStallsAreNotCutOffAsWarmUp) {
  // 5 % of the steps have exponential stalls, which a median would miss.
  double sum = 0.0;
  for (int seed = 0; seed < 100; ++seed) {
    const auto rng = std::make_shared<Rng>(static_cast<std::uint64_t>(seed), "stalls");
    const auto seconds = [&](int) {
      const double stall = rng->uniform() < 0.05 ? -0.1 * std::log(1.0 - rng->uniform()) : 0.0;
      return k_step_s * (1.0 + 0.02 * rng->normal()) + stall;
    };
    sum += measure(seconds, 1000).seconds_per_sample;
  }
  EXPECT_NEAR(sum / 100 / (k_step_s + 0.05 * 0.1), 1.0, 0.004);
}

TEST(MeasurerCalibration, ARampIsNotSteady) {
  for (int seed = 0; seed < 50; ++seed) {
    const auto rng = std::make_shared<Rng>(static_cast<std::uint64_t>(seed), "ramp");
    const auto seconds = [&](int i) {
      return k_step_s * (1.0 + 0.02 * rng->normal()) * (1.0 + 0.5 * i / 400.0);
    };
    const Measurement m = measure(seconds, 400);
    EXPECT_EQ(m.status, MeasurementStatus::not_steady);
    EXPECT_TRUE(std::isinf(m.relative_half_width()));
  }
}

TEST(Measurer, ARestartedCounterForgetsEarlierSteps) {
  Measurer measurer({});
  for (int i = 1; i <= 100; ++i)
    measurer.add(at(0.01 * i, 10.0 * i));
  for (int i = 1; i <= 200; ++i)
    measurer.add(at(5.0 + 0.1 * i, i));
  const Measurement& m = measurer.current();
  EXPECT_NEAR(m.seconds_per_sample, 0.1, 1e-6);
  EXPECT_EQ(m.total_samples, 200.0);
  EXPECT_NEAR(m.startup_s, 5.0, 1e-6) << "time before the first step is counted once";
}

TEST(Measurer, StartupWarmupAndWindowAddUp) {
  // Ten seconds to start, 20 slow steps of 0.5 s, then 0.1 s each.
  const auto seconds = [](int i) { return i < 20 ? 0.5 : k_step_s; };
  const Measurement m = measure(seconds, 220);
  EXPECT_EQ(m.status, MeasurementStatus::steady);
  EXPECT_NEAR(m.seconds_per_sample, k_step_s, 1e-9);
  // The first step's excess over a steady step belongs to the start.
  EXPECT_NEAR(m.startup_s, 10.4, 1e-6);
  EXPECT_NEAR(m.startup_s + m.warmup_s + m.window_s, 10.0 + 20 * 0.5 + 200 * k_step_s, 1e-6);
  EXPECT_GE(m.warmup_s, 19 * 0.5);
  EXPECT_NEAR(m.window_samples * k_step_s, m.window_s, 1e-6);
  EXPECT_EQ(m.window_steps, m.window_samples);
  EXPECT_EQ(m.total_samples, 220);
}

TEST(Measurer, WarmUpBeyondSteadyStepsIsPaidOnce) {
  const auto compiles = [](int i) { return i == 1 ? 30.0 : k_step_s; };
  const Measurement m = measure(compiles, 220);
  EXPECT_NEAR(m.warmup_excess_s, 30.0 - k_step_s, 1e-6);
  EXPECT_NEAR(m.once_s(), 10.0 + 30.0 - k_step_s, 1e-6);
  EXPECT_TRUE(m.phases.empty());
}

TEST(Measurer, AChangedLevelIsReportedAndTheRestMeasured) {
  const auto full_queue = [](int i) { return i < 100 ? 0.5 * k_step_s : k_step_s; };
  const Measurement m = measure(full_queue, 220);
  EXPECT_EQ(m.status, MeasurementStatus::steady);
  EXPECT_NEAR(m.seconds_per_sample, k_step_s, 1e-9);
  ASSERT_EQ(m.level_changes.size(), 1U);
  EXPECT_NEAR(m.level_changes[0].at_samples, 100.0, 4.0);
  EXPECT_NEAR(m.level_changes[0].ratio, 2.0, 0.05);

  Measurer read_each_step({.started_s = 0.0, .samples_per_step = 1.0});
  double now_s = 10.0;
  for (int i = 0; i < 220; ++i) {
    read_each_step.add(at(now_s += full_queue(i), i + 1));
    static_cast<void>(read_each_step.current());
  }
  EXPECT_EQ(read_each_step.current().level_changes.size(), 1U) << "reported once";
}

TEST(Measurer, AStallIsNeitherWarmUpNorAStep) {
  const auto evaluates = [](int i) { return k_step_s + (i % 50 == 49 ? 2.0 : 0.0); };
  const Measurement m = measure(evaluates, 220);
  EXPECT_EQ(m.status, MeasurementStatus::steady);
  EXPECT_NEAR(m.step_seconds_per_sample, k_step_s, 1e-6);
  EXPECT_NEAR(m.seconds_per_sample, k_step_s + 2.0 / 50, 1e-6);
  EXPECT_NEAR(m.warmup_excess_s, 0.0, 1e-6);
  const PhaseEstimate& stall = m.phases.at(std::string(k_stall_phase));
  EXPECT_EQ(stall.count, 4);
  EXPECT_NEAR(stall.seconds, 2.0, 1e-6);
  EXPECT_EQ(stall.period_samples, 50);
  EXPECT_EQ(stall.period_error, 0.0);
}

TEST(Measurer, OneStallLeavesTheLongRunUncertainAndTheStepsNot) {
  const auto evaluates = [](int i) { return k_step_s + (i == 149 ? 2.0 : 0.0); };
  const Measurement m = measure(evaluates, 220);
  EXPECT_NEAR(m.step_seconds_per_sample, k_step_s, 1e-6);
  EXPECT_LT(m.step_half_width_s, 1e-6);
  EXPECT_NEAR(m.seconds_per_sample, k_step_s + 2.0 / 150, 1e-6);
  EXPECT_GT(m.half_width_s, 2.0 / 150);
}

/// Measures 250 steps with an evaluation of 2 s after every 50th, which the program reports.
Measurement with_reported_evaluations(bool reports_seconds) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  double now_s = 0.0;
  for (int i = 1; i <= 250; ++i) {
    now_s += k_step_s;
    measurer.add(at(now_s, i));
    static_cast<void>(measurer.current());
    if (i % 50 != 0) continue;
    Report phase;
    phase.received_s = reports_seconds ? now_s + 2.0 : now_s;
    phase.phase = PhaseReport{"evaluation", {}};
    if (reports_seconds) phase.phase->seconds = 2.0;
    measurer.add(phase);
    now_s += 2.0;
  }
  return measurer.current();
}

TEST(Measurer, ReportedPhasesCountAtTheirPeriod) {
  for (const bool reports_seconds : {true, false}) {
    const Measurement m = with_reported_evaluations(reports_seconds);
    const PhaseEstimate& evaluation = m.phases.at("evaluation");
    EXPECT_GE(evaluation.count, 3) << reports_seconds;
    EXPECT_NEAR(evaluation.seconds, 2.0, 0.01) << reports_seconds;
    EXPECT_EQ(evaluation.period_samples, 50) << reports_seconds;
    EXPECT_NEAR(m.step_seconds_per_sample, k_step_s, 1e-3) << reports_seconds;
    EXPECT_NEAR(m.seconds_per_sample, k_step_s + 2.0 / 50, 1e-3) << reports_seconds;
  }
}

TEST(Measurer, AClockThatIsNotUsedIsRemarked) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  for (int i = 1; i <= 100; ++i) {
    Report report = at(k_step_s * i, i);
    report.clock_s = k_step_s * i + (i % 2 == 0 ? 37.5 : 0.0);
    measurer.add(report);
  }
  EXPECT_NEAR(measurer.current().seconds_per_sample, k_step_s, 1e-9);
  EXPECT_NE(measurer.current().remark.find("goes back"), std::string::npos);
}

TEST(Measurer, ABufferHidesAtMostTheConsumedSamples) {
  const auto even = [](int) { return k_step_s; };
  // The first step ends at 10.1 s, the last at 30 s.
  EXPECT_NEAR(measure(even, 200).slowest_seconds_per_sample, 30.0 / 200, 1e-9);
  EXPECT_TRUE(std::isinf(measure(even, 1).slowest_seconds_per_sample));
}

TEST(Measurer, AKnownBufferHidesLess) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 4.0, .buffered_steps = 10.0});
  for (int i = 1; i <= 111; ++i)
    measurer.add(at(100.0 + i, i));
  // 110 steps of 4 samples in 110 s; 40 samples may have been ready before.
  EXPECT_NEAR(measurer.current().slowest_seconds_per_sample, 110.0 / (440 - 40), 1e-9);
}

TEST(Measurer, AKnownBufferIsExpectedAfterTheWarmUp) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = 10.0});
  double now_s = 0.0;
  for (int i = 1; i <= 1000; ++i) {
    measurer.add(at(now_s += i <= 100 ? 1.0 : k_step_s, i));
    static_cast<void>(measurer.current());
  }
  // From the end of the warm-up 900 steps in 90 s; 10 of them may have been ready.
  EXPECT_NEAR(measurer.current().slowest_seconds_per_sample, 90.0 / 890, 1e-3);
}

TEST(Measurer, AResumedCounterKeepsBoundsValid) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  for (int i = 1; i <= 100; ++i)
    measurer.add(at(10.0 + i, 50'000 + i));
  EXPECT_NEAR(measurer.current().slowest_seconds_per_sample, 110.0 / 100, 1e-9);
  EXPECT_NEAR(measurer.current().startup_s, 10.0, 1e-9) << "one step came before the first report";
}

TEST(Measurer, TakesTheMeanAndNotTheMedian) {
  const auto seconds = [](int i) { return i % 10 == 9 ? 1.1 : k_step_s; };
  EXPECT_NEAR(measure(seconds, 1001).seconds_per_sample, 0.2, 0.002);
}

TEST(Measurer, WeighsIrregularReportsBySamples) {
  // 1 s per sample throughout, reported at irregular times; one report covers 50 samples.
  Measurer measurer({.started_s = 0.0, .samples_per_step = {}, .buffered_steps = {}});
  double samples = 0.0;
  const double increments[] = {1, 2, 1, 50, 3, 1, 1, 7, 2, 2, 1, 4};
  for (const double increment : increments) {
    samples += increment;
    Report report;
    report.received_s = 5.0 + samples;
    report.samples = samples;
    measurer.add(report);
  }
  EXPECT_EQ(measurer.current().status, MeasurementStatus::steady);
  EXPECT_NEAR(measurer.current().seconds_per_sample, 1.0, 1e-9);
  EXPECT_NEAR(measurer.current().startup_s, 5.0, 1e-9);
}

TEST(Measurer, PrefersTheTrialsOwnClock) {
  // Lines arrive in bursts of ten, but the trial's clock is regular.
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  for (int i = 1; i <= 200; ++i) {
    Report report = at(3.0 + std::ceil(i / 10.0), i);
    report.clock_s = 1000.0 + 0.1 * i;
    measurer.add(report);
  }
  EXPECT_NEAR(measurer.current().seconds_per_sample, 0.1, 1e-9);
  EXPECT_NEAR(measurer.current().half_width_s, 0.0, 1e-9);
}

TEST(Measurer, IgnoresClocksInOtherUnitsAndStoppedClocks) {
  for (const double unit : {1000.0, 0.0}) {
    Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
    for (int i = 1; i <= 200; ++i) {
      Report report = at(3.0 + i, i);
      report.clock_s = unit * i;
      measurer.add(report);
    }
    EXPECT_NEAR(measurer.current().seconds_per_sample, 1.0, 1e-9) << unit;
  }
}

TEST(Measurer, FewReportsAreWarmingUp) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  EXPECT_EQ(measurer.current().status, MeasurementStatus::no_reports);
  measurer.add(at(1.0, 1));
  EXPECT_EQ(measurer.current().status, MeasurementStatus::no_reports);
  measurer.add(at(2.0, 2));
  EXPECT_EQ(measurer.current().status, MeasurementStatus::warming_up);
  EXPECT_NEAR(measurer.current().seconds_per_sample, 1.0, 1e-12);
  EXPECT_TRUE(std::isinf(measurer.current().relative_half_width()));
}

TEST(Measurer, IgnoresCountersThatDoNotIncrease) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  for (int i = 1; i <= 50; ++i) {
    measurer.add(at(i, i));
    measurer.add(at(i + 0.2, i));
    measurer.add(at(i + 0.4, std::floor(i / 2.0)));
  }
  EXPECT_NEAR(measurer.current().seconds_per_sample, 1.0, 1e-9);
  EXPECT_EQ(measurer.current().total_samples, 50);
}

TEST(Measurer, KeepsTheLastMetricsEvenOfReportsWithoutCounters) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  Report report;
  report.metrics = {{"loss", 2.0}, {"accuracy", 0.5}};
  measurer.add(report);
  report.metrics = {{"loss", 1.5}};
  measurer.add(report);
  EXPECT_EQ(measurer.current().metrics,
            (std::map<std::string, double>{{"accuracy", 0.5}, {"loss", 1.5}}));
  report.metrics.clear();
  report.not_finite = {"loss"};
  measurer.add(report);
  EXPECT_EQ(measurer.current().metrics, (std::map<std::string, double>{{"accuracy", 0.5}}));
  EXPECT_EQ(measurer.current().not_finite, std::set<std::string>{"loss"});
  report.not_finite.clear();
  report.metrics = {{"loss", 1.2}};
  measurer.add(report);
  EXPECT_TRUE(measurer.current().not_finite.empty()) << "the loss is a number again";
}

TEST(Measurer, StepsAreConvertedUntilSamplesAreReported) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 32.0, .buffered_steps = {}});
  for (int i = 1; i <= 20; ++i)
    measurer.add(at(i, i));
  EXPECT_NEAR(measurer.current().seconds_per_sample, 1.0 / 32, 1e-9);
  EXPECT_EQ(measurer.current().window_steps * 32, measurer.current().window_samples);
  for (int i = 21; i <= 60; ++i) {
    Report report = at(i, i);
    report.samples = 64.0 * i;
    measurer.add(report);
  }
  EXPECT_NEAR(measurer.current().seconds_per_sample, 1.0 / 64, 1e-9);
  measurer.add(at(100.0, 1000));
  EXPECT_EQ(measurer.current().total_samples, 64.0 * 60) << "steps without samples no longer count";
}

TEST(Measurer, SamplesRestartIfStepsOvercounted) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 32.0});
  for (int i = 1; i <= 20; ++i)
    measurer.add(at(i, i));
  for (int i = 21; i <= 60; ++i) {
    Report report = at(i, i);
    report.samples = 2.0 * i;
    measurer.add(report);
  }
  EXPECT_EQ(measurer.current().total_samples, 120.0);
  EXPECT_NEAR(measurer.current().seconds_per_sample, 0.5, 1e-9);
}

TEST(Measurer, SaysWhetherSamplesAndStepsAreKnown) {
  const auto measurement_of_counts = [](const std::optional<double>& step,
                                        const std::optional<double>& samples, bool assumed,
                                        const std::optional<double>& samples_per_step) {
    Measurer measurer({.started_s = 0.0, .samples_per_step = samples_per_step});
    for (int i = 1; i <= 40; ++i) {
      Report report;
      report.received_s = i;
      if (step) report.step = *step * i;
      if (samples) report.samples = *samples * i;
      report.samples_assumed = assumed;
      measurer.add(report);
    }
    return measurer.current();
  };
  const Measurement by_steps = measurement_of_counts(1.0, {}, false, 8.0);
  EXPECT_EQ(by_steps.samples_reported, false);
  EXPECT_EQ(by_steps.steps_known, true);
  const Measurement by_samples = measurement_of_counts({}, 16.0, false, {});
  EXPECT_EQ(by_samples.samples_reported, true);
  EXPECT_EQ(by_samples.steps_known, false);
  EXPECT_EQ(by_samples.window_samples, 16.0 * by_samples.window_steps) << "reports are counted";
  const Measurement by_both = measurement_of_counts({}, 16.0, false, 8.0);
  EXPECT_EQ(by_both.steps_known, true);
  EXPECT_EQ(by_both.window_samples, 8.0 * by_both.window_steps);
  EXPECT_EQ(measurement_of_counts(1.0, 16.0, true, 16.0).samples_reported, false)
      << "the study declares the samples of a step";
  EXPECT_NEAR(measurement_of_counts(1.0, {}, false, 0.0).seconds_per_sample, 1.0, 1e-9)
      << "a step cannot have zero samples";
}

TEST(Measurer, PartsArePerSampleInTheWindow) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = {}, .buffered_steps = {}});
  for (int i = 1; i <= 100; ++i) {
    Report report = at(i, i);
    report.samples = 10.0 * i;
    report.parts = {{"data", 100.0 + 0.3 * i}, {"compute", 0.6 * i}};
    measurer.add(report);
  }
  EXPECT_NEAR(measurer.current().parts.at("data"), 0.03, 1e-9);
  EXPECT_NEAR(measurer.current().parts.at("compute"), 0.06, 1e-9);
}

TEST(Measurer, APartThatBeginsInTheWindowIsZeroBefore) {
  Measurer measurer({});
  for (int i = 1; i <= 100; ++i) {
    Report report = at(i, i);
    if (i > 50) report.parts = {{"checkpoint", 20.0}};
    measurer.add(report);
  }
  const Measurement& m = measurer.current();
  EXPECT_NEAR(m.parts.at("checkpoint"), 20.0 / m.window_samples, 1e-9);
}

TEST(Measurer, LosesNoTimeAndNoSampleWhenTheSeriesIsThinned) {
  Rng rng(1, "thinning");
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  double now_s = 0.0;
  for (int i = 1; i <= 50001; ++i) {
    now_s += k_step_s * (1.0 + 0.2 * rng.normal());
    measurer.add(at(now_s, i));
  }
  const Measurement& m = measurer.current();
  EXPECT_EQ(m.status, MeasurementStatus::steady);
  EXPECT_EQ(m.total_samples, 50001);
  EXPECT_NEAR(m.startup_s + m.warmup_s + m.window_s, now_s, 1e-6);
  EXPECT_NEAR(m.seconds_per_sample, k_step_s, 3e-4);
}

TEST(Measurer, SurvivesAbsurdNumbers) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  const double infinity = std::numeric_limits<double>::infinity();
  measurer.add(at(1.0, infinity));
  measurer.add(at(infinity, 1.0));
  measurer.add(at(1.0, -5.0));
  measurer.add(at(1.0, std::nan("")));
  EXPECT_EQ(measurer.current().status, MeasurementStatus::no_reports);
  for (int i = 1; i <= 50; ++i)
    measurer.add(at(7.0, i * 1e300));  // no time passes
  EXPECT_EQ(measurer.current().status, MeasurementStatus::no_reports);
}

TEST(Measurer, OneDominantReportIsNoSeries) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  for (int i = 1; i <= 12; ++i)
    measurer.add(at(i, i));
  measurer.add(at(5000.0, 5000.0));
  EXPECT_EQ(measurer.current().status, MeasurementStatus::warming_up);
}

TEST(Measurer, StatusNamesReadBack) {
  for (const auto status : {MeasurementStatus::no_reports, MeasurementStatus::warming_up,
                            MeasurementStatus::not_steady, MeasurementStatus::steady}) {
    EXPECT_EQ(measurement_status_from_text(to_text(status)), status);
  }
  EXPECT_FALSE(measurement_status_from_text("fast"));
}

TEST(MeasurerPhases, BeforeTheFirstStepAreAPartOfTheStart) {
  Measurer measurer({});
  Report before;
  before.received_s = 30.0;
  before.phase = PhaseReport{"evaluation", 29.0};
  measurer.add(before);
  for (int step = 1; step <= 100; ++step) {
    Report report;
    report.step = step;
    report.received_s = 30.0 + 0.1 * step;
    measurer.add(report);
  }
  const Measurement& m = measurer.current();
  EXPECT_TRUE(m.phases.empty()) << "the pause at the start is counted once";
  EXPECT_NEAR(m.startup_s, 30.0, 0.5);
  EXPECT_NEAR(m.seconds_per_sample, 0.1, 1e-3);
}

TEST(MeasurerPhases, APhaseThatBeginsWithACounterLastsUntilTheNext) {
  Measurer measurer({});
  double now_s = 1.0;
  for (int step = 1; step <= 200; ++step) {
    Report report;
    report.step = step;
    report.received_s = now_s += 0.1;
    if (step % 40 == 0) {
      report.phase = PhaseReport{"checkpoint", {}};
      now_s += 2.0;
    }
    measurer.add(report);
  }
  const Measurement& m = measurer.current();
  ASSERT_TRUE(m.phases.contains("checkpoint"));
  EXPECT_NEAR(m.phases.at("checkpoint").seconds, 2.0, 0.11);
  EXPECT_NEAR(m.step_seconds_per_sample, 0.1, 0.003);
}

TEST(MeasurerPhases, EndWithTheNextIncreasedCounter) {
  Measurer measurer({});
  double now_s = 1.0;
  for (int step = 1; step <= 200; ++step) {
    measurer.add(at(now_s += 0.1, step));
    if (step % 40 != 0) continue;
    Report phase;
    phase.received_s = now_s;
    phase.phase = PhaseReport{"checkpoint", {}};
    measurer.add(phase);
    measurer.add(at(now_s + 0.5, step));
    now_s += 2.0;
  }
  EXPECT_NEAR(measurer.current().phases.at("checkpoint").seconds, 2.0, 0.11);
}

TEST(MeasurerPhases, ARestartedCounterForgetsEarlierPhases) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = {}, .buffered_steps = {}});
  for (int step = 1; step <= 10; ++step)
    measurer.add(at(0.1 * step, step));
  Report evaluation = at(3.0, 10);
  evaluation.phase = PhaseReport{"evaluation", 2.0};
  measurer.add(evaluation);
  for (int step = 11; step <= 60; ++step) {
    Report report = at(2.0 + 0.1 * step, step);
    report.samples = 64.0 * step;
    measurer.add(report);
  }
  const Measurement& measurement = measurer.current();
  EXPECT_TRUE(measurement.phases.empty()) << "it came at step 10, not at sample 10";
  EXPECT_NEAR(measurement.seconds_per_sample, 0.1 / 64.0, 1e-6);
}

TEST(MeasurerPhases, PhasesWithoutTimeCostNothing) {
  Measurer measurer({});
  for (int step = 1; step <= 200; ++step) {
    Report report;
    report.step = step;
    report.received_s = 0.1 * step;
    if (step % 40 == 0) report.phase = PhaseReport{"log", 0.0};
    measurer.add(report);
  }
  EXPECT_NEAR(measurer.current().seconds_per_sample, 0.1, 1e-6);
  EXPECT_TRUE(std::isfinite(measurer.current().half_width_s));
}

TEST(Measurer, AComparedRateIsTheMeasurement) {
  Measurer measurer({.started_s = 0.0, .before_start_s = 20.0, .samples_per_step = 1.0});
  for (int step = 1; step <= 16; ++step) {
    measurer.add(at(0.3 * step, step));
    static_cast<void>(measurer.current());
  }
  Report last = at(0.3 * 17, 17);
  last.compared = ComparedRate{0.2, 0.01};
  last.parts = {{"data", 1.7}};
  measurer.add(last);
  const Measurement& measured = measurer.current();
  EXPECT_EQ(measured.status, MeasurementStatus::steady);
  EXPECT_DOUBLE_EQ(measured.seconds_per_sample, 0.2);
  EXPECT_DOUBLE_EQ(measured.half_width_s, 0.01);
  EXPECT_DOUBLE_EQ(measured.slowest_seconds_per_sample, 0.21);
  EXPECT_DOUBLE_EQ(measured.startup_s, 20.0);
  EXPECT_DOUBLE_EQ(measured.window_steps, 17.0);
  EXPECT_DOUBLE_EQ(measured.warmup_s, 0.0);
  EXPECT_DOUBLE_EQ(measured.parts.at("data"), 0.1);
  EXPECT_DOUBLE_EQ(measured.window_end_s(), 20.0 + 0.3 * 17);
  // A new comparison is known without a further step.
  last.compared = ComparedRate{0.21, 0.005};
  measurer.add(last);
  EXPECT_DOUBLE_EQ(measurer.current().seconds_per_sample, 0.21);
  const Measurement at_end = measurer.whole_run(6.0);
  EXPECT_DOUBLE_EQ(at_end.seconds_per_sample, 0.21);
  EXPECT_FALSE(at_end.whole_run) << "the program's own reports measured nothing";
}

TEST(Measurer, AComparedRateReplacesEarlierFigures) {
  Measurer measurer({.started_s = 0.0, .before_start_s = 20.0, .samples_per_step = 1.0});
  double now_s = 5.0;
  for (int step = 1; step <= 400; ++step) {
    now_s += step <= 200 ? 0.1 : 0.2;
    if (step % 50 == 0) {
      now_s += 3.0;
      Report phase;
      phase.received_s = now_s;
      phase.phase = PhaseReport{"evaluation", 3.0};
      measurer.add(phase);
    }
    Report report = at(now_s, step);
    report.clock_s = now_s + (step % 2 == 0 ? 50.0 : 0.0);
    measurer.add(report);
    static_cast<void>(measurer.current());
  }
  const Measurement before = measurer.current();
  EXPECT_FALSE(before.level_changes.empty());
  EXPECT_FALSE(before.phases.empty());
  EXPECT_NE(before.remark, "");
  Report last = at(now_s + 0.2, 401);
  last.compared = ComparedRate{0.2, 0.01};
  measurer.add(last);
  const Measurement& m = measurer.current();
  EXPECT_TRUE(m.level_changes.empty());
  EXPECT_TRUE(m.phases.empty());
  EXPECT_EQ(m.remark, "");
  EXPECT_EQ(m.window_samples, 401.0);
  EXPECT_EQ(m.startup_s, 20.0);
  measurer.add(at(now_s + 60.0, 402));
  EXPECT_DOUBLE_EQ(measurer.current().seconds_per_sample, 0.2) << "until more is compared";
  EXPECT_DOUBLE_EQ(measurer.current().slowest_seconds_per_sample, 0.21);
}

TEST(Measurer, AComparedRateBeforeTheFirstStepIsIgnored) {
  Measurer measurer({});
  Report report;
  report.compared = ComparedRate{0.2, 0.01};
  measurer.add(report);
  EXPECT_EQ(measurer.current().status, MeasurementStatus::no_reports);
}

TEST(Measurer, AComparedRateMakesATrialSteady) {
  Measurer measurer({});
  double now_s = 0.0;
  for (int step = 1; step <= 400; ++step)
    measurer.add(at(now_s += 0.1 + 0.001 * step, step));
  ASSERT_EQ(measurer.current().status, MeasurementStatus::not_steady);
  Report last = at(now_s + 0.5, 401);
  last.compared = ComparedRate{0.3, 0.01};
  measurer.add(last);
  EXPECT_EQ(measurer.current().status, MeasurementStatus::steady);
}

TEST(Looks, AnIntervalThatDidNotEndTheTrialIsNotWidened) {
  const auto run = [](double target) {
    MeasureOptions options;
    options.target_half_width = target;
    Measurer measurer(options);
    Rng rng(3, "looks");
    double now_s = 5.0;
    for (int step = 1; step <= 400; ++step) {
      measurer.add(at(now_s += k_step_s * (1.0 + 0.02 * rng.normal()), step));
      (void)measurer.current();
    }
    return measurer.current().half_width_s;
  };
  EXPECT_NEAR(run(0.02), run(0.0) / 1.2, 1e-9)
      << "the interval was already tight at the previous look";
  EXPECT_DOUBLE_EQ(run(1e-6), run(0.0));
}

/// Measures the whole run of a program that ended by itself, from the ends of its steps.
Measurement whole_run(const std::vector<Report>& reports, double ended_s);

TEST(WholeRun, AResumedProgramCountsItsOwnSteps) {
  for (const double before : {0.0, 100'000.0}) {
    std::vector<Report> reports;
    for (int step = 1; step <= 40; ++step) {
      Report report;
      report.received_s = 3.0 + 0.1 * step;
      report.step = before + step;
      report.samples = 8.0 * (before + step);
      reports.push_back(report);
    }
    EXPECT_DOUBLE_EQ(whole_run(reports, 8.0).total_samples, 320.0) << before;
  }
}

Measurement whole_run(const std::vector<Report>& reports, double ended_s) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  for (const Report& report : reports) {
    measurer.add(report);
    (void)measurer.current();
  }
  return measurer.whole_run(ended_s);
}

TEST(WholeRun, FourReportsGiveAnOrdinaryMeasurement) {
  Measurer measurer({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  for (int step = 1; step <= 4; ++step)
    measurer.add(at(1.0 + 0.5 * step, step));
  const Measurement m = measurer.whole_run(4.0);
  EXPECT_FALSE(m.whole_run);
  EXPECT_EQ(m.status, MeasurementStatus::warming_up);
  EXPECT_NEAR(m.seconds_per_sample, 0.5, 1e-12);
}

TEST(WholeRun, CountsReportsAfterTheLastLook) {
  std::vector<Report> reports;
  // Output is flushed at steps 20 and 40, and at the end.
  for (int step = 1; step <= 41; ++step)
    reports.push_back(at(step <= 20 ? 3.0 : step <= 40 ? 7.0 : 8.3, step));
  const Measurement m = whole_run(reports, 8.3);
  EXPECT_TRUE(m.whole_run);
  EXPECT_NEAR(m.seconds_per_sample, 0.2, 1e-12);
  EXPECT_NEAR(m.half_width_s, 0.02, 1e-12) << "a single interval says nothing of its error";
  EXPECT_NE(m.status, MeasurementStatus::steady);
  EXPECT_FALSE(m.remark.empty());
}

TEST(WholeRun, ASteadyProgramIsNotWidenedForLooks) {
  Rng rng(7, "whole_run");
  std::vector<Report> reports;
  double now_s = 1.0;
  for (int step = 1; step <= 60; ++step)
    reports.push_back(at(now_s += 0.1 * (1.0 + 0.05 * rng.normal()), step));
  Measurer looked({.started_s = 0.0, .samples_per_step = 1.0, .buffered_steps = {}});
  for (const Report& report : reports)
    looked.add(report);
  const Measurement m = whole_run(reports, now_s);
  EXPECT_TRUE(m.whole_run);
  EXPECT_EQ(m.status, MeasurementStatus::steady);
  EXPECT_NEAR(looked.current().half_width_s / m.half_width_s, 1.2, 1e-9);
}

TEST(WholeRun, AFadingSlowStartIncludesTheFinalRate) {
  for (const int steps : {20, 40, 60}) {
    std::vector<Report> reports;
    double now_s = 1.0;
    for (int step = 1; step <= steps; ++step)
      reports.push_back(at(now_s += 0.1 * (1.0 + std::exp(-step / 20.0)), step));
    const Measurement m = whole_run(reports, now_s);
    EXPECT_LE(m.seconds_per_sample - m.half_width_s, 0.1) << steps;
    EXPECT_GE(m.seconds_per_sample + m.half_width_s, 0.1) << steps;
    EXPECT_LT(m.half_width_s, 0.8 * m.seconds_per_sample) << steps;
  }
}

TEST(WholeRun, OutputAtTheEndIsMeasuredWithTheStart) {
  std::vector<Report> reports;
  for (int step = 1; step <= 40; ++step)
    reports.push_back(at(8.0 + 1e-5 * step, step));
  const Measurement m = whole_run(reports, 8.0);
  EXPECT_TRUE(m.whole_run);
  EXPECT_NEAR(m.seconds_per_sample, 0.2, 1e-12);
  EXPECT_NEAR(m.half_width_s, 0.1, 1e-12);
  EXPECT_NEAR(m.slowest_seconds_per_sample, 0.3, 1e-12);
  EXPECT_EQ(m.startup_s, 0.0);
  EXPECT_EQ(m.window_s, 8.0);
  EXPECT_EQ(m.status, MeasurementStatus::warming_up);
  EXPECT_TRUE(std::isnan(m.step_seconds_per_sample)) << "the time of steps alone is unknown";
  EXPECT_NE(m.remark.find("output arrived only when it ended"), std::string::npos);
}

TEST(WholeRun, AnAcceleratingProgramIncludesItsMean) {
  std::vector<Report> reports;
  double now_s = 1.0;
  for (int step = 1; step <= 100; ++step)
    reports.push_back(at(now_s += 0.3 - 0.002 * step, step));
  const Measurement m = whole_run(reports, now_s);
  EXPECT_NE(m.status, MeasurementStatus::steady);
  const double mean = (now_s - reports.front().received_s) / 99.0;
  EXPECT_GE(m.seconds_per_sample + m.half_width_s, mean - 1e-9);
  EXPECT_EQ(m.remark.find("several at a time"), std::string::npos) << m.remark;
}

TEST(WholeRun, OutputAtTheEndCountsOwnStepsAfterACheckpoint) {
  std::vector<Report> reports;
  for (int step = 1; step <= 40; ++step)
    reports.push_back(at(8.0 + 1e-5 * step, 100'000 + step));
  const Measurement m = whole_run(reports, 8.0);
  EXPECT_NEAR(m.seconds_per_sample, 0.2, 1e-12);
  EXPECT_EQ(m.window_samples, 40.0);
  EXPECT_EQ(m.window_steps, 40.0);
}

TEST(WholeRun, QuickStepsWithAClockAreNoOutputAtTheEnd) {
  std::vector<Report> reports;
  for (int step = 1; step <= 100; ++step) {
    reports.push_back(at(8.0 + 4e-4 * step, step));
    reports.back().clock_s = 1e9 + 4e-4 * step;
  }
  const Measurement m = whole_run(reports, 8.1);
  EXPECT_TRUE(m.whole_run);
  EXPECT_NEAR(m.seconds_per_sample, 4e-4, 1e-6);
  EXPECT_NEAR(m.startup_s, 8.0, 1e-3);
}

}  // namespace
}  // namespace steptune
