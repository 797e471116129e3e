// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::read;
using testing::sound;

const char* const k_hooked = R"({
  "name": "train",
  "command": ["python3", "train.py"],
  "hooks": {"python": {
    "num_workers": "{workers}", "prefetch_factor": "{prefetch}", "pin_memory": "{pin}",
    "precision": "{precision}", "malloc": "{malloc}", "num_threads": 3}},
  "parameters": {
    "workers": {"type": "int", "low": 0, "high": 4},
    "prefetch": {"type": "int", "low": 1, "high": 8, "when": "workers > 0"},
    "pin": {"type": "bool"},
    "precision": {"type": "categorical", "choices": {"full": "fp32", "half": "bf16"}},
    "malloc": {"type": "categorical", "choices": ["default", "keep"]}
  },
  "baseline": {"workers": 0, "pin": false, "precision": "full", "malloc": "default"}
})";

Json hooked(const std::string& patch = "{}") {
  Json document = *parse_json(k_hooked, "study.json");
  document.merge_patch(*parse_json(patch, "patch"));
  return document;
}

Configuration changed(const StudySpec& study) {
  Configuration configuration = study.baseline;
  configuration.set("workers", Value(std::int64_t{2}));
  configuration.set("prefetch", Value(std::int64_t{4}));
  configuration.set("precision", Value(std::string("half")));
  return configuration;
}

TEST(Hooks, SetKnobsThatDifferFromTheBaseline) {
  const StudySpec study = sound(hooked());
  const auto request = render_command(study, changed(study)).hook;
  ASSERT_TRUE(request);
  EXPECT_EQ(request->mode, HookMode::report);
  EXPECT_THAT(request->knobs, ElementsAre(Pair("num_threads", Value(std::int64_t{3})),
                                          Pair("num_workers", Value(std::int64_t{2})),
                                          Pair("precision", Value(std::string("bf16"))),
                                          Pair("prefetch_factor", Value(std::int64_t{4}))));
  // The baseline is the unmodified program, except for fixed knobs.
  EXPECT_THAT(render_command(study, study.baseline).hook->knobs,
              ElementsAre(Pair("num_threads", Value(std::int64_t{3}))));
}

TEST(Hooks, SetFixedValuesOfAnyType) {
  const StudySpec study = sound(hooked(
      R"({"hooks": {"python": {"malloc": "keep", "precision": "bf16"}}, "parameters": {"malloc": null, "precision": null},
          "baseline": {"malloc": null, "precision": null}})"));
  const auto knobs = render_command(study, study.baseline).hook->knobs;
  EXPECT_EQ(knobs.at("malloc"), Value(std::string("keep")));
  EXPECT_EQ(knobs.at("precision"), Value(std::string("bf16")));
}

TEST(Hooks, ClaimValuesOfActiveKnobs) {
  const StudySpec study = sound(hooked());
  EXPECT_THAT(
      knob_values(study, study.baseline),
      ElementsAre(Pair("malloc", Value(std::string("default"))),
                  Pair("num_threads", Value(std::int64_t{3})),
                  Pair("num_workers", Value(std::int64_t{0})), Pair("pin_memory", Value(false)),
                  Pair("precision", Value(std::string("fp32")))));
  EXPECT_EQ(knob_values(study, changed(study)).size(), 6U);
}

TEST(Hooks, AreNoneUnlessAskedFor) {
  const StudySpec study = sound(testing::study_document());
  EXPECT_FALSE(study.document.contains("hooks"));
  EXPECT_FALSE(render_command(study, study.baseline).hook);
  EXPECT_THAT(knob_values(study, study.baseline), IsEmpty());
  std::map<std::string, std::string> environment = {{"A", "1"}};
  EXPECT_TRUE(add_hook(std::nullopt, "/a", environment));
  EXPECT_THAT(environment, ElementsAre(Pair("A", "1")));
}

TEST(Hooks, OnlyReportWithoutKnobs) {
  Json document = testing::study_document();
  document["hooks"] = {{"python", Json::object()}};
  const StudySpec study = sound(document);
  const auto request = render_command(study, study.baseline).hook;
  ASSERT_TRUE(request);
  EXPECT_THAT(request->knobs, IsEmpty());
  EXPECT_EQ(request->samples_per_step, 64.0) << "planned_run/batch_size counts better";
}

TEST(Hooks, NamedAloneOnlyReport) {
  Json document = testing::study_document();
  document["hooks"] = "python";
  const StudySpec study = sound(document);
  document["hooks"] = {{"python", Json::object()}};
  EXPECT_EQ(study.document, sound(document).document);
  EXPECT_EQ(study.fingerprint, sound(document).fingerprint);
  EXPECT_EQ(study.document["hooks"], document["hooks"]);
  ASSERT_TRUE(render_command(study, study.baseline).hook);
}

TEST(Hooks, AreStoredAndInTheFingerprint) {
  const StudySpec study = sound(hooked());
  EXPECT_EQ(study.document["hooks"]["python"]["num_workers"], "{workers}");
  EXPECT_EQ(study.document["hooks"]["python"]["num_threads"], 3);
  EXPECT_EQ(sound(study.document).document, study.document);
  EXPECT_NE(sound(hooked(R"({"hooks": {"python": {"num_threads": 2}}})")).fingerprint,
            study.fingerprint);
}

TEST(Hooks, FaultsNameKnobTypeAndPlace) {
  struct Case {
    std::string patch;
    std::string where;
    std::string what;
  };
  for (
      const Case& c : std::vector<Case>{
          {R"({"hooks": {"python": {"num_worker": 1}}})", "/hooks/python/num_worker",
           "there is no knob \"num_worker\"; did you mean \"num_workers\"?"},
          {R"({"hooks": {"pythn": {}}})", "/hooks/pythn", "did you mean \"python\"?"},
          {R"({"hooks": "pythn"})", "/hooks", "\"pythn\" is not one of \"python\""},
          {R"({"hooks": true})", "/hooks", "expected \"python\", or an object such as"},
          {R"({"hooks": "python"})", "/parameters/malloc",
           R"(give it to the hook, "hooks": {"python": {"malloc": "{malloc}"}}, or remove it)"},
          {R"({"hooks": {"python": {"num_workers": true}}})", "/hooks/python/num_workers",
           "num_workers is a whole number, not true"},
          {R"({"hooks": {"python": {"pin_memory": "{workers}"}}})", "/hooks/python/pin_memory",
           "pin_memory is true or false, not 1, and the parameter workers is of another type"},
          {R"({"hooks": {"python": {"precision": "{malloc}"}}})", "/hooks/python/precision",
           "precision is one of fp32, bf16, fp16, not default"},
          {R"({"hooks": {"python": {"precision": "bf17"}}})", "/hooks/python/precision",
           "not bf17"},
          {R"({"hooks": {"python": {"distributed_strategy": "fsdp"}}})",
           "/hooks/python/distributed_strategy",
           "distributed_strategy is one of none, ddp, not fsdp"},
          {R"({"hooks": {"python": {"precision": "{precison}"}}})", "/hooks/python/precision",
           "did you mean \"precision\"?"},
          {R"({"hooks": {"python": {"precision": [1]}}})", "/hooks/python/precision",
           "expected a value, or a template"},
          {R"({"command": ["python3", "-I", "train.py"]})", "/hooks/python",
           "the hook cannot reach the program: \"python3 -I\" keeps PYTHONPATH away"},
          {R"({"trials": "forkd"})", "/trials", "forked"},
          {R"({"trials": "forked", "hooks": null})", "/trials", "need PyTorch's hook"},
          {R"({"trials": "attached", "runner": {"type": "local", "parallel": 2}})", "/trials",
           "run one at a time"},
          {R"({"trials": "attached", "objectives": [{"metric": "loss", "direction": "minimize"}]})",
           "/trials", "metrics belong to no configuration"},
          {R"({"runner": {"type": "replay", "seconds_per_sample": "0.1"}})", "/hooks",
           "the runner replay starts no program that a hook could enter"},
          {R"({"runner": {"type": "slurm"}, "trials": "forked"})", "/trials",
           "forked trials are processes of this machine, and the runner is slurm"}}) {
    const auto study = read(hooked(c.patch));
    ASSERT_FALSE(study) << c.patch;
    EXPECT_THAT(study.error().text(), HasSubstr(c.where)) << c.patch;
    EXPECT_THAT(study.error().text(), HasSubstr(c.what)) << c.patch;
  }
}

}  // namespace
}  // namespace steptune
