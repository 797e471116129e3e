// SPDX-License-Identifier: Apache-2.0
// Tests `judge` with real programs.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "common/json.hpp"
#include "tests/golden/counting_program.hpp"
#include "tests/golden/output_schema.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Judge : public testing::Test {
 protected:
  Judge() { sandbox_.write("steps.sh", k_counting_program); }
  Sandbox sandbox_;
};

TEST_F(Judge, AFasterCommandIsNamedAndAPipelineContinues) {
  const Ended ended =
      sandbox_.steptune({"judge", "--time", "60s", "--quiet", "--json", "--fail-if", "slower", "--",
                         "/bin/sh", "steps.sh", "0.06", "---", "/bin/sh", "steps.sh", "0.02"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("::")));
  EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "judge"));
  const Json judged = Json::parse(ended.out)["judge"];
  EXPECT_EQ(judged["verdict"], "faster") << judged.dump();
  EXPECT_EQ(judged["keep"], "B");
  EXPECT_EQ(judged["commands"][1]["command"], "/bin/sh steps.sh 0.02");
  EXPECT_GT(judged["commands"][1]["speed_up"]["low_95"].get<double>(), 1.0);
  EXPECT_LT(judged["spent_s"].get<double>(), 60.0);
  EXPECT_TRUE(judged["loss"].is_null());
  EXPECT_EQ(judged["why_no_loss"], "A reports no loss");
  EXPECT_EQ(judged["fail_if"][0]["holds"], false);
  const Ended studies = sandbox_.steptune({"studies"});
  EXPECT_THAT(studies.out, HasSubstr("judge"));
}

TEST_F(Judge, OptionsOfTheCommandMayFollowAnOptionWithSeveralValues) {
  const Ended ended = sandbox_.steptune({"judge", "--quiet", "--git", "no-revision", "HEAD", "--",
                                         "/bin/sh", "steps.sh", "--step", "0.02"});
  EXPECT_EQ(ended.exit_code, 2) << ended.out;
  EXPECT_THAT(ended.err, Not(HasSubstr("unexpected argument")));
}

/// Without the guard on the loss, B would be called faster.
TEST_F(Judge, AFasterCommandWithAWorseLossIsNotCalledFaster) {
  const Ended ended =
      sandbox_.steptune({"judge", "--time", "60s", "--quiet", "--json", "--", "/bin/sh", "steps.sh",
                         "0.04", "2000", "---", "/bin/sh", "steps.sh", "0.02", "2200"});
  EXPECT_EQ(ended.exit_code, 13) << ended.out << ended.err;
  EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "judge"));
  const Json judged = Json::parse(ended.out)["judge"];
  EXPECT_EQ(judged["verdict"], "worse") << judged.dump();
  EXPECT_EQ(judged["keep"], "A");
  EXPECT_EQ(judged["loss"]["metric"], "loss");
  const Json& other = judged["commands"][1];
  EXPECT_NEAR(other["loss"]["difference"].get<double>(), 0.1, 0.01);
  EXPECT_TRUE(other["loss"]["worse"].get<bool>());
  EXPECT_GT(other["speed_up"]["low_95"].get<double>(), 1.0);
}

TEST_F(Judge, APipelineFailsIfBIsSlower) {
  const Setting github{{{"GITHUB_ACTIONS", "true"}, {"GITHUB_STEP_SUMMARY", "summary.md"}}};
  sandbox_.write("summary.md", "before\n");
  const Ended slower =
      sandbox_.steptune({"judge", "--time", "60s", "--quiet", "--json", "--fail-if", "worse",
                         "--fail-if", "slower:10%", "--report", "metrics.txt", "--", "/bin/sh",
                         "steps.sh", "0.02", "---", "/bin/sh", "steps.sh", "0.06"},
                        github);
  EXPECT_EQ(slower.exit_code, 11) << slower.out << slower.err;
  EXPECT_TRUE(is_as_defined(sandbox_, slower.out, "judge"));
  const Json conditions = Json::parse(slower.out)["judge"]["fail_if"];
  EXPECT_TRUE(conditions[0]["holds"].is_null()) << "no loss is reported";
  EXPECT_EQ(conditions[1]["holds"], true);
  EXPECT_EQ(conditions[1]["commands"], Json({"B"}));
  EXPECT_THAT(slower.err, HasSubstr("::error title=steptune judge::B is slower: 0."));
  EXPECT_THAT(sandbox_.read("summary.md"), HasSubstr("before\n| | verdict |"));
  EXPECT_THAT(sandbox_.read("summary.md"), HasSubstr("| B | slower | 0."));
  EXPECT_THAT(sandbox_.read("metrics.txt"),
              HasSubstr("\nsteptune_judge_speed_up{command=\"B\"} 0."));
}

/// The versions that a variable makes have equal losses, which are shown.
TEST_F(Judge, OneCommandIsComparedInSeveralVersions) {
  sandbox_.write(
      "pause.sh",
      "[ \"$PAUSE\" ] && exec sh steps.sh \"$PAUSE\" 2005\nexec sh steps.sh 0.06 2000\n");
  const Ended variable = sandbox_.steptune(
      {"judge", "--env", "PAUSE=0.02", "--time", "60s", "--quiet", "--", "/bin/sh", "pause.sh"});
  EXPECT_EQ(variable.exit_code, 0) << variable.out << variable.err;
  EXPECT_THAT(variable.out, HasSubstr("keep    B: env PAUSE=0.02 /bin/sh pause.sh\n"));
  EXPECT_THAT(variable.out, HasSubstr("\nloss    after "));
  EXPECT_THAT(variable.out, HasSubstr(" samples: A "));

  for (const auto& [venv, pause] : {std::pair("old", "0.02"), std::pair("new", "0.06")}) {
    const std::filesystem::path bin = sandbox_.folder() / venv / "bin";
    std::filesystem::create_directories(bin);
    sandbox_.write(std::string(venv) + "/bin/python",
                   std::string("#!/bin/sh\nexec sh steps.sh ") + pause + "\n");
    std::filesystem::permissions(bin / "python", std::filesystem::perms::owner_all);
  }
  const Ended venv = sandbox_.steptune(
      {"judge", "--venv", "old", "new", "--time", "60s", "--quiet", "--", "python"});
  EXPECT_EQ(venv.exit_code, 11) << venv.out << venv.err;
  EXPECT_THAT(venv.out, HasSubstr("B is slower"));
}

/// `judge` runs the settings of these trials again; it does not compare the trials themselves.
TEST_F(Judge, TrialsOfAStudyAreCompared) {
  sandbox_.write("study.json", R"({
    "name": "pauses", "command": ["/bin/sh", "steps.sh", "{pause}"],
    "parameters": {"pause": {"type": "ordinal", "choices": ["0.02", "0.04", "0.06"]},
                   "n": {"type": "int", "low": 0, "high": 99}},
    "env": {"N": "{n}"},
    "baseline": {"pause": "0.06", "n": 1},
    "try": [{"pause": "0.02", "n": 2}, {"pause": "0.04", "n": 3}],
    "search": {"searcher": "random"}, "measure": {"confirm_pairs": 0, "sentinels": false},
    "budget": {"trials": 3, "time": "30s"}
  })");
  const Ended tuned = sandbox_.steptune({"run", "study.json", "--quiet"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  const Ended two = sandbox_.steptune(
      {"judge", "--study", "pauses", "--trial", "2", "3", "--time", "60s", "--quiet", "--json"});
  EXPECT_EQ(two.exit_code, 11) << two.out << two.err;
  EXPECT_TRUE(is_as_defined(sandbox_, two.out, "judge"));
  const Json commands = Json::parse(two.out)["judge"]["commands"];
  EXPECT_EQ(commands[0]["name"], "trial 2");
  EXPECT_EQ(commands[1]["command"], "pause=0.04 n=3");
  const Ended one =
      sandbox_.steptune({"judge", "--study", "pauses", "--trial", "2", "--time", "60s", "--quiet"});
  EXPECT_EQ(one.exit_code, 0) << one.out << one.err;
  EXPECT_THAT(one.out, HasSubstr("trial 2 is faster: "));
  EXPECT_THAT(one.out, HasSubstr(" times as fast as baseline "));
  EXPECT_THAT(one.out, HasSubstr("loss    not compared: the study has no guard on it\n"));
  const Ended same = sandbox_.steptune({"judge", "--study", "pauses", "--trial", "2", "2"});
  EXPECT_EQ(same.exit_code, 2) << same.out;
  EXPECT_THAT(same.err, HasSubstr("two of them have the same settings"));
}

TEST_F(Judge, TreesOfRevisionsAreComparedAndRemoved) {
  const auto git = [&](const std::string& words) {
    const Ended ended = sandbox_.program(
        {"/bin/sh", "-c",
         "git -c user.name=n -c user.email=e@example.org -c init.defaultBranch=main " + words});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
  };
  sandbox_.write("train.sh", "sh steps.sh 0.02");
  git("init -q . && git add . && git -c user.name=n -c user.email=e@example.org commit -qm fast");
  sandbox_.write("train.sh", "sh steps.sh 0.06");
  git("commit -qam slow");
  git("worktree add -q --detach .steptune/worktrees/judge/1-left HEAD");  // as after a kill
  const Ended ended =
      sandbox_.steptune({"judge", "--git", "HEAD~1", "HEAD", "--build", "test -e steps.sh",
                         "--time", "60s", "--quiet", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(ended.exit_code, 11) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("HEAD is slower"));
  EXPECT_THAT(ended.out, HasSubstr("keep    HEAD~1: /bin/sh train.sh\n"));
  const Ended trees = sandbox_.program({"/bin/sh", "-c", "git worktree list | tail -n +2"});
  EXPECT_THAT(trees.out, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / ".steptune" / "worktrees" / "judge"));
}

TEST_F(Judge, ARevisionThatCannotBeCheckedOutIsNamedWithTheReason) {
  sandbox_.write(".gitattributes", "steps.sh filter=bad\n");
  const Ended repository = sandbox_.program(
      {"/bin/sh", "-c",
       "git init -q . && git config filter.bad.clean cat && git config filter.bad.smudge false && "
       "git config filter.bad.required true && git add . && "
       "git -c user.name=n -c user.email=e@example.org commit -qm m"});
  ASSERT_EQ(repository.exit_code, 0) << repository.err;
  const Ended ended =
      sandbox_.steptune({"judge", "--git", "HEAD", "HEAD", "--", "/bin/sh", "steps.sh", "0.02"});
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("git cannot check out HEAD"));
  EXPECT_THAT(ended.err, HasSubstr("smudge filter bad failed"));
}

TEST_F(Judge, ABuildThatIsInterruptedIsNoFault) {
  const Ended repository =
      sandbox_.program({"/bin/sh", "-c",
                        "git init -q . && git add . && "
                        "git -c user.name=n -c user.email=e@example.org commit -qm m"});
  ASSERT_EQ(repository.exit_code, 0) << repository.err;
  const Ended ended =
      sandbox_.steptune({"judge", "--git", "HEAD", "HEAD", "--build", "kill -INT $PPID; exit 1",
                         "--", "/bin/sh", "steps.sh", "0.02"});
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("the command failed in")));
}

TEST_F(Judge, ACommandThatFailsIsNamed) {
  const Ended ended =
      sandbox_.steptune({"judge", "--time", "20s", "--quiet", "--", "/bin/sh", "steps.sh", "0.02",
                         "---", "/bin/sh", "-c", "echo no such data; exit 3"});
  EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("B failed"));
  EXPECT_THAT(ended.out, HasSubstr("no such data"));
}

TEST_F(Judge, ManyFailuresDoNotEndTheComparisonOfTheOthers) {
  std::vector<std::string> words{"judge", "--time",  "60s",      "--quiet", "--json",
                                 "--",    "/bin/sh", "steps.sh", "0.06"};
  for (int i = 0; i < 5; ++i)
    words.insert(words.end(), {"---", "/bin/sh", "-c", "exit 3"});
  words.insert(words.end(), {"---", "/bin/sh", "steps.sh", "0.02"});
  const Ended ended = sandbox_.steptune(words);
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  const Json commands = Json::parse(ended.out)["judge"]["commands"];
  EXPECT_EQ(commands[1]["verdict"], "failed");
  EXPECT_EQ(commands[6]["verdict"], "faster");
}

/// A slow start is no failure: the time was too short for it.
TEST_F(Judge, ASlowStartLeavesItUndecided) {
  const Ended second =
      sandbox_.steptune({"judge", "--time", "20s", "--quiet", "--", "/bin/sh", "steps.sh", "0.02",
                         "---", "/bin/sh", "-c", "sleep 60; exec sh steps.sh 0.02"});
  EXPECT_EQ(second.exit_code, 12) << second.out << second.err;
  EXPECT_THAT(second.out, HasSubstr("undecided: B was not compared; its start took more than "));
  const Ended first =
      sandbox_.steptune({"judge", "--time", "6s", "--json", "--", "/bin/sh", "-c",
                         "sleep 60; exec sh steps.sh 0.02", "---", "/bin/sh", "steps.sh", "0.02"});
  EXPECT_EQ(first.exit_code, 12) << first.out << first.err;
  EXPECT_THAT(first.err, HasSubstr("runs A until it has reported progress for some seconds, for at "
                                   "most 3"));
  EXPECT_TRUE(is_as_defined(sandbox_, first.out, "judge"));
  const Json judged = Json::parse(first.out);
  EXPECT_TRUE(judged["study"].is_null());
  EXPECT_THAT(judged["judge"]["commands"][1]["why"].get<std::string>(),
              HasSubstr("the first command reported no step within 3."));
}

TEST_F(Judge, WrongCommandLinesAreRefused) {
  struct Case {
    std::vector<std::string> arguments;
    std::string expected;
  };
  for (const auto& [arguments, expected] : std::vector<Case>{
           {{"judge", "--", "true"}, "or one with --git, --env or --venv"},
           {{"judge", "--", "true", "---"}, "a command is empty"},
           {{"judge", "--margin", "0", "--", "true", "---", "true"}, "0 is not a margin"},
           {{"judge"}, "there is no command after --"},
           {{"judge", "--fail-if", "faster", "--", "true", "---", "true"},
            "faster is not a condition"},
           {{"judge", "--env", "A=1", "--", "true", "---", "true"}, "with --env, one command runs"},
           {{"judge", "--env", "A", "--", "true"}, "A sets no variable"},
           {{"judge", "--env", "A=1", "--venv", "v", "--", "true"}, "only one of --git, --env and"},
           {{"judge", "--venv", "v", "--", "true"}, "is no virtual environment"},
           {{"judge", "--venv", "v", "--", "/usr/bin/python3", "train.py"},
            "is the same interpreter in each virtual environment"},
           {{"judge", "--study", "s", "--", "true"}, "--study and --trial belong together"},
           {{"judge", "--study", "s", "--trial", "1", "--", "true"},
            "trials run the study's own command"},
           {{"judge", "--build", "make", "--", "true", "---", "true"}, "--build needs --git"},
           {{"judge", "--git", "HEAD", "--", "true"}, "1 revision is given"},
           {{"judge", "--git", "HEAD", "main", "--", "true"}, "no git repository"},
       }) {
    const Ended ended = sandbox_.steptune(arguments);
    EXPECT_EQ(ended.exit_code, 2) << ended.out;
    EXPECT_THAT(ended.err, HasSubstr(expected));
  }
}

TEST_F(Judge, AProgramWithoutProgressIsRefusedWithTheReason) {
  const Ended ended = sandbox_.steptune(
      {"judge", "--time", "10s", "--", "/bin/sh", "-c", "echo done", "---", "/bin/true"});
  EXPECT_EQ(ended.exit_code, 2) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("the progress of A cannot be read"));
  EXPECT_THAT(ended.err, Not(HasSubstr(" B")));
  const Ended failed = sandbox_.steptune(
      {"judge", "--time", "10s", "--", "/bin/sh", "-c", "exit 3", "---", "/bin/true"});
  EXPECT_EQ(failed.exit_code, 2) << failed.out;
  EXPECT_THAT(failed.err, HasSubstr("A failed before it reported progress: "));
}

/// A campaign of two edits: one is faster, one changes nothing.
TEST_F(Judge, ACampaignKeepsTheFasterEdit) {
  const auto judge = [&](const std::string& champion, const std::vector<std::string>& challenger,
                         const std::string& time = "30s") {
    std::vector<std::string> words{"judge",   "--campaign", "fast",   "--time",
                                   time,      "--quiet",    "--json", "--",
                                   "/bin/sh", "steps.sh",   champion, "---"};
    words.insert(words.end(), challenger.begin(), challenger.end());
    return sandbox_.steptune(words);
  };
  const Ended better = judge("0.06", {"/bin/sh", "steps.sh", "0.02"});
  EXPECT_EQ(better.exit_code, 0) << better.out << better.err;
  EXPECT_TRUE(is_as_defined(sandbox_, better.out, "judge"));
  const Json first = Json::parse(better.out)["campaign"];
  EXPECT_EQ(first["kept"], 1);
  // Errors of a campaign's edits are tested in campaign_error_test.cpp.
  EXPECT_NEAR(first["error"].get<double>(), 0.00732, 1e-5);
  EXPECT_GT(first["next_error"].get<double>(), 0.00732);

  const Ended equal = judge("0.02", {"/bin/sh", "steps.sh", "0.0200"}, "20s");
  EXPECT_NE(equal.exit_code, 0) << equal.out << equal.err;
  EXPECT_THAT(equal.err, Not(HasSubstr("beginning a new study"))) << "--quiet";
  const Json second = Json::parse(equal.out)["campaign"];
  EXPECT_EQ(second["kept"], 1);
  EXPECT_EQ(second["edit"], 2);
  EXPECT_EQ(second["error"], first["next_error"]);

  const Ended failed = judge("0.02", {"/bin/sh", "-c", "exit 3"});
  EXPECT_EQ(failed.exit_code, 1) << failed.out << failed.err;

  const Ended ladder = sandbox_.steptune({"campaign", "fast", "--json"});
  EXPECT_EQ(ladder.exit_code, 0) << ladder.err;
  EXPECT_TRUE(is_as_defined(sandbox_, ladder.out, "campaign"));
  EXPECT_EQ(sandbox_.steptune({"__complete", "campaign", "f"}).out, "fast\t\n");
  EXPECT_EQ(sandbox_.steptune({"__complete", "judge", "--campaign", "f"}).out, "fast\t\n");
  const Json campaign = Json::parse(ladder.out)["campaign"];
  ASSERT_EQ(campaign["edits"].size(), 3U);
  EXPECT_EQ(campaign["edits"][2]["verdict"], "failed");
  EXPECT_EQ(campaign["edits"][2]["error"], 0.0) << "a failed edit claims nothing";
  EXPECT_EQ(campaign["champion"]["command"], "/bin/sh steps.sh 0.02");
  EXPECT_GT(campaign["gain"].get<double>(), 2.0);
  EXPECT_TRUE(campaign["measured"].is_null());

  const Ended measured =
      sandbox_.steptune({"campaign", "fast", "--measure", "--time", "60s", "--quiet"});
  EXPECT_EQ(measured.exit_code, 0) << measured.out << measured.err;
  EXPECT_THAT(measured.out, HasSubstr("campaign fast: 3 edits, 1 kept\n"));
  EXPECT_THAT(measured.out, HasSubstr("measured  /bin/sh steps.sh 0.02: faster, "));
  EXPECT_THAT(measured.out, HasSubstr("times as fast as /bin/sh steps.sh 0.06 (95 % interval"));

  const pid_t stopped = sandbox_.start({"campaign", "fast", "--measure"});
  ASSERT_TRUE(sandbox_.until_err_contains("trial 1 started")) << sandbox_.read("err.txt");
  kill(stopped, SIGINT);
  EXPECT_EQ(sandbox_.wait(stopped).exit_code, 130);
  EXPECT_THAT(sandbox_.steptune({"campaign", "fast"}).out,
              HasSubstr("measured  /bin/sh steps.sh 0.02: faster, "))
      << "the comparison that was stopped replaces no earlier one";
}

TEST_F(Judge, AnInterruptedEditIsUndecided) {
  const pid_t pid = sandbox_.start({"judge", "--campaign", "fast", "--", "/bin/sh", "steps.sh",
                                    "0.02", "---", "/bin/sh", "steps.sh", "0.06"});
  ASSERT_TRUE(sandbox_.until_err_contains("trial 1 started")) << sandbox_.read("err.txt");
  kill(pid, SIGINT);
  EXPECT_EQ(sandbox_.wait(pid).exit_code, 130);
  const Ended ladder = sandbox_.steptune({"campaign", "fast", "--json"});
  const Json edit = Json::parse(ladder.out)["campaign"]["edits"][0];
  EXPECT_EQ(edit["verdict"], "undecided") << ladder.out;
  EXPECT_EQ(edit["why"], "the comparison was not finished");
}

/// The second judgement would disturb the first.
TEST_F(Judge, ASecondJudgementStartsNothingWhileTheFirstRuns) {
  const pid_t first = sandbox_.start({"judge", "--campaign", "fast", "--", "/bin/sh", "steps.sh",
                                      "0.02", "---", "/bin/sh", "steps.sh", "0.06"});
  ASSERT_TRUE(sandbox_.until_err_contains("trial 1 started")) << sandbox_.read("err.txt");
  const Ended second = sandbox_.steptune({"judge", "--campaign", "fast", "--", "/bin/sh", "-c",
                                          "touch begun; exec sh steps.sh 0.02", "---", "/bin/sh",
                                          "steps.sh", "0.06"});
  EXPECT_EQ(second.exit_code, 4) << second.err;
  EXPECT_THAT(second.err, HasSubstr("another steptune is writing to this history"));
  EXPECT_FALSE(std::filesystem::exists(sandbox_.folder() / "begun"));
  kill(first, SIGINT);
  EXPECT_EQ(sandbox_.wait(first).exit_code, 130);
}

/// Commits are named, and each one is checked out again with the command of its own edit.
TEST_F(Judge, ACampaignOfCommitsNamesThem) {
  const auto git = [&](const std::string& words) {
    const Ended ended = sandbox_.program(
        {"/bin/sh", "-c",
         "git -c user.name=n -c user.email=e@example.org -c init.defaultBranch=main " + words});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return ended.out;
  };
  sandbox_.write("train.sh", "sh steps.sh 0.06");
  git("init -q . && git add . && git -c user.name=n -c user.email=e@example.org commit -qm slow");
  sandbox_.write("train.sh", "sh steps.sh 0.02");
  sandbox_.write("run.sh", "sh steps.sh 0.06");
  git("add .");
  git("commit -qm fast");
  const Ended judged = sandbox_.steptune({"judge", "--campaign", "commits", "--git", "HEAD~1",
                                          "HEAD", "--build", "test -e steps.sh", "--time", "60s",
                                          "--quiet", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("campaign commits: edit 1, error at most 0.73 %, 1 kept\n"));
  sandbox_.write("run.sh", "sh steps.sh 0.02");
  git("commit -qam faster");
  const Ended next = sandbox_.steptune({"judge", "--campaign", "commits", "--git", "HEAD~1", "HEAD",
                                        "--time", "60s", "--quiet", "--", "/bin/sh", "run.sh"});
  EXPECT_EQ(next.exit_code, 0) << next.out << next.err;
  const std::string commit = git("rev-parse HEAD").substr(0, 12);
  // The first commit has no run.sh.
  const Ended measured =
      sandbox_.steptune({"campaign", "commits", "--measure", "--time", "60s", "--quiet"});
  EXPECT_EQ(measured.exit_code, 0) << measured.out << measured.err;
  EXPECT_THAT(measured.out, HasSubstr("champion  " + commit + "\n"));
  EXPECT_THAT(measured.out, HasSubstr("measured  " + commit + ": faster, "));
  const Ended trees = sandbox_.program({"/bin/sh", "-c", "git worktree list | tail -n +2"});
  EXPECT_THAT(trees.out, IsEmpty());
}

TEST_F(Judge, WrongCampaignsAreRefused) {
  struct Case {
    std::vector<std::string> arguments;
    int exit_code;
    std::string expected;
  };
  for (const auto& [arguments, exit_code, expected] : std::vector<Case>{
           {{"judge", "--campaign", "a/b", "--", "true", "---", "true"},
            2,
            "not a campaign's name"},
           {{"judge", "--campaign", "c", "--", "a", "---", "b", "---", "c"},
            2,
            "one edit at a time"},
           {{"campaign", "c"}, 1, "no history"},
       }) {
    const Ended ended = sandbox_.steptune(arguments);
    EXPECT_EQ(ended.exit_code, exit_code) << ended.out;
    EXPECT_THAT(ended.err, HasSubstr(expected));
  }
}

}  // namespace
}  // namespace steptune::golden
