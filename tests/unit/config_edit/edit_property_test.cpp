// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/support/must.hpp"
#include "tuner/config_edit/config_edit.hpp"
#include "tuner/config_edit/truth_word.hpp"

namespace steptune {
namespace {

struct Setting {
  std::string name;
  std::string comment;
  Value value;
};

Value random_setting(Rng& rng) {
  switch (rng.below(5)) {
    case 0:
      return Value{rng.below(2) == 0};
    case 1:
      return Value{static_cast<std::int64_t>(rng.below(100'000)) - 500};
    case 2:
      return Value{(rng.uniform() + 0.001) *
                   std::pow(10.0, static_cast<double>(rng.below(12)) - 6)};
    case 3:
      return Value{std::string(rng.below(2) == 0 ? "bf16" : "adam-w")};
    default:
      // Texts that readers of other formats could take for other types.
      const char* const texts[] = {"yes", "off", "12", "1e3", "null", "a/b.c", "x y", "No", "0x1f"};
      return Value{std::string(texts[rng.below(std::size(texts))])};
  }
}

std::string scalar_as(ConfigFormat format, const Value& value, Rng& rng) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return config_scalar_text(format, value, "");
  if (format == ConfigFormat::ini || (format != ConfigFormat::json && rng.below(2) == 0)) {
    return "'" + *text + "'";
  }
  return "\"" + *text + "\"";
}

/// Returns the settings as a file, in a section or without one, with comments and irregular layout.
std::string document_of(ConfigFormat format, const std::vector<Setting>& settings, Rng& rng) {
  const std::string end = rng.below(4) == 0 && format != ConfigFormat::json ? "\r\n" : "\n";
  const bool nested = rng.below(2) == 0;
  std::string text;
  if (format == ConfigFormat::json) text = nested ? "{ \"train\": {\n" : "{\n";
  if (format == ConfigFormat::yaml) text = "# head" + end + (nested ? "train:" + end : "");
  if (format == ConfigFormat::toml || format == ConfigFormat::ini)
    text = "# head" + end + (nested ? "[train]" + end : "");
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Setting& setting = settings[i];
    const std::string value = scalar_as(format, setting.value, rng);
    const std::string gap(rng.below(3), ' ');
    if (format == ConfigFormat::json) {
      text += fmt::format("  \"{}\"{}: {}{} // {}{}", setting.name, gap, value,
                          i + 1 < settings.size() ? "," : "", setting.comment, end);
    } else if (format == ConfigFormat::yaml) {
      text += fmt::format("{}{}:  {}{} # {}{}", nested ? "    " : "", setting.name, gap, value,
                          setting.comment, end);
    } else {
      text += fmt::format("{}{}={} {} # {}{}", setting.name, gap, gap, value, setting.comment, end);
    }
    if (rng.below(4) == 0 && format != ConfigFormat::json) text += end;
  }
  if (format == ConfigFormat::json) text += nested ? "} }\n" : "}\n";
  return text;
}

class EditedFiles : public ::testing::TestWithParam<ConfigFormat> {};

TEST_P(EditedFiles, DifferInTheRequestedValuesOnly) {
  const ConfigFormat format = GetParam();
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Rng rng(seed, "config");
    std::vector<Setting> settings;
    for (std::uint64_t i = 0, count = 1 + rng.below(8); i < count; ++i) {
      settings.push_back(
          {fmt::format("name_{}", i), fmt::format("note = {}: 'x' \"y\"", i), random_setting(rng)});
    }
    const std::string text = document_of(format, settings, rng);
    Configuration wanted;
    for (const Setting& setting : settings)
      if (rng.below(2) == 0) wanted.set(setting.name, random_setting(rng));
    const auto changes = config_changes(format, text, wanted, {}, "f");
    ASSERT_TRUE(changes) << changes.error().text() << "\n" << text;
    const std::string edited = edited_text(text, edits_of(*changes));

    const auto before = must(scan_config(format, text, "f"));
    const auto after = must(scan_config(format, edited, "f"));
    ASSERT_EQ(before.size(), settings.size()) << text;
    ASSERT_EQ(after.size(), settings.size()) << edited;
    std::size_t at = 0;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      EXPECT_EQ(before[i].value, to_json(settings[i].value)) << text;
      const Value* asked = wanted.find(settings[i].name);
      if (asked == nullptr) {
        EXPECT_EQ(after[i].value, before[i].value) << edited;
      } else if (const auto* spelt = std::get_if<std::string>(asked);
                 spelt != nullptr && !after[i].value.is_string()) {
        EXPECT_EQ(after[i].value, Json::parse(*spelt)) << "a choice spelt as a text: " << edited;
      } else if (spelt == nullptr && after[i].value.is_string()) {
        const auto value_text = after[i].value.get<std::string>();
        EXPECT_TRUE(before[i].value.is_string()) << edited;
        const auto* truth = std::get_if<bool>(asked);
        EXPECT_EQ(value_text,
                  truth != nullptr ? truth_word_like(value_text, *truth) : to_text(*asked))
            << "a quoted value stays a text: " << edited;
      } else {
        EXPECT_EQ(after[i].value, to_json(*asked)) << edited;
      }
      // Names, gaps, comments and line ends between the values must stay.
      const std::size_t from = i == 0 ? 0 : before[i - 1].end;
      const std::string between = text.substr(from, before[i].begin - from);
      EXPECT_EQ(edited.substr(at, between.size()), between);
      at = after[i].end;
    }
    EXPECT_EQ(edited.substr(at), text.substr(before.back().end));
    EXPECT_TRUE(must(config_changes(format, edited, wanted, {}, "f")).empty())
        << "nothing is left to change: " << edited;
  }
}

TEST_P(EditedFiles, AreRestoredByTheFirstValues) {
  const ConfigFormat format = GetParam();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed, "back");
    std::vector<Setting> settings;
    Configuration first;
    Configuration second;
    for (std::uint64_t i = 0, count = 1 + rng.below(5); i < count; ++i) {
      const std::string name = fmt::format("name_{}", i);
      settings.push_back({name, "", Value{static_cast<std::int64_t>(rng.below(1000))}});
      first.set(name, settings.back().value);
      second.set(name, Value{rng.uniform()});
    }
    const std::string text = document_of(format, settings, rng);
    const std::string other =
        edited_text(text, edits_of(must(config_changes(format, text, second, {}, "f"))));
    EXPECT_EQ(edited_text(other, edits_of(must(config_changes(format, other, first, {}, "f")))),
              text);
  }
}

std::string name_of(const ::testing::TestParamInfo<ConfigFormat>& format) {
  const std::vector<std::string> names = {"json", "yaml", "toml", "ini"};
  return names[static_cast<std::size_t>(format.param)];
}

INSTANTIATE_TEST_SUITE_P(OfEachFormat, EditedFiles,
                         ::testing::Values(ConfigFormat::json, ConfigFormat::yaml,
                                           ConfigFormat::toml, ConfigFormat::ini),
                         name_of);

}  // namespace
}  // namespace steptune
