// SPDX-License-Identifier: Apache-2.0
#include "common/document/string_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune::document {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

StringTemplate parsed(std::string_view text, std::shared_ptr<const ChoiceStrings> choices = nullptr,
                      const std::set<std::string>& others = {}) {
  auto result = StringTemplate::parse(text, std::move(choices), others);
  EXPECT_TRUE(result) << text;
  return *std::move(result);
}

Configuration configuration() {
  Configuration result;
  result.set("batch", std::int64_t{64});
  result.set("rate", 0.5);
  result.set("mode", std::string("fast"));
  return result;
}

TEST(StringTemplate, PutsValuesInThePlacesOfTheirNames) {
  const StringTemplate text = parsed("--batch={batch},{mode} {batch}");
  EXPECT_EQ(text.text(), "--batch={batch},{mode} {batch}");
  EXPECT_THAT(text.parameters(), ElementsAre("batch", "mode", "batch"));
  EXPECT_TRUE(text.has_parameters());
  EXPECT_EQ(text.prefix(), "--batch=");
  EXPECT_EQ(text.render(configuration()), "--batch=64,fast 64");
}

TEST(StringTemplate, MayContainNoPlaceholder) {
  const StringTemplate text = parsed("train.py");
  EXPECT_FALSE(text.has_parameters());
  EXPECT_EQ(text.prefix(), "train.py");
  EXPECT_EQ(text.render(configuration()), "train.py");
  EXPECT_EQ(parsed("").render(configuration()), "");
  EXPECT_EQ(parsed("").prefix(), "");
  EXPECT_EQ(parsed("{batch}s").prefix(), "");
}

TEST(StringTemplate, ADoubledBraceIsOneBraceAndALoneClosingBraceStays) {
  EXPECT_EQ(parsed("{{\"n\": {batch}}").render(configuration()), "{\"n\": 64}");
  EXPECT_EQ(parsed("}{{").render(configuration()), "}{");
  EXPECT_EQ(parsed("{{{batch}}").render(configuration()), "{64}");
  EXPECT_EQ(parsed("{{{{").render(configuration()), "{{");
  EXPECT_THAT(parsed("{{batch}").parameters(), IsEmpty());
}

TEST(StringTemplate, RefusesWhatIsNoPlaceholder) {
  for (const char* text : {"{", "{{{", "{batch", "{}", "{a b}", "{2x}", "x {batch"}) {
    const auto refused = StringTemplate::parse(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().text(), HasSubstr("is not a placeholder: write {name}")) << text;
  }
}

TEST(StringTemplate, AnInactiveParameterRendersNothing) {
  EXPECT_FALSE(parsed("--prefetch={prefetch}").render(configuration()));
  EXPECT_FALSE(parsed("{prefetch}").value(configuration()));
}

TEST(StringTemplate, PlaceholdersThatAreNoParametersComeFromTheCaller) {
  const StringTemplate text = parsed("{out}/{batch}", nullptr, {"out"});
  EXPECT_THAT(text.parameters(), ElementsAre("batch"));
  EXPECT_THAT(text.others(), ElementsAre("out"));
  EXPECT_EQ(text.render(configuration(), {{"out", "/tmp"}}), "/tmp/64");
  EXPECT_FALSE(text.render(configuration())) << "the caller gives no value of {out}";
  EXPECT_FALSE(parsed("{out}", nullptr, {"out"}).has_parameters());
}

TEST(StringTemplate, LabelsRenderAsTheirStrings) {
  const auto choices = std::make_shared<const ChoiceStrings>(
      ChoiceStrings{{"mode", {{"fast", "--fast --unsafe"}, {"exact", ""}}}});
  EXPECT_EQ(parsed("x {mode}", choices).render(configuration()), "x --fast --unsafe");
  EXPECT_EQ(parsed("{mode}", choices).value(configuration()),
            Value{std::string("--fast --unsafe")});
  Configuration other = configuration();
  other.set("mode", std::string("plain"));
  EXPECT_EQ(parsed("{mode}", choices).value(other), Value{std::string("plain")});
}

TEST(StringTemplate, OnePlaceholderAloneKeepsTheType) {
  EXPECT_EQ(parsed("{batch}").value(configuration()), Value{std::int64_t{64}});
  EXPECT_EQ(parsed("{rate}").value(configuration()), Value{0.5});
  EXPECT_EQ(parsed("{batch}s").value(configuration()), Value{std::string("64s")});
  EXPECT_EQ(parsed("64").value(configuration()), Value{std::string("64")});
}

}  // namespace
}  // namespace steptune::document
