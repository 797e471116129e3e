// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

TEST(Check, ShowsTheSpaceAndTheFirstCommandLinesWithoutStartingAnything) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  const Ended ended = sandbox.steptune({"check", "study.json", "--show", "2"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(difference(R"(study      demo  ({{.*}}/study.json): valid
space      3 parameters, 50 configurations
           batch_size  int          16 .. 256 (log2), 5 values
           workers     int          0 .. 4, 5 values
           precision   categorical  fp32, bf16
baseline   batch_size=32 workers=0 precision=fp32
objectives time, cost of a run over 1e+08 samples
search     sobol, scheduler asha, seed 7
budget     12 trials
runner     replay, 1 trial at a time, $2.00 per hour

first trials, as they would be run:

1  baseline  batch_size=32 workers=0 precision=fp32
   TRAIN_NOTE='a b' python3 train.py --batch-size=32 --workers 0

2  sobol  batch_size={{\d+}} workers={{\d}} precision={{\w+}}
   TRAIN_NOTE='a b' python3 train.py --batch-size={{.*}}
)",
                       ended.out),
            "");
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / ".steptune"));
}

TEST(Check, JsonHoldsTheStudyAndTheCommandLines) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  const auto json =
      parse_json(sandbox.steptune({"check", "study.json", "--json", "--show", "5"}).out, "check");
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ((*json)["schema_version"], 1);
  EXPECT_EQ((*json)["space"]["feasible"], 50);
  ASSERT_EQ((*json)["trials"].size(), 5U);
  EXPECT_EQ((*json)["trials"][0]["argv"][2], "--batch-size=32");
  EXPECT_EQ((*json)["trials"][0]["environment"]["TRAIN_NOTE"], "a b");
}

TEST(Check, PreviewsTheBayesianSearcherWithoutItsModule) {
  const Sandbox sandbox;
  std::string study = replay_study();
  study.replace(study.find("\"sobol\""), 7, "\"bayes\"");
  sandbox.write("study.json", study);
  const Ended ended = sandbox.steptune({"check", "study.json"},
                                       {.environment = {{"STEPTUNE_MODULE_PATH", "/none"}}});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("2  sobol"), std::string::npos) << ended.out;
}

TEST(Check, AFaultyStudyEndsWithTwoAndTellsWhere) {
  const Sandbox sandbox;
  std::string study = replay_study();
  study.replace(study.find("\"batch_size\": {\"type\""), 12, "\"batch_sise\"");
  sandbox.write("study.json", study);
  const Ended ended = sandbox.steptune({"check", "study.json"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("study.json"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("/command/2"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("batch_sise"), std::string::npos) << ended.err;
}

TEST(Check, AMissingStudyFileEndsWithTwo) {
  const Sandbox sandbox;
  for (const char* command : {"check", "run"}) {
    const Ended ended = sandbox.steptune({command, "none.json"});
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_NE(ended.err.find("none.json"), std::string::npos) << ended.err;
  }
}

}  // namespace
}  // namespace steptune::golden
