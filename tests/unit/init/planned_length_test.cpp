// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/planned_length.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "tuner/init/python_source.hpp"

namespace steptune {
namespace {

Survey surveyed(const std::vector<std::string>& loaders, int ranks = 1) {
  Survey survey;
  survey.log.add(R"({"event":"patched","world_size":)" + std::to_string(ranks) + "}");
  for (const std::string& loader : loaders)
    survey.log.add(R"({"event":"loader",)" + loader + "}");
  survey.first.emplace();
  survey.first->step = 10.0;
  survey.first->samples = 640.0;
  survey.last.step = 30.0;
  survey.last.samples = 1920.0;
  return survey;
}

const std::string k_training = R"("id":"a","training":true,"length":938,"batch_size":64)";
const std::string k_evaluation = R"("id":"b","training":false,"length":10,"batch_size":1000)";

ProgramFacts program_of(std::vector<std::string> argv, const std::string& source = "") {
  ProgramFacts program;
  program.argv = std::move(argv);
  program.options = options_of_source(source, "train.py");
  program.loop_bounds = loop_bounds_of(source, "train.py");
  return program;
}

std::string why(const std::vector<std::string>& argv, const std::string& source,
                const Survey& survey) {
  const auto planned = planned_length(program_of(argv, source), survey);
  return planned ? planned->why : "";
}

double planned_samples(const std::string& words, const Survey& survey) {
  std::vector<std::string> argv{"python3", "train.py"};
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    argv.push_back(words.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto planned = planned_length(program_of(argv), survey);
  return planned ? planned->samples : 0.0;
}

TEST(PlannedLength, IsEpochsTimesTheLoadersSamples) {
  const Survey survey = surveyed({k_evaluation, k_training});
  EXPECT_EQ(planned_samples("--epochs 14", survey), 14.0 * 938.0 * 64.0);
  EXPECT_EQ(planned_samples("--num-train-epochs=3 --lr 0.1", survey), 3.0 * 938.0 * 64.0);
  EXPECT_EQ(planned_samples("--num_epochs 2", survey), 2.0 * 938.0 * 64.0);
  EXPECT_EQ(why({"python3", "train.py", "--epochs", "2"}, "", survey),
            "--epochs 2 of 60032 samples");
  EXPECT_EQ(planned_samples("--epochs 1", surveyed({k_training}, 4)), 4.0 * 938.0 * 64.0)
      << "each rank reads a part of the data";
}

TEST(PlannedLength, IsStepsTimesTheirSamples) {
  const Survey survey = surveyed({k_training});
  EXPECT_EQ(planned_samples("--max_iters=600", survey), 600.0 * 64.0);
  EXPECT_EQ(planned_samples("--max-steps 600 --epochs 14", survey), 600.0 * 64.0)
      << "trainers end at the steps where both are given";
}

TEST(PlannedLength, IsFoundInAnySpelling) {
  const Survey survey = surveyed({k_training});
  EXPECT_EQ(planned_samples("--nEpochs 3", survey), 3.0 * 60032.0);
  EXPECT_EQ(planned_samples("lr=1 trainer.max_epochs=3", survey), 3.0 * 60032.0);
  EXPECT_EQ(planned_samples("fit --trainer.max_epochs 3", survey), 3.0 * 60032.0);
  EXPECT_EQ(planned_samples("notrainer_max_epochs=3", survey), 0.0);
}

TEST(PlannedLength, IsTheScriptsDefault) {
  const Survey survey = surveyed({k_training});
  const std::string source =
      "parser.add_argument('-e', '--epochs', type=int, default=14)\n"
      "parser.add_argument('--max-steps', type=int, default=-1)\n";
  EXPECT_EQ(why({"python3", "train.py"}, source, survey),
            "--epochs 14 (train.py) of 60032 samples");
  EXPECT_EQ(why({"python3", "train.py", "-e", "3"}, source, survey), "--epochs 3 of 60032 samples");
  EXPECT_EQ(why({"python3", "train.py", "--epochs", "3"},
                "add_argument('--max-steps', default=100)\n" + source, survey),
            "--epochs 3 of 60032 samples")
      << "the command's own word counts before a default";
  EXPECT_EQ(why({"python3", "train.py"},
                "add_argument('--max-steps', default=9223372036854775807)\n" + source, survey),
            "--epochs 14 (train.py) of 60032 samples")
      << "no run has as many steps";
}

TEST(PlannedLength, IgnoresDefaultsThatTheScriptOverwrites) {
  const Survey survey = surveyed({k_training});
  const std::string source =
      "parser.add_argument('--epochs', type=int, default=90)\n"
      "config = parser.parse_args()\n";
  const std::vector<std::string> alone{"python3", "train.py"};
  EXPECT_EQ(why(alone, source + "if config.epochs == 1: pass\nself.epochs = 2\n", survey),
            "--epochs 90 (train.py) of 60032 samples");
  EXPECT_EQ(why(alone, source + "if config.debug:\n    config.epochs = 1\n", survey), "");
  EXPECT_EQ(why(alone, source + "def main(args):\n    args.epochs //= 2\n", survey), "");
  EXPECT_EQ(why({"python3", "train.py", "--epochs", "3"}, source + "config.epochs += 1\n", survey),
            "--epochs 3 of 60032 samples")
      << "the command's word counts";
}

TEST(PlannedLength, PrintsCountsWithoutAnExponent) {
  Survey survey = surveyed({});
  survey.last.samples = *survey.first->samples + 20.0 * 1'048'576.0;
  EXPECT_EQ(why({"python3", "train.py", "--max-steps", "2000000"}, "", survey),
            "--max-steps 2000000 of 1048576 samples");
}

TEST(PlannedLength, IsReadFromAFileInTheCommand) {
  const Survey survey = surveyed({k_training});
  ProgramFacts program = program_of({"python3", "train.py", "-c", "config.json"},
                                    "add_argument('--epochs', default=1)");
  ProgramOption epochs;
  epochs.name = "trainer.epochs";
  epochs.default_value = "100";
  epochs.default_from = "config.json";
  program.configs.push_back({"config.json", {epochs}, {}});
  EXPECT_EQ(planned_length(program, survey)->why,
            "trainer.epochs 100 (config.json) of 60032 samples");
}

TEST(PlannedLength, IsTheCountOfTheScriptsLoops) {
  const Survey survey = surveyed({k_training});
  const std::string source =
      "max_iters = 5000  # long\nnum_epochs = 7\n"
      "for iter in range(start, max_iters):\n    step()\n";
  EXPECT_EQ(why({"python3", "train.py"}, source, survey),
            "max_iters 5000 (train.py) of 64 samples");
  EXPECT_EQ(why({"python3", "train.py"}, "max_iters = 5000\nfor i in range(10): step()\n", survey),
            "")
      << "a number that no loop counts to may mean anything";
  EXPECT_EQ(
      why({"python3", "train.py"}, "max_iters = read()\nfor i in range(max_iters): pass\n", survey),
      "");
}

TEST(PlannedLength, IgnoresOtherLoops) {
  const Survey survey = surveyed({k_training});
  const auto of_loop = [&survey](const std::string& source) {
    return why({"python3", "train.py"}, source, survey);
  };
  EXPECT_EQ(of_loop("num_epochs = 7\nfor e in tqdm(range(1, num_epochs + 1)):\n  train(e)\n"),
            "num_epochs 7 (train.py) of 60032 samples");
  EXPECT_EQ(of_loop("n_epochs = 7\ndef main():\n  for e in range(at, at + n_epochs):\n"
                    "    for x in data:\n      loss.backward()\nmain()\n"),
            "n_epochs 7 (train.py) of 60032 samples");
  EXPECT_EQ(of_loop("n_steps = 1000\nfor t in reversed(range(n_steps)):\n    x = denoise(x, t)\n"),
            "")
      << "the loop does not train";
  EXPECT_EQ(of_loop("num_steps = 100\nfor epoch in range(10):\n  for s in range(num_steps):\n"
                    "    loss.backward()\n"),
            "")
      << "the loop runs several times";
  EXPECT_EQ(of_loop("num_epochs = 7\n# for e in range(num_epochs):\n#   train(e)\n"), "");
  EXPECT_EQ(of_loop("\"\"\"\nnum_epochs = 9\n\"\"\"\nfor e in range(num_epochs): train(e)\n"), "");
  EXPECT_EQ(of_loop("max_iters = 700\nfor i in range(0, 10000, max_iters):\n  train(i)\n"), "");
  EXPECT_EQ(of_loop("max_iters = 700\nfor i in range(max_iters // 7):\n  train(i)\n"), "");
  EXPECT_EQ(of_loop("num_epochs = 7\nif quick:\n  num_epochs = 1\n"
                    "for e in range(num_epochs):\n  train(e, num_epochs=num_epochs)\n"),
            "")
      << "it is unknown which value applies";
}

TEST(PlannedLength, IsTheLiteralCountOfALoop) {
  const Survey survey = surveyed({k_training});
  const auto of_loop = [&survey](const std::string& source) {
    return why({"python3", "train.py"}, source, survey);
  };
  EXPECT_EQ(of_loop("for _ in range(3):\n  model.train()\n  for x in data:\n    loss.backward()\n"),
            "epochs 3 (range(3) in train.py) of 60032 samples");
  EXPECT_EQ(of_loop("for epoch in range(start, start + 200): train(epoch)\n"),
            "epochs 200 (range(start, start + 200) in train.py) of 60032 samples");
  EXPECT_EQ(of_loop("for epoch in range(1, 15):\n  train(epoch)\n"),
            "epochs 14 (range(1, 15) in train.py) of 60032 samples");
  EXPECT_EQ(of_loop("for i in range(500):\n  loss.backward()\n  opt.step()\n"),
            "steps 500 (range(500) in train.py) of 64 samples");
  EXPECT_EQ(of_loop("def main():\n  EPOCHS = 200\n  for epoch in range(EPOCHS):\n    train()\n"),
            "EPOCHS 200 (train.py) of 60032 samples");
  EXPECT_EQ(of_loop("for epoch in range(3): train()\nfor epoch in range(5): train()\n"), "")
      << "it is unknown which loop trains";
  EXPECT_EQ(of_loop("for _ in range(3):\n  train()\n"), "") << "of epochs or steps";
}

TEST(PlannedLength, IsTheRoundsThatACallBoosts) {
  const ProgramFacts rounds = program_of({"python3", "train.py"},
                                         "model = xgb.train(params, data, num_boost_round=2000)\n");
  ASSERT_TRUE(run_length(rounds).steps);
  EXPECT_EQ(run_length(rounds).steps->option, "num_boost_round");
  EXPECT_EQ(run_length(rounds).steps->number, 2000.0);
  const ProgramFacts named = program_of({"python3", "train.py"},
                                        "ROUNDS = 300\nlgb.train(p, d, num_boost_round=ROUNDS)\n");
  EXPECT_EQ(run_length(named).steps->number, 300.0);
}

TEST(PlannedLength, SaysWhereTwoPlacesDisagree) {
  const std::string declared = "parser.add_argument('--epochs', type=int, default=14)\n";
  ProgramFacts program =
      program_of({"python3", "train.py"}, declared + "for epoch in range(3):\n  train()\n");
  EXPECT_EQ(run_length(program).disagreement,
            "--epochs 14 (train.py) and epochs 3 (range(3) in train.py) disagree: the first is "
            "used");
  program.loop_bounds.clear();
  EXPECT_EQ(run_length(program).disagreement, "");
  program.source_defaults = program.options;
  program.options[0].default_value = "90";
  program.options[0].default_from = "--help";
  EXPECT_EQ(run_length(program).disagreement,
            "--epochs 90 (--help) and --epochs 14 (train.py) disagree: the first is used");
  program.argv.insert(program.argv.end(), {"--epochs", "5"});
  EXPECT_EQ(run_length(program).disagreement, "") << "the command's option decides";
}

TEST(PlannedLength, IgnoresWordsWithAnotherMeaning) {
  const Survey survey = surveyed({k_training});
  EXPECT_EQ(planned_samples("scheduler.max_epochs=3", survey), 0.0);
  EXPECT_EQ(planned_samples("--scheduler.max_epochs 3", survey), 0.0);
  EXPECT_EQ(planned_samples("diffusion.num_steps=1000", survey), 0.0);
  EXPECT_EQ(planned_samples("+train.num_steps=10", survey), 640.0);
  EXPECT_EQ(why({"python3", "train.py"},
                "# parser.add_argument('--epochs', type=int, default=90)\n"
                "parser.add_argument('--epochs', type=int, default=14)\n",
                survey),
            "--epochs 14 (train.py) of 60032 samples");
  EXPECT_EQ(why({"python3", "train.py"},
                "parser.add_argument('--epochs', type=int, default=40)\n"
                "parser.add_argument('--num_steps', type=int, default=35, help='of a sequence')\n",
                survey),
            "")
      << "it is unknown which of two defaults ends the run";
}

TEST(PlannedLength, TheLastBatchOfAPassMayBeSmaller) {
  const Survey survey =
      surveyed({R"("id":"a","training":true,"length":2,"batch_size":64,"samples":70)"});
  EXPECT_EQ(why({"python3", "train.py", "--epochs", "2"}, "", survey), "--epochs 2 of 70 samples");
}

TEST(PlannedLength, IsNotGuessed) {
  EXPECT_EQ(planned_samples("--lr 0.1", surveyed({k_training})), 0.0);
  EXPECT_EQ(planned_samples("--epochs 14", surveyed({})), 0.0);
  EXPECT_EQ(planned_samples("--epochs many", surveyed({k_training})), 0.0);
  EXPECT_EQ(planned_samples("--epochs -1", surveyed({k_training})), 0.0);
  const std::string other = R"("id":"c","training":true,"length":5,"batch_size":8)";
  EXPECT_EQ(planned_samples("--epochs 14", surveyed({k_training, other})), 0.0)
      << "it is unknown to which loader the epoch belongs";
  EXPECT_EQ(planned_samples("--epochs 14",
                            surveyed({R"("id":"a","training":true,"length":null,"batch_size":8)"})),
            0.0)
      << "an iterable data set has no length";
}

TEST(PlannedLength, IgnoresOtherPrograms) {
  const TemporaryFolder folder("length");
  const std::string source = "parser.add_argument('--epochs', type=int, default=90)\n";
  folder.write("train.py", source);
  folder.write("model.py", "epochs = 5\n\nclass Net(Module):\n    depth = 3\n");
  folder.write("prepare.py", "epochs = 5\nfor epoch in range(epochs):\n    write(epoch)\n");
  folder.write("evaluate.py", "epochs = 5\nif __name__ == '__main__':\n    main()\n");
  for (const char* name : {"model.py", "prepare.py", "evaluate.py"}) {
    ProgramFacts program = program_of({"python3", "train.py", "--code", name}, source);
    program.configs = configs_of(program.argv, folder.path());
    const auto planned = planned_length(program, surveyed({k_training}));
    EXPECT_EQ(planned ? planned->why : "", "--epochs 90 (train.py) of 60032 samples") << name;
  }
}

TEST(PlannedLength, IsWhatTheProgramGivesToItsFramework) {
  Survey survey = surveyed({k_training});
  survey.log.add(R"({"event":"program","epochs":20})");
  const auto planned = planned_length(program_of({"python3", "train.py", "--epochs", "3"}), survey);
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->samples, 20.0 * 938.0 * 64.0);
  EXPECT_EQ(planned->epoch_samples, 938.0 * 64.0);
  EXPECT_EQ(planned->why, "fit(epochs=20) of 60032 samples");
  survey.log.add(R"({"event":"program"})");  // a second training has begun
  EXPECT_EQ(why({"python3", "train.py", "--epochs", "3"}, "", survey),
            "--epochs 3 of 60032 samples");
  Survey without_data = surveyed({});
  without_data.log.add(R"({"event":"program","epochs":20})");
  EXPECT_FALSE(planned_length(program_of({"python3", "train.py"}), without_data));
}

/// Like nanoGPT's `train.py config/train_shakespeare_char.py`.
TEST(PlannedLength, IsReadFromAPythonFileInTheCommand) {
  const TemporaryFolder folder("length");
  folder.write("train.py", "max_iters = 600000\nexec(open('configurator.py').read())\n");
  folder.write("config/small.py", "# max_iters = 1\nmax_iters = 9 # at first\nmax_iters = 50\n");
  ProgramFacts program = program_of({"python3", "train.py", "config/small.py"},
                                    "max_iters = 600000\nexec(open('configurator.py').read())\n");
  program.configs = configs_of(program.argv, folder.path());
  const Survey survey = surveyed({});
  EXPECT_EQ(planned_length(program, survey)->why, "max_iters 50 (config/small.py) of 64 samples");
  program.argv.emplace_back("--max_iters=20");
  EXPECT_EQ(planned_length(program, survey)->why, "--max_iters 20 of 64 samples");
  program.argv = {"python3", "train.py"};
  EXPECT_TRUE(configs_of(program.argv, folder.path()).empty()) << "the program is no configuration";
}

}  // namespace
}  // namespace steptune
