// SPDX-License-Identifier: Apache-2.0
// Nights of replayed trials: all but the processes is real, and a night takes some milliseconds.
#include "tuner/retune/retune.hpp"

#include <memory>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/retune/night_report.hpp"

namespace steptune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr double k_day_s = 86'400.0;
constexpr std::int64_t k_trials = 6;

StudySpec study_called(const std::string& name, int most_workers = 4) {
  Json document = Json::parse(R"json({
    "command": ["train", "--workers={workers}", "--kind={kind}"],
    "parameters": {"workers": {"type": "int", "low": 0, "high": 4},
                   "kind": {"type": "categorical", "choices": ["plain", "fused"]}},
    "baseline": {"workers": 0, "kind": "plain"},
    "planned_run": {"samples": 1e8},
    "search": {"searcher": "random", "scheduler": "none", "seed": 7},
    "runner": {"type": "replay", "price_per_hour": 2.0, "seconds_per_sample": 1}
  })json");
  document["name"] = name;
  document["parameters"]["workers"]["high"] = most_workers;
  document["budget"]["trials"] = k_trials;
  return must(study_from_json(document, "/studies/" + name + ".json",
                              {{"cpus", 8}, {"gpus", 0}, {"memory_gb", 32}}));
}

/// A history, and what its nights are played on.
class Season {
 public:
  /// Milliseconds of a sample by either kind of kernel, with very many workers.
  void set_speeds(double plain_ms, double fused_ms) {
    seconds_per_sample_ = fmt::format(
        "0.001 * (kind == 'fused' ? {} : {}) * (1 + 1 / (1 + workers))", fused_ms, plain_ms);
  }

  Night night(const StudySpec& study, const RetuneOptions& options = {}) {
    clock_.advance_to(clock_.now_s() + k_day_s);
    const auto make_parts = [this](const StudySpec& spec) -> Result<StudyParts> {
      // Another speed is no other study: that of the file says nothing of it.
      Json document = spec.document;
      document["runner"]["seconds_per_sample"] = seconds_per_sample_;
      played_.push_back(
          std::make_unique<StudySpec>(must(study_from_json(document, spec.file, spec.facts))));
      return make_study_parts(*played_.back(), clock_);
    };
    return must(retune({study,
                        history_,
                        clock_,
                        listener_,
                        make_parts,
                        [this](const std::string& name) { return logs_of(name); },
                        {},
                        {{"cpu", "Xeon 6348"}}},
                       options));
  }
  /// A first night that finds fused kernels with four workers, and one that keeps them.
  void begin(const StudySpec& study) {
    EXPECT_EQ(night(study).result, NightResult::improved);
    EXPECT_EQ(night(study).result, NightResult::kept);
  }

  [[nodiscard]] std::vector<std::string> studies() const {
    std::vector<std::string> names;
    for (const StudyRecord& study : must(history_.studies()))
      names.push_back(study.name);
    return names;
  }
  [[nodiscard]] const History& history() const { return history_; }
  [[nodiscard]] std::filesystem::path logs_of(const std::string& study) const {
    return folder_.path() / "logs" / study;
  }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return listener_.warnings; }

 private:
  struct Listener final : LoopListener {
    void on_warning(const std::string& message) override { warnings.push_back(message); }
    std::vector<std::string> warnings;
  };

  DatabaseFolder folder_;
  VirtualClock clock_;
  History history_ = must(History::open_for_writing(folder_.path() / "history.db", clock_));
  Listener listener_;
  std::string seconds_per_sample_ = "0.001 * (kind == 'fused' ? 0.6 : 1) * (1 + 1 / (1 + workers))";
  std::vector<std::unique_ptr<StudySpec>> played_;  ///< searchers refer to them
};

std::string kind_in_use(const Night& night) {
  return std::get<std::string>(*night.after.configuration.find("kind"));
}

RetuneOptions bounded(NightBounds bounds) {
  RetuneOptions options;
  options.bounds = bounds;
  return options;
}

/// The night on which fused kernels have become half as slow again, which starts a search.
Night slower_night(const NightBounds& bounds) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  season.set_speeds(1.0, 0.9);
  return season.night(study, bounded(bounds));
}

TEST(Retune, ASearchThatNothingBoundsTakesAllItsTrials) {
  const Night night = slower_night({});
  EXPECT_EQ(night.result, NightResult::regressed);
  EXPECT_EQ(night.searched, k_trials);
  EXPECT_FALSE(night.budget_spent);
  EXPECT_THAT(night_events(night), ElementsAre("regressed"));
}

TEST(Retune, AFirstNightWithTimeForItsBaselineOnlySaysWhatTheNextOneDoes) {
  Season season;
  const Night night = season.night(study_called("demo"), bounded({10.0, {}, {}}));
  EXPECT_EQ(night.searched, 0);
  EXPECT_THAT(night.reason, HasSubstr("the next night begins with the baseline again"));
  EXPECT_THAT(night.reason, Not(HasSubstr("run it again")));
}

TEST(Retune, TimeEndsASearch) {
  constexpr double k_time_s = 180.0;
  const Night night = slower_night({k_time_s, {}, {}});
  EXPECT_EQ(night.result, NightResult::regressed) << "it was seen before the search";
  EXPECT_LT(night.searched, k_trials);
  EXPECT_LT(night.elapsed_s, 1.25 * k_time_s);
  EXPECT_TRUE(night.budget_spent);
  EXPECT_THAT(night_events(night), ElementsAre("regressed", "budget"));
}

TEST(Retune, MoneyEndsASearch) {
  const double cost_usd = 0.7 * slower_night({}).usd;
  const Night night = slower_night({{}, cost_usd, {}});
  EXPECT_EQ(night.result, NightResult::regressed);
  EXPECT_LT(night.searched, k_trials);
  EXPECT_GT(night.usd, 0.0);
  EXPECT_LT(night.usd, 1.25 * cost_usd);
  EXPECT_TRUE(night.budget_spent);
}

TEST(Retune, ANumberOfTrialsIsNoBudgetThatWasTooSmall) {
  const Night night = slower_night({{}, {}, 2});
  EXPECT_EQ(night.searched, 2);
  EXPECT_FALSE(night.budget_spent);
}

TEST(Retune, BoundsHoldForTheFirstNightToo) {
  const StudySpec study = study_called("demo");
  const Night whole = Season().night(study);
  EXPECT_EQ(whole.searched, k_trials - 1) << "the baseline is one";
  EXPECT_FALSE(whole.budget_spent);
  const Night two = Season().night(study, bounded({{}, {}, 2}));
  EXPECT_EQ(two.searched, 2);
  EXPECT_FALSE(two.budget_spent);
  for (const NightBounds& bounds :
       {NightBounds{0.6 * whole.elapsed_s, {}, {}}, NightBounds{{}, 0.6 * whole.usd, {}}}) {
    const Night cut = Season().night(study, bounded(bounds));
    EXPECT_LT(cut.searched, whole.searched);
    EXPECT_TRUE(cut.budget_spent) << cut.reason;
    EXPECT_THAT(night_events(cut), Contains("budget"));
  }
}

TEST(Retune, ANightThatIsTooShortForItsCheckSaysSo) {
  Season season;
  const StudySpec study = study_called("demo");
  season.begin(study);
  const Night night = season.night(study, bounded({20.0, {}, {}}));
  EXPECT_EQ(night.result, NightResult::failed);
  EXPECT_TRUE(night.budget_spent);
  EXPECT_THAT(night.reason, HasSubstr("--time"));
  EXPECT_THAT(night_events(night), ElementsAre("failed", "budget"));
  const Night next = season.night(study);
  EXPECT_EQ(next.result, NightResult::kept);
  EXPECT_EQ(kind_in_use(next), "fused");
}

TEST(Retune, TheLeastGainDecidesWhatReplacesWhatIsInUse) {
  const StudySpec study = study_called("demo");
  for (const auto& [least_gain, expected] :
       {std::pair(0.3, NightResult::kept), std::pair(0.1, NightResult::improved)}) {
    Season season;
    season.begin(study);
    season.set_speeds(0.5, 0.6);  // plain kernels are 1.2 times as fast now
    RetuneOptions options;
    options.least_gain = least_gain;
    const Night night = season.night(study, options);
    EXPECT_EQ(night.result, expected) << least_gain;
    EXPECT_EQ(kind_in_use(night), expected == NightResult::kept ? "fused" : "plain");
  }
}

TEST(Retune, AFirstNightReplacesTheBaselineOnlyForTheLeastGain) {
  const StudySpec study = study_called("demo");
  RetuneOptions options;
  options.least_gain = 10.0;
  const Night night = Season().night(study, options);
  EXPECT_EQ(night.result, NightResult::kept);
  EXPECT_EQ(night.after.configuration, study.baseline);
}

TEST(Retune, TrialsOfOldNightsAreDropped) {
  Season season;
  const StudySpec study = study_called("demo");
  RetuneOptions quiet = bounded({{}, {}, 0});
  quiet.keep_nights = 1;
  season.night(study);
  for (int number = 2; number <= 4; ++number)
    EXPECT_EQ(season.night(study, quiet).searched, 0);
  EXPECT_THAT(season.studies(), UnorderedElementsAre("demo", "demo.night-4"));
  EXPECT_FALSE(std::filesystem::exists(season.logs_of("demo.night-2")));
  EXPECT_TRUE(std::filesystem::exists(season.logs_of("demo.night-4")));
  EXPECT_EQ(must(season.history().nights("demo")).size(), 4U) << "their results stay";

  // A search teaches later ones: nights with one are counted by themselves.
  season.set_speeds(1.0, 0.9);
  RetuneOptions searching;
  searching.keep_nights = 1;
  ASSERT_GT(season.night(study, searching).searched, 0);
  EXPECT_THAT(season.studies(), UnorderedElementsAre("demo", "demo.night-4", "demo.night-5"));
}

TEST(Retune, TheTrialsOfWhatIsInUseAreKept) {
  Season season;
  const StudySpec study = study_called("demo");
  season.night(study);
  season.set_speeds(1.0, 2.0);
  ASSERT_EQ(season.night(study).after.study, "demo.night-2");
  RetuneOptions quiet = bounded({{}, {}, 0});
  quiet.keep_nights = 1;
  for (int number = 3; number <= 5; ++number)
    season.night(study, quiet);
  EXPECT_THAT(season.studies(), UnorderedElementsAre("demo", "demo.night-2", "demo.night-5"));
}

TEST(Retune, BeginsWithWhatIsInUseElsewhere) {
  Season season;
  season.begin(study_called("other"));
  const StudySpec study = study_called("demo");
  RetuneOptions options;
  options.from = "other";
  const Night first = season.night(study, options);
  EXPECT_EQ(first.number, 1);
  EXPECT_EQ(first.result, NightResult::kept) << "nothing is tuned from scratch";
  EXPECT_EQ(kind_in_use(first), "fused");
  EXPECT_EQ(first.after.study, "other");
  EXPECT_EQ(first.study, "demo.night-1");
  // From then on its own nights say what is in use.
  season.set_speeds(1.0, 2.0);
  EXPECT_EQ(kind_in_use(season.night(study, options)), "plain");
  EXPECT_EQ(kind_in_use(season.night(study, options)), "plain");
}

TEST(Retune, WhatIsInUseElsewhereMayNotBeValidHere) {
  Season season;
  season.begin(study_called("other"));
  const StudySpec study = study_called("narrow", 3);
  RetuneOptions options;
  options.from = "other";
  const Night night = season.night(study, options);
  EXPECT_EQ(night.before.configuration, study.baseline);
  EXPECT_NE(night.result, NightResult::failed) << night.reason;
  EXPECT_THAT(season.warnings(), Contains(HasSubstr("no longer valid in this study")));
}

}  // namespace
}  // namespace steptune
