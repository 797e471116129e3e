// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tuner/config_edit/truth_word.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;

using Argv = std::vector<std::string>;

ProgramOption option_called(const std::string& name, OptionForm form = OptionForm::separate) {
  ProgramOption option;
  option.name = name;
  option.form = form;
  return option;
}

/// Returns the words that belong to the program itself.
Argv own_words(const Argv& argv) {
  const ProgramWords words = program_words(argv);
  return {argv.begin() + static_cast<std::ptrdiff_t>(words.begin),
          argv.begin() + static_cast<std::ptrdiff_t>(words.end)};
}

TEST(ProgramWords, FollowTheScriptOrModule) {
  for (const Argv& before : std::vector<Argv>{
           {"train"},
           {"./train.py"},
           {"python3", "train.py"},
           {"python", "-u", "-X", "dev", "train.py"},
           {"python3", "-m", "pkg.train"},
           {"torchrun", "--nproc_per_node", "2", "train.py"},
           {"python3", "-m", "torch.distributed.run", "--nproc_per_node=2", "train.py"},
           {"python3", "-m", "torch.distributed.run", "--standalone", "-m", "pkg.train"},
           {"accelerate", "launch", "--num_processes", "2", "train.py"},
           {"deepspeed", "--num_gpus=1", "train.py"},
           {"srun", "-n", "4", "--", "train"},
           {"/usr/bin/env", "A=1", "--", "train"},
           {"nice", "-n", "10", "./train"},
           {"env", "-u", "A", "B=1", "train"},
           {"nohup", "nice", "-n10", "train"},
           {"env", "LD_PRELOAD=/usr/lib/libjemalloc.so", "stdbuf", "-o", "L", "./train"},
           {"uv", "run", "train.py"},
           {"docker", "run", "image", "python3", "train.py"}}) {
    Argv argv = before;
    argv.insert(argv.end(), {"--lr", "1"});
    EXPECT_THAT(own_words(argv), ElementsAre("--lr", "1")) << before.back();
    argv.insert(argv.end(), {"--", "rest"});
    EXPECT_THAT(own_words(argv), ElementsAre("--lr", "1")) << "and before a --";
  }
}

TEST(ProgramWords, PythonFilesAsArgumentsAreNoScripts) {
  EXPECT_THAT(own_words({"train", "--config", "conf.py", "--lr", "1"}),
              ElementsAre("--config", "conf.py", "--lr", "1"));
  EXPECT_THAT(own_words({"python3", "train.py", "config/gpt.py"}), ElementsAre("config/gpt.py"));
  EXPECT_THAT(own_words({"train", "-m", "x"}), ElementsAre("-m", "x")) << "its own -m";
  EXPECT_THAT(own_words({"python3"}), ElementsAre());
  EXPECT_THAT(own_words({}), ElementsAre());
  EXPECT_THAT(own_words({"srun", "train"}), ElementsAre("train"))
      << "the start of the program's words is unknown";
  EXPECT_THAT(own_words({"srun", "train", "--"}), ElementsAre("train"))
      << "nothing behind the separator";
  EXPECT_THAT(own_words({"ionice", "-c", "idle", "train"}), ElementsAre("-c", "idle", "train"));
}

TEST(ProgramWords, OptionsAreAddedAfterTheProgram) {
  EXPECT_THAT(with_options({"python3", "t.py", "a", "--", "b"}, {"--help"}),
              ElementsAre("python3", "t.py", "a", "--help", "--", "b"));
  EXPECT_THAT(with_options({"train"}, {"--lr", "1"}), ElementsAre("train", "--lr", "1"));
}

TEST(OptionWords, AreReadAndRemovedWithoutChangingOthers) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed, "words");
    ProgramOption option = option_called("--batch-size");
    option.aliases = {"-b"};
    const OptionForm forms[] = {OptionForm::flag, OptionForm::separate, OptionForm::joined,
                                OptionForm::assignment};
    option.form = forms[rng.below(4)];
    if (option.form == OptionForm::assignment) option.name = "data.batch_size";
    option.python_truth = rng.below(2) == 0;
    std::string value = std::to_string(rng.below(1000));
    if (option.form == OptionForm::flag) {
      option.negation = "--no-batch-size";
      value = rng.below(2) == 0 ? "true" : "false";
    } else if (rng.below(3) == 0) {
      const char* const values[] = {"true", "false", "bf16", "-1", "a=b", "x y", "1e-5"};
      value = values[rng.below(std::size(values))];
    }
    const Argv others = {"--lr", "0.5", "data", "--batch", "3", "-x4"};
    Argv argv = {"python3", "train.py"};
    const std::uint64_t place = rng.below(4);  // before, between or after the others
    const std::size_t cuts[] = {0, 2, 3, others.size()};
    argv.insert(argv.end(), others.begin(),
                others.begin() + static_cast<std::ptrdiff_t>(cuts[place]));
    const Argv words = option_words(option, value);
    argv.insert(argv.end(), words.begin(), words.end());
    argv.insert(argv.end(), others.begin() + static_cast<std::ptrdiff_t>(cuts[place]),
                others.end());
    argv.insert(argv.end(), {"--", "--batch-size", "9"});
    const auto read = value_on_command_line(argv, option);
    ASSERT_TRUE(read) << "seed " << seed;
    const bool is_truth = option.python_truth && (value == "true" || value == "false");
    if (is_truth) {
      EXPECT_EQ(truth_of(*read), value == "true");
    } else {
      EXPECT_EQ(*read, value) << "seed " << seed;
    }
    Argv expected = {"python3", "train.py"};
    expected.insert(expected.end(), others.begin(), others.end());
    expected.insert(expected.end(), {"--", "--batch-size", "9"});
    EXPECT_EQ(without_option(argv, option), expected) << "seed " << seed;
    EXPECT_EQ(value_on_command_line(expected, option), std::nullopt);
  }
}

TEST(OptionWords, AreWrittenAsTheProgramReadsThem) {
  ProgramOption option = option_called("--amp", OptionForm::flag);
  EXPECT_THAT(option_words(option, "true"), ElementsAre("--amp"));
  EXPECT_THAT(option_words(option, "false"), ElementsAre())
      << "without a negation, the flag is left out";
  option.negation = "--no-amp";
  EXPECT_THAT(option_words(option, "off"), ElementsAre("--no-amp"));
  option = option_called("--compile", OptionForm::joined);
  EXPECT_THAT(option_words(option, "true"), ElementsAre("--compile=true"));
  option.python_truth = true;
  EXPECT_THAT(option_words(option, "true"), ElementsAre("--compile=True"));
  EXPECT_THAT(option_words(option, "false"), ElementsAre("--compile=False"));
  EXPECT_THAT(option_words(option, "trueish"), ElementsAre("--compile=trueish"));
}

TEST(OptionWords, TheLastOfSeveralCounts) {
  ProgramOption amp = option_called("--amp", OptionForm::flag);
  amp.negation = "--no-amp";
  EXPECT_EQ(value_on_command_line({"t", "--amp", "--no-amp"}, amp), "false");
  EXPECT_EQ(value_on_command_line({"t", "--no-amp", "--amp"}, amp), "true");
  EXPECT_THAT(without_option({"t", "--no-amp", "x", "--amp"}, amp), ElementsAre("t", "x"))
      << "a negation has no value";
  const ProgramOption workers = option_called("--workers");
  EXPECT_EQ(value_on_command_line({"t", "--workers"}, workers), "true") << "without its value";
  EXPECT_EQ(value_on_command_line({"t", "--workers", "--lr", "1"}, workers), "true");
}

TEST(FullNames, ReplaceUnambiguousBeginnings) {
  ProgramOption amp = option_called("--amp", OptionForm::flag);
  amp.negation = "--no-amp";
  ProgramOption batch = option_called("--batch-size");
  batch.aliases = {"-b", "--bs"};
  const std::vector<ProgramOption> options = {batch, option_called("--batches"), amp,
                                              option_called("--workers")};
  EXPECT_THAT(with_full_names({"t", "--work", "4", "--batch-", "8", "--no-a"}, options),
              ElementsAre("t", "--workers", "4", "--batch-size", "8", "--no-amp"));
  EXPECT_THAT(with_full_names({"t", "--w=4", "--bs", "2"}, options),
              ElementsAre("t", "--workers=4", "--bs", "2"));
  EXPECT_THAT(with_full_names({"t", "--batch", "8"}, options), ElementsAre("t", "--batch", "8"))
      << "two could be meant";
  EXPECT_THAT(with_full_names({"t", "-w", "work", "--", "--work"}, options),
              ElementsAre("t", "-w", "work", "--", "--work"));
  EXPECT_TRUE(may_be_abbreviated({"t", "--wor=2"}, option_called("--workers")));
  EXPECT_FALSE(may_be_abbreviated({"t", "--w", "2"}, option_called("--workers")))
      << "a single letter says too little";
  EXPECT_FALSE(may_be_abbreviated({"t", "--workers"}, option_called("--workers")));
  EXPECT_FALSE(may_be_abbreviated({"t", "--", "--work"}, option_called("--workers")));
}

TEST(OptionsBegin, IsThePlaceOfTheFirstOption) {
  EXPECT_EQ(options_begin({"./ffm-train", "-t", "30", "clicks.txt", "model"}), 1U);
  EXPECT_EQ(options_begin({"./fasttext", "supervised", "-input", "text"}), 2U)
      << "a subcommand comes first";
  EXPECT_EQ(options_begin({"./train", "data", "-"}), 1U) << "- is standard input";
  EXPECT_EQ(options_begin({"stdbuf", "-oL", "./train", "data", "-t", "4"}), 4U)
      << "-oL is an option of stdbuf";
}

}  // namespace
}  // namespace steptune
