// SPDX-License-Identifier: Apache-2.0
// Tests rules between sections of a study file, beside the faults of broken_documents_test.cpp.
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;

/// Returns the faults of a minimal study (one parameter, a local runner) with a patch.
std::string faults(const std::string& patch) {
  Json document = *parse_json(R"({
    "name": "s", "command": ["train", "{x}"],
    "parameters": {"x": {"type": "int", "low": 1, "high": 8}}, "baseline": {"x": 1},
    "runner": {"type": "local"}
  })",
                              "study");
  document.merge_patch(*parse_json(patch, "patch"));
  const auto study = testing::read(document);
  return study ? "" : study.error().text();
}

TEST(CrossChecks, TheLeastStudyIsSound) {
  EXPECT_EQ(faults("{}"), "");
}

TEST(CrossChecks, ATightConstraintIsCheckedInSeconds) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(faults(R"({"command": ["train", "{x}", "{y}", "{z}"],
                       "parameters": {"x": {"high": 1000},
                                      "y": {"type": "int", "low": 1, "high": 1000},
                                      "z": {"type": "int", "low": 1, "high": 1000}},
                       "constraints": ["x + y + z == 3"], "baseline": {"y": 1, "z": 1}})"),
            "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(CrossChecks, AConditionOfAnUnusedParameterUsesNoParameter) {
  EXPECT_THAT(faults(R"({"parameters": {"y": {"type": "bool"},
                                        "z": {"type": "int", "low": 1, "high": 2, "when": "y"}},
                         "baseline": {"y": false}})"),
              ::testing::AllOf(HasSubstr("/parameters/y: nothing uses"),
                               HasSubstr("/parameters/z: nothing uses")));
}

TEST(CrossChecks, OnlyTheBayesianSearcherLearnsFromOtherStudies) {
  EXPECT_THAT(
      faults(R"({"search": {"searcher": "random", "learn_from": ["other"]}})"),
      HasSubstr("/search/learn_from: the searcher random does not learn from other studies: "
                "use bayes, or leave it out"));
  EXPECT_EQ(faults(R"({"search": {"searcher": "bayes", "learn_from": ["other"]}})"), "");
}

TEST(CrossChecks, ATrialIsNotMeasuredBeyondItsLimit) {
  EXPECT_EQ(faults(R"({"measure": {"max_trial": "5m"}, "limits": {"wall": "5m"}})"), "");
  EXPECT_THAT(faults(R"({"measure": {"max_trial": "6m"}, "limits": {"wall": "5m"}})"),
              HasSubstr("/measure/max_trial: a trial may be measured for 6 min, but is ended as "
                        "timed out after 5 min: raise \"wall\" in \"limits\""));
}

TEST(CrossChecks, AllConfigurationsAreConfirmedIfTheyAreFew) {
  EXPECT_THAT(faults(R"({"parameters": {"x": {"high": 100}}, "measure": {"confirm_all": true}})"),
              HasSubstr("/measure/confirm_all: confirms each configuration: for 2 to 8 of them"));
  const std::string tried =
      R"({"parameters": {"x": {"high": 100}}, "try": [{"x": 7}], "measure": {"confirm_all": true})";
  EXPECT_EQ(faults(tried + R"(, "budget": {"trials": 2}})"), "");
  EXPECT_THAT(faults(tried + R"(, "budget": {"trials": 3}})"), HasSubstr("/budget/trials"));
}

TEST(CrossChecks, AGuardOverLaunchesNeedsManyLaunches) {
  const std::string guard =
      R"({"guards": [{"metric": "loss", "after_samples": 9, "over_launches": true, )";
  const std::string confirmed =
      R"(}], "parameters": {"x": {"high": 2}}, "measure": {"confirm_all": true}})";
  EXPECT_EQ(faults(guard + R"("max_ratio_to_baseline": 1.02)" + confirmed), "");
  EXPECT_THAT(faults(guard + R"("max_ratio_to_baseline": 1.02}]})"),
              HasSubstr("/guards/0/over_launches: needs \"confirm_all\""));
  EXPECT_THAT(faults(guard + R"("max": 3)" + confirmed),
              HasSubstr("/guards/0/over_launches: needs \"after_samples\" and "
                        "\"max_ratio_to_baseline\""));
}

TEST(CrossChecks, ACampaignComparesTwoConfigurations) {
  const std::string two = R"({"campaign": {"name": "c"}, "parameters": {"x": {"high": 2}})";
  EXPECT_EQ(faults(two + R"(, "measure": {"confirm_all": true, "confirm_error": 0.001}})"), "");
  EXPECT_THAT(faults(two + "}"), HasSubstr("/campaign: needs \"confirm_all\""));
  EXPECT_THAT(faults(R"({"campaign": {"name": "c"}, "measure": {"confirm_all": true}})"),
              HasSubstr("/campaign: needs \"confirm_all\" and one parameter with two values"));
  EXPECT_THAT(faults(R"({"campaign": {"name": "a b"}})"), HasSubstr("is not a study name"));
}

TEST(CrossChecks, ACommandPartWithAParameterThatMayBeInactiveIsRefused) {
  const std::string inner = R"({"parameters": {"y": {"type": "int", "low": 1, "high": 2,
                                                     "when": "x > 4"}},
                                "command": ["train", "{x}", )";
  EXPECT_THAT(faults(inner + R"({"when": "x > 2", "args": ["{y}"]}]})"),
              HasSubstr("/command/2/when: is also true for x="));
  EXPECT_EQ(faults(inner + R"({"when": "x > 4", "args": ["{y}"]}]})"), "");
  EXPECT_EQ(faults(inner + R"({"args": ["{y}"]}]})"), "");
}

TEST(CrossChecks, AttachedTrialsShareOneTraining) {
  const std::string attached = R"({"trials": "attached", "command": ["python3", "train.py"],
                                   "parameters": {"x": null, "OMP_NUM_THREADS":
                                     {"type": "int", "low": 1, "high": 8}},
                                   "baseline": {"x": null, "OMP_NUM_THREADS": 1},
                                   "env": {"OMP_NUM_THREADS": "{OMP_NUM_THREADS}"},
                                   "hooks": {"python": {}})";
  EXPECT_EQ(faults(attached + "}"), "");
  for (const char* unknown : {R"(, "guards": [{"metric": "loss", "max": 2}]})",
                              R"(, "objectives": [{"metric": "loss", "direction": "minimize"}]})"})
    EXPECT_THAT(faults(attached + unknown), HasSubstr("whose metrics belong to no configuration"));
}

}  // namespace
}  // namespace steptune
