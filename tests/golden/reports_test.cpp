// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/output_schema.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;

const char* const k_dated_log = R"(loading 3 files
2026-11-28 05:12:30 step=10 loss=0.5
2026-11-28 05:12:32 step=20 loss=0.5
Evaluating iter 1/2
2026-11-28 05:12:34 step=30 loss=nan
)";

TEST(Reports, ShowsWhatIsReadFromEachLine) {
  const Sandbox sandbox;
  sandbox.write("train.log", k_dated_log);
  const Ended ended = sandbox.steptune({"reports", "train.log"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(difference(R"(-                                      | loading 3 files
step 10, loss 0.5                      | 2026-11-28 05:12:30 step=10 loss=0.5
step 20, loss 0.5                      | 2026-11-28 05:12:32 step=20 loss=0.5
evaluation begins                      | Evaluating iter 1/2
step 30, loss nan                      | 2026-11-28 05:12:34 step=30 loss=nan

read by  preset key=value: {{.*}}
lines    4 of 5 give values, 3 give progress
counter  steps, up to 30
metrics  loss (3)
phases   none
time     200 ms per step with all phases, by the dates of its lines
)",
                       ended.out),
            "");
  const Ended piped =
      sandbox.program({"/bin/sh", "-c", "exec \"$0\" reports < train.log", steptune_program()});
  EXPECT_EQ(piped.out, ended.out) << piped.err;
}

TEST(Reports, ReportsTheSameInJson) {
  const Sandbox sandbox;
  sandbox.write("train.log", k_dated_log);
  const Ended ended = sandbox.steptune({"reports", "train.log", "--as", "key=value", "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_TRUE(is_as_defined(sandbox, ended.out, "reports"));
  const auto json = parse_json(ended.out, "reports");
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["reports"], "key=value");
  EXPECT_EQ((*json)["seconds_per_step"], 0.2);
  ASSERT_EQ((*json)["report_lines"].size(), 4U);
  EXPECT_EQ((*json)["report_lines"][0]["line"], 2);
  EXPECT_EQ((*json)["report_lines"][0]["metrics"]["loss"], 0.5);
  EXPECT_EQ((*json)["report_lines"][2]["phase"]["name"], "evaluation");
  EXPECT_TRUE((*json)["report_lines"][3]["metrics"]["loss"].is_null());
}

TEST(Reports, ReadsByAnExpressionOrAPresetFile) {
  const Sandbox sandbox;
  sandbox.write("train.log", "<10> of it\n<20> of it\n");
  const Ended ended = sandbox.steptune({"reports", "train.log", "--metric", "step=<(\\d+)>"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("step 20                                | <20> of it\n"));
  EXPECT_THAT(ended.out, HasSubstr("time     not known: the lines have no times\n"));
  sandbox.write("boost.log", "[0]\ttrain-logloss:0.63\n[1]\ttrain-logloss:0.61\n");
  const Ended boosted = sandbox.steptune({"reports", "boost.log", "--as", "xgboost"});
  EXPECT_EQ(boosted.exit_code, 0) << boosted.err;
  EXPECT_THAT(boosted.out, HasSubstr("step 1, train_loss 0.61"));
}

TEST(Reports, ProposesAnExpressionIfNoPresetReadsTheOutput) {
  const Sandbox sandbox;
  sandbox.write("train.log", "<10> of it\n<20> of it\n<30> of it\n");
  const Ended ended = sandbox.steptune({"reports", "train.log"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("no known format reads this line, which came 3 times:\n"
                                   "    <30> of it\n"));
  EXPECT_THAT(ended.err, HasSubstr(R"({"name":"step","regex":"^\\s*<(\\d+)>\\s*of"})"));
}

TEST(Reports, UsesADraftedExpressionAtOnceIfItsCountIsCertain) {
  const Sandbox sandbox;
  std::string log;
  for (int i = 1; i <= 6; ++i)
    log += "Train loss " + std::to_string(10 * i) + " 0." + std::to_string(90 - i) + "\n";
  sandbox.write("train.log", log);
  const Ended ended = sandbox.steptune({"reports", "train.log"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              HasSubstr("step 60, loss 0.84                     | Train loss 60 0.84\n"));
  EXPECT_THAT(ended.out, HasSubstr("read by  expressions drafted from the output: a line repeats 6 "
                                   "times with a count that grows steadily\n"));
}

TEST(Reports, CountsInTheUnitOfTheOutput) {
  const Sandbox sandbox;
  sandbox.write("train.log", "Epoch 1/3 loss: 0.7\nEpoch 2/3 loss: 0.6\nEpoch 3/3 loss: 0.5\n");
  const Ended epochs = sandbox.steptune({"reports", "train.log"});
  EXPECT_THAT(epochs.out, HasSubstr("epochs 2, epoch 2, loss 0.6"));
  EXPECT_THAT(epochs.out, HasSubstr("counter  epochs, up to 3\n"));
  sandbox.write("boost.log", "[0]\ttrain-logloss:0.63\n[1]\ttrain-logloss:0.61\n");
  const Ended rounds = sandbox.steptune({"reports", "boost.log", "--as", "xgboost", "--json"});
  const auto json = parse_json(rounds.out, "reports");
  ASSERT_TRUE(json) << rounds.err;
  EXPECT_EQ((*json)["unit"], "boosting rounds");
}

TEST(Reports, RefusesWhatItDoesNotKnow) {
  const Sandbox sandbox;
  sandbox.write("train.log", k_dated_log);
  const Ended unknown = sandbox.steptune({"reports", "train.log", "--as", "tqmd"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no preset \"tqmd\"; did you mean \"tqdm\"?"));
  EXPECT_THAT(unknown.err, HasSubstr("xgboost"));
  const Ended broken = sandbox.steptune({"reports", "train.log", "--metric", "step=("});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr("is not valid"));
  const Ended unnamed = sandbox.steptune({"reports", "train.log", "--metric", "(\\d+)"});
  EXPECT_EQ(unnamed.exit_code, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("write NAME=REGEX"));
  const Ended missing = sandbox.steptune({"reports", "nowhere.log"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.log: cannot be read"));
  const Ended folder = sandbox.steptune({"reports", "/usr"});
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_THAT(folder.err, HasSubstr("/usr: cannot be read"));
}

}  // namespace
}  // namespace steptune::golden
