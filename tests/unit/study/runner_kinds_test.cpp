// SPDX-License-Identifier: Apache-2.0
// Tests rules for every kind of runner and its section of the study file.
#include "trial_runner/runner_kinds.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

using ::testing::HasSubstr;
using testing::read;
using testing::sound;
using testing::study_document;

/// Returns the minimal section of each kind.
Json least_section(const std::string& kind) {
  Json section = {{"type", kind}};
  if (kind == "replay") section["seconds_per_sample"] = 0.01;
  if (kind == "sagemaker") {
    section.update(*parse_json(R"({
      "role": "arn:aws:iam::123456789012:role/training", "image": "train:1",
      "output": "s3://bucket/out", "instance_type": "ml.g5.xlarge"
    })",
                               "section"));
  }
  return section;
}

Json document_for(const std::string& kind) {
  Json document = study_document();
  document["facts"] = {{"cpus", 8}};
  document["objectives"] = {"time"};
  document.erase("budget");
  document["runner"] = least_section(kind);
  return document;
}

class EveryKind : public ::testing::TestWithParam<const RunnerKind*> {
 protected:
  [[nodiscard]] static std::string name() { return std::string(GetParam()->name()); }
};

TEST_P(EveryKind, IsFoundByANameOfItsOwn) {
  EXPECT_EQ(find_runner_kind(name()), GetParam());
  EXPECT_EQ(std::ranges::count(runner_kinds(), GetParam()->name(), &RunnerKind::name), 1);
}

TEST_P(EveryKind, WritesItsSectionSoThatItReadsTheSame) {
  const StudySpec study = sound(document_for(name()));
  EXPECT_EQ(&study.runner->kind(), GetParam());
  EXPECT_EQ(study.document["runner"].items().begin().key(), "type");
  EXPECT_EQ(study.document["runner"]["type"], name());
  const StudySpec again = sound(study.document);
  EXPECT_EQ(dump_json(again.document), dump_json(study.document));
  EXPECT_EQ(again.fingerprint, study.fingerprint);
}

TEST_P(EveryKind, RefusesKeysThatItDoesNotKnow) {
  Json document = document_for(name());
  document["runner"]["paralel"] = 2;
  const auto study = read(document);
  ASSERT_FALSE(study);
  EXPECT_THAT(study.error().text(), HasSubstr("did you mean \"parallel\"?"));
}

TEST_P(EveryKind, SummaryBeginsWithTheNumberOfParallelTrials) {
  Json document = document_for(name());
  document["runner"]["parallel"] = 2;
  const StudySpec study = sound(document);
  EXPECT_EQ(study.runner->traits().parallel, 2);
  const auto lines = study.runner->summary(study.baseline);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front().name, "runner");
  EXPECT_THAT(lines.front().text, HasSubstr(name() + ", 2 trials at a time"));
}

TEST_P(EveryKind, HasAPriceWhereItSaysSo) {
  const StudySpec study = sound(document_for(name()));
  const RunnerTraits& traits = study.runner->traits();
  EXPECT_EQ(study.runner->price_of(study.baseline).has_value(), traits.has_price);
  EXPECT_TRUE(traits.has_price || !traits.longest_billed_s) << "a runner that bills has a price";
}

TEST_P(EveryKind, ExplainsEachKeyInTheSchema) {
  Json definitions = Json::object();
  const Json reference = GetParam()->schema(definitions);
  const std::string pointer = reference.at("$ref").get<std::string>().substr(1);
  const Json schema = {{"$defs", definitions}};
  const Json& section = schema.at(Json::json_pointer(pointer));
  EXPECT_EQ(section["properties"]["type"]["const"], name());
  for (const auto& [key, property] : section["properties"].items()) {
    EXPECT_TRUE(property.contains("description") || property.contains("const")) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         ::testing::ValuesIn(runner_kinds().begin(), runner_kinds().end()),
                         [](const auto& tested) { return std::string(tested.param->name()); });

TEST(RunnerKinds, TheFirstKindIsTheDefault) {
  Json document = document_for("local");
  document.erase("runner");
  EXPECT_EQ(&sound(document).runner->kind(), runner_kinds().front());
  EXPECT_EQ(find_runner_kind("slurmm"), nullptr);
}

TEST(RunnerKinds, AnErrorNamesTheNearestKind) {
  Json document = document_for("local");
  document["runner"]["type"] = "sagemakr";
  const auto study = read(document);
  ASSERT_FALSE(study);
  EXPECT_THAT(study.error().text(), HasSubstr("#/runner/type"));
  EXPECT_THAT(study.error().text(), HasSubstr("did you mean \"sagemaker\"?"));
}

TEST(RunnerKinds, AStudyContinuesWithThePricesThatItsFileDoesNotState) {
  Json document = document_for("sagemaker");
  document["runner"]["prices"] = {{"ml.g5.xlarge", 2.0}};
  const StudySpec study = sound(document);
  Json begun = study.document["runner"];
  begun["prices"]["ml.g5.xlarge"]["usd_per_hour"] = 1.0;
  const auto price = [&](const Json& written) {
    return study.runner->resumed_document(begun, written)["prices"]["ml.g5.xlarge"]["usd_per_hour"];
  };
  EXPECT_EQ(price(Json::object()), 1.0)
      << "the file states no price, so the study keeps its first price";
  EXPECT_EQ(price(document["runner"]), 2.0) << "the file says so";
}

}  // namespace
}  // namespace steptune
