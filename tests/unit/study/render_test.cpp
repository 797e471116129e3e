// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

StudySpec study_of(const std::string& command, const std::string& more) {
  return testing::sound(
      *parse_json(R"({"name": "x", "command": )" + command + "," + more + "}", "x"));
}

const char* const k_amp = R"(
    "parameters": {
      "amp": {"type": "bool"},
      "scale": {"type": "int", "low": 1, "high": 9, "when": "amp"},
      "lr": {"type": "float", "low": 0.001, "high": 1}},
    "baseline": {"amp": false, "lr": 0.1})";

Configuration amp(bool on) {
  Configuration configuration({{"amp", on}, {"lr", 0.001}});
  if (on) configuration.set("scale", std::int64_t{8});
  return configuration;
}

Configuration with_flags(const std::string& label) {
  Configuration configuration;
  configuration.set("flags", label);
  return configuration;
}

std::vector<std::string> argv_of(const StudySpec& study, const Configuration& configuration) {
  return render_command(study, configuration).argv;
}

TEST(RenderCommand, FillsInValues) {
  const auto study =
      study_of(R"(["t", "{amp}", "model.lr={lr}", "{lr}{amp}", "--scale={scale}"])", k_amp);
  EXPECT_THAT(argv_of(study, amp(true)),
              ElementsAre("t", "true", "model.lr=0.001", "0.001true", "--scale=8"));
}

TEST(RenderCommand, LeavesOutPartsWhoseConditionDoesNotHold) {
  const auto study = study_of(
      R"(["t", {"when": "amp", "args": ["--amp", "--scale", "{scale}"]},
          {"when": "not amp", "args": ["--fp32"]}, "--lr={lr}"])",
      k_amp);
  EXPECT_THAT(argv_of(study, amp(true)), ElementsAre("t", "--amp", "--scale", "8", "--lr=0.001"));
  EXPECT_THAT(argv_of(study, amp(false)), ElementsAre("t", "--fp32", "--lr=0.001"));
}

TEST(RenderCommand, LeavesOutPartsOfInactiveParametersAsAWhole) {
  const auto study =
      study_of(R"(["t", "-s{scale}", "{lr}", "a.scale={scale}", {"args": ["--scale", "{scale}"]},
                   {"when": "amp", "args": ["--amp"]}])",
               k_amp);
  EXPECT_THAT(argv_of(study, amp(true)),
              ElementsAre("t", "-s8", "0.001", "a.scale=8", "--scale", "8", "--amp"));
  EXPECT_THAT(argv_of(study, amp(false)), ElementsAre("t", "0.001"));
}

TEST(RenderCommand, GivesTheStringBehindALabel) {
  const auto study = study_of(R"(["t", "--flags={flags}"])", R"(
      "env": {"FLAGS": "{flags}", "BOTH": "x{flags}", "EMPTY": "", "FIXED": "a {{b}"},
      "parameters": {"flags": {"type": "categorical", "choices": {"none": "", "fast": "-O3 -g"}}},
      "baseline": {"flags": "none"})");
  const auto fast = render_command(study, with_flags("fast"));
  EXPECT_THAT(fast.argv, ElementsAre("t", "--flags=-O3 -g"));
  EXPECT_THAT(fast.environment, ElementsAre(Pair("BOTH", "x-O3 -g"), Pair("EMPTY", ""),
                                            Pair("FIXED", "a {b}"), Pair("FLAGS", "-O3 -g")));
  // A choice with an empty text sets no variable, while the literal "" of EMPTY does.
  const auto none = render_command(study, with_flags("none"));
  EXPECT_THAT(none.argv, ElementsAre("t", "--flags="));
  EXPECT_THAT(none.environment,
              ElementsAre(Pair("BOTH", "x"), Pair("EMPTY", ""), Pair("FIXED", "a {b}")));
}

TEST(RenderCommand, SetsNoVariableOfAnInactiveParameter) {
  const auto study =
      study_of(R"(["t", "{lr}"])", std::string(k_amp) + R"(, "env": {"S": "{scale}"})");
  EXPECT_THAT(render_command(study, amp(true)).environment, ElementsAre(Pair("S", "8")));
  EXPECT_THAT(render_command(study, amp(false)).environment, IsEmpty());
}

TEST(RenderCommand, ReplacesNoPlaceholdersWithinValues) {
  const auto study = study_of(R"(["t", "{c}{d}"])", R"(
      "parameters": {"c": {"type": "categorical", "choices": ["{d}", "{{"]},
                     "d": {"type": "categorical", "choices": ["{c}", "x"]}},
      "baseline": {"c": "{d}", "d": "{c}"})");
  EXPECT_THAT(argv_of(study, study.baseline), ElementsAre("t", "{d}{c}"));
}

TEST(SamplesPerStep, IsTheExpressionsValue) {
  const auto study = study_of(R"(["t", "{micro}", "{steps}"])", R"(
      "parameters": {"micro": {"type": "int", "low": 1, "high": 64},
                     "steps": {"type": "int", "low": 1, "high": 8}},
      "planned_run": {"batch_size": "micro * steps"},
      "baseline": {"micro": 16, "steps": 2})");
  EXPECT_EQ(samples_per_step(study, study.baseline), 32.0);
}

TEST(SamplesPerStep, MayBeAConstantOrUnknown) {
  const std::string space = R"("parameters": {"x": {"type": "bool"}}, "baseline": {"x": true})";
  const auto fixed = study_of(R"(["t", "{x}"])", space + R"(, "planned_run": {"batch_size": 64})");
  EXPECT_EQ(samples_per_step(fixed, fixed.baseline), 64.0);
  const auto unknown = study_of(R"(["t", "{x}"])", space);
  EXPECT_EQ(samples_per_step(unknown, unknown.baseline), std::nullopt);
}

TEST(BufferedSteps, FollowTheConfiguration) {
  const std::string space = R"("parameters": {
      "workers": {"type": "int", "low": 0, "high": 8},
      "prefetch": {"type": "int", "low": 1, "high": 8, "when": "workers > 0"}},
      "baseline": {"workers": 3, "prefetch": 4})";
  const auto study = study_of(R"(["t", "{workers}", {"args": ["{prefetch}"]}])",
                              space + R"(, "measure": {"buffers": "workers * prefetch"})");
  EXPECT_EQ(buffered_steps(study, study.baseline), 12.0);
  Configuration no_workers;
  no_workers.set("workers", std::int64_t{0});
  EXPECT_EQ(buffered_steps(study, no_workers), 0.0);
  const auto unknown = study_of(R"(["t", "{workers}", {"args": ["{prefetch}"]}])", space);
  EXPECT_EQ(buffered_steps(unknown, unknown.baseline), std::nullopt);
}

}  // namespace
}  // namespace steptune
