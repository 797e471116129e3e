// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/program_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "tuner/config_edit/truth_word.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

ProgramOption declared(const std::string& name, std::optional<std::string> default_value,
                       const std::string& from) {
  ProgramOption option;
  option.name = name;
  option.default_value = std::move(default_value);
  option.default_from = from;
  return option;
}

TEST(ProgramFacts, CommandPrecedesFilePrecedesDefault) {
  ProgramFacts facts;
  facts.argv = {"train", "--workers", "4"};
  facts.configs = {
      {"c.yaml",
       {declared("data.workers", "2", "c.yaml"), declared("batch_size", "8", "c.yaml")},
       {}}};
  const auto today = [&](const ProgramOption& option) {
    const auto value = facts.today(option);
    return value ? value->value + " by " + value->from : "unknown";
  };
  EXPECT_EQ(today(declared("--workers", "1", "--help")), "4 by the command");
  EXPECT_EQ(today(declared("--batch-size", "1", "--help")), "8 by c.yaml");
  EXPECT_EQ(today(declared("--lr", "0.1", "train.py")), "0.1 by train.py");
  EXPECT_EQ(today(declared("--seed", std::nullopt, "")), "unknown");
  EXPECT_EQ(today(declared("--note", "", "--help")), "unknown") << "an empty default says nothing";
}

TEST(ProgramFacts, AnOptionIsNoValueOfAFlag) {
  ProgramFacts facts;
  facts.argv = {"train", "--fp16", "-lr", "0.1", "--offset", "-1", "--last"};
  EXPECT_EQ(facts.stated_in_command("fp16")->value, "true");
  EXPECT_EQ(facts.stated_in_command("lr")->value, "0.1");
  EXPECT_EQ(facts.stated_in_command("offset")->value, "-1");
  EXPECT_EQ(facts.stated_in_command("last")->value, "true");
}

TEST(ProgramFacts, NamesTheFirstMissingRequiredOption) {
  ProgramFacts facts;
  facts.argv = {"train", "--amp", "1"};
  facts.options = {declared("--amp", {}, ""), declared("--dtype", {}, "")};
  ProgramOption option = declared("--scale", {}, "");
  EXPECT_EQ(facts.missing_for(option), "");
  option.needs = {"--amp", "--unknown", "--dtype"};
  EXPECT_EQ(facts.missing_for(option), "--dtype");
  facts.argv.insert(facts.argv.end(), {"--dtype", "bf16"});
  EXPECT_EQ(facts.missing_for(option), "");
}

TEST(ProgramFacts, TheHelpComesFirstAndTheSourceFillsTheGaps) {
  ProgramOption known = declared("--batch-size", "32", "--help");
  known.kind = OptionKind::integer;
  ProgramOption open = declared("--dtype", std::nullopt, "");
  ProgramOption source = declared("--dtype", "fp32", "train.py");
  source.kind = OptionKind::text;
  source.choices = {"fp32", "bf16"};
  source.is_assigned = true;
  const auto merged = merged_options(
      {known, open},
      {declared("--batch_size", "64", "train.py"), source, declared("--hidden", "1", "train.py")});
  ASSERT_EQ(merged.size(), 2U) << "the help lists them all";
  EXPECT_EQ(merged[0].default_value, "32");
  EXPECT_EQ(merged[0].default_from, "--help");
  EXPECT_EQ(merged[0].kind, OptionKind::integer);
  EXPECT_EQ(merged[1].default_value, "fp32");
  EXPECT_EQ(merged[1].default_from, "train.py");
  EXPECT_EQ(merged[1].kind, OptionKind::text);
  EXPECT_TRUE(merged[1].is_assigned);
  EXPECT_THAT(merged[1].choices, ElementsAre("fp32", "bf16"));
  EXPECT_EQ(merged_options({}, {source}).size(), 1U) << "without help the source gives all options";
}

TEST(ProgramFacts, ReadsTheFilesThatACommandNames) {
  const TemporaryFolder folder("configs");
  folder.write("c.yaml", "data:\n  workers: 2\n  note: &n yes\nempty:\nlist: [1, 0.5]\n");
  folder.write("gpt.py", "batch_size = 12\n");
  folder.write("train.py", "lr = 1\n");
  folder.write("notes.txt", "a: 1\n");
  folder.write("broken.json", "{");
  folder.write("large.json", "{\"a\": \"" + std::string(std::size_t{1} << 20, 'x') + "\"}");
  const auto configs = configs_of({"python3", "train.py", "--config=c.yaml", "gpt.py", "notes.txt",
                                   "broken.json", "large.json", "gone.json"},
                                  folder.path());
  ASSERT_EQ(configs.size(), 2U);
  EXPECT_EQ(configs[0].name, "c.yaml");
  std::map<std::string, std::string> settings;
  for (const ProgramOption& setting : configs[0].settings)
    settings[setting.name] = *setting.default_value;
  EXPECT_EQ(settings,
            (std::map<std::string, std::string>{
                {"data.workers", "2"}, {"data.note", "yes"}, {"list.0", "1"}, {"list.1", "0.5"}}))
      << "empty settings are left out";
  EXPECT_THAT(configs[0].fixed, ElementsAre(Pair("data.note", HasSubstr("it has an anchor"))));
  EXPECT_EQ(configs[0].settings[0].kind, OptionKind::integer);
  EXPECT_EQ(configs[0].settings[0].default_from, "c.yaml");
  EXPECT_EQ(configs[1].name, "gpt.py") << "the script itself is no configuration file";
  EXPECT_THAT(configs[1].fixed, ElementsAre(Pair("batch_size", "it is a Python file")));
  EXPECT_THAT(configs_of({"train", "gone.yaml"}, folder.path()), IsEmpty());
}

TEST(ProgramFacts, OptionsAreFoundHoweverTheyAreSpelt) {
  EXPECT_EQ(plain_name("--Batch-Size"), "batch_size");
  EXPECT_EQ(plain_name("-b"), "b");
  EXPECT_EQ(plain_name("data.batch-size"), "data.batch_size");
  EXPECT_EQ(plain_name("--"), "");
  const std::vector<ProgramOption> options = {
      declared("--eval-batch", "1", ""), declared("train.lr", "0.1", ""),
      declared("data.batch", "8", ""),   declared("model.depth", "2", ""),
      declared("head.depth", "3", ""),   declared("a.width", "4", ""),
      declared("b.width", "4", "")};
  EXPECT_EQ(find_option(options, "eval_batch")->default_value, "1");
  EXPECT_EQ(find_option(options, "lr")->name, "train.lr");
  EXPECT_EQ(find_option(options, "batch")->name, "data.batch");
  EXPECT_EQ(find_option(options, "depth"), nullptr) << "two that differ are neither";
  EXPECT_EQ(find_option(options, "width")->name, "a.width") << "two options that agree are merged";
  EXPECT_EQ(find_option(options, "r"), nullptr) << "a part of a word is no name";
}

TEST(ProgramFacts, EvaluationsAreFoundByWholeWords) {
  for (const char* name : {"eval_batch", "val.workers", "data.valid", "test", "predict_batch"})
    EXPECT_TRUE(is_of_evaluation(name)) << name;
  for (const char* name : {"interval", "evaluate", "latest", "testing_x", "value", "batch"})
    EXPECT_FALSE(is_of_evaluation(name)) << name;
}

TEST(ProgramFacts, TruthHasSeveralSpellings) {
  for (const char* yes : {"true", "True", "YES", "on", "1"})
    EXPECT_EQ(truth_of(yes), true) << yes;
  for (const char* no : {"false", "No", "off", "0"})
    EXPECT_EQ(truth_of(no), false) << no;
  for (const char* other : {"", "2", "y", "truth", "none"})
    EXPECT_EQ(truth_of(other), std::nullopt) << other;
}

}  // namespace
}  // namespace steptune
