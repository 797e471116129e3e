// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

/// Text that is hard to quote, used as the value of a parameter, an argument and a variable.
constexpr const char* k_hostile = "it's \"so\" $HOME `id` \\ #\n\ta=b ü *";

/// One study whose best configuration has hostile texts.
class Best : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sandbox_ = std::make_unique<Sandbox>();
    Json study = Json::parse(R"json({
      "name": "hard",
      "command": ["python3", "show.py", "--note", "{note}", "--batch={batch}"],
      "parameters": {
        "batch": {"type": "int", "low": 1, "high": 4},
        "note": {"type": "categorical"},
        "rate": {"type": "categorical", "choices": [1e-05, 0.5]}
      },
      "baseline": {"batch": 1, "note": "plain", "rate": 0.5},
      "objectives": ["time"],
      "search": {"searcher": "grid", "scheduler": "none"},
      "budget": {"trials": 20},
      "runner": {"type": "replay",
        "seconds_per_sample": "0.01 / batch * (note == 'plain' ? 2 : 1) * (rate > 0.1 ? 2 : 1)"}
    })json");
    study["parameters"]["note"]["choices"] = {"plain", k_hostile};
    study["env"]["TRAIN_NOTE"] = k_hostile;
    study["working_directory"] = sandbox_->folder().string();
    sandbox_->write("study.json", study.dump());
    // Writes the arguments and variables of the program as JSON.
    sandbox_->write("show.py",
                    "import json, os, sys\n"
                    "json.dump({'argv': sys.argv[1:], 'note': os.environ.get('TRAIN_NOTE')}, "
                    "open('shown.json', 'w'))\n");
    for (const char* launcher : {"torchrun", "accelerate"}) {
      sandbox_->write(std::string("bin/") + launcher,
                      "#!/bin/sh\nwhile [ \"$1\" != show.py ]; do shift; done\n"
                      "exec /usr/bin/python3 \"$@\"\n");
      std::filesystem::permissions(sandbox_->folder() / "bin" / launcher,
                                   std::filesystem::perms::owner_all);
    }
    const Ended ended = sandbox_->steptune({"run", "study.json", "--quiet"});
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
  }
  static void TearDownTestSuite() { sandbox_.reset(); }

  static Ended best(std::vector<std::string> arguments, const Setting& setting = {}) {
    arguments.insert(arguments.begin(), "best");
    return sandbox_->steptune(arguments, setting);
  }
  static std::string printed(const std::string& format) {
    const Ended ended = best({"hard", "--format", format});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return ended.out;
  }
  /// Runs `script` in a shell. Returns the arguments and variables that its program got.
  static Json shown_by(const std::string& script) {
    std::filesystem::remove(sandbox_->folder() / "shown.json");
    sandbox_->write("script.sh", script);
    const Ended ended = sandbox_->program({"sh", "script.sh"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err << script;
    return Json::parse(sandbox_->read("shown.json"));
  }
  static Json arguments() { return {"--note", k_hostile, "--batch=4"}; }

  static std::unique_ptr<Sandbox> sandbox_;
};
std::unique_ptr<Sandbox> Best::sandbox_;

TEST_F(Best, ArgumentsAndVariablesReachTheProgramByteByByte) {
  EXPECT_EQ(shown_by(printed("args"))["argv"], arguments());
  const Json shown = shown_by("set -a\n" + printed("env") + printed("args"));
  EXPECT_EQ(shown["note"], k_hostile);
  EXPECT_EQ(shown["argv"], arguments());
}

TEST_F(Best, LaunchersPassOnTheSameArguments) {
  for (const char* format : {"torchrun", "accelerate"}) {
    const Json shown = shown_by("PATH=$PWD/bin:$PATH\n" + printed(format));
    EXPECT_EQ(shown["argv"], arguments()) << format;
    EXPECT_EQ(shown["note"], k_hostile) << format;
  }
}

TEST_F(Best, DockerfilesAndGitHubOutputsContainTheCommand) {
  const std::string dockerfile = printed("dockerfile");
  ASSERT_TRUE(dockerfile.starts_with("CMD [")) << dockerfile;
  const Json words = Json::parse(dockerfile.substr(4));
  EXPECT_EQ(words[0], "env");
  EXPECT_EQ(words[1], std::string("TRAIN_NOTE=") + k_hostile);
  EXPECT_EQ(words[5], k_hostile);
  // Reads the outputs as the runner of GitHub Actions does.
  sandbox_->write("output", printed("github"));
  sandbox_->write("read.py", R"(import json
lines, found = open('output', newline='').read().split('\n')[:-1], {}
while lines:
    line = lines.pop(0)
    name, equals, value = line.partition('=')
    if '<<' in name:
        name, end = line.split('<<', 1)
        value = []
        while lines[0] != end:
            value.append(lines.pop(0))
        lines.pop(0)
        value = '\n'.join(value)
    found[name] = value
open('args.sh', 'w').write(found.pop('args'))
json.dump(found, open('found.json', 'w'))
)");
  ASSERT_EQ(sandbox_->program({"/usr/bin/python3", "read.py"}).exit_code, 0);
  const Json found = Json::parse(sandbox_->read("found.json"));
  EXPECT_EQ(found["note"], k_hostile);
  EXPECT_EQ(found["batch"], "4");
  EXPECT_EQ(Json::parse(found["configuration"].get<std::string>())["rate"], 1e-05);
  EXPECT_EQ(shown_by(sandbox_->read("args.sh"))["argv"], arguments());
}

TEST_F(Best, SageMakerGetsHyperparametersAsTexts) {
  const Json members = Json::parse(printed("sagemaker"));
  EXPECT_EQ(members["CreateTrainingJob"]["HyperParameters"]["note"], k_hostile);
  EXPECT_EQ(members["CreateTrainingJob"]["HyperParameters"]["batch"], "4");
  EXPECT_EQ(members["Estimator"]["hyperparameters"]["rate"], 1e-05);
}

TEST_F(Best, ATerminalGetsNoControlCharacters) {
  const Ended ended = sandbox_->on_terminal(steptune_program() + " best --format args");
  EXPECT_EQ(ended.out.find("#\n\t"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("\\n\\ta=b"), std::string::npos) << ended.out;
}

TEST_F(Best, TheAuditIsPartOfTheDocument) {
  const Ended ended = best({"--json"});
  const Json audit = Json::parse(ended.out)["audit"];
  ASSERT_EQ(audit.size(), 5U);
  EXPECT_EQ(audit[0]["check"], "complete");
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(audit[i]["holds"], true) << audit[i];
  EXPECT_EQ(audit[4]["check"], "measured_here");
  EXPECT_TRUE(audit[4]["holds"].is_null()) << "it was replayed";
  EXPECT_EQ(ended.err, "");
}

TEST_F(Best, DoubtsAboutTheChoiceArePrintedOnStderr) {
  const Sandbox sandbox;
  Json study = Json::parse(quick_study());
  study["measure"]["confirm_pairs"] = 0;
  sandbox.write("quick.json", study.dump());
  sandbox.write("quick.sh", quick_trial());
  ASSERT_EQ(sandbox.steptune({"run", "quick.json", "--quiet"}).exit_code, 0);
  sandbox.write("move.py",
                "import sqlite3\n"
                "history = sqlite3.connect('.steptune/history.db')\n"
                "history.execute(\"UPDATE sessions SET machine = "
                "json_set(machine, '$.cpu', 'Z80')\")\n"
                "history.commit()\n");
  ASSERT_EQ(sandbox.program({"/usr/bin/python3", "move.py"}).exit_code, 0);
  const Ended ended = sandbox.steptune({"best", "--format", "args"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(difference("steptune: warning: not above the noise: no fresh runs have confirmed that "
                       "it is faster than the baseline\n"
                       "steptune: warning: not measured on this machine: cpu was Z80, is {{.*}}\n"
                       "{{...}}\n",
                       ended.err),
            "");
  const Json audit = Json::parse(sandbox.steptune({"best", "--json"}).out)["audit"];
  EXPECT_EQ(audit[3]["check"], "above_noise");
  EXPECT_EQ(audit[3]["holds"], false);
  EXPECT_EQ(audit[4]["holds"], false);
}

TEST_F(Best, AnUnbeatenBaselineHasNoWarning) {
  const Sandbox sandbox;
  // All configurations are equally fast. Launches differ, so one of the search looks better by
  // chance.
  sandbox.write("s.json", R"({
    "name": "s", "command": ["train", "{x}"],
    "parameters": {"x": {"type": "int", "low": 0, "high": 9}}, "baseline": {"x": 0},
    "runner": {"type": "replay", "seconds_per_sample": "0.01", "noise": 0.01,
               "launch_variation": 0.12},
    "search": {"searcher": "random", "scheduler": "none", "seed": 5},
    "budget": {"trials": 20, "time": "170s"}, "measure": {"sentinels": false}})");
  ASSERT_EQ(sandbox.steptune({"run", "s.json", "--quiet"}).exit_code, 0);
  const Ended ended = sandbox.steptune({"best", "--json"});
  const Json best = Json::parse(ended.out);
  EXPECT_EQ(best["recommendation"]["claim"], "nothing_faster");
  EXPECT_TRUE(best["audit"][2]["holds"].is_null()) << best["audit"][2];
  const std::string why = best["audit"][2]["why"];
  EXPECT_NE(why.find("was better in the search, but no fresh runs have shown it"),
            std::string::npos);
  EXPECT_EQ(ended.err, "");
}

constexpr const char* k_yaml =
    "# ours\ndata:\n  batch: 1  # per GPU\nnote: plain\nopt: {lr: 0.5}\n";

TEST_F(Best, ApplyShowsTheDifferenceAndWritesInPlace) {
  sandbox_->write("real.yaml", k_yaml);
  const auto file = sandbox_->folder() / "real.yaml";
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  std::filesystem::create_symlink("real.yaml", sandbox_->folder() / "link.yaml");
  const std::vector<std::string> apply{"--apply", "link.yaml", "--map", "rate=opt.lr"};
  const std::string expected = R"(--- link.yaml
+++ link.yaml
@@ -1,5 +1,5 @@
 # ours
 data:
-  batch: 1  # per GPU
-note: plain
-opt: {lr: 0.5}
+  batch: 4  # per GPU
+note: "it's \"so\" $HOME `id` \\ #\n\ta=b ü *"
+opt: {lr: 1.0e-05}
)";
  auto with = [&](const std::string& option) {
    auto arguments = apply;
    arguments.push_back(option);
    return arguments;
  };
  const Ended dry = best(with("--dry-run"));
  EXPECT_EQ(dry.exit_code, 0);
  EXPECT_EQ(dry.out, expected);
  const Ended unasked = best(apply);
  EXPECT_EQ(unasked.exit_code, 2) << "there is no terminal to ask on";
  EXPECT_EQ(unasked.out, expected);
  EXPECT_NE(unasked.err.find("--yes"), std::string::npos) << unasked.err;
  EXPECT_EQ(sandbox_->read("real.yaml"), k_yaml) << "untouched so far";

  const Ended written = best(with("--yes"));
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(written.out, expected);
  EXPECT_EQ(written.err, "wrote link.yaml\n");
  EXPECT_TRUE(std::filesystem::is_symlink(sandbox_->folder() / "link.yaml"));
  struct stat attributes {};
  ASSERT_EQ(::stat(file.c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_mode & 0777U, 0640U);
  sandbox_->write("load.py",
                  "import json, yaml\nprint(json.dumps(yaml.safe_load(open('real.yaml'))))\n");
  const Ended loaded = sandbox_->program({"/usr/bin/python3", "load.py"});
  if (loaded.exit_code == 0) {
    const Json values = Json::parse(loaded.out);
    EXPECT_EQ(values["note"], k_hostile);
    EXPECT_EQ(values["opt"]["lr"], 1e-05) << "a number for YAML 1.1, too";
  }
  const Ended again = best(with("--yes"));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, "");
  EXPECT_EQ(again.err, "link.yaml already has these values\n");
}

TEST_F(Best, ApplyAsksOnlyWhereSomebodyCanAnswer) {
  sandbox_->write("asked.json", R"({"batch": 1, "note": "plain", "rate": 0.5})");
  const std::string command = steptune_program() + " best --apply asked.json";
  const Ended no = sandbox_->on_terminal("echo n | " + command);
  EXPECT_EQ(no.exit_code, 2) << "nobody can answer a question on a pipe";
  EXPECT_EQ(sandbox_->read("asked.json"), R"({"batch": 1, "note": "plain", "rate": 0.5})");
  const Json json = Json::parse(best({"--apply", "asked.json", "--yes", "--json"}).out);
  EXPECT_EQ(json["written"], true);
  ASSERT_EQ(json["changes"].size(), 3U);
  EXPECT_EQ(json["changes"][0]["key"], "batch");
  EXPECT_EQ(json["changes"][0]["before"], 1);
  EXPECT_EQ(json["changes"][0]["after"], 4);
  EXPECT_EQ(Json::parse(sandbox_->read("asked.json"))["note"], k_hostile);
}

TEST_F(Best, ApplyRefusesWhatIsNotClear) {
  sandbox_->write("two.toml", "note = 'x'\n[a]\nbatch = 1\n[b]\nbatch = 2\n");
  const Ended ended = best({"--apply", "two.toml", "--yes"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err,
            "steptune: error: two.toml: has no clear place for 2 of the parameters:\n"
            "  batch: ambiguous: a.batch (line 3), b.batch (line 5)\n"
            "  rate: no key rate\n"
            "  name the key with --map rate=KEY.OF.FILE; '--map PARAMETER=' leaves a parameter "
            "out\n");
  EXPECT_EQ(best({"--apply", "absent.toml", "--yes"}).exit_code, 1);
  EXPECT_EQ(best({"--apply", "study.txt", "--yes"}).exit_code, 2);
  EXPECT_EQ(best({"--apply", "two.toml", "--map", "batch", "--dry-run"}).exit_code, 2);
  EXPECT_EQ(best({"--map", "batch=a.batch"}).exit_code, 2) << "without --apply";
}

}  // namespace
}  // namespace steptune::golden
