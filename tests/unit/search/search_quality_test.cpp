// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "benchmarks/search_quality/comparison.hpp"
#include "benchmarks/search_quality/function_problem.hpp"
#include "benchmarks/search_quality/player.hpp"
#include "benchmarks/search_quality/summary.hpp"
#include "benchmarks/search_quality/table_problem.hpp"

namespace steptune::search_quality {
namespace {

using ::testing::HasSubstr;

/// A table in a temporary folder: two parameters and a fidelity; one combination is absent, one
/// failed.
class TableProblem : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) /
                 ("steptune_table_" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
    write("t.json", R"({"name": "t", "csv": "t.csv", "params": [
        {"name": "batch", "kind": "ord", "values": ["16", "32", "64"]},
        {"name": "mode", "kind": "cat", "values": ["a", "b"]},
        {"name": "size", "kind": "ord", "values": ["10", "20", "40"]}],
      "objective": "time", "direction": "minimize", "others": ["cost"]})");
    std::string csv = "batch,mode,size,time,cost\n";
    for (const int size : {10, 20, 40}) {
      const std::string tail = "," + std::to_string(size) + ",";
      csv += "16,a" + tail + "8,1\n" + "32,a" + tail + "4,2\n" + "64,a" + tail + "2,4\n";
      csv += "16,b" + tail + "9,9\n" + "32,b" + tail + ",9\n";
    }
    write("t.csv", csv);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
  }
  [[nodiscard]] Result<Problem> table(const TableOptions& options) const {
    return table_problem(directory_ / "t.json", options);
  }

  std::filesystem::path directory_;
};

Configuration configuration(std::int64_t batch, const char* mode, std::int64_t size) {
  return Configuration(
      {{"batch", Value{batch}}, {"mode", Value{std::string(mode)}}, {"size", Value{size}}});
}

TEST_F(TableProblem, EvaluatesRowsAndFailsOnMissingOnes) {
  const auto problem = table({});
  ASSERT_TRUE(problem) << problem.error().text();
  EXPECT_EQ(problem->evaluate(configuration(32, "a", 20), 0), std::vector{4.0});
  EXPECT_EQ(problem->evaluate(configuration(64, "b", 20), 0), std::nullopt) << "absent";
  EXPECT_EQ(problem->evaluate(configuration(32, "b", 20), 0), std::nullopt) << "empty objective";
  EXPECT_EQ(problem->optimum, 2.0);
  EXPECT_NEAR(problem->regret(2.1), 0.05, 1e-12);
  EXPECT_TRUE(problem->objectives[0].positive);
  EXPECT_EQ(problem->space->find("batch")->scale, Scale::log2) << "16, 32, 64 are a range";
}

TEST_F(TableProblem, SetsTheFidelityApart) {
  const auto problem = table({false, std::nullopt, "size"});
  ASSERT_TRUE(problem) << problem.error().text();
  EXPECT_EQ(problem->space->parameters().size(), 2u);
  EXPECT_EQ(problem->fidelities, (std::vector{0.25, 0.5, 1.0}));
  Configuration without = configuration(32, "a", 20);
  without.erase("size");
  EXPECT_EQ(problem->evaluate(without, 1), std::vector{4.0});
  EXPECT_THAT(table({false, std::nullopt, "siez"}).error().text(), HasSubstr("\"siez\""));
}

TEST_F(TableProblem, TakesTheSecondColumnOrTheNamedOne) {
  const auto problem = table({true, std::nullopt, std::nullopt});
  ASSERT_TRUE(problem) << problem.error().text();
  EXPECT_EQ(problem->evaluate(configuration(16, "a", 10), 0), (std::vector{8.0, 1.0}));
  EXPECT_TRUE(problem->log_volume);
  EXPECT_NEAR(problem->volume_share({{8, 1}, {4, 2}, {2, 4}}), 1.0, 1e-12);
  EXPECT_EQ(problem->volume_share({{8, 1}}), 0.0) << "no better than the medians, 8 and 4";
  const auto maximised = table({true, "cost:maximize", std::nullopt});
  EXPECT_EQ(maximised->evaluate(configuration(16, "a", 10), 0), (std::vector{8.0, -1.0}));
}

TEST_F(TableProblem, ReportsFaultyFiles) {
  write("t.csv", "batch,mode,size,time,cost\n16,a,10,8\n");
  EXPECT_THAT(table({}).error().text(), HasSubstr(":2: 4 cells, but the header has 5"));
  write("t.csv", "batch,mode,size,time,cost\n16,c,10,8,1\n");
  EXPECT_THAT(table({}).error().text(), HasSubstr("mode = \"c\""));
  write("t.csv", "batch,mode,size,tme,cost\n16,a,10,8,1\n");
  EXPECT_THAT(table({}).error().text(), HasSubstr("did you mean \"tme\""));
  write("t.json", R"({"params": 3})");
  EXPECT_FALSE(table({}));
}

/// Proposes given configurations.
class Script final : public Proposer {
 public:
  explicit Script(std::vector<Configuration> lines) : lines_(std::move(lines)) {}
  Result<std::optional<Configuration>> propose(std::int64_t trial) override {
    const auto at = static_cast<std::size_t>(trial);
    return at < lines_.size() ? std::optional(lines_[at]) : std::nullopt;
  }
  Result<void> learn(const Observation& observation) override {
    learnt.push_back(observation);
    return {};
  }
  std::vector<Observation> learnt;

 private:
  std::vector<Configuration> lines_;
};

Configuration pair(std::int64_t batch, const char* mode) {
  Configuration both = configuration(batch, mode, 0);
  both.erase("size");
  return both;
}

TEST_F(TableProblem, PlaysHalvingOverFidelities) {
  const auto problem = table({false, std::nullopt, "size"});
  Script script({pair(32, "a"), pair(16, "a"), pair(32, "b"), pair(64, "a"), pair(16, "b")});
  const VirtualClock clock;
  const auto played = play_asha(*problem, script, 0, 10, 0.01, clock);
  ASSERT_TRUE(played) << played.error().text();
  ASSERT_EQ(played->evaluations.size(), 4u) << "ends at the optimum";
  EXPECT_EQ(played->evaluations[0].cost, 1.0);
  EXPECT_EQ(played->evaluations[1].fidelity, 0.25) << "worse than the first: stopped at once";
  EXPECT_EQ(played->evaluations[2].cost, 0.0) << "failed at once";
  EXPECT_EQ(script.learnt[0].kind, ObservationKind::complete);
  EXPECT_EQ(script.learnt[1].kind, ObservationKind::partial);
  EXPECT_EQ(script.learnt[1].fidelity, 0.25);
  EXPECT_EQ(script.learnt[2].kind, ObservationKind::failed);
  const Summary summary = summarise(*problem, {"script", {*played}});
  EXPECT_EQ(summary.cost[0].median, 2.25);
  EXPECT_EQ(summary.evaluations[0].median, 4.0);
}

TEST_F(TableProblem, SummarisesSeeds) {
  const auto problem = table({false, std::nullopt, "size"});
  const VirtualClock clock;
  Campaign campaign{"script", {}};
  const std::vector<std::vector<Configuration>> scripts = {
      {pair(64, "a"), pair(16, "a")},
      {pair(64, "b"), pair(16, "a"), pair(64, "a")},
      {pair(16, "a"), pair(16, "b")}};
  for (const auto& lines : scripts) {
    Script script(lines);
    campaign.trajectories.push_back(*play(*problem, script, 0, 10, clock));
  }
  const Summary summary = summarise(*problem, campaign);
  EXPECT_EQ(summary.evaluations[0].median, 3.0) << "1, 3 and never";
  EXPECT_NEAR(summary.evaluations[0].solved, 2.0 / 3.0, 1e-12);
  EXPECT_NEAR(summary.failures, 1.0 / 3.0, 1e-12);
  const auto progress = progress_of(*problem, campaign.trajectories[1]);
  EXPECT_TRUE(std::isnan(progress[0]));
  EXPECT_EQ(progress[1], 8.0);
  EXPECT_EQ(progress[2], 2.0);
  const Json json = to_json(*problem, campaign, summary);
  EXPECT_EQ(json["seeds"].size(), 3u);
  EXPECT_EQ(json["seeds"][1]["evaluations"][0]["status"], "failed");
  EXPECT_EQ(json["seeds"][1]["evaluations"][2]["configuration"]["batch"], 64);
  EXPECT_THAT(text_of(*problem, {campaign}, {summary}), HasSubstr("script"));
}

TEST(Hypervolume, CountsTheDominatedArea) {
  EXPECT_DOUBLE_EQ(hypervolume({{1, 2}, {2, 1}, {2, 2}}, {3, 3}), 3.0);
  EXPECT_DOUBLE_EQ(hypervolume({{4, 0}, {0, 4}}, {3, 3}), 0.0);
}

TEST(FunctionProblem, HasTheKnownOptima) {
  const auto value_at = [](const char* name, const Point& point) {
    const auto problem = function_problem(name);
    return (*problem->evaluate(problem->space->decode(point), 0))[0];
  };
  const double pi = 3.14159265358979;
  EXPECT_NEAR(value_at("branin", {(pi + 5) / 15, 2.275 / 15}), 0.397887, 1e-5);
  EXPECT_NEAR(value_at("hartmann6", {0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573}),
              -3.32237, 1e-4);
  // Integers at 2 of -5..5, the third choice, floats at 1.3.
  EXPECT_NEAR(value_at("ackley_mixed8", {0.7, 0.7, 0.7, 2, 2, 0.63, 0.63, 0.63}), 0.0, 1e-9);
  for (const std::string& name : function_names())
    EXPECT_TRUE(function_problem(name)) << name;
  EXPECT_THAT(function_problem("brannin").error().text(), HasSubstr("did you mean \"branin\""));
}

TEST(FunctionProblem, KnowsTheFrontOfZdt1) {
  const auto problem = function_problem("zdt1_d6");
  std::vector<std::vector<double>> front;
  for (int i = 0; i <= 10; ++i) {
    front.push_back(*problem->evaluate(problem->space->decode({i / 10.0, 0, 0, 0, 0, 0}), 0));
  }
  EXPECT_NEAR(problem->volume_share(front), 1.0, 1e-12);
}

TEST(PValue, IsSmallOnlyWhenOneIsBetter) {
  const auto from = [](double offset) {
    std::vector<double> results;
    for (int seed = 0; seed < 10; ++seed)
      results.push_back(offset + seed);
    return results;
  };
  // Computed by hand for 0..9 against 5..14: U = 10 + 5 / 2, mean 50, variance 100 / 12 * (21 - 30
  // / 380), so z = (12.5 + 0.5 - 50) / 13.204 = -2.8022.
  EXPECT_NEAR(p_value(from(1), from(6)), 0.002538, 1e-5);
  EXPECT_GT(p_value(from(6), from(1)), 0.99);
  EXPECT_NEAR(p_value(from(1), from(1)), 0.5, 0.05);
}

TEST(Comparison, FailsWhereThisVersionIsWorse) {
  const auto problem = function_problem("branin");
  const auto campaign_of = [&](double offset) {
    Campaign campaign{"bayes", {}};
    for (int seed = 0; seed < 10; ++seed) {
      Evaluation evaluation;
      evaluation.values = std::vector{problem->optimum + offset + seed};
      campaign.trajectories.push_back({static_cast<std::uint64_t>(seed), {evaluation}});
    }
    return campaign;
  };
  const std::filesystem::path file =
      std::filesystem::path(::testing::TempDir()) / "stored_figures.json";
  auto first = Comparison::open({});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->add(*problem, campaign_of(1.0), 20), "");
  ASSERT_TRUE(first->close(file));

  auto same = Comparison::open(file);
  ASSERT_TRUE(same) << same.error().text();
  EXPECT_NE(same->add(*problem, campaign_of(1.2), 20), "");
  EXPECT_NE(same->add(*problem, campaign_of(9.0), 30), "") << "another number of trials";
  EXPECT_TRUE(same->close({}));

  auto worse = Comparison::open(file);
  ASSERT_TRUE(worse);
  EXPECT_NE(worse->add(*problem, campaign_of(9.0), 20), "");
  const auto closed = worse->close({});
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().kind, ErrorKind::conflict);
  EXPECT_NE(closed.error().message.find("branin (bayes)"), std::string::npos);
  std::filesystem::remove(file);
}

TEST(OwnProposer, PlaysEverySearcherWithoutRepetition) {
  const auto problem = function_problem("ackley_mixed8");
  const SystemClock clock;
  for (const char* name : {"random", "sobol"}) {
    auto proposer = own_proposer(name, *problem, 3);
    ASSERT_TRUE(proposer) << proposer.error().text();
    const auto played = play(*problem, **proposer, 3, 30, clock);
    ASSERT_TRUE(played) << played.error().text();
    std::set<Configuration> distinct;
    for (const Evaluation& evaluation : played->evaluations) {
      distinct.insert(evaluation.configuration);
    }
    EXPECT_EQ(distinct.size(), 30u);
  }
}

}  // namespace
}  // namespace steptune::search_quality
