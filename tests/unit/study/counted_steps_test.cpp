// SPDX-License-Identifier: Apache-2.0
// Tests which steps a trainer's counter counts, if gradients are accumulated.
#include "tuner/study/counted_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using testing::read;
using testing::sound;

Json document_of(const char* preset, const char* batch_size,
                 const char* accumulation = "accumulate_grad_batches") {
  Json document = *parse_json(R"({
    "name": "s", "command": ["train", "{batch}"], "parameters": {}, "baseline": {}
  })",
                              "study");
  document["command"].push_back(std::string("{") + accumulation + "}");
  document["parameters"]["batch"] = Json{{"type", "int"}, {"low", 8}, {"high", 64}};
  document["parameters"][accumulation] = Json{{"type", "int"}, {"low", 1}, {"high", 8}};
  document["baseline"] = Json{{"batch", 16}, {accumulation, 4}};
  document["planned_run"]["batch_size"] = batch_size;
  document["reports"] = preset;
  return document;
}

std::optional<double> baseline_count(const Json& document) {
  const StudySpec study = sound(document);
  return samples_per_count(study, study.baseline);
}

TEST(CountedSteps, AreBatchesOfBarsThatCountThem) {
  const char* step = "batch * accumulate_grad_batches";
  EXPECT_EQ(baseline_count(document_of("lightning", step)), 16.0);
  EXPECT_EQ(baseline_count(document_of("keras", step)), 16.0);
  EXPECT_EQ(baseline_count(document_of("hf-trainer", step)), 64.0);
  EXPECT_EQ(baseline_count(document_of("tqdm", step)), 64.0);
  EXPECT_EQ(baseline_count(document_of("lightning", "batch")), 16.0);
  EXPECT_EQ(samples_per_step(sound(document_of("lightning", step)),
                             sound(document_of("lightning", step)).baseline),
            64.0)
      << "the samples of an optimizer step";
}

TEST(CountedSteps, TheRoleMayBeDeclared) {
  Json document = document_of("lightning", "batch * parts", "parts");
  EXPECT_EQ(baseline_count(document), 64.0) << "the name shows no role";
  document["parameters"]["parts"]["role"] = "accumulation";
  EXPECT_EQ(baseline_count(document), 16.0);
}

TEST(CountedSteps, AStepOfTheTrainerIsRefusedWithoutItsBatches) {
  const auto refused = read(document_of("hf-trainer", "batch"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("/planned_run/batch_size"));
  EXPECT_THAT(refused.error().text(), HasSubstr("write \"(batch) * accumulate_grad_batches\""));
  EXPECT_TRUE(read(document_of("hf-trainer", "(batch) * accumulate_grad_batches")));
  EXPECT_TRUE(read(document_of("hf-trainer", "64"))) << "held constant";
}

}  // namespace
}  // namespace steptune
