// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/help_text.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/init/command_line.hpp"

namespace steptune {
namespace {

using ::testing::ElementsAre;

const ProgramOption& must_find(const HelpText& help, std::string_view plain) {
  const ProgramOption* option = find_option(help.options, std::string(plain));
  if (option == nullptr) throw std::runtime_error("no option " + std::string(plain));
  return *option;
}

TEST(HelpText, ReadsArgparse) {
  const HelpText help = parse_help(R"(usage: train.py [-h] [-b N] [--amp] [--dtype {fp32,bf16}] data

positional arguments:
  data                  folder of pictures

options:
  -h, --help            show this help message and exit
  -b N, --batch-size N  mini-batch size (default: 256), this is the total of
                        all GPUs on the node
  -j N, --workers N     data loading workers (default: 4)
  --amp                 mixed precision
  --dtype {fp32,bf16}   arithmetic (default: fp32)
  --bf16 [BF16]         Whether to use bf16 (default: False)
  --compile, --no-compile
                        compile the model (default: True)
  --lr LR, --learning-rate LR
                        initial rate
)");
  EXPECT_EQ(help.style, "argparse");
  const ProgramOption& batch = must_find(help, "batch_size");
  EXPECT_EQ(batch.name, "--batch-size");
  EXPECT_THAT(batch.aliases, ElementsAre("-b"));
  EXPECT_EQ(batch.default_value, "256");
  EXPECT_EQ(batch.form, OptionForm::separate);
  EXPECT_EQ(must_find(help, "workers").default_value, "4");
  EXPECT_EQ(must_find(help, "amp").form, OptionForm::flag);
  EXPECT_EQ(must_find(help, "amp").default_value, std::nullopt);
  EXPECT_THAT(must_find(help, "dtype").choices, ElementsAre("fp32", "bf16"));
  EXPECT_EQ(must_find(help, "bf16").kind, OptionKind::boolean);
  EXPECT_THAT(option_words(must_find(help, "bf16"), "true"), ElementsAre("--bf16", "True"));
  EXPECT_EQ(must_find(help, "compile").negation, "--no-compile");
  EXPECT_EQ(must_find(help, "compile").default_value, "True");
  EXPECT_THAT(must_find(help, "lr").aliases, ElementsAre("--learning-rate"));
  EXPECT_EQ(find_option(help.options, "data"), nullptr);
}

TEST(HelpText, ALongNameWithNoIsNoNegationOfAShortName) {
  const HelpText help = parse_help(R"(usage: train.py [-h] [-n]

options:
  -h, --help     show this help message and exit
  -n, --no-cuda  compute on the CPU
)");
  const ProgramOption& cpu = must_find(help, "no_cuda");
  EXPECT_EQ(cpu.name, "--no-cuda");
  EXPECT_THAT(cpu.aliases, ElementsAre("-n"));
  EXPECT_EQ(cpu.negation, "");
}

TEST(HelpText, ReadsClick) {
  const HelpText help = parse_help(R"(Usage: train.py [OPTIONS]

  Trains.

Options:
  -b, --batch-size INTEGER RANGE  Samples of a step  [default: 64; x>=1]
  --precision [fp32|bf16]         Arithmetic.  [default: fp32]
  --amp / --no-amp                Mixed precision  [default: no-amp]
  --help                          Show this message and exit.
)");
  EXPECT_EQ(help.style, "click");
  EXPECT_EQ(must_find(help, "batch_size").default_value, "64");
  EXPECT_EQ(must_find(help, "batch_size").kind, OptionKind::integer);
  EXPECT_THAT(must_find(help, "precision").choices, ElementsAre("fp32", "bf16"));
  EXPECT_EQ(must_find(help, "amp").negation, "--no-amp");
  EXPECT_EQ(must_find(help, "amp").default_value, "false");
}

TEST(HelpText, ReadsTyper) {
  const HelpText help = parse_help(
      "\n Usage: train.py [OPTIONS]\n\n"
      "╭─ Options ─────────────────────────────────────────────╮\n"
      "│ *  --data                   TEXT           folder     │\n"
      "│    --batch-size  -b         INTEGER        samples of │\n"
      "│                                            a step     │\n"
      "│                                            [default:  │\n"
      "│                                            32]        │\n"
      "│    --precision              [fp32|bf16]    [default: fp32] │\n"
      "│    --amp             --no-amp              [default: no-amp] │\n"
      "│    --help                                  Show this message and exit. │\n"
      "╰───────────────────────────────────────────────────────╯\n");
  EXPECT_EQ(help.style, "typer");
  EXPECT_EQ(must_find(help, "data").name, "--data");
  EXPECT_EQ(must_find(help, "batch_size").default_value, "32");
  EXPECT_THAT(must_find(help, "precision").choices, ElementsAre("fp32", "bf16"));
  EXPECT_EQ(must_find(help, "amp").negation, "--no-amp");
  EXPECT_EQ(must_find(help, "amp").default_value, "false");
}

TEST(HelpText, ReadsAbsl) {
  const HelpText help = parse_help(R"(Trains.
flags:

train.py:
  --[no]amp: mixed precision
    (default: 'false')
  --batch_size: samples of a step
    (default: '32')
    (an integer)
  --dtype: <float32|bfloat16>: arithmetic
    (default: 'float32')

Try --helpfull to get a list of all flags.
)");
  EXPECT_EQ(help.style, "absl");
  EXPECT_EQ(must_find(help, "batch_size").default_value, "32");
  EXPECT_EQ(must_find(help, "batch_size").form, OptionForm::joined);
  EXPECT_EQ(must_find(help, "amp").negation, "--noamp");
  EXPECT_EQ(must_find(help, "amp").default_value, "false");
  EXPECT_EQ(value_on_command_line({"train.py", "-batch_size", "64"}, must_find(help, "batch_size")),
            "64")
      << "one dash works like two";
  EXPECT_THAT(must_find(help, "dtype").choices, ElementsAre("float32", "bfloat16"));
}

TEST(HelpText, ReadsGflags) {
  const HelpText help = parse_help(R"(train: Trains.

  Flags from train.cc:
    -amp (mixed precision) type: bool default: false
    -batch_size (samples of a step) type: int32
      default: 32
    -dtype (arithmetic) type: string default: "fp32"
)");
  EXPECT_EQ(help.style, "gflags");
  EXPECT_EQ(must_find(help, "batch_size").default_value, "32");
  EXPECT_EQ(must_find(help, "batch_size").kind, OptionKind::integer);
  EXPECT_EQ(must_find(help, "amp").kind, OptionKind::boolean);
  EXPECT_THAT(option_words(must_find(help, "batch_size"), "8"), ElementsAre("-batch_size=8"));
  EXPECT_EQ(value_on_command_line({"train", "--batch_size=64"}, must_find(help, "batch_size")),
            "64");
  EXPECT_EQ(value_on_command_line({"train", "--noamp"}, must_find(help, "amp")), "false");
  EXPECT_EQ(value_on_command_line({"train", "-noamp"}, must_find(help, "amp")), "false");
  EXPECT_THAT(option_words(must_find(help, "amp"), "false"), ElementsAre("-amp=false"));
  EXPECT_EQ(must_find(help, "dtype").default_value, "fp32");
}

TEST(HelpText, ReadsCli11) {
  const HelpText help = parse_help(R"(Trains
Usage: train [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --batch-size INT:INT in [1 - 65536]=32
                              images per batch
  --steps INT:INT in [1 - 99] Excludes: --epochs
                              optimizer steps
  --epochs FLOAT=10 Excludes: --steps
                              passes
  --data TEXT Excludes: --generate
                              folder of class folders
  --precision fp32|bf16=fp32  fp32, or bf16 by autocast
  --channels-last             lay pictures out pixel by pixel
  --images INT:INT in [2 - 99]=1000 Needs: --generate --size Excludes: --data
                              how many
)");
  EXPECT_EQ(help.style, "CLI11");
  EXPECT_EQ(must_find(help, "batch_size").default_value, "32");
  EXPECT_EQ(must_find(help, "batch_size").kind, OptionKind::integer);
  EXPECT_EQ(must_find(help, "data").default_value, std::nullopt);
  EXPECT_TRUE(must_find(help, "steps").aliases.empty());
  EXPECT_EQ(must_find(help, "epochs").default_value, "10");
  EXPECT_EQ(must_find(help, "precision").default_value, "fp32");
  EXPECT_THAT(must_find(help, "precision").choices, ElementsAre("fp32", "bf16"));
  EXPECT_EQ(must_find(help, "channels_last").form, OptionForm::flag);
  EXPECT_EQ(must_find(help, "images").default_value, "1000");
  EXPECT_THAT(must_find(help, "images").needs, ElementsAre("--generate", "--size"));
  EXPECT_TRUE(must_find(help, "data").needs.empty());
}

TEST(HelpText, ReadsCli11SinceVersion24) {
  const HelpText help = parse_help(R"(Trains
Usage: train [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --batch-size INT:INT in [1 - 65536] [32] 
                              images per batch
  --epochs FLOAT:FLOAT in [1e-06 - 1e+06] [10]  Excludes: --steps
                              passes
  --data TEXT Excludes: --generate
                              folder of class folders
  --precision fp32|bf16 [fp32] 
                              fp32, or bf16 by autocast
  --channels-last             lay pictures out pixel by pixel
  --images INT:INT in [2 - 99] [1000]  Needs: --generate --size Excludes: --data
                              how many
)");
  EXPECT_EQ(must_find(help, "batch_size").default_value, "32");
  EXPECT_EQ(must_find(help, "batch_size").kind, OptionKind::integer);
  EXPECT_EQ(must_find(help, "epochs").default_value, "10");
  EXPECT_EQ(must_find(help, "epochs").words, "passes");
  EXPECT_EQ(must_find(help, "data").default_value, std::nullopt);
  EXPECT_EQ(must_find(help, "precision").default_value, "fp32");
  EXPECT_THAT(must_find(help, "precision").choices, ElementsAre("fp32", "bf16"));
  EXPECT_EQ(must_find(help, "channels_last").form, OptionForm::flag);
  EXPECT_EQ(must_find(help, "images").default_value, "1000");
  EXPECT_THAT(must_find(help, "images").needs, ElementsAre("--generate", "--size"));
}

TEST(HelpText, ReadsCli11SinceVersion25) {
  const HelpText help = parse_help(R"(Trains

train [OPTIONS]

OPTIONS:
  -h,     --help              Print this help message and exit
  -b,     --batch-size INT:INT in [1 - 65536] [32]
                              images per batch
          --workers UINT [0]  threads that read images
)");
  EXPECT_EQ(help.style, "CLI11");
  EXPECT_EQ(must_find(help, "batch_size").default_value, "32");
  EXPECT_EQ(must_find(help, "workers").default_value, "0");
  EXPECT_EQ(must_find(help, "workers").kind, OptionKind::integer);
}

TEST(HelpText, ListsOfArgparseAreNoDefaults) {
  const HelpText help = parse_help(R"(usage: train.py [-h]

options:
  -h, --help            show this help message and exit
  --sizes SIZES [SIZES ...]
                        layers
  --amp [AMP]           half precision
)");
  EXPECT_EQ(must_find(help, "sizes").default_value, std::nullopt);
  EXPECT_EQ(must_find(help, "amp").default_value, std::nullopt);
}

TEST(HelpText, ReadsHydra) {
  const HelpText help = parse_help(R"(train is powered by Hydra.

== Configuration groups ==
model: resnet, vit

== Config ==
Override anything in the config (foo.bar=value)

loader:
  batch_size: 64
  workers: 2
amp: false
name: null


Powered by Hydra (https://hydra.cc)
)");
  EXPECT_EQ(help.style, "Hydra");
  const ProgramOption& batch = must_find(help, "batch_size");
  EXPECT_EQ(batch.name, "loader.batch_size");
  EXPECT_EQ(batch.default_value, "64");
  EXPECT_THAT(option_words(batch, "8"), ElementsAre("loader.batch_size=8"));
  EXPECT_EQ(must_find(help, "amp").kind, OptionKind::boolean);
}

TEST(HelpText, ReadsFastText) {
  const HelpText help = parse_help(R"(Empty input or output path.

The following arguments are mandatory:
  -input              training file path

The following arguments for training are optional:
  -lr                 learning rate [0.1]
  -epoch              number of epochs [5]
  -loss               loss function {ns, hs, softmax, one-vs-all} [softmax]
  -thread             number of threads (set to 1 to ensure reproducible results) [12]
  -wordNgrams         max length of word ngram [1]
  -saveOutput         whether output params should be saved [false]
  -fast               a faster loss [experimental]
)");
  EXPECT_EQ(help.style, "options");
  const ProgramOption& thread = must_find(help, "thread");
  EXPECT_EQ(thread.default_value, "12");
  EXPECT_EQ(thread.kind, OptionKind::integer);
  EXPECT_THAT(option_words(thread, "2"), ElementsAre("-thread", "2"));
  EXPECT_EQ(must_find(help, "lr").kind, OptionKind::number);
  EXPECT_EQ(must_find(help, "wordngrams").form, OptionForm::separate);
  EXPECT_EQ(must_find(help, "loss").default_value, "softmax");
  EXPECT_EQ(must_find(help, "saveoutput").form, OptionForm::flag);
  EXPECT_EQ(must_find(help, "fast").form, OptionForm::flag);
}

TEST(HelpText, ThreeDescribedOptionsAreAList) {
  EXPECT_TRUE(parse_help("  -a N  first\n  -b N  second\n  -c N  third\n").is_list());
  EXPECT_FALSE(parse_help("  -a N  first\n  -b N  second\n").is_list());
  const HelpText mentioned = parse_help("unknown option --help, known are\n  -a\n  -b\n  -c\n");
  EXPECT_FALSE(mentioned.is_list());
  EXPECT_FALSE(mentioned.understood());
}

TEST(HelpText, OtherTextIsNotUnderstood) {
  EXPECT_FALSE(parse_help("").understood());
  EXPECT_FALSE(parse_help("epoch 1 loss 2.3\n- item\n-- \n").understood());
  EXPECT_FALSE(
      parse_help("Traceback (most recent call last):\n  File \"train.py\"\n").understood());
}

TEST(HelpText, AnyBytesAreHarmless) {
  std::string hostile =
      "usage: x\n\x1b[31m  --batch-size N\x1b[0m  samples \xff\xfe(default: 32)\n";
  const HelpText help = parse_help(hostile);
  EXPECT_EQ(must_find(help, "batch_size").default_value, "32");
  EXPECT_EQ(must_find(help, "batch_size").words.find('\x1b'), std::string::npos);
  // 10 MB, with and without line ends.
  EXPECT_TRUE(parse_help(hostile + std::string(10'000'000, 'x')).understood());
  std::string many = "usage: x\n";
  for (int i = 0; many.size() < 10'000'000; ++i)
    many += "  --option-" + std::to_string(i) + " N  (default: ((((([[[[\n";
  EXPECT_LE(parse_help(many).options.size(), 5000U);
  EXPECT_FALSE(parse_help(std::string(1'000'000, '\x1b')).understood());
  EXPECT_TRUE(parse_help("usage: x\n  --" + std::string(100'000, 'a') + "  text\n").options.size() <
              2);
}

TEST(CommandLine, OptionsAreFoundInEveryForm) {
  ProgramOption workers;
  workers.name = "--workers";
  workers.aliases = {"-j"};
  using Words = std::vector<std::string>;
  EXPECT_EQ(value_on_command_line(Words{"train", "-j", "4"}, workers), "4");
  EXPECT_EQ(value_on_command_line(Words{"train", "--workers=2", "--workers", "3"}, workers), "3");
  EXPECT_EQ(value_on_command_line(Words{"--workers", "x"}, workers), std::nullopt);
  EXPECT_THAT(without_option(Words{"train", "-j", "4", "--lr", "1", "--workers=2"}, workers),
              ElementsAre("train", "--lr", "1"));
  ProgramOption amp;
  amp.name = "--amp";
  amp.negation = "--no-amp";
  amp.form = OptionForm::flag;
  EXPECT_EQ(value_on_command_line(Words{"train", "--no-amp"}, amp), "false");
  EXPECT_THAT(without_option(Words{"train", "--amp", "data"}, amp), ElementsAre("train", "data"));
  EXPECT_THAT(option_words(amp, "false"), ElementsAre("--no-amp"));
}

TEST(CommandLine, ValuesMayBeAttachedToALetter) {
  ProgramOption batch;
  batch.name = "--batch-size";
  batch.aliases = {"-b"};
  using Words = std::vector<std::string>;
  EXPECT_EQ(value_on_command_line(Words{"train", "-b64"}, batch), "64");
  EXPECT_EQ(value_on_command_line(Words{"train", "-batch", "64"}, batch), std::nullopt);
  EXPECT_THAT(without_option(Words{"train", "-b64", "x"}, batch), ElementsAre("train", "x"));
}

TEST(CommandLine, WordsOfALauncherAreNotTheProgramsWords) {
  using Words = std::vector<std::string>;
  ProgramOption number;
  number.name = "-n";
  const auto value = [&number](const Words& argv) { return value_on_command_line(argv, number); };
  EXPECT_EQ(value(Words{"nice", "-n", "10", "python3", "train.py"}), std::nullopt);
  EXPECT_EQ(value(Words{"nice", "-n", "10", "python3", "train.py", "-n", "3"}), "3");
  EXPECT_EQ(value(Words{"mpirun", "-n", "4", "python3", "-m", "pkg.train", "-n", "2"}), "2");
  EXPECT_EQ(value(Words{"mpirun", "-n", "4", "python3", "-m", "pkg.train"}), std::nullopt);
  EXPECT_EQ(value(Words{"srun", "-n", "4", "--", "./train"}), std::nullopt);
  EXPECT_EQ(value(Words{"python3", "train.py", "--", "-n", "3"}), std::nullopt);
  EXPECT_THAT(without_option(Words{"nice", "-n", "10", "python3", "train.py", "-n", "3"}, number),
              ElementsAre("nice", "-n", "10", "python3", "train.py"));
  // A program's own -m runs no module; torchrun's does.
  EXPECT_EQ(value(Words{"train", "-m", "3", "-n", "2"}), "2");
  EXPECT_EQ(program_words(Words{"./trainer", "--batch-size", "64", "--config", "conf.py"}).begin,
            1U);
  EXPECT_EQ(program_words(Words{"./with-gpu", "train.py", "--config", "conf.py"}).begin, 2U);
  EXPECT_EQ(program_words(Words{"python3", "-u", "train.py", "x"}).begin, 3U);
  EXPECT_EQ(program_words(Words{"torchrun", "-n", "2", "-m", "pkg.train"}).begin, 5U);
  EXPECT_EQ(program_words(Words{"python3", "-m", "torch.distributed.run", "train.py", "x"}).begin,
            4U);
}

TEST(HelpText, ReadsDefaultsInUsageLines) {
  const HelpText help = parse_help(
      "error: unknown option --help\n"
      "usage: train [--threads N (8)] [-b|--batch-size N (default: 32)] [--lr X=0.1]\n"
      "             [--verbose] [--order {up,down}] FILE\n");
  EXPECT_TRUE(help.understood());
  EXPECT_TRUE(help.is_list());
  EXPECT_EQ(must_find(help, "threads").default_value, "8");
  EXPECT_EQ(must_find(help, "threads").form, OptionForm::separate);
  EXPECT_EQ(must_find(help, "threads").kind, OptionKind::integer);
  EXPECT_EQ(must_find(help, "batch_size").default_value, "32");
  EXPECT_TRUE(must_find(help, "batch_size").is_called("-b"));
  EXPECT_EQ(must_find(help, "lr").default_value, "0.1");
  EXPECT_EQ(must_find(help, "verbose").form, OptionForm::flag);
  EXPECT_THAT(must_find(help, "order").choices, ElementsAre("up", "down"));
}

TEST(HelpText, UsageLinesWithoutDefaultsAreNoList) {
  EXPECT_FALSE(parse_help("usage: train.py [-h] [--epochs N]\ntrain.py: error: x\n").is_list());
  EXPECT_TRUE(parse_help("Usage: train.py [OPTIONS]\n").options.empty());
}

TEST(CommandLine, OptionsPrecedeTheProgramsSeparator) {
  using Words = std::vector<std::string>;
  EXPECT_THAT(with_options(Words{"uv", "run", "--", "python3", "train.py"}, {"--help"}),
              ElementsAre("uv", "run", "--", "python3", "train.py", "--help"));
  EXPECT_THAT(with_options(Words{"prog", "--", "data"}, {"--help"}),
              ElementsAre("prog", "--help", "--", "data"));
}

TEST(CommandLine, AbbreviationsAreWrittenOut) {
  std::vector<ProgramOption> options(3);
  options[0].name = "--batch-size";
  options[1].name = "--workers";
  options[2].name = "--workers-timeout";
  using Words = std::vector<std::string>;
  EXPECT_THAT(
      with_full_names(Words{"train", "--batch", "8", "--workers", "2", "--work=3"}, options),
      ElementsAre("train", "--batch-size", "8", "--workers", "2", "--work=3"));
  EXPECT_THAT(with_full_names(Words{"train", "--bat=8", "--", "--bat=9"}, options),
              ElementsAre("train", "--batch-size=8", "--", "--bat=9"));
  EXPECT_TRUE(may_be_abbreviated(Words{"train", "--batch", "8"}, options[0]));
  EXPECT_FALSE(may_be_abbreviated(Words{"train", "--batch-size=8"}, options[0]));
}

}  // namespace
}  // namespace steptune
