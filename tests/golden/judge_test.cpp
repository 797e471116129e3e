// SPDX-License-Identifier: Apache-2.0
// Tests `judge` with real programs.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/output_schema.hpp"
#include "tests/golden/program.hpp"

namespace steptune::golden {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A program whose steps take as many seconds as its argument says.
constexpr const char* k_steps = R"(i=0
while [ $i -lt 2000 ]; do
  i=$((i + 1))
  echo "[steptune] {\"v\":1,\"step\":$i,\"samples\":$((i * 10))}"
  sleep "$1"
done
)";

class Judge : public testing::Test {
 protected:
  Judge() { sandbox_.write("steps.sh", k_steps); }
  Sandbox sandbox_;
};

TEST_F(Judge, AFasterCommandIsNamed) {
  const Ended ended =
      sandbox_.steptune({"judge", "--time", "60s", "--quiet", "--json", "--", "/bin/sh", "steps.sh",
                         "0.06", "---", "/bin/sh", "steps.sh", "0.02"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_TRUE(is_as_defined(sandbox_, ended.out, "judge"));
  const Json judged = Json::parse(ended.out)["judge"];
  EXPECT_EQ(judged["verdict"], "faster") << judged.dump();
  EXPECT_EQ(judged["keep"], "B");
  EXPECT_EQ(judged["commands"][1]["command"], "/bin/sh steps.sh 0.02");
  EXPECT_GT(judged["commands"][1]["speed_up"]["low_95"].get<double>(), 1.0);
  EXPECT_LT(judged["spent_s"].get<double>(), 60.0);
  const Ended studies = sandbox_.steptune({"studies"});
  EXPECT_THAT(studies.out, HasSubstr("judge"));
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
  const Ended ended =
      sandbox_.steptune({"judge", "--git", "HEAD~1", "HEAD", "--build", "test -e steps.sh",
                         "--time", "60s", "--quiet", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(ended.exit_code, 11) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("B is slower"));
  const Ended trees = sandbox_.program({"/bin/sh", "-c", "git worktree list | tail -n +2"});
  EXPECT_THAT(trees.out, IsEmpty());
}

TEST_F(Judge, ACommandThatFailsIsNamed) {
  const Ended ended =
      sandbox_.steptune({"judge", "--time", "20s", "--quiet", "--", "/bin/sh", "steps.sh", "0.02",
                         "---", "/bin/sh", "-c", "echo no such data; exit 3"});
  EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("B failed"));
  EXPECT_THAT(ended.out, HasSubstr("no such data"));
}

TEST_F(Judge, WrongCommandLinesAreRefused) {
  struct Case {
    std::vector<std::string> arguments;
    std::string expected;
  };
  for (const auto& [arguments, expected] : std::vector<Case>{
           {{"judge", "--", "true"}, "1 command is given"},
           {{"judge", "--", "true", "---"}, "a command is empty"},
           {{"judge", "--margin", "0", "--", "true", "---", "true"}, "0 is not a margin"},
           {{"judge", "--build", "make", "--", "true", "---", "true"}, "--build needs --git"},
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
  EXPECT_THAT(ended.err, Not(HasSubstr("B")));
}

/// A campaign of two edits: one is faster, one changes nothing.
TEST_F(Judge, ACampaignKeepsTheFasterEdit) {
  const auto judge = [&](const std::string& champion, const std::vector<std::string>& challenger) {
    std::vector<std::string> words{"judge",   "--campaign", "fast",   "--time",
                                   "30s",     "--quiet",    "--json", "--",
                                   "/bin/sh", "steps.sh",   champion, "---"};
    words.insert(words.end(), challenger.begin(), challenger.end());
    return sandbox_.steptune(words);
  };
  const Ended better = judge("0.06", {"/bin/sh", "steps.sh", "0.02"});
  EXPECT_EQ(better.exit_code, 0) << better.out << better.err;
  EXPECT_TRUE(is_as_defined(sandbox_, better.out, "judge"));
  const Json first = Json::parse(better.out)["campaign"];
  EXPECT_EQ(first["kept"], 1);
  EXPECT_NEAR(first["error"].get<double>(), 0.00732, 1e-5);
  EXPECT_GT(first["next_error"].get<double>(), 0.00732);

  const Ended equal = judge("0.02", {"/bin/sh", "steps.sh", "0.0200"});
  EXPECT_NE(equal.exit_code, 0) << equal.out << equal.err;
  const Json second = Json::parse(equal.out)["campaign"];
  EXPECT_EQ(second["kept"], 1);
  EXPECT_EQ(second["edit"], 2);
  EXPECT_EQ(second["error"], first["next_error"]);

  const Ended failed = judge("0.02", {"/bin/sh", "-c", "exit 3"});
  EXPECT_EQ(failed.exit_code, 1) << failed.out << failed.err;

  const Ended ladder = sandbox_.steptune({"campaign", "fast", "--json"});
  EXPECT_EQ(ladder.exit_code, 0) << ladder.err;
  EXPECT_TRUE(is_as_defined(sandbox_, ladder.out, "campaign"));
  const Json campaign = Json::parse(ladder.out)["campaign"];
  ASSERT_EQ(campaign["edits"].size(), 3U);
  EXPECT_EQ(campaign["edits"][2]["verdict"], "failed");
  EXPECT_EQ(campaign["edits"][2]["error"], 0.0);
  EXPECT_EQ(campaign["champion"]["command"], "/bin/sh steps.sh 0.02");
  EXPECT_GT(campaign["gain"].get<double>(), 2.0);
  EXPECT_TRUE(campaign["measured"].is_null());

  const Ended measured =
      sandbox_.steptune({"campaign", "fast", "--measure", "--time", "60s", "--quiet"});
  EXPECT_EQ(measured.exit_code, 0) << measured.out << measured.err;
  EXPECT_THAT(measured.out, HasSubstr("campaign fast: 3 edits, 1 kept\n"));
  EXPECT_THAT(measured.out, HasSubstr("measured  /bin/sh steps.sh 0.02: faster, "));
  EXPECT_THAT(measured.out, HasSubstr("times as fast as /bin/sh steps.sh 0.06 (95 % interval"));
}

/// Commits are named, and the champion's commit is checked out again.
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
  git("commit -qam fast");
  const Ended judged = sandbox_.steptune({"judge", "--campaign", "commits", "--git", "HEAD~1",
                                          "HEAD", "--build", "test -e steps.sh", "--time", "60s",
                                          "--quiet", "--", "/bin/sh", "train.sh"});
  EXPECT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("campaign commits: edit 1, error at most 0.73 %, 1 kept\n"));
  const std::string commit = git("rev-parse HEAD").substr(0, 12);
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
