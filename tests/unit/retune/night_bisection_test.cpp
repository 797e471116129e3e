// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_bisection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tuner/retune/night_report.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const char* const k_fast = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const char* const k_slow = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

StudySpec bisected_study(const Json& more = Json::object()) {
  Json document = Json::parse(R"json({
    "name": "demo",
    "command": ["python3", "train.py", "{workers}"],
    "parameters": {"workers": {"type": "int", "low": 0, "high": 8}},
    "baseline": {"workers": 0},
    "runner": {"type": "local"}
  })json");
  document.update(more);
  return must(study_from_json(document, "/my studies/demo.json", {{"cpus", 8}, {"gpus", 0}}));
}

Night night_that_slowed(SlowdownScope scope) {
  Night night;
  night.number = 12;
  night.commit = k_slow;
  night.fast_commit = k_fast;
  night.before.configuration.set("workers", std::int64_t{4});
  night.slowdown = Slowdown{11, 1.2, 1.15, 1.25, 1.21, scope};
  return night;
}

TEST(NightBisection, RunsTheSettingsInUse) {
  EXPECT_EQ(bisect_command(bisected_study(), night_that_slowed(SlowdownScope::configuration), ""),
            "cd '/my studies' && steptune bisect aaaaaaaaaaaa bbbbbbbbbbbb -- python3 train.py 4");
}

TEST(NightBisection, RunsTheBaselineIfItIsSlowerToo) {
  EXPECT_EQ(bisect_command(bisected_study({{"env", {{"SEED", "1"}}}}),
                           night_that_slowed(SlowdownScope::shared), " --db nights.db"),
            "cd '/my studies' && steptune bisect aaaaaaaaaaaa bbbbbbbbbbbb --db nights.db -- env "
            "SEED=1 python3 train.py 0");
}

TEST(NightBisection, AsksForAFastCommitIfNoneIsKnown) {
  Night night = night_that_slowed(SlowdownScope::shared);
  night.fast_commit.clear();
  NightContext context{"demo", "", {}, {}, bisect_command(bisected_study(), night, "")};
  EXPECT_THAT(context.bisect_command, HasSubstr("steptune bisect GOOD bbbbbbbbbbbb -- "));
  EXPECT_THAT(night_text(night, context, 0),
              HasSubstr("\n       find the commit that made it slower (replace GOOD by a fast "
                        "commit):\n       cd '/my studies' && steptune bisect GOOD "));
  EXPECT_EQ(night_json(night, context)["regression"]["bisect"], context.bisect_command);
}

TEST(NightBisection, IsLeftOutIfItCouldNotShowTheSlowdown) {
  const auto scope = SlowdownScope::configuration;
  Night quiet = night_that_slowed(scope);
  quiet.slowdown.reset();
  EXPECT_EQ(bisect_command(bisected_study(), quiet, ""), "");
  Night elsewhere = night_that_slowed(scope);
  elsewhere.commit.clear();
  EXPECT_EQ(bisect_command(bisected_study(), elsewhere, ""), "");
  Night same = night_that_slowed(scope);
  same.fast_commit = same.commit;
  EXPECT_EQ(bisect_command(bisected_study(), same, ""), "");
  const NightContext context{"demo", "", {}, {}};
  EXPECT_THAT(night_text(same, context, 0), Not(HasSubstr("bisect")));
  EXPECT_TRUE(night_json(same, context)["regression"]["bisect"].is_null());
}

}  // namespace
}  // namespace steptune
