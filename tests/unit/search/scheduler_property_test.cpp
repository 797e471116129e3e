// SPDX-License-Identifier: Apache-2.0
// Properties of schedulers with random trials, over fixed seeds.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "search/scheduler.hpp"

namespace steptune {
namespace {

constexpr SchedulerOptions k_rungs{3.0, 10, 810};

std::unique_ptr<Scheduler> new_scheduler(const std::string& name) {
  auto made = make_scheduler(name, k_rungs);
  EXPECT_TRUE(made) << name;
  return *std::move(made);
}

/// Parallel trials, each with a true value per objective, and with errors within their intervals.
struct RandomTrials {
  std::vector<std::vector<double>> truth;
  std::vector<TrialEstimate> estimates;  ///< in the order in which they are reported
};

RandomTrials random_trials(std::uint64_t seed, std::size_t objectives) {
  Rng rng(seed, "schedulers");
  RandomTrials trials;
  const std::size_t count = 3 + rng.below(12);
  for (std::size_t trial = 0; trial < count; ++trial) {
    std::vector<double> values;
    for (std::size_t i = 0; i < objectives; ++i)
      values.push_back(std::exp(rng.normal()));
    trials.truth.push_back(std::move(values));
  }
  std::vector<double> resources(count, 0.0);
  for (std::size_t look = 0; look < 40 * count; ++look) {
    const std::size_t trial = rng.below(count);
    resources[trial] += 1.0 + std::floor(30.0 * rng.uniform());
    TrialEstimate estimate{static_cast<std::int64_t>(trial), resources[trial], {}, {}};
    for (const double value : trials.truth[trial]) {
      const double half_width = value / std::sqrt(resources[trial]);
      estimate.values.push_back(value + half_width * (2.0 * rng.uniform() - 1.0));
      estimate.half_widths.push_back(half_width);
    }
    trials.estimates.push_back(std::move(estimate));
  }
  return trials;
}

/// Returns the decision on each estimate. A stopped trial gets no further estimates.
std::vector<std::string> decisions_on(Scheduler& scheduler,
                                      const std::vector<TrialEstimate>& estimates) {
  std::vector<std::string> decisions;
  std::set<std::int64_t> stopped;
  for (const TrialEstimate& estimate : estimates) {
    if (stopped.contains(estimate.trial)) continue;
    const StopDecision decision = scheduler.on_estimate(estimate);
    if (decision.stop) stopped.insert(estimate.trial);
    decisions.push_back(std::to_string(estimate.trial) + (decision.stop ? " stops" : " goes on"));
  }
  return decisions;
}

class EveryScheduler : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryScheduler, TheSameCallsGiveTheSameDecisions) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomTrials trials = random_trials(seed, 1 + seed % 2);
    EXPECT_EQ(decisions_on(*new_scheduler(GetParam()), trials.estimates),
              decisions_on(*new_scheduler(GetParam()), trials.estimates))
        << seed;
  }
}

TEST_P(EveryScheduler, DecidesAlikeInSecondsAndInHours) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomTrials trials = random_trials(seed, 1 + seed % 2);
    std::vector<TrialEstimate> larger = trials.estimates;
    for (TrialEstimate& estimate : larger) {
      for (double& value : estimate.values)
        value *= 4096.0;
      for (double& half_width : estimate.half_widths)
        half_width *= 4096.0;
    }
    EXPECT_EQ(decisions_on(*new_scheduler(GetParam()), trials.estimates),
              decisions_on(*new_scheduler(GetParam()), larger))
        << seed;
  }
}

TEST_P(EveryScheduler, ATrialThatWasForgottenChangesNoDecision) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomTrials trials = random_trials(seed, 1 + seed % 2);
    const auto scheduler = new_scheduler(GetParam());
    constexpr std::int64_t k_failed = 1000;
    for (const double resource : {10.0, 45.0, 300.0}) {
      TrialEstimate best{k_failed, resource, trials.truth[0], {}};
      for (double& value : best.values)
        value *= 1e-3;
      best.half_widths.assign(best.values.size(), 1e-6);
      scheduler->on_exempt(best);
      (void)scheduler->on_estimate(best);
    }
    scheduler->forget(k_failed);
    EXPECT_EQ(decisions_on(*scheduler, trials.estimates),
              decisions_on(*new_scheduler(GetParam()), trials.estimates))
        << seed;
  }
}

TEST_P(EveryScheduler, TheOrderOfTrialsOfAnEarlierRunDoesNotMatter) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomTrials trials = random_trials(seed, 1);
    std::map<std::int64_t, std::vector<TrialEstimate>> by_trial;
    for (const TrialEstimate& estimate : trials.estimates)
      by_trial[estimate.trial].push_back(estimate);
    const auto forwards = new_scheduler(GetParam());
    const auto backwards = new_scheduler(GetParam());
    for (auto trial = by_trial.begin(); trial != by_trial.end(); ++trial) {
      for (const TrialEstimate& estimate : trial->second)
        forwards->on_exempt(estimate);
    }
    for (auto trial = by_trial.rbegin(); trial != by_trial.rend(); ++trial) {
      for (const TrialEstimate& estimate : trial->second)
        backwards->on_exempt(estimate);
    }
    for (const double value : {0.1, 0.5, 1.0, 2.0, 9.0}) {
      const TrialEstimate asked{77, 95.0, {value}, {0.05 * value}};
      EXPECT_EQ(forwards->on_estimate(asked).reason, backwards->on_estimate(asked).reason)
          << seed << ' ' << value;
      forwards->forget(77);
      backwards->forget(77);
    }
  }
}

TEST_P(EveryScheduler, NeverStopsTheBestAtEveryResource) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomTrials trials = random_trials(seed, 1 + seed % 2);
    const auto best = static_cast<std::int64_t>(seed % trials.truth.size());
    for (TrialEstimate& estimate : trials.estimates) {
      if (estimate.trial != best) continue;
      for (double& value : estimate.values)
        value = 1e-3;
    }
    const auto scheduler = new_scheduler(GetParam());
    for (const TrialEstimate& estimate : trials.estimates) {
      const StopDecision decision = scheduler->on_estimate(estimate);
      if (estimate.trial == best) {
        EXPECT_FALSE(decision.stop) << seed << ": " << decision.reason;
      }
    }
  }
}

TEST_P(EveryScheduler, StopsNothingBeforeItsIntervalIsKnown) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomTrials trials = random_trials(seed, 1);
    const auto scheduler = new_scheduler(GetParam());
    for (TrialEstimate& estimate : trials.estimates) {
      if (estimate.trial % 2 == 0) {
        estimate.half_widths = {INFINITY};
        EXPECT_FALSE(scheduler->on_estimate(estimate).stop) << seed;
      } else {
        scheduler->on_exempt(estimate);
      }
    }
  }
}

TEST_P(EveryScheduler, SaysWhyExactlyWhenItStops) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto scheduler = new_scheduler(GetParam());
    for (const TrialEstimate& estimate : random_trials(seed, 2).estimates) {
      const StopDecision decision = scheduler->on_estimate(estimate);
      EXPECT_EQ(decision.stop, !decision.reason.empty());
      EXPECT_EQ(decision.reason.find('\n'), std::string::npos) << "the reason is shown in one line";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryScheduler,
                         ::testing::Values("none", "asha", "racing", "median"),
                         [](const auto& kind) { return std::string(kind.param); });

/// Returns the trials of a rung that continue, if all were reported before the first decision.
std::set<std::int64_t> going_on(const std::vector<double>& values, std::size_t first_asked) {
  const auto asha = new_scheduler("asha");
  for (std::size_t i = 0; i < values.size(); ++i)
    asha->on_exempt({static_cast<std::int64_t>(i), 10, {values[i]}, {0.0}});
  std::set<std::int64_t> left;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t i = (first_asked + k) % values.size();
    const auto trial = static_cast<std::int64_t>(i);
    if (!asha->on_estimate({trial, 10, {values[i]}, {0.0}}).stop) left.insert(trial);
  }
  return left;
}

TEST(AshaRung, TheBestThirdContinues) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed, "rung");
    std::vector<double> values(1 + rng.below(40));
    for (double& value : values)
      value = rng.uniform();
    const std::set<std::int64_t> left = going_on(values, rng.below(values.size()));
    EXPECT_EQ(left.size(), std::max<std::size_t>(1, values.size() / 3)) << seed;
    double worst_left = 0.0;
    double best_stopped = INFINITY;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (left.contains(static_cast<std::int64_t>(i))) {
        worst_left = std::max(worst_left, values[i]);
      } else {
        best_stopped = std::min(best_stopped, values[i]);
      }
    }
    EXPECT_LT(worst_left, best_stopped) << seed;
  }
}

TEST(AshaRung, EqualTrialsAllContinue) {
  for (const std::size_t count : {2U, 7U, 30U})
    EXPECT_EQ(going_on(std::vector<double>(count, 1.5), 0).size(), count);
}

TEST(AshaRung, RungsLieAtPowersOfEta) {
  for (const double eta : {2.0, 3.0, 4.0}) {
    const auto asha = *make_scheduler("asha", {eta, 5, 100});
    for (double resource = 5; resource < 100; resource *= eta) {
      for (std::int64_t other = 0; other < 9; ++other)
        asha->on_exempt({other, resource, {1.0}, {0.0}});
      const StopDecision decision = asha->on_estimate({99, resource, {2.0}, {0.0}});
      EXPECT_TRUE(decision.stop) << eta << ' ' << resource;
      EXPECT_NE(decision.reason.find(std::to_string(static_cast<int>(resource)) + " steps"),
                std::string::npos)
          << decision.reason;
      asha->forget(99);
    }
  }
}

TEST(RacingIntervals, TheIncumbentOfTrueIntervalsIsNeverStopped) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RandomTrials trials = random_trials(seed, 1);
    const auto best = std::min_element(trials.truth.begin(), trials.truth.end());
    const auto racing = new_scheduler("racing");
    for (const TrialEstimate& estimate : trials.estimates) {
      const bool stopped = racing->on_estimate(estimate).stop;
      if (estimate.trial == best - trials.truth.begin()) {
        EXPECT_FALSE(stopped) << seed;
      }
    }
  }
}

TEST(RacingIntervals, ContinuedTrialsOverlapWithAllOthers) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto racing = new_scheduler("racing");
    std::map<std::int64_t, TrialEstimate> latest;
    for (const TrialEstimate& estimate : random_trials(seed, 1).estimates) {
      latest[estimate.trial] = estimate;
      const double lower = estimate.values[0] - estimate.half_widths[0];
      const bool overlaps = std::ranges::all_of(latest, [&](const auto& other) {
        return other.second.values[0] + other.second.half_widths[0] >= lower;
      });
      EXPECT_EQ(racing->on_estimate(estimate).stop, !overlaps) << seed;
    }
  }
}

TEST(MedianRule, StopsExactlyTrialsAboveTheMedian) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed, "median");
    const auto median = new_scheduler("median");
    std::vector<double> values(4 + rng.below(20));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = rng.uniform();
      median->on_exempt({static_cast<std::int64_t>(i), 20, {values[i]}, {0.0}});
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::vector<double> others = values;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      std::ranges::sort(others);
      const double expected = 0.5 * (others[(others.size() - 1) / 2] + others[others.size() / 2]);
      EXPECT_EQ(median->on_estimate({static_cast<std::int64_t>(i), 20, {values[i]}, {0.0}}).stop,
                values[i] > expected)
          << seed << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace steptune
