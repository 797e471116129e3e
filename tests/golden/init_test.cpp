// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_init_python = "/usr/bin/python3";

/// A typical trainer, which counts its runs without --help.
const char* const k_argparse = R"(import argparse, time
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--num-samples", type=int, default=1000)
parser.add_argument("-b", "--batch-size", type=int, default=32, help="samples of a step")
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--amp", action="store_true", help="mixed precision")
args = parser.parse_args()
open("runs", "a").write("x")
for step in range(1, 100000):
    time.sleep(0.02)
    print(f"step={step} samples={step * args.batch_size} loss={3 / step:.3f}", flush=True)
)";

/// A trainer in nanoGPT's style: settings are assignments, and `--help` is refused.
const char* const k_configurator = R"(import sys, time
batch_size = 12
block_size = 64
n_layer = 2
n_head = 2
n_embd = 16
gradient_accumulation_steps = 2 * 2
max_iters = 100000
dtype = 'float32'
compile = False
exec(open('configurator.py').read())
for iter_num in range(max_iters):
    time.sleep(0.02)
    print(f"iter {iter_num}: loss {4 / (iter_num + 1):.4f}, time 20.00ms, mfu 1.00%", flush=True)
)";
const char* const k_configurator_file = R"(import sys
for arg in sys.argv[1:]:
    assert arg.startswith('--') and '=' in arg, arg
    key, value = arg[2:].split('=')
    globals()[key] = type(globals()[key])(eval(value) if value[:1].isdigit() or value in ('True', 'False') else value)
)";

Json must_init(const Sandbox& sandbox, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"init", "--json"});
  const Ended ended = sandbox.steptune(arguments);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const auto json = parse_json(ended.out, "init");
  EXPECT_TRUE(json) << ended.out;
  return json ? *json : Json();
}

TEST(Init, RunTunesTheOptionsOfACommandWithoutPyTorch) {
  const Sandbox sandbox;
  sandbox.write("train.py", k_argparse);
  const std::vector<std::string> command{"--", k_init_python, "-I", "train.py", "--epochs", "5"};
  auto with = [&command](std::vector<std::string> words) {
    words.insert(words.end(), command.begin(), command.end());
    return words;
  };
  const Ended checked = sandbox.steptune(with({"check"}));
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_THAT(checked.err, HasSubstr("looking at the program's own options and files"));
  EXPECT_THAT(checked.err, Not(HasSubstr("batch_size 8..256"))) << "another training program";
  EXPECT_THAT(checked.err, HasSubstr("changes the training itself; vary it with --semantic"));
  EXPECT_THAT(checked.out, HasSubstr("baseline   "));
  // The second call recognises it.
  const Ended again = sandbox.steptune(with({"check"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("continues with train.study.json"));
  const Ended other =
      sandbox.steptune({"check", "--", k_init_python, "-I", "train.py", "--epochs", "6"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("is the study of another command"));
  const Ended semantic = sandbox.steptune(with({"check", "--semantic", "--name", "other"}));
  EXPECT_EQ(semantic.exit_code, 0) << semantic.err;
  EXPECT_THAT(semantic.err, HasSubstr("batch_size 8..256"));
  // Other options of the call do not make it another study.
  const Ended same = sandbox.steptune(with({"check", "--semantic", "--name", "other"}));
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, HasSubstr("continues with other.study.json"));
  const Ended more =
      sandbox.steptune(with({"check", "--semantic", "--samples", "9", "--name", "other"}));
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_THAT(more.err, HasSubstr("was written before, with other options"));
  const Ended unnamed = sandbox.steptune(with({"check", "--name", "a/b"}));
  EXPECT_EQ(unnamed.exit_code, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("\"a/b\" is not a study name"));
  EXPECT_THAT(unnamed.err, Not(HasSubstr("asks the program"))) << "before anything is run";
  // Knobs that only the hook can set are mentioned.
  const Ended safe =
      sandbox.steptune({"check", "--safe", "--name", "b", "--", k_init_python, "-I", "train.py"});
  EXPECT_EQ(safe.exit_code, 2);
  EXPECT_THAT(safe.err, Not(HasSubstr("its own options")));
}

TEST(Init, RunRefusesAProgramWithoutProgressInTheTuningTime) {
  const Sandbox sandbox;
  std::string slow = k_argparse;
  slow.insert(slow.find("for step"), "time.sleep(1000)\n");
  sandbox.write("train.py", slow);
  const Ended ended =
      sandbox.steptune({"run", "--time", "8s", "--", k_init_python, "-I", "train.py"});
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_THAT(
      ended.err,
      HasSubstr("its own options cannot be tuned, either: the program printed nothing within"));
  EXPECT_THAT(ended.err, HasSubstr("let the program report its steps"));
  EXPECT_FALSE(fs::exists(sandbox.folder() / "train.study.json"));
}

TEST(Init, RunOfACommandLooksAtAProgramWithoutPyTorchOnce) {
  const Sandbox sandbox;
  sandbox.write("train.py", k_argparse);
  const Ended ended = sandbox.steptune({"check", "--", k_init_python, "train.py"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("looking at the program's own options and files"));
  EXPECT_EQ(sandbox.read("runs"), "x");
}

TEST(Init, AProgramThatTrainsInSpiteOfHelpIsNotRunAgain) {
  const Sandbox sandbox;
  std::string text = k_argparse;
  text.replace(text.find("ArgumentParser()"), 16, "ArgumentParser(add_help=False)");
  text.replace(text.find("parse_args()"), 12, "parse_known_args()[0]");
  sandbox.write("train.py", text);
  const Json json = must_init(sandbox, {"--", k_init_python, "train.py"});
  EXPECT_THAT(json["help_fault"].get<std::string>(), HasSubstr("it began to train"));
  EXPECT_EQ(json["study"]["reports"], "key=value");
  EXPECT_EQ(sandbox.read("runs"), "x");
}

TEST(Init, AProgramThatNeedsATerminalIsGivenOne) {
  const Sandbox sandbox;
  sandbox.write("train.py", std::string("import os\nos.get_terminal_size()\n") + k_argparse);
  const Ended ended = sandbox.steptune({"init", "--", k_init_python, "train.py"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the program needs a terminal: runs it again with one"));
  EXPECT_THAT(sandbox.read("train.study.json"), HasSubstr("\"terminal\": true"));
  EXPECT_EQ(sandbox.read("runs"), "x") << "only the call with --help failed";
  const Ended checked =
      sandbox.steptune({"check", "--name", "other", "--", k_init_python, "train.py"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_THAT(sandbox.read("other.study.json"), HasSubstr("\"terminal\": true"));
}

TEST(Init, AProgramThatAsksGetsItsAnswersFromAFile) {
  const Sandbox sandbox;
  sandbox.write("train.py", std::string("assert input('go on? ') == 'yes'\n") + k_argparse);
  sandbox.write("answers", "yes\n");
  const Ended asked = sandbox.steptune({"check", "--", k_init_python, "train.py"});
  EXPECT_EQ(asked.exit_code, 2);
  EXPECT_THAT(asked.err, HasSubstr("it reads standard input: --stdin FILE"));
  const Ended missing =
      sandbox.steptune({"check", "--stdin", "nowhere", "--", k_init_python, "train.py"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("nowhere: cannot be read"));
  const Ended ended =
      sandbox.steptune({"check", "--stdin", "answers", "--", k_init_python, "train.py"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(sandbox.read("train.study.json"), HasSubstr("\"stdin\": \"answers\""));
  const Json json = must_init(sandbox, {"--stdin", "answers", "--output", "elsewhere/study.json",
                                        "--", k_init_python, "train.py"});
  EXPECT_EQ(json["study"]["stdin"], "../answers");
}

TEST(Init, WritesAStudyThatCheckAcceptsAndRunRuns) {
  const Sandbox sandbox;
  sandbox.write("train.py", k_argparse);
  const Ended ended = sandbox.steptune({"init", "--", k_init_python, "train.py", "--epochs", "5"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(difference(R"(found   5 options (argparse help)
varies  batch_size 8..256, today 32 (train.py)
        workers 0..{{\d+}}, today 0 (train.py)
        amp false|true, today false (train.py)
note    planned run of 5000 samples: --epochs 5 (the command) of --num-samples 1000
        output read by preset key=value, seen in its output
wrote   train.study.json
next    steptune check train.study.json
)",
                       ended.out),
            "");
  EXPECT_THAT(sandbox.read("train.study.json"),
              HasSubstr("// --batch-size; 32 is from train.py\n"));
  // The call with --help does not count as a run. `init` then runs the program once.
  EXPECT_EQ(sandbox.read("runs"), "x");
  const Ended check = sandbox.steptune({"check"});
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("guard      loss at most 1.02 x the baseline's"));
  // Some builds lack the module of the default searcher.
  std::string study = sandbox.read("train.study.json");
  study.insert(study.find("\"first_guesses\""), R"("searcher": "sobol", )");
  sandbox.write("train.study.json", study);
  const Ended run = sandbox.steptune({"run", "--trials", "2", "--time", "20s", "--quiet"});
  EXPECT_THAT(run.out, HasSubstr("\nnext    ")) << run.err;
}

TEST(Init, TrialsOfAFileElsewhereRunWhereTheCommandWasTyped) {
  const Sandbox sandbox;
  sandbox.write("train.py", k_argparse);
  const Ended ended = sandbox.steptune({"init", "--output", "studies/nightly/train.json", "--",
                                        k_init_python, "train.py", "--epochs", "5"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const auto study = parse_json(sandbox.read("studies/nightly/train.json"), "study");
  ASSERT_TRUE(study);
  EXPECT_EQ((*study)["working_directory"], "../..");
  const Ended check = sandbox.steptune({"check", "studies/nightly/train.json", "--json"});
  EXPECT_EQ(check.exit_code, 0) << check.err;
}

TEST(Init, AFolderThatCannotBeCreatedIsReportedBeforeAnythingRuns) {
  const Sandbox sandbox;
  sandbox.write("train.py", k_argparse);
  for (const char* command : {"init", "run"}) {
    const Ended ended =
        sandbox.steptune({command, "--db", "train.py/history.db", "--", k_init_python, "train.py"});
    EXPECT_EQ(ended.exit_code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("cannot create the folder: Not a directory"));
    EXPECT_THAT(ended.err, HasSubstr("with --db"));
  }
  const Ended elsewhere = sandbox.steptune(
      {"init", "--output", "train.py/study.json", "--", k_init_python, "train.py"});
  EXPECT_EQ(elsewhere.exit_code, 1);
  EXPECT_EQ(elsewhere.err,
            "steptune: error: train.py/study.json: cannot be written: Not a directory\n");
  const Ended unnamed = sandbox.steptune(
      {"init", "--no-run", "--output", std::string(300, 'x'), "--", k_init_python, "train.py"});
  EXPECT_THAT(unnamed.err, HasSubstr("cannot be written: File name too long"));
  EXPECT_EQ(sandbox.read("runs"), "");
}

/// A trainer without options that computes with OpenMP. Its output through a pipe is buffered.
const char* const k_openmp_trainer = R"(#!/usr/bin/python3
import ctypes, os, sys, time
ctypes.CDLL("libgomp.so.1")
text = b""
for step in range(1, 1000000):
    text += b"step %d: train loss %f\n" % (step, 3.0 / step)
    if len(text) >= 4096:
        os.write(1, text[:4096])
        text = text[4096:]
        time.sleep(0.1)
)";

TEST(Init, VariesOpenMpVariables) {
  const Sandbox sandbox;
  sandbox.write("trainer", k_openmp_trainer);
  fs::permissions(sandbox.folder() / "trainer", fs::perms::owner_all);
  const Json done = must_init(sandbox, {"--", "./trainer"});
  std::map<std::string, std::string> today;
  for (const Json& knob : done["varied"])
    today[knob["parameter"].get<std::string>()] = knob["today"].dump();
  EXPECT_THAT(today, testing::SizeIs(3)) << done.dump();
  EXPECT_TRUE(today.contains("threads"));
  const std::string study = sandbox.read("trainer.study.json");
  EXPECT_THAT(study, HasSubstr(R"("OMP_NUM_THREADS":"{threads}")"));
  EXPECT_THAT(study, HasSubstr("output comes in blocks of 4 KiB"));
  EXPECT_EQ(sandbox.steptune({"check"}).exit_code, 0);
  // Only this variable reaches the program.
  const Json own =
      must_init(sandbox, {"--name", "own", "--", "env", "OMP_NUM_THREADS=1", "./trainer"});
  EXPECT_THAT(own.dump(), HasSubstr("OMP_NUM_THREADS: the command sets it itself"));
  EXPECT_THAT(sandbox.read("own.study.json"), Not(HasSubstr("{threads}")));
}

/// A trainer that ends while `init` still watches it. Only the library's name matters.
const char* const k_short_openblas_trainer = R"(#!/usr/bin/python3
import mmap, time
with open("libopenblas.so.0", "w+b") as file:
    file.write(bytes(4096))
    file.flush()
    library = mmap.mmap(file.fileno(), 4096)
for step in range(1, 40):
    print("step %d: train loss %f" % (step, 3.0 / step), flush=True)
    time.sleep(0.05)
)";

TEST(Init, KnowsTheLibrariesOfAProgramThatEnded) {
  const Sandbox sandbox;
  sandbox.write("trainer", k_short_openblas_trainer);
  fs::permissions(sandbox.folder() / "trainer", fs::perms::owner_all);
  static_cast<void>(must_init(sandbox, {"--", "./trainer"}));
  EXPECT_THAT(sandbox.read("trainer.study.json"),
              HasSubstr(R"("OPENBLAS_NUM_THREADS":"{threads}")"));
}

TEST(Init, ReportsOutputWithoutProgress) {
  const Sandbox sandbox;
  sandbox.write("train.py",
                "import argparse\nparser = argparse.ArgumentParser()\n"
                "parser.add_argument('--batch-size', type=int, default=32)\nparser.parse_args()\n"
                "for word in ('one', 'two', 'three'):\n    print(word, 'is done', flush=True)\n");
  const Ended ended = sandbox.steptune({"init", "--", k_init_python, "train.py"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("the program ended without printing progress"));
  EXPECT_THAT(ended.err, HasSubstr("train/init.log"));
  const Ended unseen = sandbox.steptune({"init", "--no-run", "--", k_init_python, "train.py"});
  EXPECT_EQ(unseen.exit_code, 2);
  EXPECT_THAT(unseen.err, Not(HasSubstr("without printing progress")));
}

TEST(Init, ReportsAFailureFirst) {
  const Sandbox sandbox;
  sandbox.write("train.py",
                "import argparse\nparser = argparse.ArgumentParser()\n"
                "parser.add_argument('--batch-size', type=int, default=32)\nparser.parse_args()\n"
                "open('data/ratings.csv')\n");
  const Ended ended = sandbox.steptune({"init", "--", k_init_python, "train.py"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err,
              HasSubstr("the program failed before it reported progress: exit status 1"));
  EXPECT_THAT(ended.err, HasSubstr("No such file or directory: 'data/ratings.csv'"));
  EXPECT_THAT(ended.err, HasSubstr("train/init.log"));
  EXPECT_THAT(ended.err, Not(HasSubstr("\"reports\"")));
}

TEST(Init, NeverWritesOverAFileUnasked) {
  const Sandbox sandbox;
  sandbox.write("train.py", k_argparse);
  sandbox.write("train.study.json", "mine");
  const std::vector<std::string> command = {"--no-run", "--", k_init_python, "train.py"};
  std::vector<std::string> plain = {"init"};
  plain.insert(plain.end(), command.begin(), command.end());
  const Ended refused = sandbox.steptune(plain);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("train.study.json: already exists"));
  EXPECT_EQ(sandbox.read("train.study.json"), "mine");
  std::vector<std::string> forced = {"init", "--force"};
  forced.insert(forced.end(), command.begin(), command.end());
  EXPECT_EQ(sandbox.steptune(forced).exit_code, 0);
  EXPECT_NE(sandbox.read("train.study.json"), "mine");
  EXPECT_FALSE(fs::exists(sandbox.folder() / "runs"));
}

TEST(Init, ReadsTheConfigurationThatTheCommandNames) {
  const Sandbox sandbox;
  std::string script = k_argparse;
  script.insert(script.find("args ="), "parser.add_argument('--config')\n");
  sandbox.write("train.py", script);
  sandbox.write("base.yaml", "data:\n  workers: 3\neval:\n  workers: 7\n");
  const Json json =
      must_init(sandbox, {"--no-run", "--", k_init_python, "train.py", "--config", "base.yaml"});
  EXPECT_EQ(json["study"]["baseline"]["workers"], 3);
  EXPECT_EQ(json["varied"][0]["from"], "base.yaml");
  // No output was read, so there is no loss for a guard on the batch size.
  EXPECT_FALSE(json["study"]["parameters"].contains("batch_size"));
}

TEST(Init, KnowsATrainerThatRefusesHelp) {
  const Sandbox sandbox;
  sandbox.write("train.py", k_configurator);
  sandbox.write("configurator.py", k_configurator_file);
  const Json json = must_init(sandbox, {"--", k_init_python, "train.py"});
  EXPECT_THAT(json["found"].get<std::string>(), HasSubstr("nanoGPT"));
  EXPECT_THAT(json["help_fault"].get<std::string>(), HasSubstr("it failed"));
  EXPECT_EQ(
      json["study"]["baseline"],
      Json({{"batch_size", 12}, {"accumulation", 4}, {"dtype", "float32"}, {"compile", false}}));
  EXPECT_EQ(json["study"]["constraints"], Json::array({"batch_size * accumulation == 48"}));
  EXPECT_EQ(json["study"]["planned_run"]["samples"], 4800000);
  EXPECT_THAT(sandbox.read("train.study.json"), HasSubstr("--compile=True"));
  EXPECT_EQ(sandbox.steptune({"check"}).exit_code, 0);
}

TEST(Init, EndsAProgramWithoutHelpAndAllItsProcesses) {
  const Sandbox sandbox;
  sandbox.write("train.sh", "sleep 300 & echo $! >child; while :; do echo x; done\n");
  const Ended ended = sandbox.steptune({"init", "--no-run", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("it printed more than 1 MiB, and was ended"));
  EXPECT_FALSE(fs::exists(sandbox.folder() / "train.study.json"));
  const std::string child = sandbox.read("child");
  EXPECT_FALSE(fs::exists("/proc/" + child.substr(0, child.find('\n'))));
}

TEST(Init, DoesNotAskATrainerForHelpThatWouldTrain) {
  const Sandbox sandbox;
  sandbox.write("lightgbm", "#!/bin/sh\necho \"$@\" >>asked\n");
  fs::permissions(sandbox.folder() / "lightgbm", fs::perms::owner_all);
  const Json json =
      must_init(sandbox, {"--no-run", "--", "./lightgbm", "config=train.conf", "num_threads=1"});
  EXPECT_FALSE(fs::exists(sandbox.folder() / "asked"));
  EXPECT_EQ(json["study"]["baseline"]["threads"], 1);
  EXPECT_EQ(json["study"]["command"][2], "num_threads={threads}");
}

TEST(Init, HostileHelpIsHarmless) {
  const Sandbox sandbox;
  sandbox.write(
      "train.py",
      "import sys\nsys.stdout.buffer.write(b'usage: x\\n\\x1b]0;title\\x07\\x1b[31m'\n"
      "  b'  --batch-size N  \\xff (default: 32) {cpus}\\n  --workers N  \"*/ (default: 2)\\n'\n"
      "  b'  --{x} N (default: 1)\\n')\n");
  const Ended ended = sandbox.steptune({"init", "--no-run", "--", k_init_python, "train.py"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out + sandbox.read("train.study.json"), Not(HasSubstr("\x1b")));
  EXPECT_EQ(sandbox.steptune({"check"}).exit_code, 0);
}

TEST(Init, AMissingCommandOrStudyFileIsReported) {
  const Sandbox sandbox;
  EXPECT_THAT(sandbox.steptune({"init"}).err, HasSubstr("no command is given"));
  EXPECT_THAT(sandbox.steptune({"check"}).err, HasSubstr("this folder has none"));
  sandbox.write("a.study.json", "{}");
  sandbox.write("study.json", "{}");
  EXPECT_THAT(sandbox.steptune({"check"}).err, HasSubstr("several: a.study.json, study.json"));
  EXPECT_THAT(sandbox.steptune({"init", "train.py"}).err, HasSubstr("write a command after --"));
}

}  // namespace
}  // namespace steptune::golden
