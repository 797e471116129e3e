// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/step_time_family.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace steptune::search_quality {
namespace {

constexpr double k_goal = 0.03;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1 || values[middle] == values[middle - 1]) return values[middle];
  return 0.5 * (values[middle - 1] + values[middle]);
}

double evaluations_to_goal(const Problem& problem, const Trajectory& trajectory) {
  double count = 0.0;
  for (const Evaluation& evaluation : trajectory.evaluations) {
    count += 1.0;
    if (evaluation.values && problem.regret((*evaluation.values)[0]) <= k_goal) return count;
  }
  return std::numeric_limits<double>::infinity();
}

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

std::string count_text(double count) {
  return std::isfinite(count) ? fmt::format("{:.4g}", count) : std::string("never");
}

/// Campaigns of one searcher on all members.
struct Arm {
  std::string searcher;
  std::vector<Campaign> campaigns;
  FamilySummary summary;
};

Json to_json(const Arm& arm, const std::vector<Problem>& problems) {
  Json json{{"searcher", arm.searcher},
            {"evaluations_median", finite(arm.summary.median)},
            {"solved", arm.summary.solved},
            {"members", Json::array()}};
  for (std::size_t i = 0; i < problems.size(); ++i) {
    Json member = to_json(problems[i], arm.campaigns[i], summarise(problems[i], arm.campaigns[i]));
    member["problem"] = problems[i].name;
    member["optimum"] = problems[i].optimum;
    member["evaluations_median"] = finite(arm.summary.by_member[i]);
    json["members"].push_back(std::move(member));
  }
  return json;
}

std::string text_of(const std::vector<Arm>& arms, const std::vector<Problem>& problems) {
  std::string text = fmt::format("step times: evaluations to within {:.0f} %, median over seeds\n",
                                 k_goal * 100.0);
  text += fmt::format("  {:<20}{:>12}", "member", "parameters");
  for (const Arm& arm : arms)
    text += fmt::format("{:>12}", arm.searcher);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    text +=
        fmt::format("\n  {:<20}{:>12}", problems[i].name, problems[i].space->parameters().size());
    for (const Arm& arm : arms)
      text += fmt::format("{:>12}", count_text(arm.summary.by_member[i]));
  }
  text += fmt::format("\n  {:<32}", "median over members");
  for (const Arm& arm : arms)
    text += fmt::format("{:>12}", count_text(arm.summary.median));
  text += fmt::format("\n  {:<32}", "share of runs within 3 %");
  for (const Arm& arm : arms)
    text += fmt::format("{:>12.2f}", arm.summary.solved);
  text += '\n';
  return text;
}

}  // namespace

FamilySummary summarise_family(const std::vector<Problem>& problems,
                               const std::vector<Campaign>& campaigns) {
  FamilySummary summary;
  double runs = 0.0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    std::vector<double> counts;
    for (const Trajectory& trajectory : campaigns[i].trajectories) {
      counts.push_back(evaluations_to_goal(problems[i], trajectory));
      summary.solved += std::isfinite(counts.back()) ? 1.0 : 0.0;
    }
    runs += static_cast<double>(counts.size());
    summary.by_member.push_back(median_of(std::move(counts)));
  }
  summary.solved /= runs;
  summary.median = median_of(summary.by_member);
  return summary;
}

Result<Json> run_step_time_family(const FamilyOptions& options, const PlayCampaign& play) {
  std::vector<Arm> arms;
  std::vector<Problem> problems;
  for (const std::string& searcher : options.searchers)
    arms.push_back({searcher, {}, {}});
  for (int member = 0; member < options.members; ++member) {
    const auto number = static_cast<std::uint64_t>(member);
    Problem& problem = problems.emplace_back(step_time_problem(options.seed, number));
    problem.enough_regret = k_goal;
    for (Arm& arm : arms) {
      auto campaign = play(problem, arm.searcher);
      if (!campaign) return tl::unexpected(campaign.error());
      arm.campaigns.push_back(*std::move(campaign));
    }
  }
  Json json{{"members", options.members}, {"seed", options.seed}, {"goal", k_goal}};
  for (Arm& arm : arms) {
    arm.summary = summarise_family(problems, arm.campaigns);
    json["arms"].push_back(to_json(arm, problems));
  }
  fmt::print("{}", text_of(arms, problems));
  return json;
}

}  // namespace steptune::search_quality
