// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/invocation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/temporary_folder.hpp"

namespace steptune::mcp {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InvocationTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<Invocation> made(const char* tool, const std::string& arguments) const {
    const Json json = Json::parse(arguments);
    must(check_arguments(*find_tool(tool), json));
    return invocation_of(*find_tool(tool), json, limits_);
  }
  [[nodiscard]] std::vector<std::string> words(const char* tool,
                                               const std::string& arguments) const {
    return must(made(tool, arguments)).words;
  }
  [[nodiscard]] std::string fault(const char* tool, const std::string& arguments) const {
    const auto invocation = made(tool, arguments);
    return invocation ? "none" : invocation.error().text();
  }

  TemporaryFolder top_{"invocation"};
  const fs::path root_ = [&] {
    fs::create_directories(top_.path() / "root/inner");
    return fs::canonical(top_.path()) / "root";
  }();
  ServerLimits limits_{must(Roots::create({root_})), 1200.0, ""};
};

TEST_F(InvocationTest, EachToolHasItsCommandLine) {
  EXPECT_THAT(words("survey", R"({"command": ["python3", "--name"], "name": "-n", "safe": true})"),
              ElementsAre("check", "--json", "--color=never", "--show=1", "--name=-n", "--safe",
                          "--", "python3", "--name"));
  EXPECT_THAT(words("tune", R"({"command": ["a"], "time": "90s", "trials": 3})"),
              ElementsAre("run", "--json", "--color=never", "--trials=3", "--time=90", "--", "a"));
  EXPECT_THAT(words("judge", R"({"commands": [["a", "--"], ["b"], ["c"]], "margin": "3%"})"),
              ElementsAre("judge", "--json", "--color=never", "--time=300", "--margin=3%", "--",
                          "a", "--", "---", "b", "---", "c"));
  EXPECT_THAT(words("judge", R"({"command": ["a"], "revisions": ["main", "HEAD"], "build": "make",
                                 "time": "1m"})"),
              ElementsAre("judge", "--json", "--color=never", "--time=60", "--build=make", "--git",
                          "main", "HEAD", "--", "a"));
  EXPECT_THAT(words("judge", R"({"commands": [["a"], ["b"]], "campaign": "-c"})"),
              ElementsAre("judge", "--json", "--color=never", "--time=300", "--campaign=-c", "--",
                          "a", "---", "b"));
  EXPECT_THAT(words("status", "{}"), ElementsAre("studies", "--json", "--color=never"));
  EXPECT_THAT(words("status", R"({"campaign": "c"})"),
              ElementsAre("campaign", "--json", "--color=never", "c"));
  EXPECT_THAT(words("status", R"({"study": "s", "limit": 9})"),
              ElementsAre("leaderboard", "--json", "--color=never", "--limit=9", "s"));
  EXPECT_THAT(words("explain", R"({"about": "bottleneck", "trial": 2})"),
              ElementsAre("bottleneck", "--json", "--color=never", "--trial=2"));
  EXPECT_THAT(words("explain", R"({"about": "importance", "study": "s"})"),
              ElementsAre("importance", "--json", "--color=never", "s"));
  EXPECT_THAT(words("explain", R"({"about": "trial", "study": "s", "trial": 2})"),
              ElementsAre("show", "--json", "--color=never", "s", "2"));
  EXPECT_THAT(words("explain", R"({"about": "output", "trial": 2})"),
              ElementsAre("show", "--color=never", "--log", "2"));
}

TEST_F(InvocationTest, TimesStayBelowTheLimit) {
  EXPECT_EQ(must(made("tune", R"({"command": ["a"]})")).time_s, 600.0);
  EXPECT_EQ(must(made("tune", R"({"command": ["a"], "time": "20m"})")).time_s, 1200.0);
  EXPECT_THAT(fault("tune", R"({"command": ["a"], "time": "21m"})"),
              HasSubstr("more than a call may take"));
  EXPECT_THAT(fault("judge", R"({"commands": [["a"], ["b"]], "time": "soon"})"),
              HasSubstr("not a duration"));
  limits_.most_time_s = 60.0;
  EXPECT_EQ(must(made("tune", R"({"command": ["a"]})")).time_s, 60.0);
  const Invocation judge = must(made("judge", R"({"commands": [["a"], ["b"]]})"));
  EXPECT_EQ(judge.time_s, 60.0);
  EXPECT_GT(judge.most_time_s, 60.0) << "it may report its result";
  EXPECT_LT(judge.most_time_s, 180.0);
}

TEST_F(InvocationTest, ExcludingArgumentsAreNamed) {
  EXPECT_THAT(fault("tune", "{}"), HasSubstr("either \"command\" or \"study\""));
  EXPECT_THAT(fault("tune", R"({"command": ["a"], "study": "s"})"), HasSubstr("either"));
  EXPECT_THAT(fault("judge", "{}"), HasSubstr("either"));
  EXPECT_THAT(fault("judge", R"({"command": ["a"]})"), HasSubstr("need each other"));
  EXPECT_THAT(fault("judge", R"({"commands": [["a"], ["b"]], "revisions": ["x", "y"]})"),
              HasSubstr("need each other"));
  EXPECT_THAT(fault("judge", R"({"commands": [["a"], ["b"]], "build": "make"})"),
              HasSubstr("needs \"revisions\""));
  EXPECT_THAT(fault("judge", R"({"commands": [["a", "---"], ["b"]]})"), HasSubstr("the word ---"));
  EXPECT_THAT(fault("status", R"({"study": "s", "campaign": "c"})"), HasSubstr("either"));
  EXPECT_THAT(fault("status", R"({"limit": 3})"), HasSubstr("\"limit\" needs \"study\""));
  EXPECT_THAT(fault("status", R"({"campaign": "c", "limit": 3})"), HasSubstr("needs"));
  EXPECT_THAT(fault("explain", R"({"about": "trial"})"), HasSubstr("\"trial\" is missing"));
  EXPECT_THAT(fault("explain", R"({"about": "importance", "trial": 2})"), HasSubstr("all trials"));
}

TEST_F(InvocationTest, NamesAreNoOptions) {
  EXPECT_THAT(fault("judge", R"({"command": ["a"], "revisions": ["main", "--db=/x"]})"),
              HasSubstr("no git revision"));
  EXPECT_THAT(fault("status", R"({"study": "--db=/x"})"), HasSubstr("no study"));
  EXPECT_THAT(fault("status", R"({"campaign": "--measure"})"), HasSubstr("no campaign"));
  EXPECT_THAT(fault("explain", R"({"about": "importance", "study": "-x"})"), HasSubstr("no study"));
}

TEST_F(InvocationTest, FoldersAreInsideTheRoots) {
  EXPECT_EQ(must(made("tune", R"({"command": ["a"], "folder": "inner"})")).folder, root_ / "inner");
  for (const char* tool : {"survey", "tune"})
    EXPECT_THAT(fault(tool, R"({"command": ["a"], "folder": ".."})"), HasSubstr("outside")) << tool;
  EXPECT_THAT(fault("status", R"({"folder": "/"})"), HasSubstr("outside"));
}

TEST_F(InvocationTest, AStudyFileAndItsFolderAreInsideTheRoots) {
  top_.write("root/good.json", R"({"working_directory": "inner"})");
  top_.write("root/bad.json", R"({"working_directory": "../"})");
  top_.write("outside.json", "{}");
  EXPECT_THAT(words("tune", R"({"study": "good.json"})"),
              ElementsAre("run", "--json", "--color=never", (root_ / "good.json").string()));
  EXPECT_EQ(must(made("tune", R"({"study": "good.json"})")).time_s, std::nullopt)
      << "the study's own budget";
  EXPECT_THAT(fault("tune", R"({"study": "bad.json"})"), HasSubstr("outside"));
  EXPECT_THAT(fault("tune", R"({"study": "../outside.json"})"), HasSubstr("outside"));
  EXPECT_THAT(fault("tune", R"({"study": "absent.json"})"), HasSubstr("No such file"));
  EXPECT_THAT(fault("tune", R"({"study": "good.json", "name": "n"})"), HasSubstr("need"));
}

TEST_F(InvocationTest, TheDatabaseIsThatOfTheServer) {
  limits_.database = "/srv/history.db";
  EXPECT_THAT(words("status", "{}"),
              ElementsAre("studies", "--json", "--color=never", "--db=/srv/history.db"));
}

}  // namespace
}  // namespace steptune::mcp
