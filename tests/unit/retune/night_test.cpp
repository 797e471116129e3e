// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tuner/retune/night_report.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Night full_night() {
  Night night;
  night.number = 12;
  night.started_wall_s = 1'760'000'000.0;
  night.ended_wall_s = 1'760'000'600.0;
  night.result = NightResult::improved;
  night.phase = NightPhase::confirmation;
  night.study = "resnet.night-12";
  night.fingerprint = "f00d";
  night.commit = "b0b";
  night.fast_commit = "a1a";
  night.machine = {{"cpu", "EPYC"}, {"torch", "2.5.1"}};
  night.before.configuration.set("workers", std::int64_t{4});
  night.before.study = "resnet";
  night.before.trial = 9;
  night.after.configuration.set("workers", std::int64_t{6});
  night.after.study = "resnet.night-12";
  night.after.trial = 5;
  night.times = {12, {0.1, 0.2}, {1.0, 1.1}};
  night.after_times = {0.05};
  night.after_baseline_times = {1.05};
  night.lead = {2.0, 1.9, 2.1, 1, 1.9};
  night.gain = SpeedUp{1.06, 1.02, 1.10, 3, 1.02};
  night.slowdown = Slowdown{11, 1.2, 1.15, 1.25, 1.21, SlowdownScope::shared};
  night.slower_since_wall_s = 1'759'900'000.0;
  night.evidence = 4000.0;
  night.changes = {{"torch", "2.4.0", "2.5.1"}};
  night.trust = Trust::hint;
  night.searched = 7;
  night.trials = 20;
  night.elapsed_s = 600.0;
  night.usd = 0.25;
  night.budget_spent = true;
  return night;
}

TEST(Night, IsReadWithAnUnknownInterval) {
  Night night = full_night();
  constexpr double k_infinite = std::numeric_limits<double>::infinity();
  night.lead = {2.0, std::nan(""), k_infinite, 1, 1.9};
  NightRow row = to_row(night);
  row.record = must(parse_json(dump_json(row.record), "stored"));
  const Night read = must(night_from_row(row));
  EXPECT_EQ(read.lead.ratio, 2.0);
  EXPECT_FALSE(std::isfinite(read.lead.low));
  EXPECT_FALSE(std::isfinite(read.lead.high));
}

TEST(Night, IsTheSameAfterItWasStored) {
  const NightRow row = to_row(full_night());
  const Night read = must(night_from_row(row));
  EXPECT_EQ(dump_json(to_row(read).record), dump_json(row.record));
  EXPECT_EQ(read.number, 12);
  EXPECT_EQ(read.started_wall_s, 1'760'000'000.0);
  EXPECT_EQ(read.commit, "b0b");
  EXPECT_EQ(read.fast_commit, "a1a");
  EXPECT_EQ(read.slowdown->baseline_ratio, 1.21);
  EXPECT_EQ(read.result, NightResult::improved);
  EXPECT_EQ(read.phase, NightPhase::confirmation);
  EXPECT_EQ(read.slowdown->scope, SlowdownScope::shared);
  EXPECT_EQ(read.after.configuration, full_night().after.configuration);
  NightRow older = row;
  older.record.erase("commit");
  older.record.erase("fast_commit");
  EXPECT_EQ(must(night_from_row(older)).commit, "");
  const Night bare = must(night_from_row(to_row(Night{})));
  EXPECT_FALSE(bare.gain);
  EXPECT_FALSE(bare.slowdown);
}

TEST(Night, AFailedNightIsStoredUnchanged) {
  Night night = full_night();
  night.broken = "CUDA error";
  night.lead_shrank = true;
  night.reason = "its check failed";
  night.slowdown->baseline_ratio.reset();
  night.evidence = std::numeric_limits<double>::infinity();
  NightRow row = to_row(night);
  row.record = must(parse_json(dump_json(row.record), "stored"));
  const Night read = must(night_from_row(row));
  EXPECT_EQ(read.broken, "CUDA error");
  EXPECT_TRUE(read.lead_shrank);
  EXPECT_EQ(read.reason, "its check failed");
  EXPECT_FALSE(read.slowdown->baseline_ratio);
  EXPECT_EQ(read.evidence, 1e300) << "JSON knows no infinity";
}

TEST(Night, ADamagedRecordIsRefused) {
  NightRow row = to_row(full_night());
  row.record.erase("times");
  const auto read = night_from_row(row);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::store);
  row = to_row(full_night());
  ASSERT_TRUE(night_from_row(row));
  row.record["slowdown"]["baseline_ratio"] = "much";
  EXPECT_FALSE(night_from_row(row)) << "an optional number is a text";
}

TEST(NightReport, NamesSinceWhenAndWhatChanged) {
  const NightContext context{"resnet", "", {"workers"}, {}};
  const Json json = night_json(full_night(), context);
  EXPECT_EQ(json["result"], "improved");
  EXPECT_EQ(json["regression"]["cause"], "library");
  EXPECT_EQ(json["regression"]["since_night"], 11);
  EXPECT_FALSE(json["regression"].contains("changes")) << "machine_changes has them";
  EXPECT_EQ(json["machine_changes"][0]["name"], "torch");
  EXPECT_EQ(json["previous"]["workers"], 4);
  const std::string text = night_text(full_night(), context, 0);
  EXPECT_THAT(text, HasSubstr("probably a library: the baseline has slowed down, too"));
  EXPECT_THAT(text, HasSubstr("torch 2.4.0 -> 2.5.1"));
  EXPECT_THAT(text, HasSubstr("steptune best resnet\n"));
  EXPECT_THAT(night_events(full_night()), ElementsAre("improved", "regressed", "budget"));
  EXPECT_THAT(night_events(Night{}), ElementsAre("completed"));
}

TEST(NightReport, FitsTheTerminalButForTheCommand) {
  const NightContext context{"resnet", " --db a_folder_with_a_long_name/nights.db", {}, {}};
  const std::string text = night_text(full_night(), context, 50);
  EXPECT_THAT(text, StartsWith("improved  night 12 of resnet: another\n"
                               "       configuration is in use from now on (20\n"
                               "       trials, 10 min, $0.25)\n"));
  EXPECT_THAT(text,
              HasSubstr("next   steptune best resnet --db a_folder_with_a_long_name/nights.db\n"));
}

TEST(NightReport, DistinguishesMachineLibraryAndConfiguration) {
  const auto cause = [](Night night) {
    return night_json(night, {"s", "", {}, {}})["regression"]["cause"].get<std::string>();
  };
  Night night = full_night();
  night.changes = {{"kernel", "1", "2"}};
  EXPECT_EQ(cause(night), "machine");
  night.changes = {};
  EXPECT_EQ(cause(night), "machine_or_library");
  night.slowdown->scope = SlowdownScope::configuration;
  EXPECT_EQ(cause(night), "configuration");
  night.slowdown->scope = SlowdownScope::unknown;
  EXPECT_EQ(cause(night), "unknown");
}

TEST(NightReport, IsOneDocumentForPrograms) {
  Night night = full_night();
  night.slowdown->baseline_ratio = 1.18;
  const NightContext context{"resnet", "", {"workers"}, {"trial 3 was slow"}};
  EXPECT_EQ(night_json(night, context), Json::parse(R"({
    "schema_version": 1, "study": "resnet", "night": 12, "result": "improved",
    "reason": "another configuration is in use from now on", "started": "2025-10-09T08:53:20Z",
    "configuration": {"workers": 6}, "previous": {"workers": 4},
    "measured_in": {"study": "resnet.night-12", "trial": 5},
    "gain": {"ratio": 1.06, "low_95": 1.02, "high_95": 1.1, "low_95_if_buffered": 1.02,
             "repeat_low_95": null, "repeat_high_95": null, "standard_error": null, "pairs": 3,
             "more_pairs": null},
    "lead_over_baseline": {"ratio": 2.0, "low_95": 1.9, "high_95": 2.1,
                           "low_95_if_buffered": 1.9, "repeat_low_95": null,
                           "repeat_high_95": null, "standard_error": null, "pairs": 1,
                           "more_pairs": null},
    "regression": {
      "cause": "library", "failure": null, "since_night": 11, "since": "2025-10-08T05:06:40Z",
      "slowdown": {"ratio": 1.2, "low_95": 1.15, "high_95": 1.25}, "baseline_slowdown": 1.18,
      "evidence": 4000.0, "bisect": null},
    "machine_changes": [{"name": "torch", "before": "2.4.0", "after": "2.5.1"}],
    "trust": "hint", "searched_trials": 7, "trials": 20, "elapsed_s": 600.0, "cost_usd": 0.25,
    "budget_spent": true, "night_study": "resnet.night-12",
    "warnings": ["trial 3 was slow"]})"));
}

TEST(NightReport, AnUneventfulNightHasNoGainOrRegression) {
  Night night;
  night.result = NightResult::kept;
  night.reason = "the check took all the time";
  night.lead.ratio = std::nan("");
  const Json json = night_json(night, {"s", "", {}, {}});
  EXPECT_EQ(json["reason"], "the check took all the time");
  for (const char* key : {"previous", "gain", "lead_over_baseline", "regression"})
    EXPECT_TRUE(json[key].is_null()) << key;
  night.slowdown = Slowdown{11, 1.2, 1.15, 1.25, {}, SlowdownScope::unknown};
  night.evidence = std::numeric_limits<double>::infinity();
  const Json slower = night_json(night, {"s", "", {}, {}})["regression"];
  EXPECT_TRUE(slower["baseline_slowdown"].is_null());
  EXPECT_EQ(slower["evidence"], 1e300);
}

TEST(NightReport, ABrokenConfigurationIsARegression) {
  Night night;
  night.number = 3;
  night.result = NightResult::regressed;
  night.broken = "exit code 1";
  const NightContext context{"s", "", {}, {}};
  const Json regression = night_json(night, context)["regression"];
  EXPECT_EQ(regression["cause"], "configuration");
  EXPECT_EQ(regression["failure"], "exit code 1");
  EXPECT_TRUE(regression["slowdown"].is_null());
  EXPECT_THAT(night_text(night, context, 0), HasSubstr("no longer works"));
  EXPECT_THAT(night_events(night), ElementsAre("regressed"));
  night.broken.clear();
  EXPECT_THAT(night_text(night, context, 0), HasSubstr("has become slower"));
}

TEST(NightReport, ExplainsTheResultInWords) {
  const NightContext context{"resnet", "", {"workers"}, {}};
  Night night = full_night();
  night.reason = "a reason";
  EXPECT_EQ(
      night_text(night, context, 0),
      R"(improved  night 12 of resnet: another configuration is in use from now on (20 trials, 10 min, $0.25)
best   workers=6
       1.06 times (95 % interval 1.02-1.10) as fast as workers=4
slower 1.20 times (95 % interval 1.15-1.25) the time since night 11 (2025-10-08T05:06:40Z)
       probably a library: the baseline has slowed down, too
change torch 2.4.0 -> 2.5.1
why    a reason
next   steptune best resnet
)");
  night.gain.reset();
  night.slowdown.reset();
  night.changes.clear();
  night.reason.clear();
  night.result = NightResult::kept;
  EXPECT_EQ(
      night_text(night, context, 0),
      R"(kept  night 12 of resnet: nothing better was shown; the configuration stays (20 trials, 10 min, $0.25)
best   workers=6
       2.00 times (95 % interval 1.90-2.10) as fast as the baseline
next   steptune best resnet
)");
  night.lead.ratio = std::nan("");
  EXPECT_THAT(night_text(night, context, 0), Not(HasSubstr("as fast as")));
  // It respects a limit that the baseline violates, and was not compared with it.
  night.result = NightResult::improved;
  night.gain = SpeedUp{};
  EXPECT_THAT(night_text(night, context, 0), Not(HasSubstr("as fast as")));
}

TEST(NightReport, NamesTheCauseOfASlowdown) {
  const auto text = [](const std::vector<MachineChange>& changes, SlowdownScope scope) {
    Night night = full_night();
    night.changes = changes;
    night.slowdown->scope = scope;
    return night_text(night, {"s", "", {}, {}}, 0);
  };
  using enum SlowdownScope;
  EXPECT_THAT(text({{"kernel", "1", "2"}}, shared),
              HasSubstr("\n       probably the machine: the baseline"));
  EXPECT_THAT(text({}, shared),
              HasSubstr("machine, library or the program itself: the baseline has"));
  EXPECT_THAT(text({}, configuration),
              HasSubstr("probably the configuration: the baseline has slowed down less"));
  EXPECT_THAT(text({}, unknown), HasSubstr("no second configuration to compare with"));
}

}  // namespace
}  // namespace steptune
