// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

namespace fs = std::filesystem;

/// Two finished studies of real processes, the first one used a year ago.
class Gc : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("quick.sh", quick_trial());
    for (const char* name : {"old", "new"}) {
      Json study = Json::parse(quick_study());
      study["name"] = name;
      study["measure"]["confirm_pairs"] = 0;
      sandbox_.write("study.json", study.dump());
      const Ended ended = sandbox_.steptune({"run", "study.json", "--quiet"});
      ASSERT_EQ(ended.exit_code, 0) << ended.err;
    }
    sql("UPDATE studies SET created_wall_s = created_wall_s - 31536000 WHERE name = 'old'; "
        "UPDATE sessions SET started_wall_s = started_wall_s - 31536000 WHERE study_id = 1; "
        "UPDATE trials SET started_wall_s = started_wall_s - 31536000, "
        "ended_wall_s = ended_wall_s - 31536000 WHERE study_id = 1");
    ASSERT_TRUE(fs::exists(log_of("old")));
  }

  void sql(const std::string& statements) const {
    sandbox_.write("change.py",
                   "import sqlite3\nhistory = sqlite3.connect('.steptune/history.db')\n"
                   "history.executescript(\"" +
                       statements + "\")\nhistory.commit()\n");
    ASSERT_EQ(sandbox_.program({"/usr/bin/python3", "change.py"}).exit_code, 0);
  }
  [[nodiscard]] fs::path log_of(const std::string& study) const {
    return sandbox_.folder() / ".steptune" / "logs" / study / "trial-1.log";
  }
  [[nodiscard]] Json gc(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "gc");
    arguments.emplace_back("--json");
    const Ended ended = sandbox_.steptune(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return Json::parse(ended.out);
  }

  Sandbox sandbox_;
};

TEST_F(Gc, OldStudiesKeepTheirResultsOnly) {
  const std::string board = sandbox_.steptune({"leaderboard", "old"}).out;
  const Ended dry = sandbox_.steptune({"gc", "--older-than", "90d", "--dry-run"});
  EXPECT_EQ(difference(R"(removed  study  {{ *}}bytes
traces   old    {{.*B}}
logs     old    {{.*B}}
about {{.*B}} would come back; database and logs would take {{.*B}}
)",
                       dry.out),
            "");
  EXPECT_TRUE(fs::exists(log_of("old"))) << "a dry run removes nothing";
  // Files of trials and of `judge` are removed. Files of the user and of the long run stay.
  sandbox_.write(".steptune/logs/old/notes.txt", "mine");
  sandbox_.write(".steptune/logs/old/train.log", "of the long run");
  sandbox_.write(".steptune/logs/old/trial-1.ds.json", "{}");
  sandbox_.write(".steptune/logs/old/look.log", "of judge");
  fs::create_symlink("../../../study.json", log_of("old").parent_path() / "link.log");
  const Json done = gc({"--older-than", "90d"});
  ASSERT_EQ(done["removed"].size(), 2U) << done;
  EXPECT_EQ(done["removed"][0]["part"], "traces");
  EXPECT_EQ(done["removed"][1]["part"], "logs");
  EXPECT_GT(done["freed_bytes"], 0);
  EXPECT_FALSE(fs::exists(log_of("old")));
  EXPECT_FALSE(fs::exists(sandbox_.folder() / ".steptune/logs/old/trial-1.ds.json"));
  EXPECT_FALSE(fs::exists(sandbox_.folder() / ".steptune/logs/old/look.log"));
  EXPECT_TRUE(fs::exists(log_of("new")));
  EXPECT_EQ(sandbox_.read(".steptune/logs/old/notes.txt"), "mine");
  EXPECT_EQ(sandbox_.read(".steptune/logs/old/train.log"), "of the long run");
  EXPECT_TRUE(fs::exists(sandbox_.folder() / "study.json"));
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "old"}).out, board);
  EXPECT_EQ(sandbox_.steptune({"show", "old", "1"}).exit_code, 0);
  EXPECT_TRUE(gc({"--older-than", "90d"})["removed"].empty()) << "nothing is left to remove";
}

TEST_F(Gc, CompiledFunctionsServeTheLongRunUntilTheyAreCollected) {
  const auto folder_for = [this](const std::string& study) {
    return sandbox_
        .steptune({"exec", study, "--quiet", "--", "/bin/sh", "-c",
                   "echo \"${JAX_COMPILATION_CACHE_DIR-none}\""})
        .out;
  };
  EXPECT_EQ(folder_for("old"), "none\n") << "its trials have compiled nothing";
  sandbox_.write(".steptune/logs/old/jax-cache/function-1", std::string(100'000, 'x'));
  const fs::path cache = log_of("old").parent_path() / "jax-cache";
  EXPECT_EQ(folder_for("old"), cache.string() + "\n");
  EXPECT_EQ(folder_for("new"), "none\n");
  const Json done = gc({"--older-than", "90d"});
  EXPECT_GT(done["freed_bytes"], 100'000);
  EXPECT_FALSE(fs::exists(cache));
}

TEST_F(Gc, StudiesAreRemovedOnRequest) {
  EXPECT_EQ(gc({"--older-than", "90d", "--studies"})["removed"][0]["study"], "old");
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "old"}).exit_code, 1);
  EXPECT_FALSE(fs::exists(log_of("old").parent_path()));
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "new"}).exit_code, 0);
}

TEST_F(Gc, StudiesOfACampaignAreKept) {
  sql("UPDATE studies SET document = json_set(document, '$.campaign', json_object('name', 'c')) "
      "WHERE name = 'old'");
  for (const Json& step : gc({"--older-than", "90d", "--studies"})["removed"])
    EXPECT_NE(step["part"], "study");
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "old"}).exit_code, 0);
}

TEST_F(Gc, TheLimitKeepsTheLatestStudyAndSaysSo) {
  const Ended ended = sandbox_.steptune({"gc", "--history-limit", "1KB"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("study    old"), std::string::npos) << ended.out;
  EXPECT_NE(ended.err.find("the limit is not reached"), std::string::npos) << ended.err;
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "new"}).exit_code, 0);
  EXPECT_TRUE(gc({"--history-limit", "1GiB"})["removed"].empty());
  EXPECT_TRUE(gc({"--history-limit", "1.5GB"})["removed"].empty());
}

TEST_F(Gc, ARunWithALimitRemovesOldDataButNotItsStudy) {
  sandbox_.write("padding.py",
                 "import os\nopen('.steptune/logs/old/trial-1.log', 'a').write('x' * 3000000)\n");
  ASSERT_EQ(sandbox_.program({"/usr/bin/python3", "padding.py"}).exit_code, 0);
  Json study = Json::parse(quick_study());
  study["measure"]["confirm_pairs"] = 0;
  const auto run = [&](const std::string& name, const std::string& limit) {
    study["name"] = name;
    sandbox_.write("study.json", study.dump());
    return sandbox_.steptune({"run", "study.json", "--quiet", "--history-limit", limit});
  };
  const Ended roomy = run("third", "1GiB");
  EXPECT_EQ(roomy.exit_code, 0) << roomy.err;
  EXPECT_TRUE(fs::exists(log_of("old"))) << "all files together are smaller than the limit";
  const Ended limited = run("fourth", "3MB");
  EXPECT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_EQ(limited.err.find("--history-limit"), std::string::npos) << limited.err;
  EXPECT_FALSE(fs::exists(log_of("old"))) << "the least recently used study loses its logs first";
  EXPECT_TRUE(fs::exists(log_of("third")));
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "old"}).exit_code, 0) << "its results are kept";
  const Ended tight = run("fifth", "1KB");
  EXPECT_EQ(tight.exit_code, 0) << "an unreached limit does not fail the run";
  EXPECT_NE(tight.err.find("--history-limit: the limit is not reached"), std::string::npos)
      << tight.err;
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "fifth"}).exit_code, 0);
  EXPECT_EQ(sandbox_.steptune({"leaderboard", "fourth"}).exit_code, 1);
}

TEST_F(Gc, AStudyWhoseTrialsMayStillRunIsLeftAlone) {
  sql("UPDATE studies SET status = 'running' WHERE name = 'old'");
  sql("UPDATE trials SET status = 'running', started_wall_s = unixepoch() WHERE number = 2 AND "
      "study_id = (SELECT id FROM studies WHERE name = 'old')");
  const Json collected = gc({"--history-limit", "1KB"});
  for (const Json& step : collected["removed"])
    EXPECT_EQ(step["study"], "new");
  EXPECT_TRUE(fs::exists(log_of("old")));
}

TEST_F(Gc, AStudyWhoseTunerWasKilledIsCollected) {
  sql("UPDATE studies SET status = 'running' WHERE name = 'old'");
  for (const bool dry_run : {true, false}) {
    std::vector<std::string> arguments{"--older-than", "90d", "--studies"};
    if (dry_run) arguments.emplace_back("--dry-run");
    EXPECT_EQ(gc(arguments)["removed"][0]["study"], "old") << dry_run;
  }
  EXPECT_FALSE(fs::exists(log_of("old")));
}

TEST(GcFaults, AreReported) {
  const Sandbox sandbox;
  EXPECT_EQ(sandbox.steptune({"gc"}).exit_code, 1) << "there is no database";
  EXPECT_FALSE(fs::exists(sandbox.folder() / ".steptune"));
  EXPECT_EQ(sandbox.steptune({"gc", "--older-than", "soon"}).exit_code, 2);
  EXPECT_EQ(sandbox.steptune({"gc", "--studies"}).exit_code, 2);
  EXPECT_EQ(sandbox.steptune({"gc", "--history-limit", "much"}).exit_code, 2);
}

}  // namespace
}  // namespace steptune::golden
