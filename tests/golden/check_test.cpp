// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

TEST(Check, ShowsTheSpaceAndFirstCommandsButStartsNothing) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  const Ended ended = sandbox.steptune({"check", "study.json", "--show", "2"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(difference(R"(study      demo  ({{.*}}/study.json): valid
space      3 parameters, 50 configurations
           batch_size  int          16 .. 256 (log2), 5 values
           workers     int          0 .. 4, 5 values
           precision   categorical  fp32, bf16
baseline   batch_size=32 workers=0 precision=fp32
objectives time, cost of a run over 1e+08 samples
search     sobol, scheduler asha, seed 7
budget     12 trials
runner     replay, 1 trial at a time, $2.00 per hour

first trials, if no result guides the search:

1  baseline  batch_size=32 workers=0 precision=fp32
   TRAIN_NOTE='a b' python3 train.py --batch-size=32 --workers 0

2  sobol  batch_size={{\d+}} workers={{\d}} precision={{\w+}}
   TRAIN_NOTE='a b' python3 train.py --batch-size={{.*}}
)",
                       ended.out),
            "");
  EXPECT_FALSE(std::filesystem::exists(sandbox.folder() / ".steptune"));
}

TEST(Check, JsonContainsTheStudyAndTheCommandLines) {
  const Sandbox sandbox;
  sandbox.write("study.json", replay_study());
  const auto json =
      parse_json(sandbox.steptune({"check", "study.json", "--json", "--show", "5"}).out, "check");
  ASSERT_TRUE(json) << json.error().text();
  EXPECT_EQ((*json)["schema_version"], 1);
  EXPECT_EQ((*json)["space"]["feasible"], 50);
  ASSERT_EQ((*json)["trials"].size(), 5U);
  EXPECT_EQ((*json)["trials"][0]["argv"][2], "--batch-size=32");
  EXPECT_EQ((*json)["trials"][0]["environment"]["TRAIN_NOTE"], "a b");
}

TEST(Check, ShowsTheFirstGuessOfTheStudy) {
  const Sandbox sandbox;
  std::string study = replay_study();
  study.insert(study.find("\"seed\""), "\"first_guesses\": true, ");
  sandbox.write("study.json", study);
  const auto checked = parse_json(sandbox.steptune({"check", "study.json", "--json"}).out, "check");
  ASSERT_TRUE(checked) << checked.error().text();
  // The second guess depends on the result of the first one.
  ASSERT_EQ((*checked)["trials"].size(), 2U);
  EXPECT_EQ((*checked)["trials"][1]["origin"], "expert");
  ASSERT_EQ(sandbox.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
  const auto shown = parse_json(sandbox.steptune({"show", "2", "--json"}).out, "show");
  ASSERT_TRUE(shown) << shown.error().text();
  EXPECT_EQ((*shown)["trial"]["configuration"], (*checked)["trials"][1]["configuration"]);
}

TEST(Check, AFaultyStudyEndsWithTwoAndNamesThePlace) {
  const Sandbox sandbox;
  std::string study = replay_study();
  study.replace(study.find("\"batch_size\": {\"type\""), 12, "\"batch_sise\"");
  sandbox.write("study.json", study);
  const Ended ended = sandbox.steptune({"check", "study.json"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("study.json"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("/command/2"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("batch_sise"), std::string::npos) << ended.err;
}

TEST(Check, AMissingStudyFileEndsWithTwo) {
  const Sandbox sandbox;
  for (const char* command : {"check", "run"}) {
    const Ended ended = sandbox.steptune({command, "none.json"});
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(ended.err,
              "steptune: error: none.json: there is no such study file\n"
              "  steptune init -- COMMAND writes one\n");
  }
}

TEST(Check, ANameInPlaceOfTheFileIsAnErrorThatNamesTheFix) {
  const Sandbox sandbox;
  sandbox.write("demo.study.json", replay_study());
  EXPECT_EQ(sandbox.steptune({"check", "demo"}).err,
            "steptune: error: demo: there is no such study file\n"
            "  did you mean demo.study.json?\n");
  EXPECT_EQ(sandbox.steptune({"check", "damo"}).err,
            "steptune: error: damo: there is no such study file\n"
            "  this folder has demo.study.json\n");
  EXPECT_EQ(sandbox.steptune({"run", "demo.study.json", "--quiet"}).exit_code, 0);
  std::filesystem::rename(sandbox.folder() / "demo.study.json", sandbox.folder() / "other.json");
  for (const char* command : {"check", "run", "rehearse"}) {
    EXPECT_EQ(sandbox.steptune({command, "demo"}).err,
              "steptune: error: demo: there is no such study file\n"
              "  that is the name of a study; give its file: its trials run "
              "in /tmp\n");
  }
}

/// Tests `check` for a study on Slurm over up to `most_nodes` nodes. `check` asks `sbatch
/// --test-only` about each kind of allocation, and the test writes the answers.
class CheckOnSlurm : public testing::Test {
 protected:
  /// Runs `check`. `sbatch`: shell text that replaces Slurm's program.
  [[nodiscard]] Ended check(const std::string& sbatch, const std::vector<std::string>& options = {},
                            int most_nodes = 2) const {
    sandbox_.write("bin/sbatch", "#!/bin/sh\n" + sbatch);
    std::filesystem::permissions(sandbox_.folder() / "bin" / "sbatch",
                                 std::filesystem::perms::owner_all);
    Json study = *parse_json(R"json({
      "name": "cluster", "command": ["python3", "train.py", "{nodes}"],
      "parameters": {"nodes": {"type": "int", "low": 1}}, "baseline": {"nodes": 1},
      "runner": {"type": "slurm", "nodes": "nodes"}
    })json",
                             "study.json");
    study["parameters"]["nodes"]["high"] = most_nodes;
    sandbox_.write("study.json", dump_json(study));
    const std::string path = (sandbox_.folder() / "bin").string() + ":/usr/bin:/bin";
    std::vector<std::string> words = {"check", "study.json"};
    words.insert(words.end(), options.begin(), options.end());
    return sandbox_.steptune(words, {.environment = {{"PATH", path}}});
  }

 private:
  Sandbox sandbox_;
};

constexpr const char* k_refusal = "echo 'allocation failure: Invalid account' >&2; exit 1\n";

TEST_F(CheckOnSlurm, FailsIfEveryAllocationIsRefused) {
  const Ended ended = check(k_refusal);
  EXPECT_EQ(ended.exit_code, 5) << ended.err;
  EXPECT_NE(ended.out.find("\nsbatch     2 nodes: refused: allocation failure: Invalid account\n"),
            std::string::npos)
      << ended.out;
  EXPECT_NE(ended.err.find("no trial can start: 1 node: refused: allocation failure"),
            std::string::npos)
      << ended.err;
  const Ended json = check(k_refusal, {"--json"});
  EXPECT_EQ(json.exit_code, 5);
  EXPECT_TRUE(parse_json(json.out, "check")) << json.out;
}

TEST_F(CheckOnSlurm, WithoutAClusterNothingIsRefused) {
  const Ended ended =
      check("echo 'sbatch: fatal: Could not establish a configuration source' >&2; exit 1\n");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("\nsbatch     no cluster is configured on this machine: "),
            std::string::npos)
      << ended.out;
}

TEST_F(CheckOnSlurm, ReportsWhatIsRefusedInPart) {
  const Ended ended = check("case \"$*\" in *--nodes=2*) " + std::string(k_refusal) +
                            ";; esac\necho 'Job 7 to start at soon using 1 processors' >&2\n");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("2 nodes: refused: "), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("asked about"), std::string::npos) << ended.out;
}

TEST_F(CheckOnSlurm, SaysHowManyOfManyAllocationsItRequested) {
  const Ended ended = check("echo 'Job 7 to start at soon using 1 processors' >&2\n", {}, 25);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("\nsbatch     asked about 20 of 25 kinds of allocation"),
            std::string::npos)
      << ended.out;
}

TEST_F(CheckOnSlurm, AsksAboutEachOfManyAllocationsWhileAllAreRefused) {
  const Ended refused = check(k_refusal, {}, 25);
  EXPECT_EQ(refused.exit_code, 5) << refused.err;
  EXPECT_EQ(refused.out.find("asked about"), std::string::npos) << refused.out;
  const Ended granted = check(
      "case \"$*\" in *--nodes=23*) echo 'Job 7 to start at soon' >&2\n"
      ";; *) " +
          std::string(k_refusal) + ";; esac\n",
      {}, 25);
  EXPECT_EQ(granted.exit_code, 0) << granted.err;
  EXPECT_NE(granted.out.find("\nsbatch     23 nodes: "), std::string::npos) << granted.out;
  EXPECT_EQ(granted.out.find("23 nodes: refused"), std::string::npos) << granted.out;
  EXPECT_NE(granted.out.find("\nsbatch     asked about 23 of 25 kinds of allocation"),
            std::string::npos)
      << granted.out;
}

TEST_F(CheckOnSlurm, AnUnreachableClusterHasNoPartialResult) {
  const Ended ended =
      check("echo 'allocation failure: Unable to contact slurm controller' >&2\nexit 1\n", {}, 25);
  EXPECT_EQ(ended.out.find("asked about"), std::string::npos) << ended.out;
}

TEST_F(CheckOnSlurm, AControllerThatIsAwayRefusesNothing) {
  const Ended ended =
      check("echo 'allocation failure: Unable to contact slurm controller' >&2\nexit 1\n");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("1 node: no answer: "), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace steptune::golden
