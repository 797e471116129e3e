// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_python = "/usr/bin/python3";

/// A small user's program: it knows nothing of Steptune, its data takes time, and it does not end
/// by itself. Prints its arguments and the data loader's final settings.
const char* const k_train = R"(import sys
import torch
from torch import nn

class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        x = torch.full((16,), float(i % 7))
        for _ in range(40):
            x = x * 0.999
        return x, i % 3

torch.manual_seed(1)
loader = torch.utils.data.DataLoader(Numbers(), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 10 ** 6
for epoch in range(epochs):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
print("threads", torch.get_num_threads(), "loss %.6f" % loss.item())
sys.exit(7)
)";

/// Tunes real programs with PyTorch, which takes seconds each.
class HookedProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_pytorch()) GTEST_SKIP() << "no PyTorch in " << k_python;
    sandbox_.write("train.py", k_train);
  }
  const Sandbox sandbox_;
};

std::string study(const std::string& hooks, const std::string& parameters,
                  const std::string& baseline, const std::string& more = "") {
  return fmt::format(
      R"({{"name": "hooked", "command": ["{}", "train.py"], "hooks": {{"python": {{{}}}}},
          "parameters": {{{}}}, "baseline": {{{}}}, "search": {{"searcher": "grid", "scheduler": "none", "worth": 0}},
          "budget": {{"trials": 2}},
          "measure": {{"max_trial": "20s", "min_window": "0.3s", "target_half_width": 0.3,
                       "confirm_pairs": 0}}{}}})",
      k_python, hooks, parameters, baseline, more);
}

Json trial_of(const Sandbox& sandbox, const std::string& number) {
  const Ended ended = sandbox.steptune({"show", number, "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return (*parse_json(ended.out, "show"))["trial"];
}

TEST_F(HookedProgram, IsMeasuredWithoutReportingAnythingItself) {
  sandbox_.write("study.json",
                 study(R"("num_threads": "{threads}")",
                       R"("threads": {"type": "int", "low": 1, "high": 2})", R"("threads": 1)"));
  const Setting one_thread{.environment = {{"OMP_NUM_THREADS", "1"}}};
  const Ended ended = sandbox_.steptune({"run", "study.json", "--quiet"}, one_thread);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const Json baseline = trial_of(sandbox_, "1");
  EXPECT_EQ(baseline["status"], "completed") << baseline.dump();
  EXPECT_GT(baseline["measurement"]["metrics"]["loss"].get<double>(), 0.0);
  EXPECT_GT(baseline["measurement"]["parts_s_per_sample"]["data"].get<double>(), 0.0);

  // The hook reports the loaded modules, so the tuner asks no interpreter.
  const Json exported =
      *parse_json(sandbox_.steptune({"export", "hooked", "-", "--format", "json"}).out, "export");
  EXPECT_TRUE(exported["sessions"][0]["machine"].contains("torch")) << exported["sessions"].dump();
  EXPECT_THAT(sandbox_.steptune({"report", "--html", "-"}).out,
              HasSubstr("<th scope=\"row\">torch</th>"));
}

TEST_F(HookedProgram, TunedOptionsNeedNoChangedLines) {
  Json json =
      *parse_json(study("", R"("epochs": {"type": "ordinal", "choices": [1000001, 1000000]})",
                        R"("epochs": 1000000)"),
                  "study");
  json["command"].push_back("{epochs}");
  sandbox_.write("study.json", json.dump());
  const Ended ended = sandbox_.steptune({"run", "study.json", "--quiet"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("\nnext    "));
  const Ended edits = sandbox_.steptune({"best", "hooked", "--format", "python"});
  EXPECT_EQ(edits.exit_code, 1) << edits.out;
  EXPECT_THAT(edits.err, HasSubstr("its settings are options of the command"));

  // With knobs and options, the output names both kinds of settings.
  json["name"] = "both";
  json["hooks"]["python"]["num_threads"] = 1;
  sandbox_.write("both.json", json.dump());
  ASSERT_EQ(sandbox_.steptune({"run", "both.json", "--quiet"}).exit_code, 0);
  const bool is_baseline =
      sandbox_.steptune({"best", "both", "--format", "args"}).out.ends_with(" 1000000\n");
  const Ended both = sandbox_.steptune({"best", "both", "--format", "python"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(both.err.find("the command is another one") == std::string::npos, is_baseline)
      << both.out << both.err;
}

TEST_F(HookedProgram, ABaselineThatTheProgramDoesNotUseIsRefused) {
  sandbox_.write("study.json",
                 study(R"("num_workers": "{workers}")",
                       R"("workers": {"type": "int", "low": 0, "high": 2})", R"("workers": 2)"));
  const Ended ended = sandbox_.steptune({"run", "study.json"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("num_workers=2 could not be set, it is 0"));
}

TEST_F(HookedProgram, AKnobThatCannotBeSetMakesATrialInfeasible) {
  std::string program = k_train;
  program.replace(program.find("SGD"), 3, "RMSprop");  // no version of PyTorch can fuse it
  sandbox_.write("train.py", program);
  sandbox_.write("study.json",
                 study(R"("optimizer_implementation": "{step}")",
                       R"("step": {"type": "categorical", "choices": ["loop", "fused"]})",
                       R"("step": "loop")"));
  const Ended ended = sandbox_.steptune({"run", "study.json", "--quiet"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const Json trial = trial_of(sandbox_, "2");
  EXPECT_EQ(trial["status"], "infeasible") << trial.dump();
  EXPECT_THAT(trial["failure"].get<std::string>(),
              HasSubstr("optimizer_implementation=fused could not be set"));
}

TEST_F(HookedProgram, NoSurveyRunsIfTheHistoryCannotBeWritten) {
  sandbox_.write("train.py", "open('looked', 'w').close()\nimport torch\n");
  const auto run = [&](const std::string& script) {
    const Ended ended = sandbox_.program(
        {"/bin/sh", "-c", fmt::format(fmt::runtime(script), steptune_program(), k_python)});
    EXPECT_EQ(ended.exit_code, 4) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "looked")) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "train.study.json"));
    return ended.err;
  };
  EXPECT_THAT(run("exec '{}' run --db train.py/history.db -- {} train.py"),
              HasSubstr("cannot create the folder: Not a directory"));
  EXPECT_THAT(run("mkdir .steptune; touch .steptune/history.db; "
                  "exec flock .steptune/history.db.lock '{}' run -- {} train.py"),
              HasSubstr("another steptune is writing to this history"));
}

TEST_F(HookedProgram, AFailureDuringTheSurveyIsReported) {
  const Ended surveyed = sandbox_.steptune({"check", "--", k_python, "train.py", "1"});
  EXPECT_EQ(surveyed.exit_code, 0) << surveyed.err;
  EXPECT_THAT(surveyed.err, HasSubstr("note    the program failed after 50 steps"));
  EXPECT_THAT(surveyed.err, HasSubstr("exit status 7"));
}

TEST_F(HookedProgram, AnEndDuringTheSurveyIsReported) {
  std::string program = k_train;
  const std::string word = "int(sys.argv[1]) if len(sys.argv) > 1 else 10 ** 6";
  program.replace(program.find(word), word.size(), "parser.parse_args().epochs");
  const std::string arguments =
      "import argparse\nparser = argparse.ArgumentParser()\n"
      "parser.add_argument(\"--epochs\", type=int, default=2)\n";
  program.erase(program.find("sys.exit(7)"));
  sandbox_.write("train.py", arguments + program);
  const Ended ended = sandbox_.steptune({"check", "--", k_python, "train.py"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("note    the program ended by itself after 100 steps: "));
  EXPECT_THAT(ended.err, HasSubstr("plan    800 samples: --epochs 2 (train.py) of 400 samples"));
}

TEST_F(HookedProgram, AnErrorSaysThatPyTorchIsMissing) {
  sandbox_.write("train.py", "print('no training here')\n");
  sandbox_.write("study.json",
                 study("", R"("x": {"type": "bool"})", R"("x": true)", R"(, "env": {"X": "{x}"})"));
  const Ended ended = sandbox_.steptune({"run", "study.json"});
  EXPECT_THAT(ended.err, HasSubstr("the program did not import PyTorch"));
  EXPECT_THAT(ended.err, HasSubstr("continues from a checkpoint may have nothing left to train"));
  const Ended surveyed = sandbox_.steptune({"run", "--", k_python, "train.py"});
  EXPECT_EQ(surveyed.exit_code, 2);
  EXPECT_THAT(surveyed.err, HasSubstr("the program did not import PyTorch"));
  EXPECT_THAT(surveyed.err, HasSubstr("docs/tutorial.md"));
  sandbox_.write("train.py", "import torch\nprint('no training here')\n");
  const Ended untrained = sandbox_.steptune({"run", "--", k_python, "train.py"});
  EXPECT_EQ(untrained.exit_code, 2);
  EXPECT_THAT(untrained.err, HasSubstr("neither an optimizer's step nor a backward was seen"));
  EXPECT_THAT(untrained.err,
              HasSubstr("continues from a checkpoint may have nothing left to train"));
  const Ended isolated = sandbox_.steptune({"run", "--", k_python, "-I", "train.py"});
  EXPECT_EQ(isolated.exit_code, 2);
  EXPECT_THAT(isolated.err, HasSubstr("\"python3 -I\" keeps PYTHONPATH away from Python"));
  const Ended failed = sandbox_.steptune({"run", "--", k_python, "missing.py"});
  EXPECT_EQ(failed.exit_code, 2);
  EXPECT_THAT(failed.err, HasSubstr("the program failed before it had trained"));
  const Ended shell = sandbox_.steptune({"run", "--", "/bin/echo", "hello"});
  EXPECT_EQ(shell.exit_code, 2);
  EXPECT_THAT(shell.err, HasSubstr("the hook did not reach the program"));
}

TEST_F(HookedProgram, OutputThatALauncherSwallowsIsReported) {
  sandbox_.write("launch.py",
                 "import subprocess, sys\n"
                 "subprocess.run([sys.executable, 'train.py', '4'], stdout=subprocess.PIPE)\n");
  std::string text =
      study("", R"("x": {"type": "bool"})", R"("x": true)", R"(, "env": {"X": "{x}"})");
  text.replace(text.find("train.py"), 8, "launch.py");
  sandbox_.write("study.json", text);
  const Ended ended = sandbox_.steptune({"run", "study.json"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("the program trains, but the hook's output does not arrive"));
  sandbox_.write("study.json", text.insert(text.rfind('}'), R"(, "limits": {"idle": "15s"})"));
  sandbox_.write("train.py",
                 "import time\nimport torch\n"
                 "torch.ones(1, requires_grad=True).sum().backward()\ntime.sleep(60)\n");
  const Ended hung = sandbox_.steptune({"run", "study.json", "--new", "--yes"});
  EXPECT_NE(hung.exit_code, 0);
  EXPECT_THAT(hung.err, HasSubstr("the idle limit of 15.0 s; the program trains, but"));
  sandbox_.write("train.py", k_train);
  const Ended surveyed = sandbox_.steptune({"run", "--", k_python, "launch.py"});
  EXPECT_EQ(surveyed.exit_code, 2);
  EXPECT_THAT(surveyed.err, HasSubstr("the program trains, but the hook's output does not arrive"));
}

TEST_F(HookedProgram, AStartTooSlowForTheTuningTimeIsReported) {
  sandbox_.write("train.py", "import time\nimport torch\ntime.sleep(60)\n");
  const Ended ended = sandbox_.steptune({"run", "--time", "16s", "--", k_python, "train.py"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err,
              HasSubstr("the program made no step within 8.0 s, half of the tuning time"));
  EXPECT_THAT(ended.err, HasSubstr("--time"));
}

TEST_F(HookedProgram, AShortTuningTimeLeavesNoTimeForOptionsWithoutPyTorch) {
  sandbox_.write("train.py", "import time\ntime.sleep(60)\n");
  const Ended ended = sandbox_.steptune({"run", "--time", "8s", "--", k_python, "train.py"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("did not import PyTorch"));
  EXPECT_THAT(ended.err,
              HasSubstr("half of the tuning time was over before its own options could be read"));
}

TEST_F(HookedProgram, IsTunedUnchangedAndRunWithTheResult) {
  const std::vector<std::string> command = {"--", k_python, "train.py"};
  auto with_command = [&command](std::vector<std::string> words) {
    words.insert(words.end(), command.begin(), command.end());
    return words;
  };
  const Ended checked = sandbox_.steptune(with_command({"check"}));
  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(difference(R"(runs the program unchanged for some seconds: /usr/bin/python3 train.py
found   PyTorch {{.*}} on cpu; steps by optimizer (SGD), 8 samples each by loader
today   {{.*}} a step: {{.*}}
limit   data loading costs {{\d+}} % of a step: at most {{.*}} times as fast without it (measured with cached batches)
tunes   {{.*}}
{{...}}
wrote   train.study.json
)",
                       checked.err),
            "");
  EXPECT_THAT(checked.out, HasSubstr("num_workers=0"));
  Json file = *parse_json(sandbox_.read("train.study.json"), "study");
  EXPECT_EQ(file["hooks"]["python"]["num_workers"], "{num_workers}");
  // Only a CPU that computes bfloat16 is offered a precision, with a guard on the loss.
  if (file["parameters"].contains("precision")) {
    EXPECT_TRUE(file.contains("guards"));
  }
  EXPECT_FALSE(file["parameters"].contains("batch_size"));

  // The user may edit the file, whose command then counts.
  std::string edited = sandbox_.read("train.study.json");
  const std::string word = "\"train.py\"]";
  ASSERT_NE(edited.find(word), std::string::npos) << edited;
  edited.replace(edited.find(word), word.size(), R"("train.py","9"])");
  sandbox_.write("train.study.json", edited);
  const Ended changed = sandbox_.steptune(with_command({"check"}));
  EXPECT_EQ(changed.exit_code, 0) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("continues with train.study.json"));

  // Makes the study short.
  file["search"] = {{"searcher", "random"}, {"scheduler", "none"}, {"worth", 0}};
  file["measure"] = {{"max_trial", "10s"},
                     {"min_window", "0.3s"},
                     {"target_half_width", 0.3},
                     {"confirm_pairs", 0}};
  sandbox_.write("train.study.json", file.dump());
  const Ended other = sandbox_.steptune({"run", "--", k_python, "train.py", "3"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("train.study.json: is the study of another command"));

  const Ended ran = sandbox_.steptune(with_command({"run", "--trials", "2"}));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("continues with train.study.json"));
  EXPECT_THAT(ran.out, HasSubstr("\nnext    "));

  // For every trial, exit status and output are the command's own, without lines of the hook.
  for (const std::string trial : {"1", "2"}) {
    const Ended executed = sandbox_.steptune(
        {"exec", "train", "--trial", trial, "--quiet", "--", k_python, "train.py", "1"});
    EXPECT_EQ(executed.exit_code, 7) << executed.err;
    EXPECT_EQ(difference("threads {{\\d+}} loss {{\\d\\.\\d+}}\n", executed.out), "");
    EXPECT_THAT(executed.out + executed.err, Not(HasSubstr("[steptune]")));
  }
  const Ended isolated = sandbox_.steptune(
      {"exec", "train", "--trial", "2", "--quiet", "--", k_python, "-I", "train.py", "1"});
  EXPECT_EQ(isolated.exit_code, 7) << isolated.err;
  EXPECT_THAT(isolated.err, HasSubstr("the settings do not reach the program: \"python3 -I\""));
  const Ended edits = sandbox_.steptune({"best", "train", "--format", "python"});
  EXPECT_EQ(edits.exit_code, 0) << edits.err;
  EXPECT_NE(edits.out, "");
}

/// Returns a study of a knob with two values whose trials may be forked. Repeated baselines, which
/// a busy machine may need, would take the numbers of the trials that the tests look at.
std::string forked_study() {
  Json json = *parse_json(
      study(R"("gc": "{gc}")", R"("gc": {"type": "categorical", "choices": ["auto", "freeze"]})",
            R"("gc": "auto")"),
      "study");
  json["trials"] = "forked";
  json["measure"]["sentinels"] = false;
  return json.dump();
}

TEST_F(HookedProgram, ForkedTrialsShareImportedModules) {
  sandbox_.write("study.json", forked_study());
  const Ended ended = sandbox_.steptune({"run", "study.json", "--quiet", "--log-level", "info"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_FALSE(trial_of(sandbox_, "1")["placement"].contains("start"));
  const Json second = trial_of(sandbox_, "2");
  EXPECT_EQ(second["placement"].value("start", ""), "forked") << second.dump() << ended.err;
  // The planned run includes the start-up that forked trials save.
  EXPECT_GT(second["measurement"]["startup_s"].get<double>(),
            0.3 * trial_of(sandbox_, "1")["measurement"]["startup_s"].get<double>());
}

TEST_F(HookedProgram, AForkedProgramWithoutASeedIsStartedAnew) {
  std::string program = k_train;
  program.replace(program.find("torch.manual_seed(1)"), 20, "torch.seed()");
  sandbox_.write("train.py", program);
  sandbox_.write("study.json", forked_study());
  const Ended ended = sandbox_.steptune({"run", "study.json", "--quiet", "--log-level", "info"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_FALSE(trial_of(sandbox_, "2")["placement"].contains("start"));
  EXPECT_THAT(ended.err, HasSubstr("trials are not forked: the first losses"));
}

TEST_F(HookedProgram, AProgramThatNeverTrainsIsNamedOnce) {
  sandbox_.write("train.py", "import torch\nprint('done')\n");
  sandbox_.write("study.json", forked_study());
  const Ended ended = sandbox_.steptune({"run", "study.json"});
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("did not import PyTorch, or did not train with it"));
}

}  // namespace
}  // namespace steptune::golden
