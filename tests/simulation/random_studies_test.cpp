// SPDX-License-Identifier: Apache-2.0
// Tests promises that hold for every study (budgets, valid results), with random studies of all
// kinds.
#include <algorithm>
#include <array>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/simulation/simulated_study.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune::simulation {
namespace {

constexpr std::uint64_t k_studies = 60;
constexpr double k_usd_per_s = 0.001;

/// Random draws for a study, from its number.
class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : rng_(seed, "random study", 0) {}
  template <typename T, std::size_t N>
  T one_of(const std::array<T, N>& choices) {
    return choices[rng_.below(N)];
  }
  bool one_in(std::uint64_t count) { return rng_.below(count) == 0; }

 private:
  Rng rng_;
};

struct RandomStudy {
  Json document = study_document();
  ScriptedRunner::Script script;
  int capacity = 1;
  bool has_only_trials = false;  ///< true if the budget limits only the number of trials
};

void draw_budget(Drawn& drawn, RandomStudy& study) {
  Json budget = Json::object();
  if (drawn.one_in(2)) budget["trials"] = drawn.one_of(std::array{1, 2, 5, 12});
  study.has_only_trials = !budget.empty();
  if (drawn.one_in(2)) {
    budget["time"] = drawn.one_of(std::array{1.0, 10.0, 60.0, 300.0});
    study.has_only_trials = false;
  }
  if (drawn.one_in(3)) {
    budget["cost"] = drawn.one_of(std::array{0.0001, 0.01, 0.05, 0.3});
    study.has_only_trials = false;
  }
  if (budget.empty()) budget["trials"] = 12;
  if (drawn.one_in(4)) budget["stop"] = "payback";
  study.document["budget"] = budget;
}

void draw_goal(Drawn& drawn, RandomStudy& study) {
  Json& document = study.document;
  document["objectives"] = drawn.one_of(std::array{Json{"time"}, Json{"time"}, Json{"cost"},
                                                   Json{"time", "cost"}, Json{"cost", "time"}});
  if (drawn.one_in(5)) document["planned_run"]["deadline"] = drawn.one_of(std::array{1.0, 1500.0});
  if (drawn.one_in(5)) document["planned_run"]["max_cost"] = drawn.one_of(std::array{0.001, 2.0});
  if (drawn.one_in(4)) {
    document["guards"].push_back(
        Json{{"metric", drawn.one_of(std::array<const char*, 2>{"loss", "missing"})},
             {"max_ratio_to_baseline", 1.02}});
    if (drawn.one_in(2)) document["guards"][0]["after_samples"] = 1280;
  }
  document["search"]["searcher"] =
      drawn.one_of(std::array<const char*, 3>{"random", "sobol", "grid"});
  document["search"]["scheduler"] =
      drawn.one_of(std::array<const char*, 4>{"none", "asha", "racing", "median"});
  document["measure"]["confirm_pairs"] = drawn.one_of(std::array{0, 1, 2, 3});
  if (drawn.one_in(4)) document["constraints"] = Json::array({"batch_size == 32 && workers == 0"});
  if (drawn.one_in(3)) document["parameters"]["workers"]["high"] = 39;
}

/// Returns the true time of a configuration, the same in every launch, so that claims can be
/// checked.
double true_rate(const Configuration& configuration) {
  TrialSpec spec;
  spec.configuration = configuration;
  const TrialScript script = train(spec);
  return script.seconds_per_step / script.samples_per_step;
}

void draw_script(Drawn& drawn, std::uint64_t seed, RandomStudy& study) {
  const double startup_s = drawn.one_of(std::array{0.0, 2.0, 20.0, 100.0});
  const double noise = drawn.one_of(std::array{0.0, 0.01, 0.3});
  const auto faults = drawn.one_of(std::array<std::uint64_t, 4>{0, 0, 10, 2});
  study.script = [=](const TrialSpec& spec) {
    TrialScript script = train(spec);
    script.startup_s = startup_s;
    script.noise = noise;
    script.metrics["loss"] = to_number(*spec.configuration.find("batch_size")) > 128 ? 2.2 : 2.0;
    // The fault depends on the trial, not on its attempt.
    Rng chance(seed, "fault", static_cast<std::uint64_t>(spec.key.trial));
    if (faults == 0 || chance.below(10) >= faults) return script;
    switch (chance.below(6)) {
      case 0:
        script.steps = 0;
        script.ends_as = OutcomeKind::failed;
        break;
      case 1:
        script.steps = 2;
        script.ends_as = OutcomeKind::out_of_memory;
        break;
      case 2:
        script.hangs_after = 5;
        break;
      case 3:
        script.steps = 0;  // ends at once, without a failure
        break;
      case 4:
        script.steps = 40;
        break;
      default:
        script.steps = 3;
        script.ends_as = OutcomeKind::lost;
    }
    return script;
  };
}

RandomStudy random_study(std::uint64_t seed) {
  RandomStudy study;
  Drawn drawn(seed);
  study.document["limits"] = {{"wall", "30m"}, {"idle", "5m"}};
  draw_budget(drawn, study);
  draw_goal(drawn, study);
  draw_script(drawn, seed, study);
  study.capacity = drawn.one_of(std::array{1, 1, 1, 3});
  return study;
}

/// Aborts a study that does not end.
void bound(SimulatedRun& run) {
  run.runner.at_wait = [&run] {
    if (run.clock.now_s() > 1e6) throw std::runtime_error("the study does not end");
  };
}

struct Ended {
  LoopResult result;
  StudyRecord record;
  std::vector<TrialRecord> trials;
};

Ended play(const std::filesystem::path& folder, const RandomStudy& study, double wall_s) {
  SimulatedRun run(folder, study.document, study.script, wall_s, study.capacity);
  bound(run);
  LoopResult result = must(run.run());
  return {std::move(result), run.record(), run.trials()};
}

/// Returns the time beyond the budget that a study may take: the first pair of fresh runs, and the
/// end of running trials.
double most_beyond_s(const std::vector<TrialRecord>& trials) {
  double most_s = 1.0;
  for (const TrialRecord& trial : trials) {
    if (is_confirmation(trial.purpose) && trial.confirm_pair <= 1) most_s += trial.spent_s;
  }
  return most_s;
}

void expect_promises(const RandomStudy& study, const Ended& ended) {
  const Json& budget = study.document["budget"];
  const std::string& reason = ended.result.reason;
  if (budget.contains("time")) {
    EXPECT_LE(ended.record.elapsed_s,
              1.05 * budget["time"].get<double>() + most_beyond_s(ended.trials))
        << reason;
  }
  if (budget.contains("cost") && study.capacity == 1) {
    EXPECT_LE(k_usd_per_s * ended.record.elapsed_s,
              1.05 * budget["cost"].get<double>() + k_usd_per_s * most_beyond_s(ended.trials))
        << reason;
  }
  std::int64_t searched = 0;
  for (const TrialRecord& trial : ended.trials) {
    // If the baseline was not measured, each run of the tuner tries it again.
    const bool no_baseline = trial.purpose == TrialPurpose::baseline && !was_measured(trial.status);
    searched += is_compared(trial.purpose) && !no_baseline ? 1 : 0;
    EXPECT_TRUE(is_final(trial.status) || trial.status == TrialStatus::interrupted)
        << trial.number << ": " << reason;
  }
  if (budget.contains("trials")) {
    EXPECT_LE(searched, budget["trials"].get<std::int64_t>());
  }
  EXPECT_FALSE(reason.empty());
  const auto& recommendation = ended.result.recommendation;
  if (!recommendation) return;
  const auto& chosen = ended.trials[static_cast<std::size_t>(recommendation->incumbent_trial - 1)];
  EXPECT_TRUE(is_ranked(chosen.status)) << reason;
  EXPECT_EQ(chosen.configuration, recommendation->configuration);
  const auto& batch = *recommendation->configuration.find("batch_size");
  const bool guarded =
      study.document.contains("guards") && study.document["guards"][0]["metric"] == "loss";
  EXPECT_FALSE(guarded && to_number(batch) > 128) << reason;
}

bool is_false_claim(const Ended& ended, const RandomStudy& study) {
  const auto& recommendation = ended.result.recommendation;
  if (!recommendation || recommendation->claim != Claim::faster) return false;
  const Configuration baseline = study_of(study.document).baseline;
  return !(true_rate(recommendation->configuration) < true_rate(baseline));
}

TEST(RandomStudies, KeepTheirBudgetsAndClaimCorrectly) {
  std::uint64_t false_claims = 0;
  for (std::uint64_t seed = 1; seed <= k_studies; ++seed) {
    const RandomStudy study = random_study(seed);
    SCOPED_TRACE(std::to_string(seed) + " " + study.document.dump());
    const DatabaseFolder folder;
    const Ended ended = play(folder.path(), study, 0.0);
    expect_promises(study, ended);
    if (is_false_claim(ended, study)) ++false_claims;
    if (is_to_be_continued(ended.result.end)) continue;
    // Running the finished study again changes nothing.
    const Ended again = play(folder.path(), study, 1e5);
    EXPECT_EQ(again.result.reason, ended.result.reason);
    EXPECT_EQ(again.trials.size(), ended.trials.size());
    if (HasFailure()) return;
  }
  EXPECT_LE(false_claims, k_studies / 20);
}

std::vector<std::string> outcome(const Ended& ended) {
  std::vector<std::string> texts;
  for (const TrialRecord& trial : ended.trials) {
    texts.push_back(to_text(trial.purpose) + " " + trial.configuration.text() + " " +
                    to_text(trial.status) + " " + trial.failure);
  }
  texts.push_back(ended.result.reason);
  return texts;
}

TEST(RandomStudies, DecideAfterKillsAsBefore) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= k_studies; ++seed) {
    const RandomStudy study = random_study(seed);
    SCOPED_TRACE(std::to_string(seed) + " " + study.document.dump());
    const DatabaseFolder unkilled;
    const Ended expected = play(unkilled.path(), study, 0.0);
    const DatabaseFolder folder;
    Rng chance(seed, "kill", 0);
    for (int kill = 0; kill < 3; ++kill) {
      // The clock goes back now and then.
      SimulatedRun run(folder.path(), study.document, study.script,
                       1e6 - 1e5 * static_cast<double>(chance.below(10)), study.capacity);
      bound(run);
      auto left = 1 + chance.below(60);
      const auto crash_point = [&left] {
        if (--left == 0) throw 1;
      };
      run.runner.at_crash_point = crash_point;
      run.listener.at_crash_point = crash_point;
      try {
        static_cast<void>(must(run.run()));
      } catch (int) {
      }
    }
    const Ended ended = play(folder.path(), study, 2e6);
    expect_promises(study, ended);
    const bool lost_or_ended =
        is_to_be_continued(expected.result.end) || is_to_be_continued(ended.result.end);
    if (study.capacity == 1 && study.has_only_trials && !lost_or_ended) {
      EXPECT_EQ(outcome(ended), outcome(expected));
      ++compared;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace steptune::simulation
