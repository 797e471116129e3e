// SPDX-License-Identifier: Apache-2.0
// Tests studies on a machine that slows down during the search.
#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/log.hpp"
#include "tests/simulation/simulated_study.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/history/decision_text.hpp"

namespace steptune::simulation {
namespace {

using ::testing::HasSubstr;

/// A study of sixty configurations with forty trials.
Json drift_document() {
  Json document = study_document();
  document["parameters"]["workers"]["high"] = 11;
  document["budget"]["trials"] = 40;
  document["measure"]["confirm_pairs"] = 2;
  return document;
}

/// All configurations have the same step time, which the machine multiplies by `slowness`.
TrialScript step_of(const TrialSpec& spec, double slowness) {
  TrialScript script = train(spec);
  script.seconds_per_step = script.samples_per_step * 0.003 * slowness;
  return script;
}

/// Step times grow by 1 % with every other launch, 20 % over the search.
double slower_and_slower(const TrialSpec& spec) {
  return 1.0 + 0.005 * static_cast<double>(std::min<std::int64_t>(spec.key.trial, 44));
}

std::vector<TrialRecord> of_purpose(const std::vector<TrialRecord>& trials, TrialPurpose purpose) {
  std::vector<TrialRecord> result;
  std::ranges::copy_if(trials, std::back_inserter(result),
                       [&](const TrialRecord& trial) { return trial.purpose == purpose; });
  return result;
}

struct Played {
  std::vector<TrialRecord> trials;
  Recommendation recommendation;
  std::vector<std::string> warnings;
  std::vector<StudyDecision> decisions;
};

Played play(const Json& document, const ScriptedRunner::Script& script) {
  DatabaseFolder folder;
  SimulatedRun run(folder.path(), document, script);
  const auto result = run.run();
  if (!result) throw std::runtime_error(result.error().text());
  return {run.trials(), result->recommendation.value(), run.listener.warnings,
          must(run.history.decisions(run.record().id))};
}

class DriftingStudy : public ::testing::Test {
 protected:
  DriftingStudy() {
    const Played quiet = play(document_, [](const TrialSpec& spec) { return step_of(spec, 1.0); });
    const auto searched = of_purpose(quiet.trials, TrialPurpose::search);
    early_ = searched.at(2).configuration;
    late_ = searched.at(37).configuration;
  }
  /// The configuration that is tried late is the fastest, by 7 %. The configuration that is tried
  /// early is second.
  [[nodiscard]] TrialScript contest(const TrialSpec& spec) const {
    const double speed = spec.configuration == late_    ? 1.5
                         : spec.configuration == early_ ? 1.4
                                                        : 1.0;
    return step_of(spec, slower_and_slower(spec) / speed);
  }
  [[nodiscard]] Played play_contest() const {
    return play(document_, [this](const TrialSpec& spec) { return contest(spec); });
  }

  Json document_ = drift_document();
  Configuration early_;
  Configuration late_;
};

TEST_F(DriftingStudy, FindsTheFastestAlthoughItWasTriedLate) {
  const Played played = play_contest();
  EXPECT_EQ(played.recommendation.configuration, late_);
  EXPECT_EQ(played.recommendation.claim, Claim::faster);
  EXPECT_THAT(texts_of(played.recommendation.notes),
              ::testing::Contains(::testing::HasSubstr("slower during the search")));
  EXPECT_THAT(played.warnings,
              ::testing::Contains(::testing::HasSubstr("slower during the search")));
  EXPECT_NEAR(played.recommendation.speed_up.ratio, 1.5, 0.03);
}

TEST_F(DriftingStudy, WithoutSentinelsPrefersEarlyTrials) {
  document_["measure"]["sentinels"] = false;
  const Played played = play_contest();
  EXPECT_EQ(played.recommendation.configuration, early_);
  EXPECT_THAT(of_purpose(played.trials, TrialPurpose::sentinel), ::testing::IsEmpty());
}

TEST_F(DriftingStudy, SentinelsKeepTheirShareAndAreNoSearchTrials) {
  const Played played = play_contest();
  const auto sentinels = of_purpose(played.trials, TrialPurpose::sentinel);
  EXPECT_GE(sentinels.size(), 2U);
  double searched_s = 0.0;
  double sentinels_s = 0.0;
  int searched = 0;
  for (const TrialRecord& trial : played.trials) {
    if (trial.purpose == TrialPurpose::sentinel) {
      EXPECT_EQ(trial.configuration, played.trials.front().configuration);
      EXPECT_EQ(trial.status, TrialStatus::completed);
      sentinels_s += trial.spent_s;
    } else if (is_compared(trial.purpose)) {
      searched_s += trial.spent_s;
      ++searched;
    }
  }
  EXPECT_EQ(searched, 40);
  EXPECT_LE(sentinels_s, 0.11 * searched_s);
}

TEST_F(DriftingStudy, TheDecisionLogHasSentinelsAndFreshRuns) {
  const TemporaryFolder folder("decisions");
  const std::filesystem::path file = folder.path() / "decisions.log";
  ASSERT_TRUE(set_up_log({LogLevel::info, file}));
  const Played played = play_contest();
  ASSERT_TRUE(set_up_log({}));
  std::vector<std::string> log;
  std::vector<std::string> drifts;
  std::vector<std::string> judgements;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" drift trial=") != std::string::npos) drifts.push_back(line);
    if (line.find(" judge trial=") != std::string::npos) judgements.push_back(line);
    log.push_back(line);
  }
  ASSERT_EQ(drifts.size(), of_purpose(played.trials, TrialPurpose::sentinel).size());
  // Two runs show a drift by themselves only if they differ by ten percent.
  EXPECT_THAT(drifts.front(), HasSubstr("runs=2 "));
  EXPECT_THAT(drifts.back(), HasSubstr("significant=true log_ratio=0.1"));
  const auto of_winner = std::ranges::find_if(judgements, [&](const std::string& line) {
    return line.find("(" + late_.text() + ")") != std::string::npos;
  });
  ASSERT_NE(of_winner, judgements.end());
  EXPECT_THAT(*of_winner, HasSubstr(" settled=false pairs=1 "))
      << "the first pair alone proves nothing";
  const auto decided = std::ranges::find_if(judgements, [&](const std::string& line) {
    return line.find("verdict=faster settled=true pairs=2 ratio=1.5") != std::string::npos;
  });
  ASSERT_NE(decided, judgements.end());

  // The history has the same decisions, in the same order.
  auto logged = log.begin();
  std::map<std::string, std::size_t> kinds;
  for (const StudyDecision& decision : played.decisions) {
    const std::string expected_line = fmt::format(
        " {}{} {}{}", decision.kind,
        decision.trial > 0 ? fmt::format(" trial={}", decision.trial) : "", numbers_text(decision),
        decision.text.empty() ? "" : fmt::format(" ({})", decision.text));
    logged = std::find_if(logged, log.end(),
                          [&](const std::string& line) { return line.ends_with(expected_line); });
    ASSERT_NE(logged, log.end()) << expected_line;
    ++logged;
    ++kinds[decision.kind];
  }
  EXPECT_EQ(kinds["drift"], drifts.size());
  EXPECT_EQ(kinds["judge"], judgements.size());
  EXPECT_GE(kinds["finalist"], 1U);
  EXPECT_EQ(kinds["end"], 1U);
  EXPECT_EQ(kinds["recommend"], 1U);
  const StudyDecision& last = played.decisions.back();
  EXPECT_EQ(last.kind, "recommend");
  EXPECT_EQ(last.trial, played.recommendation.incumbent_trial);
  EXPECT_EQ(last.numbers.at("claim"), "faster");
}

TEST_F(DriftingStudy, ASteadyMachineGetsFewSentinelsAndNoCorrection) {
  const Played played = play(document_, [](const TrialSpec& spec) { return step_of(spec, 1.0); });
  EXPECT_LE(of_purpose(played.trials, TrialPurpose::sentinel).size(), 3U);
  EXPECT_THAT(played.warnings, ::testing::IsEmpty());
  for (const TrialRecord& trial : played.trials)
    EXPECT_EQ(trial.level.log_ratio, 0.0) << trial.number;
}

TEST_F(DriftingStudy, ASentinelThatFailsIsNoFailureOfTheStudy) {
  document_["budget"]["consecutive_failures"] = 1;
  const auto script = [this](const TrialSpec& spec) {
    TrialScript result = contest(spec);
    const bool is_baseline = spec.configuration == study_of(document_).baseline;
    if (is_baseline && spec.key.trial > 1 && spec.key.trial <= 40) {
      result.steps = 1;
      result.ends_as = OutcomeKind::failed;
    }
    return result;
  };
  const Played played = play(document_, script);
  ASSERT_FALSE(of_purpose(played.trials, TrialPurpose::sentinel).empty());
  EXPECT_EQ(of_purpose(played.trials, TrialPurpose::search).size(), 39U);
  EXPECT_EQ(played.recommendation.claim, Claim::faster);
}

/// Records the observations that the searcher receives.
class Listening final : public Searcher {
 public:
  Listening(std::unique_ptr<Searcher> searcher, std::vector<std::string>& messages)
      : searcher_(std::move(searcher)), messages_(messages) {}
  void observe(const Observation& observation) override {
    std::string text = fmt::format("{} {}", observation.trial, observation.configuration.text());
    for (std::size_t i = 0; i < observation.values.size(); ++i)
      text +=
          fmt::format(" {:.8g} +- {:.6g}", observation.values[i], observation.standard_errors[i]);
    messages_.push_back(std::move(text));
    searcher_->observe(observation);
  }
  [[nodiscard]] Result<std::optional<Suggestion>> suggest(const SuggestRequest& request) override {
    return searcher_->suggest(request);
  }

 private:
  std::unique_ptr<Searcher> searcher_;
  std::vector<std::string>& messages_;
};

/// Stops trials with three workers at their tenth step, as a scheduler stops the worse trials.
class StopsThreeWorkers final : public Scheduler {
 public:
  explicit StopsThreeWorkers(const std::vector<TrialSpec>& started) : started_(started) {}
  StopDecision on_estimate(const TrialEstimate& estimate) override {
    const auto spec = std::ranges::find(started_, estimate.trial,
                                        [](const TrialSpec& each) { return each.key.trial; });
    const bool stops = spec != started_.end() && estimate.resource >= 10.0 &&
                       to_number(*spec->configuration.find("workers")) == 3.0;
    return {stops, "one of the worst"};
  }
  void on_exempt(const TrialEstimate& /*estimate*/) override {}
  void forget(std::int64_t /*trial*/) override {}

 private:
  const std::vector<TrialSpec>& started_;
};

struct Decided {
  std::vector<std::string> trials;
  std::vector<std::string> messages;  ///< to the last searcher
  std::string recommended;
};

std::vector<std::string> decided_of(const std::vector<TrialRecord>& trials) {
  std::vector<std::string> result;
  for (const TrialRecord& trial : trials) {
    std::string text = fmt::format("{} {}: {} {} level {:.6g} +- {:.6g}", to_text(trial.purpose),
                                   trial.configuration.text(), to_text(trial.status), trial.failure,
                                   trial.level.log_ratio, trial.level.standard_error);
    for (const double value : trial.objectives)
      text += fmt::format(" {:.8g}", value);
    result.push_back(std::move(text));
  }
  return result;
}

/// Runs to the crash point with this number (0: to the end). Returns the number of crash points.
std::size_t run_to(const std::filesystem::path& folder, const Json& document,
                   const ScriptedRunner::Script& script, std::size_t crash_at, Decided& decided,
                   bool stops_three_workers = false) {
  SimulatedRun run(folder, document, script, crash_at == 0 ? 1000.0 : 0.0);
  decided.messages.clear();
  run.searcher = std::make_unique<Listening>(std::move(run.searcher), decided.messages);
  if (stops_three_workers)
    run.scheduler = std::make_unique<StopsThreeWorkers>(run.runner.started());
  std::size_t points = 0;
  run.runner.at_crash_point = [&] {
    if (++points == crash_at) throw 1;
  };
  const auto result = run.run();
  if (!result) throw std::runtime_error(result.error().text());
  decided.trials = decided_of(run.trials());
  const Recommendation& recommendation = result->recommendation.value();
  decided.recommended =
      fmt::format("{} {:.8g} {}", recommendation.configuration.text(),
                  recommendation.speed_up.ratio, fmt::join(texts_of(recommendation.notes), "; "));
  return points;
}

class KilledWhileDrifting : public DriftingStudy,
                            public ::testing::WithParamInterface<const char*> {};

TEST_P(KilledWhileDrifting, DecidesAsIfItHadNotBeenKilled) {
  document_["search"]["scheduler"] = GetParam();
  document_["search"]["min_steps"] = 8;
  const auto script = [this](const TrialSpec& spec) { return contest(spec); };
  DatabaseFolder unkilled_folder;
  Decided unkilled;
  const std::size_t crash_points = run_to(unkilled_folder.path(), document_, script, 0, unkilled);
  ASSERT_THAT(unkilled.trials, ::testing::Contains(::testing::HasSubstr("sentinel")));
  for (std::size_t crash_at = 40; crash_at < crash_points; crash_at += 37) {
    DatabaseFolder folder;
    Decided resumed;
    EXPECT_THROW(run_to(folder.path(), document_, script, crash_at, resumed), int);
    run_to(folder.path(), document_, script, 0, resumed);
    ASSERT_EQ(resumed.trials, unkilled.trials) << "killed at crash point " << crash_at;
    ASSERT_EQ(resumed.messages, unkilled.messages) << "killed at crash point " << crash_at;
    ASSERT_EQ(resumed.recommended, unkilled.recommended) << "killed at crash point " << crash_at;
  }
}

INSTANTIATE_TEST_SUITE_P(Schedulers, KilledWhileDrifting, ::testing::Values("none", "asha"));

/// The machine slows down. Some trials hang. Configurations faster than the baseline violate the
/// guard, and the fastest is stopped before the guard judges it.
TEST_F(DriftingStudy, DecidesAfterAKillAsBefore) {
  document_["budget"]["trials"] = 24;
  document_["guards"] =
      Json::parse(R"([{"metric": "loss", "after_samples": 6400, "max_ratio_to_baseline": 1.02}])");
  const Configuration baseline = study_of(document_).baseline;
  const auto script = [&baseline](const TrialSpec& spec) {
    const double workers = to_number(*spec.configuration.find("workers"));
    const double speed = spec.configuration == baseline ? 1.0
                         : workers == 3.0               ? 1.5
                         : workers > 3.0                ? 1.2
                                                        : 0.9;
    TrialScript result = step_of(spec, slower_and_slower(spec) / speed);
    result.metrics["loss"] = workers > 3.0 ? 9.0 : 2.0;
    if (workers == 5.0) result.hangs_after = 4;
    if (workers == 7.0) result.hangs_after = 12;
    return result;
  };
  DatabaseFolder unkilled_folder;
  Decided unkilled;
  const std::size_t crash_points =
      run_to(unkilled_folder.path(), document_, script, 0, unkilled, true);
  const auto some = [&](const char* text) {
    return std::ranges::any_of(unkilled.trials, [&](const std::string& trial) {
      return trial.find(text) != std::string::npos;
    });
  };
  const std::string all = fmt::format("{}", fmt::join(unkilled.trials, "\n"));
  ASSERT_TRUE(some("sentinel")) << all;
  ASSERT_TRUE(some("stopped_early one of the worst")) << all;
  ASSERT_TRUE(some("confirm_incumbent") && some("workers=3")) << all;
  ASSERT_TRUE(some("workers=5") && some("workers=7")) << all;
  EXPECT_THAT(unkilled.recommended, HasSubstr("workers=3")) << all;
  for (std::size_t crash_at = 3; crash_at < crash_points; crash_at += 19) {
    DatabaseFolder folder;
    Decided resumed;
    EXPECT_THROW(run_to(folder.path(), document_, script, crash_at, resumed, true), int);
    run_to(folder.path(), document_, script, 0, resumed, true);
    ASSERT_EQ(resumed.trials, unkilled.trials) << "killed at crash point " << crash_at;
    ASSERT_EQ(resumed.messages, unkilled.messages) << "killed at crash point " << crash_at;
    ASSERT_EQ(resumed.recommended, unkilled.recommended) << "killed at crash point " << crash_at;
  }
}

}  // namespace
}  // namespace steptune::simulation
