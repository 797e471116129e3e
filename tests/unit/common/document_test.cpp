// SPDX-License-Identifier: Apache-2.0
// Tests that one declaration of a key gives reading, writing, fingerprint, schema and reference.
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/document/section.hpp"

namespace steptune {
namespace {

using document::InFingerprint;
using document::key;
using document::Node;
using document::ObjectNode;
using document::Reading;
using document::Section;
using document::Writing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

enum class Mode { fast, exact };

struct Oven {
  double heat_s = 90.0;
  int trays = 2;
  std::optional<double> usd;
  Mode mode = Mode::fast;
  bool light = false;
  std::vector<std::string> names;
};

struct Kitchen {
  Oven oven;
};

const Section<Oven>& oven_section() {
  static const auto k_section =
      Section<Oven>("oven", "Bakes.", "an object such as {\"trays\": 2}")
          .add(key("heat", &Oven::heat_s, document::duration_s({1.0, 7200.0}))
                   .doc("how long, see [heating](heat.md) and `trays`"))
          .add(key("trays", &Oven::trays, document::integer({1.0, 9.0}))
                   .in_fingerprint(InFingerprint::unless_default)
                   .doc("how many"))
          .add(key("usd", &Oven::usd, document::number({0.0, 5.0}))
                   .in_fingerprint(InFingerprint::where_cost_is_objective)
                   .doc("price"))
          .add(key("mode", &Oven::mode, document::enumerated({"fast", "exact"})).doc("mode"))
          .add(key("light", &Oven::light, document::boolean())
                   .in_fingerprint(InFingerprint::never)
                   .doc("whether it shines"))
          .add(key("names", &Oven::names, document::list_of(document::string(), 2))
                   .omitted_at_default()
                   .doc("of the bakers"))
          .check([](const ObjectNode& object, const Oven& oven) {
            if (oven.mode == Mode::exact && oven.trays > 4) object.node().fault("too many trays");
          });
  return k_section;
}

struct ReadOven {
  Oven oven;
  std::vector<document::Fault> faults;
};

ReadOven read(const std::string& text) {
  const Json json = *parse_json(text, "test");
  Reading reading;
  ReadOven result;
  oven_section().read(Node(json, "/oven", reading), result.oven);
  result.faults = reading.faults.kept();
  return result;
}

std::string faults_of(const std::string& text) {
  std::string all;
  for (const document::Fault& fault : read(text).faults)
    all += fault.pointer + ": " + fault.message + "\n";
  return all;
}

TEST(DocumentSection, ReadsItsKeys) {
  const auto [oven, faults] =
      read(R"({"heat": "2m", "trays": 3, "usd": 1.5, "mode": "exact", "names": ["a", "b"]})");
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_EQ(oven.heat_s, 120.0);
  EXPECT_EQ(oven.trays, 3);
  EXPECT_EQ(oven.usd, 1.5);
  EXPECT_EQ(oven.mode, Mode::exact);
  EXPECT_FALSE(oven.light);
  EXPECT_THAT(oven.names, ElementsAre("a", "b"));
}

TEST(DocumentSection, NamesThePlaceOfEachFault) {
  EXPECT_EQ(faults_of(R"({"trais": 3})"),
            "/oven/trais: unknown key \"trais\"; did you mean "
            "\"trays\"?\n");
  EXPECT_EQ(faults_of(R"({"trays": 10})"), "/oven/trays: must be at most 9 (is 10)\n");
  EXPECT_EQ(faults_of(R"({"mode": "exakt"})"),
            "/oven/mode: \"exakt\" is not one of \"fast\", \"exact\"; did you mean \"exact\"?\n");
  EXPECT_EQ(faults_of(R"({"names": ["a", 1]})"),
            "/oven/names/1: expected a string, not a number\n");
  EXPECT_EQ(faults_of("[]"), "/oven: expected an object such as {\"trays\": 2}, not a list\n");
  EXPECT_EQ(faults_of(R"({"mode": "exact", "trays": 5})"), "/oven: too many trays\n");
}

TEST(DocumentSection, WritesWhatItReads) {
  const std::string text =
      R"({"heat":120.0,"trays":3,"usd":1.5,"mode":"exact","light":true,"names":["a"]})";
  EXPECT_EQ(dump_json(oven_section().write(read(text).oven, {})), text);
  EXPECT_EQ(dump_json(oven_section().write(Oven(), {})),
            R"({"heat":90.0,"trays":2,"mode":"fast","light":false})");
}

TEST(DocumentSection, FingerprintHasWhatAffectsMeasurements) {
  Oven oven;
  oven.usd = 1.0;
  oven.light = true;
  const auto fingerprint = [&](bool cost_is_objective) {
    return dump_json(oven_section().write(
        oven, {.fingerprint = true, .folder = {}, .cost_is_objective = cost_is_objective}));
  };
  EXPECT_EQ(fingerprint(true), R"({"heat":90.0,"usd":1.0,"mode":"fast"})");
  EXPECT_EQ(fingerprint(false), R"({"heat":90.0,"mode":"fast"})");
  oven.trays = 3;
  EXPECT_EQ(fingerprint(false), R"({"heat":90.0,"trays":3,"mode":"fast"})");
}

TEST(DocumentSection, DescribesItselfToEditors) {
  Json definitions = Json::object();
  EXPECT_EQ(dump_json(oven_section().schema(definitions)), R"({"$ref":"#/$defs/oven"})");
  const Json oven = definitions["oven"];
  EXPECT_EQ(oven["additionalProperties"], false);
  EXPECT_EQ(dump_json(oven["properties"]["trays"]),
            R"({"type":"integer","minimum":1,"maximum":9,"default":2,"description":"How many"})");
  EXPECT_EQ(oven["properties"]["heat"]["default"], 90.0);
  EXPECT_EQ(oven["properties"]["heat"]["description"], "How long, see heating and trays");
  EXPECT_FALSE(oven["properties"]["usd"].contains("default"));
  EXPECT_FALSE(oven["properties"]["names"].contains("default"));
  EXPECT_FALSE(oven.contains("required"));
}

TEST(DocumentSection, ListsItsKeysForTheReference) {
  EXPECT_EQ(oven_section().table().markdown(),
            "| key | default | meaning |\n"
            "|---|---|---|\n"
            "| `heat` | `\"90s\"` | how long, see [heating](heat.md) and `trays` |\n"
            "| `trays` | 2 | how many |\n"
            "| `usd` | none | price |\n"
            "| `mode` | `\"fast\"` | mode |\n"
            "| `light` | `false` | whether it shines |\n"
            "| `names` | none | of the bakers |\n");
}

TEST(DocumentSection, TheReferenceLeavesOutKeysThatOnlySteptuneWrites) {
  const auto section =
      Section<Oven>("oven", "", "an object")
          .add(key("trays", &Oven::trays, document::integer({1.0, 9.0})).doc("how many"))
          .add(key("usd", &Oven::usd, document::number({0.0, 5.0}))
                   .written_by_steptune()
                   .doc("price"));
  EXPECT_THAT(section.table().markdown(), HasSubstr("`trays`"));
  EXPECT_THAT(section.table().markdown(), Not(HasSubstr("`usd`")));
  Json definitions = Json::object();
  EXPECT_TRUE(section.definition(definitions)["properties"].contains("usd"));
}

TEST(DocumentKey, MayBelongToAMember) {
  const auto section = Section<Kitchen>("kitchen", "", "an object")
                           .add(key("trays", &Oven::trays, document::integer({1.0, 9.0}))
                                    .required()
                                    .of(&Kitchen::oven));
  const Json json = {{"trays", 7}};
  Reading reading;
  Kitchen kitchen;
  section.read(Node(json, "", reading), kitchen);
  EXPECT_EQ(kitchen.oven.trays, 7);
  EXPECT_EQ(section.write(kitchen, {}), json);
  section.read(Node(Json::object(), "", reading), kitchen);
  ASSERT_EQ(reading.faults.kept().size(), 1U);
  EXPECT_THAT(reading.faults.kept().front().message, HasSubstr("the key \"trays\" is missing"));
}

TEST(DocumentFaults, HaveTheirPlacesAfterTheTwentieth) {
  document::Faults faults;
  for (int i = 0; i < 20; ++i)
    faults.add("/kitchen", "dark");
  EXPECT_FALSE(faults.within("/oven"));
  faults.add("/oven/trays", "bent");
  faults.add("/ovens", "many");
  EXPECT_EQ(faults.kept().size(), 20U);
  EXPECT_TRUE(faults.within("/oven"));
  EXPECT_TRUE(faults.within("/oven/trays"));
  EXPECT_FALSE(faults.within("/oven/tray"));
}

TEST(DocumentPath, IsRelativeToTheDocument) {
  const auto type = document::path();
  const Json json = "tables/../a.json";
  Reading reading{.faults = {}, .folder = "/studies", .scope = nullptr};
  const auto path = type.read(Node(json, "", reading));
  EXPECT_EQ(path, "/studies/a.json");
  const Writing fingerprint{.fingerprint = true, .folder = "/studies", .cost_is_objective = false};
  EXPECT_EQ(type.write(*path, fingerprint), "a.json");
  EXPECT_EQ(type.write("/elsewhere/a.json", fingerprint), "/elsewhere/a.json");
  EXPECT_EQ(type.write(*path, {}), "/studies/a.json");
}

}  // namespace
}  // namespace steptune
