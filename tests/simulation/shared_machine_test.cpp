// SPDX-License-Identifier: Apache-2.0
// Tests the simulated machine that other programs use, and trials that take turns on it.
#include <cmath>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "benchmarks/null_studies/neighbours.hpp"
#include "benchmarks/null_studies/shared_machine_runner.hpp"
#include "benchmarks/null_studies/simulated_studies.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trial_runner/turn_rules.hpp"

namespace steptune::null_studies {
namespace {

TEST(Neighbours, WorkTakesLongerWhileANeighbourIsBusy) {
  Neighbours neighbours(1, 2.0, 7);
  const double end_s = neighbours.end_of(0.0, 10'000.0);
  EXPECT_NEAR(end_s / 10'000.0, 4.0 / 3.0, 0.05)
      << "half of the time the program runs at half speed";
  EXPECT_NEAR(neighbours.work_between(0.0, end_s), 10'000.0, 1e-6);
  const double middle_s = neighbours.end_of(0.0, 123.0);
  EXPECT_NEAR(neighbours.end_of(middle_s, 10'000.0 - 123.0), end_s, 1e-6);
}

TEST(Neighbours, AMachineWithoutNeighboursIsIdle) {
  Neighbours nobody(0, 2.0, 7);
  EXPECT_EQ(nobody.end_of(3.0, 2.0), 5.0);
  EXPECT_EQ(nobody.work_between(3.0, 5.0), 2.0);
}

TrialSpec spec_of(std::int64_t number, int round) {
  TrialSpec spec;
  spec.key = {number, 1};
  spec.interleaved_round = round;
  return spec;
}

/// A runner whose trials start in 1 s and take steps of 50 ms, and the events of its trials.
class SharedMachine : public ::testing::Test {
 protected:
  SharedMachine() { must(runner_.begin_study("shared", "shared")); }

  static ReplayOptions options() {
    ReplayOptions options;
    options.startup_s = 1.0;
    options.noise.step = 0.0;
    return options;
  }

  void run_until(double time_s) {
    while (clock_.now_s() < time_s) {
      for (const TrialEvent& event : must(runner_.wait(time_s)))
        events_.push_back(event);
    }
  }
  template <typename Event>
  [[nodiscard]] std::vector<Event> events_of(std::int64_t trial) const {
    std::vector<Event> found;
    for (const TrialEvent& event : events_) {
      const auto* held = std::get_if<Event>(&event);
      if (held != nullptr && held->key.trial == trial) found.push_back(*held);
    }
    return found;
  }

  VirtualClock clock_;
  std::vector<TrialEvent> events_;
  SharedMachineRunner runner_{
      clock_, synthetic_replay_model([](const Configuration&) { return std::optional(0.05); }),
      options(), Neighbours(1, 1.5, 3), /*in_turns=*/true};
};

TEST_F(SharedMachine, TrialsOfARoundTakeTurnsAndTheirTimesLeavePausesOut) {
  must(runner_.start(spec_of(1, 1)));
  must(runner_.start(spec_of(2, 1)));
  run_until(60.0);
  const auto first = events_of<TrialReported>(1);
  const auto second = events_of<TrialReported>(2);
  ASSERT_GT(first.size(), 200U);
  EXPECT_NEAR(static_cast<double>(first.size()), static_cast<double>(second.size()), 30.0);
  const TrialStarted start = events_of<TrialStarted>(2).at(0);
  EXPECT_GE(start.time_s, first.at(1).report.received_s)
      << "the second run starts after the first has reported";
  EXPECT_EQ(start.placement.at(k_interleaved_fact), "1");
  const auto pauses = events_of<TrialPaused>(2);
  ASSERT_GT(pauses.size(), 80U);
  EXPECT_FALSE(pauses.at(0).resumes);
  EXPECT_TRUE(pauses.at(1).resumes);
  EXPECT_NEAR(pauses.at(3).paused_s - pauses.at(1).paused_s, k_turn_s, 0.1);
  const double run_s = second.back().report.received_s - start.time_s;
  EXPECT_NEAR(run_s + pauses.back().paused_s, clock_.now_s() - start.time_s, 1.1);
}

TEST_F(SharedMachine, ATrialThatIsStoppedInAPauseEndsBesideItsPartner) {
  must(runner_.start(spec_of(1, 1)));
  must(runner_.start(spec_of(2, 1)));
  run_until(20.0);
  const auto pauses = events_of<TrialPaused>(1);
  const bool is_first_paused = !pauses.back().resumes;
  runner_.stop({is_first_paused ? 1 : 2, 1});
  run_until(40.0);
  const auto ended = events_of<TrialFinished>(is_first_paused ? 1 : 2);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended.front().outcome.kind, OutcomeKind::stopped);
  EXPECT_LT(ended.front().time_s, 21.0);
  EXPECT_LT(ended.front().outcome.duration_s, 12.0) << "pauses are left out";
  const auto partner = events_of<TrialReported>(is_first_paused ? 2 : 1);
  EXPECT_GT(partner.back().report.received_s, 25.0) << "the remaining run continues without pauses";
}

TEST_F(SharedMachine, ASecondTrialOutsideTheRoundIsRefused) {
  must(runner_.start(spec_of(1, 0)));
  const auto refused = runner_.start(spec_of(2, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
}

Outcome beside_neighbours(double speed_up, bool in_turns, std::uint64_t seed) {
  Machine machine{0.01, 0.0};
  machine.neighbours = 2;
  machine.neighbour_slowness = 1.4;
  machine.in_turns = in_turns;
  Program program{speed_up, 1.5};
  program.step_s = 0.05;
  program.speeds = {1.0, speed_up};
  const DatabaseFolder folder;
  return must(
      run_study(machine, program, Json{{"trials", 2}, {"time", "6m"}}, seed, folder.path()));
}

/// Half-width of the finalist's interval, as a logarithm. A study without a finalist fails the
/// test.
double half_width_of(const Outcome& outcome) {
  const SpeedUp& speed_up = outcome.finalist.value().speed_up;
  return 0.5 * std::log(speed_up.high / speed_up.low);
}

TEST(NeighbourStudies, TurnsMakeTheIntervalOfAGainNarrowerAndClaimNothingFalse) {
  double in_turns = 0.0, one_by_one = 0.0;
  int false_claims = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    in_turns += half_width_of(beside_neighbours(1.5, true, seed));
    one_by_one += half_width_of(beside_neighbours(1.5, false, seed));
    false_claims += beside_neighbours(1.0, true, seed).claim == Claim::faster ? 1 : 0;
  }
  EXPECT_LT(in_turns, 0.8 * one_by_one);
  EXPECT_LE(false_claims, 1) << "of 5; more has a chance of 0.02 at a true share of 5 %";
}

/// Returns the true speed of the finalist that a study of twelve configurations finds.
double speed_found(bool in_rounds, std::uint64_t seed) {
  Machine machine{0.01, 0.0};
  machine.neighbours = 1;
  machine.neighbour_slowness = 1.6;
  machine.in_turns = true;
  Program program{1.0, 1.5};
  program.step_s = 0.05;
  program.speeds = {1.0, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.5};
  const DatabaseFolder folder;
  const Outcome outcome = must(run_study(machine, program, Json{{"trials", 12}, {"time", "3m"}},
                                         seed, folder.path(), Json{{"sentinels", in_rounds}}));
  return outcome.finalist ? outcome.finalist->truth : 1.0;
}

TEST(NeighbourStudies, SearchTrialsInTurnsFindAFasterConfiguration) {
  double in_rounds = 0.0, one_by_one = 0.0;
  constexpr int k_seeds = 10;
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    in_rounds += speed_found(true, seed) / k_seeds;
    one_by_one += speed_found(false, seed) / k_seeds;
  }
  EXPECT_GT(in_rounds, one_by_one);
  EXPECT_GT(in_rounds, 1.35);
}

TEST(NeighbourStudies, FollowFromTheSeed) {
  const Outcome once = beside_neighbours(1.3, true, 4);
  const Outcome again = beside_neighbours(1.3, true, 4);
  EXPECT_EQ(once.elapsed_s, again.elapsed_s);
  ASSERT_TRUE(once.finalist && again.finalist);
  EXPECT_EQ(once.finalist->speed_up.ratio, again.finalist->speed_up.ratio);
}

}  // namespace
}  // namespace steptune::null_studies
