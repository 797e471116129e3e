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
using ::testing::StartsWith;

Night full_night() {
  Night night;
  night.number = 12;
  night.started_wall_s = 1'760'000'000.0;
  night.ended_wall_s = 1'760'000'600.0;
  night.result = NightResult::improved;
  night.phase = NightPhase::duel;
  night.study = "resnet.night-12";
  night.fingerprint = "f00d";
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

TEST(Night, IsReadWhereAnIntervalIsNotKnown) {
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
  EXPECT_EQ(read.result, NightResult::improved);
  EXPECT_EQ(read.phase, NightPhase::duel);
  EXPECT_EQ(read.slowdown->scope, SlowdownScope::shared);
  EXPECT_EQ(read.after.configuration, full_night().after.configuration);
  const Night bare = must(night_from_row(to_row(Night{})));
  EXPECT_FALSE(bare.gain);
  EXPECT_FALSE(bare.slowdown);
}

TEST(Night, WhoseRecordIsDamagedIsRefused) {
  NightRow row = to_row(full_night());
  row.record.erase("times");
  const auto read = night_from_row(row);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::store);
}

TEST(NightReport, NamesSinceWhenAndWhatChanged) {
  const NightContext context{"resnet", "resnet", "", {"workers"}, {}};
  const Json json = night_json(full_night(), context);
  EXPECT_EQ(json["result"], "improved");
  EXPECT_EQ(json["regression"]["cause"], "library");
  EXPECT_EQ(json["regression"]["since_night"], 11);
  EXPECT_EQ(json["regression"]["changes"][0]["name"], "torch");
  EXPECT_EQ(json["previous"]["workers"], 4);
  const std::string text = night_text(full_night(), context, 0);
  EXPECT_THAT(text, HasSubstr("a library: the baseline has slowed down as much"));
  EXPECT_THAT(text, HasSubstr("torch 2.4.0 -> 2.5.1"));
  EXPECT_THAT(text, HasSubstr("steptune best resnet\n"));
  EXPECT_THAT(night_events(full_night()), ElementsAre("improved", "regressed", "budget"));
  EXPECT_THAT(night_events(Night{}), ElementsAre("completed"));
}

TEST(NightReport, FitsTheTerminalButForTheCommand) {
  const NightContext context{"resnet", "a_study_with_a_long_name", " --db nights.db", {}, {}};
  const std::string text = night_text(full_night(), context, 50);
  EXPECT_THAT(text, StartsWith("improved  night 12 of resnet: another\n"
                               "       configuration is faster (20 trials, 10 min,\n"
                               "       $0.25)\n"));
  EXPECT_THAT(text, HasSubstr("next   steptune best a_study_with_a_long_name --db nights.db\n"));
}

TEST(NightReport, TellsMachineLibraryAndConfigurationApart) {
  const auto cause = [](Night night) {
    return night_json(night, {"s", "s", "", {}, {}})["regression"]["cause"].get<std::string>();
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

}  // namespace
}  // namespace steptune
