// SPDX-License-Identifier: Apache-2.0
// Tests the loop on the replay runner, with trials that end in every way, drawn from a seed.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/simulation/simulated_study.hpp"
#include "trial_runner/replay/replay_runner.hpp"

namespace steptune::simulation {
namespace {

double rate_of(const Configuration& configuration) {
  const double batch = to_number(*configuration.find("batch_size"));
  const double workers = to_number(*configuration.find("workers"));
  return 0.0005 + 0.02 / batch + 0.002 / (1.0 + workers);
}

/// Returns how a trial ends early, from the seed of the simulation; nullopt for most trials. Trials
/// crash, run out of memory, hang, are lost, or end by themselves.
std::optional<ReplayEnd> mishap(std::uint64_t seed, const TrialSpec& spec) {
  Rng rng(seed, "mishap", static_cast<std::uint64_t>(spec.key.trial * 100 + spec.key.attempt));
  const double draw = rng.uniform();
  const double after_s = 5.0 * rng.uniform();
  if (spec.key.trial == 1 || draw > 0.4) return std::nullopt;
  if (draw < 0.1) return ReplayEnd{OutcomeKind::failed, after_s, 1, "exit status 1"};
  if (draw < 0.2) return ReplayEnd{OutcomeKind::out_of_memory, after_s, 137, ""};
  if (draw < 0.25) return ReplayEnd{OutcomeKind::hung, after_s, 137, "no output"};
  if (draw < 0.35) return ReplayEnd{OutcomeKind::lost, after_s, 0, "machine gone"};
  return ReplayEnd{OutcomeKind::completed, after_s, 0, ""};
}

struct Simulation {
  std::vector<TrialRecord> trials;
  LoopResult result;
  std::string log;
};

Simulation simulate(std::uint64_t seed) {
  Rng rng(seed, "options");
  Json document = study_document();
  document["search"]["seed"] = seed;
  document["search"]["searcher"] = rng.below(2) == 0 ? "random" : "sobol";
  document["search"]["scheduler"] =
      std::vector<std::string>{"none", "asha", "racing", "median"}[rng.below(4)];
  document["budget"]["trials"] = 5 + rng.below(20);
  document["budget"]["consecutive_failures"] = 3 + rng.below(5);
  document["measure"]["confirm_pairs"] = rng.below(4);
  if (rng.below(2) == 0) document["budget"]["time"] = fmt::format("{}s", 60 + rng.below(600));
  if (rng.below(3) == 0) document["objectives"] = Json::parse(R"(["time", "cost"])");

  DatabaseFolder folder;
  SimulatedRun run(folder.path(), document, train);
  ReplayOptions options;
  options.parallel = static_cast<int>(1 + rng.below(4));
  options.seed = seed;
  options.end_of = [seed](const TrialSpec& spec) { return mishap(seed, spec); };
  ReplayRunner runner(run.clock, synthetic_replay_model([](const Configuration& configuration) {
                        return std::optional(rate_of(configuration));
                      }),
                      options);
  auto result = run.run_on(runner);
  if (!result) throw std::runtime_error(result.error().text());
  Simulation simulation{run.trials(), *std::move(result), ""};
  for (const auto& trial : simulation.trials) {
    simulation.log +=
        fmt::format("{} {} {} {} {:.9g} {:.9g} {}\n", trial.number, trial.configuration.text(),
                    to_text(trial.status), trial.attempt, trial.started_wall_s, trial.ended_wall_s,
                    trial.objectives.empty() ? 0.0 : trial.objectives[0]);
  }
  return simulation;
}

/// Checks conditions that every simulation must meet, from the records alone.
void expect_sound(std::uint64_t seed, const Simulation& simulation) {
  SCOPED_TRACE(fmt::format("seed {}\n{}", seed, simulation.log));
  const auto& trials = simulation.trials;
  std::set<Configuration> searched;
  double spent_usd = 0.0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const TrialRecord& trial = trials[i];
    EXPECT_EQ(trial.number, static_cast<std::int64_t>(i) + 1);
    const bool goes_on = simulation.result.end == LoopEnd::too_many_failures ||
                         simulation.result.reason.find("cut off") != std::string::npos;
    const bool to_be_continued = goes_on && trial.status == TrialStatus::interrupted;
    EXPECT_TRUE(is_final(trial.status) || to_be_continued) << trial.number;
    EXPECT_GE(trial.ended_wall_s, trial.started_wall_s);
    // An infeasible trial may end before its first step.
    if (trial.status != TrialStatus::infeasible) {
      EXPECT_EQ(trial.objectives.empty(), !is_ranked(trial.status));
    }
    if (is_compared(trial.purpose)) {
      EXPECT_TRUE(searched.insert(trial.configuration).second) << "tried twice: " << trial.number;
    }
    spent_usd += trial.spent_usd;
  }
  if (!simulation.result.recommendation) return;
  const Recommendation& best = *simulation.result.recommendation;
  EXPECT_NEAR(best.tuning_usd, spent_usd, 1e-9);
  const auto& winner = trials[static_cast<std::size_t>(best.incumbent_trial) - 1];
  EXPECT_TRUE(is_ranked(winner.status));
  EXPECT_EQ(winner.configuration, best.configuration);
  for (const auto& trial : trials) {
    if (trial.status != TrialStatus::completed || !is_compared(trial.purpose)) continue;
    // Fresh runs decide which of the freshly run configurations is best.
    const bool ran_afresh = std::ranges::any_of(trials, [&](const TrialRecord& other) {
      return other.purpose == TrialPurpose::confirm_incumbent &&
             other.configuration == trial.configuration;
    });
    if (best.incumbent_trial == 1 || ran_afresh) continue;
    // A configuration with fewer changes may be slower by `search.worth` (5 %). Noise adds to that.
    EXPECT_LE(winner.objectives[0], trial.objectives[0] * 1.08) << trial.number;
  }
  EXPECT_LT(rate_of(best.configuration), rate_of(trials[0].configuration) * 1.03)
      << "the true time is at most 3 % above that of the baseline";
}

TEST(ReplayedStudies, AreSoundWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    expect_sound(seed, simulate(seed));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(ReplayedStudies, TheSameSeedGivesTheSameLog) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::string log = simulate(seed).log;
    EXPECT_EQ(log, simulate(seed).log) << seed;
  }
}

}  // namespace
}  // namespace steptune::simulation
