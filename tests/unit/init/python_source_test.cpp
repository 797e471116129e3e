// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/python_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptune {
namespace {

using ::testing::ElementsAre;

TEST(PythonSource, FindsDefaultsOfArgparse) {
  const auto options = options_of_source(R"py(
parser.add_argument("-b", "--batch-size", default=32, type=int,
                    help="samples, \"per\" step (default, 8)")  # add_argument("--none")
parser.add_argument('--dtype', choices=['fp32', 'bf16'], default='fp32')
parser.add_argument("--amp", action="store_true")
parser.add_argument("--steps", default=compute(), type=int)
parser.add_argument("data")
)py",
                                         "train.py");
  ASSERT_NE(find_option(options, "batch_size"), nullptr);
  EXPECT_EQ(find_option(options, "batch_size")->default_value, "32");
  EXPECT_EQ(find_option(options, "batch_size")->default_from, "train.py");
  EXPECT_THAT(find_option(options, "batch_size")->aliases, ElementsAre("-b"));
  EXPECT_THAT(find_option(options, "dtype")->choices, ElementsAre("fp32", "bf16"));
  EXPECT_EQ(find_option(options, "amp")->form, OptionForm::flag);
  EXPECT_EQ(find_option(options, "steps")->default_value, std::nullopt);
  EXPECT_EQ(find_option(options, "data"), nullptr);
}

TEST(PythonSource, FindsFlagsOfAbslAndClick) {
  const auto options = options_of_source(R"py(
flags.DEFINE_integer('batch_size', 64, 'samples of a step')
flags.DEFINE_bool("amp", False, "mixed precision")
@click.option("--workers", "-j", default=4, type=int)
@click.option("--compile/--no-compile", default=True)
)py",
                                         "train.py");
  EXPECT_EQ(find_option(options, "batch_size")->default_value, "64");
  EXPECT_EQ(find_option(options, "batch_size")->form, OptionForm::joined);
  EXPECT_EQ(find_option(options, "amp")->kind, OptionKind::boolean);
  EXPECT_EQ(find_option(options, "workers")->default_value, "4");
  EXPECT_EQ(find_option(options, "compile")->negation, "--no-compile");
}

TEST(PythonSource, FindsOptionsThatTakeAnyTextForTrue) {
  const char* const source = R"py(
parser.add_argument("--amp", type=bool, default=False)
parser.add_argument("--compile", type=str2bool, default=False)
@click.option("--fused", type=bool, default=False)
)py";
  const auto options = options_of_source(source, "train.py");
  EXPECT_EQ(find_option(options, "amp")->form, OptionForm::any_text);
  EXPECT_EQ(find_option(options, "compile")->form, OptionForm::separate);
  EXPECT_EQ(find_option(options, "fused")->form, OptionForm::separate);
  const auto read = options_of_source(std::string("import jsonargparse\n") + source, "train.py");
  EXPECT_EQ(find_option(read, "amp")->form, OptionForm::separate);
}

TEST(PythonSource, FindsSettingsThatAConfiguratorOverwrites) {
  const char* const settings =
      "batch_size = 12 # of a micro-step\ngradient_accumulation_steps = 5 * 8\n"
      "dtype = 'bfloat16' if ok() else 'float16'\ncompile = True\n"
      "    indented = 3\n";
  EXPECT_TRUE(options_of_source(settings, "train.py").empty());
  const auto options = options_of_source(
      std::string(settings) + "exec(open('configurator.py').read())\n", "train.py");
  EXPECT_EQ(find_option(options, "batch_size")->default_value, "12");
  EXPECT_EQ(find_option(options, "batch_size")->name, "--batch_size");
  EXPECT_EQ(find_option(options, "gradient_accumulation_steps")->default_value, "40");
  EXPECT_EQ(find_option(options, "dtype")->default_value, std::nullopt);
  EXPECT_EQ(find_option(options, "compile")->default_value, "True");
  EXPECT_EQ(find_option(options, "indented"), nullptr);
}

TEST(PythonSource, AnyBytesAreHarmless) {
  EXPECT_TRUE(options_of_source("add_argument(", "x").empty());
  EXPECT_TRUE(options_of_source("add_argument('''", "x").empty());
  EXPECT_TRUE(options_of_source(std::string("add_argument(\xff\0\"", 17), "x").empty());
  std::string many;
  while (many.size() < 3'000'000)
    many += "add_argument((((((";
  EXPECT_TRUE(options_of_source(many, "x").empty());
}

}  // namespace
}  // namespace steptune
