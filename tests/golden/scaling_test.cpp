// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/json.hpp"
#include "tests/golden/program.hpp"
#include "tests/golden/studies.hpp"

namespace steptune::golden {
namespace {

/// A published case: helper machines with processors beside one machine with GPUs. Prices and step
/// times are from the posts, as a table of one parameter.
std::string helpers_study(const std::string& gpu, const std::string& cpu, double gpu_price,
                          double cpu_price, const std::string& step_time) {
  Json study = Json::parse(R"json({
  "name": "helpers",
  "command": ["python3", "train.py", "--helpers={helpers}"],
  "parameters": {"helpers": {"type": "int", "low": 0, "high": 3}},
  "baseline": {"helpers": 0},
  "objectives": ["cost", "time"],
  "search": {"searcher": "grid", "scheduler": "none"},
  "budget": {"trials": 4},
  "runner": {"type": "replay"}
})json");
  study["name"] = gpu.substr(0, gpu.rfind('.'));
  Json& runner = study["runner"];
  runner["instance_groups"] = {
      {{"name", "gpu"}, {"instance_type", gpu}, {"instance_count", 1}},
      {{"name", "cpu"}, {"instance_type", cpu}, {"instance_count", "helpers"}}};
  runner["prices"] = {{gpu, gpu_price}, {cpu, cpu_price}};
  runner["seconds_per_sample"] = step_time;
  return study.dump();
}

/// The cluster of `cluster_study()` with any count of nodes up to 64, and with noise.
std::string knee_study() {
  Json study = Json::parse(cluster_study());
  study["parameters"] = {{"nodes", {{"type", "int"}, {"low", 1}, {"high", 64}}},
                         {"batch", {{"type", "int"}, {"low", 32}, {"high", 128}}}};
  study["objectives"] = {"time"};
  study["search"] = {{"searcher", "scaling"}, {"scheduler", "none"}, {"min_efficiency", 0.5}};
  study["runner"]["noise"] = 0.01;
  return study.dump();
}

class ScalingCommand : public testing::Test {
 protected:
  Json scaling_json(const std::string& study, const std::vector<std::string>& options = {}) {
    sandbox_.write("study.json", study);
    EXPECT_EQ(sandbox_.steptune({"run", "study.json", "--quiet"}).exit_code, 0);
    std::vector<std::string> arguments{"scaling", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ended ended = sandbox_.steptune(arguments);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    const Json json = Json::parse(ended.out);
    EXPECT_EQ(json["schema_version"], 1);
    return json["scaling"];
  }
  Sandbox sandbox_;
};

TEST_F(ScalingCommand, TheSearcherFindsTheKneeWithFewTrials) {
  const Json scaling = scaling_json(knee_study());
  EXPECT_EQ(scaling["min_efficiency"], 0.5) << "that of the study file";
  const Json& knee = scaling["knee"];
  // Speed 1 / (0.06 + 0.94 / n + 0.004 (n - 1)): the fifth machine adds 53 % of the first one's
  // speed, the sixth 44 %. So the knee at 50 % is 5 machines.
  EXPECT_LE(knee["low_95"], 5.0);
  EXPECT_GE(knee["high_95"], 5.0);
  EXPECT_LE(scaling["counts"].size(), 8U);
  const Ended shown = sandbox_.steptune({"leaderboard", "--all", "--json"});
  const Json rows = Json::parse(shown.out)["rows"];
  EXPECT_FALSE(rows.empty());
  for (const Json& row : rows) {
    EXPECT_EQ(row["trial"]["configuration"]["batch"], 32) << "other parameters stay";
  }
}

TEST_F(ScalingCommand, AnUnfitStudyOfTheSearcherIsRefused) {
  Json study = Json::parse(knee_study());
  study["search"]["scheduler"] = "asha";
  sandbox_.write("study.json", study.dump());
  Ended ended = sandbox_.steptune({"check", "study.json"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(
      difference(
          R"(steptune: error: study.json#/search/scheduler{{.*}}the scheduler asha would stop slow counts before they are measured: use "none" with the searcher scaling
)",
          ended.err),
      "");
  study["search"]["scheduler"] = "none";
  study["search"]["over"] = "gpus";
  sandbox_.write("study.json", study.dump());
  ended = sandbox_.steptune({"check", "study.json"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.err.find("#/search/over"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("there is no parameter \"gpus\""), std::string::npos) << ended.err;
}

TEST_F(ScalingCommand, RecoversTheLawThatTheStudyWasMadeFrom) {
  const Json scaling = scaling_json(cluster_study());
  EXPECT_EQ(scaling["over"], "nodes");
  ASSERT_EQ(scaling["counts"].size(), 5U);
  EXPECT_EQ(scaling["counts"][0]["trials"], 3) << "a trial that misses the deadline has not failed";
  const Json& law = scaling["laws"][0];
  EXPECT_EQ(law["law"], "amdahl_linear");
  EXPECT_LE(law["serial"]["low_95"], 0.06);
  EXPECT_GE(law["serial"]["high_95"], 0.06);
  EXPECT_LE(law["communication"]["low_95"], 0.004);
  EXPECT_GE(law["communication"]["high_95"], 0.004);
  EXPECT_EQ(scaling["cheapest"]["count"], 4.0);
  EXPECT_EQ(scaling["cost_unit"], "USD");
  EXPECT_TRUE(scaling["predictions"].empty()) << "every count that may be asked for was measured";

  const Ended ended = sandbox_.steptune({"scaling", "study.json"});
  EXPECT_EQ(difference(R"(nodes {{ +}}time  95 % {{ +}}cost  speed-up {{ +}}efficiency {{.*}}best of
    1  {{.*}}1.00x  100 % (100 to 100) {{ +-.*}} 3
    2  {{.*}} 3
    4  {{.*}} 3
    8  {{.*}} 3
   16  {{.*}} 3

law: Amdahl's law with communication that grows with each one (Gunther's scalability law) {{.*}}
shares: serial {{.*}} of the time on one, communication {{.*}} more for each further one
on 16 nodes: serial {{.*}}, communication {{.*}}, parallel {{.*}}
knee: {{\d nodes.*}}: beyond it, each further one gains less than 70 %
cheapest: in 6.0 h: 4 nodes, {{.*}}
)",
                       ended.out),
            "");
  EXPECT_EQ(ended.err, "");
  const Ended narrow = sandbox_.on_terminal("stty cols 60; " + steptune_program() + " scaling");
  EXPECT_NE(narrow.out.find("efficiency"), std::string::npos) << narrow.out;
  EXPECT_EQ(narrow.out.find("best of"), std::string::npos) << narrow.out;

  const Json leaderboard = Json::parse(sandbox_.steptune({"leaderboard", "--json"}).out);
  EXPECT_EQ(leaderboard["scaling"]["knee"], scaling["knee"]);
  EXPECT_EQ(leaderboard["scaling"]["cheapest"], scaling["cheapest"]);
  const std::string in_text = sandbox_.steptune({"leaderboard", "--limit", "3"}).out;
  EXPECT_EQ(difference(R"({{...}}
knee: {{\d nodes.*}}: beyond it, each further one gains less than 70 %
cheapest: in 6.0 h: 4 nodes, {{.*}}
{{\d+ trials: .*}}
)",
                       in_text),
            "");
  const Json& rows = leaderboard["rows"];
  double most_at_four = 0.0;
  for (const Json& row : rows) {
    if (row["trial"]["configuration"]["nodes"] != 4) continue;
    most_at_four = std::max(most_at_four, row["efficiency"].get<double>());
  }
  EXPECT_NEAR(most_at_four, scaling["counts"][2]["efficiency"]["mean"], 1e-9);
  const Ended board = sandbox_.steptune(
      {"leaderboard", "--all", "--sort", "efficiency", "--columns", "nodes,efficiency"});
  EXPECT_NE(board.out.find("nodes  efficiency\n        1       100 %\n"), std::string::npos)
      << board.out;

  ASSERT_EQ(sandbox_.steptune({"report", "--html", "report.html"}).exit_code, 0);
  const std::string page = sandbox_.read("report.html");
  EXPECT_NE(page.find("id=\"scaling-chart\""), std::string::npos);
  EXPECT_NE(page.find("Gunther&#39;s scalability law"), std::string::npos);
}

TEST_F(ScalingCommand, HelperCountsAndSavingsAreThePublishedOnes) {
  const Json p4d =
      scaling_json(helpers_study("ml.p4d.24xlarge", "ml.c5.18xlarge", 37.688, 3.672,
                                 "(helpers == 0 ? 0.192 : helpers == 1 ? 0.112 : 0.086)"));
  EXPECT_EQ(p4d["cheapest"]["count"], 2.0);
  const auto saved = [](const Json& scaling) {
    return 1.0 - scaling["cheapest"]["cost"]["mean"].get<double>() /
                     scaling["counts"][0]["cost"]["mean"].get<double>();
  };
  EXPECT_NEAR(saved(p4d), 0.46, 0.015);
  EXPECT_TRUE(p4d["laws"].empty());
  EXPECT_FALSE(p4d["why_no_law"].is_null());
  const Json p3 = scaling_json(helpers_study("ml.p3.2xlarge", "ml.c5.9xlarge", 3.825, 1.836,
                                             "(helpers == 0 ? 1.193 : 0.184)"));
  EXPECT_EQ(p3["cheapest"]["count"], 1.0);
  EXPECT_NEAR(saved(p3), 0.77, 0.015);
}

/// A cluster by Amdahl's law, 6 % serial, with only these counts. Trials with the count `failing`
/// are too slow to be measured, so they fail.
std::string study_of_counts(const std::vector<int>& counts, int failing = 0) {
  Json study = Json::parse(cluster_study());
  study["parameters"] = {{"nodes", {{"type", "ordinal"}, {"choices", counts}}}};
  study["command"] = {"python3", "train.py"};
  study["baseline"] = {{"nodes", counts.front()}};
  study["planned_run"].erase("deadline");
  study["objectives"] = {"time"};
  study["runner"]["seconds_per_sample"] =
      fmt::format("nodes == {} ? 1e6 : 0.0006 * (0.06 + 0.94 / nodes)", failing);
  return study.dump();
}

TEST_F(ScalingCommand, OneCountHasNoLaw) {
  const Json scaling = scaling_json(study_of_counts({2}));
  ASSERT_EQ(scaling["counts"].size(), 1U);
  EXPECT_EQ(scaling["counts"][0]["speed_up"]["mean"], 1.0);
  EXPECT_TRUE(scaling["counts"][0]["added_pays"].is_null());
  EXPECT_TRUE(scaling["laws"].empty() && scaling["knee"].is_null() &&
              scaling["predictions"].empty());
  EXPECT_EQ(scaling["cheapest"]["count"], 2);
  const Ended shown = sandbox_.steptune({"scaling"});
  EXPECT_NE(shown.out.find("law: only one count was measured"), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find("knee:"), std::string::npos) << shown.out;
  ASSERT_EQ(sandbox_.steptune({"report", "--html", "report.html"}).exit_code, 0);
}

TEST_F(ScalingCommand, TwoCountsAssumeALaw) {
  const Json scaling = scaling_json(study_of_counts({1, 4}), {"--min-efficiency", "0.9"});
  EXPECT_EQ(scaling["min_efficiency"], 0.9);
  ASSERT_FALSE(scaling["laws"].empty());
  EXPECT_EQ(scaling["laws"][0]["law"], "amdahl");
  EXPECT_TRUE(scaling["laws"][0]["weight"].is_null());
  EXPECT_NEAR(scaling["laws"][0]["serial"]["mean"].get<double>(), 0.06, 0.01);
  EXPECT_EQ(scaling["law_is_decided"], false);
  // Four machines are 3.4 times as fast as one: each of the three adds 80 % of the first one's
  // speed.
  EXPECT_EQ(scaling["knee"]["count"], 1);
  const Ended least = sandbox_.steptune({"scaling", "--min-efficiency", "0.01"});
  EXPECT_NE(least.out.find("knee: 4 nodes: up to the most that was measured"), std::string::npos)
      << least.out;
  EXPECT_NE(least.out.find("Amdahl's law, assumed: 2 counts"), std::string::npos) << least.out;
  const Ended narrow = sandbox_.on_terminal("stty cols 80; " + steptune_program() + " scaling");
  std::istringstream lines(narrow.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 81U) << line;  // 81 with the terminal's CR
}

TEST_F(ScalingCommand, ACountWhereAllFailIsReportedNotRecommended) {
  const Json scaling = scaling_json(study_of_counts({1, 2, 4}, 2));
  ASSERT_EQ(scaling["counts"].size(), 2U);
  EXPECT_EQ(scaling["remarks"][0], "nodes=2: 1 trial, and no configuration that can be used");
  for (const Json& prediction : scaling["predictions"])
    EXPECT_NE(prediction["count"], 2);
  EXPECT_NE(scaling["knee"]["count"], 2);
  Json broken = Json::parse(study_of_counts({1}, 1));
  broken["name"] = "broken";
  sandbox_.write("broken.json", broken.dump());
  EXPECT_NE(sandbox_.steptune({"run", "broken.json", "--quiet"}).exit_code, 0);
  const Ended none = sandbox_.steptune({"scaling", "broken.json"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("has no measured trial with nodes"), std::string::npos) << none.err;
  EXPECT_NE(none.err.find("'steptune leaderboard broken --all'"), std::string::npos) << none.err;
}

TEST_F(ScalingCommand, MissingDataEndsWithAReason) {
  static_cast<void>(scaling_json(cluster_study()));
  const Ended unknown = sandbox_.steptune({"scaling", "--over", "node"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean \"nodes\"?"), std::string::npos) << unknown.err;
  EXPECT_EQ(sandbox_.steptune({"scaling", "--deadline", "soon"}).exit_code, 2);
  EXPECT_EQ(sandbox_.steptune({"scaling", "--min-efficiency", "2"}).exit_code, 2);
  EXPECT_EQ(sandbox_.steptune({"scaling", "other"}).exit_code, 1);
}

}  // namespace
}  // namespace steptune::golden
