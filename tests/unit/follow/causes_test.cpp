// SPDX-License-Identifier: Apache-2.0
#include "tuner/follow/causes.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "common/numbers.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Deviation k_deviates{{}, 1.3};

/// Returns a promise of 10 ms per sample.
Promise promised_rate() {
  Promise promise;
  promise.seconds_per_sample = {0.01, 0.0002};
  return promise;
}

PhaseEstimate phase_of(double seconds, double period_samples) {
  PhaseEstimate phase;
  phase.count = 3.0;
  phase.seconds = seconds;
  phase.seconds_error = 0.1;
  phase.period_samples = period_samples;
  return phase;
}

/// Returns the causes named for a run that was watched from its start.
std::vector<std::string> causes_from_start(const Promise& promise, const Measurement& seen,
                                           const std::optional<Deviation>& deviation) {
  return causes_of(promise, seen, seen.total_samples, deviation);
}

TEST(Causes, NameLongerMoreFrequentAndNewPhases) {
  Promise promised = promised_rate();
  promised.phases = {{"evaluation", phase_of(2.0, 1000)}, {"checkpoint", phase_of(1.0, 4000)}};
  Measurement seen;
  seen.phases = {{"evaluation", phase_of(6.0, 1000)},
                 {"checkpoint", phase_of(1.0, 2000)},
                 {"stall", phase_of(1.0, 1000)},
                 {"export", phase_of(0.01, 1000)}};
  EXPECT_THAT(causes_from_start(promised, seen, std::nullopt),
              ElementsAre(HasSubstr("checkpoint comes every 2000 samples, promised every 4000"),
                          HasSubstr("evaluation takes 6.0 s, promised 2.0 s"),
                          HasSubstr("stall is not in the promise and takes 1.0 s")))
      << "a phase that takes a thousandth of the time is no cause";
}

TEST(Causes, ANewPhaseOfUnknownFrequencyIsNoCause) {
  Measurement seen;
  seen.phases = {{"checkpoint", phase_of(60.0, k_nan)}, {"export", phase_of(60.0, 0.0)}};
  EXPECT_THAT(causes_from_start(promised_rate(), seen, std::nullopt), IsEmpty());
}

TEST(Causes, NameMissingPhasesOfThePlan) {
  Promise promised = promised_rate();
  promised.planned_every = {{"checkpoint", 4000.0}, {"evaluation", 1000.0}};
  Measurement seen;
  seen.phases = {{"evaluation", phase_of(2.0, 1000)}};
  promised.phases = seen.phases;
  seen.total_samples = 7000.0;
  EXPECT_THAT(causes_from_start(promised, seen, std::nullopt), IsEmpty())
      << "within two periods, the checkpoint may only be late";
  seen.total_samples = 9000.0;
  EXPECT_THAT(causes_from_start(promised, seen, std::nullopt),
              ElementsAre("no checkpoint was seen, but the plan has one every 4000 samples"));
  EXPECT_THAT(causes_from_start(promised, seen, k_deviates),
              ElementsAre(HasSubstr("no checkpoint was seen"), HasSubstr("steps themselves")));
}

TEST(Causes, NameUnreportedPhasesAsPossible) {
  Promise promised = promised_rate();
  promised.planned_every = {{"evaluation", 1000.0}};
  Measurement seen;
  seen.total_samples = 9000.0;
  seen.phases = {{"stall", phase_of(2.0, 1010)}};
  promised.phases = seen.phases;
  EXPECT_THAT(causes_from_start(promised, seen, std::nullopt), IsEmpty())
      << "the stall may be the evaluation, which is due every 1000 samples";
  seen.phases = promised.phases = {{"stall", phase_of(0.1, 50)}};
  EXPECT_THAT(causes_from_start(promised, seen, std::nullopt),
              ElementsAre(HasSubstr("no evaluation")))
      << "a stall that comes more often is another stall";
}

TEST(Causes, APhaseThatMayBeAsLongAsBeforeIsNoCause) {
  Promise promised = promised_rate();
  promised.phases = {{"evaluation", phase_of(2.0, 1000)}};
  Measurement seen;
  seen.phases = {{"evaluation", phase_of(2.35, 1000)}};
  EXPECT_THAT(causes_from_start(promised, seen, std::nullopt), IsEmpty())
      << "less than 10 % and two standard errors of 0.1 s longer";
}

TEST(Causes, NamePartsThatGrew) {
  Promise promised = promised_rate();
  promised.parts = {{"data", 0.001}, {"compute", 0.009}, {"other", 0.001}};
  Measurement seen;
  seen.parts = {{"data", 0.004}, {"compute", 0.012}, {"other", 0.0011}, {"new", 0.1}};
  seen.level_changes = {{2000.0, 30.0, 1.3}};
  EXPECT_THAT(causes_from_start(promised, seen, k_deviates),
              ElementsAre("the part \"compute\" takes 12 ms per sample, in the trial it took 9 ms",
                          HasSubstr("the part \"data\" takes 4 ms per sample, in the trial it "
                                    "took 1 ms; perhaps because of storage, page cache")))
      << "and not that the steps are slower, which follows from it";
}

TEST(Causes, ASuddenChangeIsACauseIfTheRunDeviates) {
  Measurement seen;
  seen.level_changes = {{1000.0, 10.0, 0.8}, {2000.0, 30.0, 1.5}};
  EXPECT_THAT(causes_from_start(promised_rate(), seen, k_deviates),
              ElementsAre(HasSubstr("changed at once, to 1.50 times what it was, after 30.0 s")));
  EXPECT_THAT(causes_from_start(promised_rate(), seen, std::nullopt), IsEmpty());
  seen.level_changes = {{2000.0, 30.0, 1.11}, {2100.0, 33.0, 1.03}};
  EXPECT_THAT(causes_from_start(promised_rate(), seen, k_deviates),
              ElementsAre(HasSubstr("to 1.11 times what it was, after 30.0 s")))
      << "a change that is found in two parts is reported once";
}

TEST(Causes, ASuddenChangeIsNamedBesideALongerPhase) {
  Promise promised = promised_rate();
  promised.phases = {{"evaluation", phase_of(2.0, 1000)}};
  Measurement seen;
  seen.phases = {{"evaluation", phase_of(6.0, 1000)}};
  seen.level_changes = {{2000.0, 30.0, 1.3}, {3000.0, 40.0, 0.5}};
  EXPECT_THAT(causes_from_start(promised, seen, k_deviates),
              ElementsAre(HasSubstr("evaluation takes 6.0 s"),
                          HasSubstr("changed at once, to 1.30 times what it was")));
}

TEST(Causes, SlowerStepsAreTheLastExplanation) {
  EXPECT_THAT(causes_from_start(promised_rate(), Measurement{}, k_deviates),
              ElementsAre(HasSubstr("the steps themselves are slower")));
  EXPECT_THAT(causes_from_start(promised_rate(), Measurement{}, Deviation{{}, 0.8}), IsEmpty());
}

TEST(Causes, NameChangesOfTheMachine) {
  Measurement seen;
  seen.level_changes = {{.at_samples = 100.0, .at_s = 50.0, .ratio = 1.3}};
  MachineCause machine;
  machine.since_trial = MachineFigureChange{"other_load", 0.01, 0.4};
  EXPECT_THAT(
      causes_of(promised_rate(), seen, 1000.0, k_deviates, machine),
      ElementsAre("the CPU share of other programs rose from 1.0 % to 40 % since the trial"))
      << "seen, not guessed";
  machine.since_before = MachineFigureChange{"gpu_clock_hz", 1.8e9, 1.2e9};
  EXPECT_THAT(causes_of(promised_rate(), seen, 1000.0, k_deviates, machine),
              ElementsAre("the GPUs' clock fell from 1.80 GHz to 1.20 GHz when the rate changed"));
}

}  // namespace
}  // namespace steptune
