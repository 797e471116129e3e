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

std::string name_of(ReportedParts reported) {
  switch (reported) {
    case ReportedParts::waits:
      return "on";
    case ReportedParts::loading:
      return "loading";
    default:
      return "off";
  }
}

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

std::string count_text(double count) {
  return std::isfinite(count) ? fmt::format("{:.4g}", count) : std::string("never");
}

/// One searcher with one way of reporting, on every member.
struct Arm {
  std::string searcher;
  ReportedParts reported = ReportedParts::none;
  std::vector<Campaign> campaigns;
  FamilySummary summary;

  [[nodiscard]] std::string title() const {
    return fmt::format("{}, parts {}", searcher, name_of(reported));
  }
};

Json to_json(const Arm& arm, const std::vector<Problem>& problems) {
  Json json{{"searcher", arm.searcher},
            {"parts", name_of(arm.reported)},
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
    text += fmt::format("{:>30}", arm.title());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    text +=
        fmt::format("\n  {:<20}{:>12}", problems[i].name, problems[i].space->parameters().size());
    for (const Arm& arm : arms)
      text += fmt::format("{:>30}", count_text(arm.summary.by_member[i]));
  }
  text += fmt::format("\n  {:<32}", "median over members");
  for (const Arm& arm : arms)
    text += fmt::format("{:>30}", count_text(arm.summary.median));
  text += fmt::format("\n  {:<32}", "runs that got there");
  for (const Arm& arm : arms)
    text += fmt::format("{:>30.2f}", arm.summary.solved);
  text += '\n';
  return text;
}

/// Each arm with parts beside the same searcher without.
Json ratios_of(const std::vector<Arm>& arms) {
  Json ratios = Json::array();
  for (const Arm& arm : arms) {
    const auto without = std::find_if(arms.begin(), arms.end(), [&](const Arm& other) {
      return other.searcher == arm.searcher && other.reported == ReportedParts::none;
    });
    if (arm.reported == ReportedParts::none || without == arms.end()) continue;
    const double ratio = arm.summary.median / without->summary.median;
    fmt::print("  {} over the same without: {:.2f}\n", arm.title(), ratio);
    ratios.push_back(
        {{"searcher", arm.searcher}, {"parts", name_of(arm.reported)}, {"ratio", finite(ratio)}});
  }
  return ratios;
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

std::vector<ReportedParts> reported_parts_of(const std::string& choice) {
  if (choice == "on") return {ReportedParts::waits};
  if (choice == "off") return {ReportedParts::none};
  if (choice == "loading") return {ReportedParts::loading};
  return {ReportedParts::none, ReportedParts::waits};
}

Result<Json> run_step_time_family(const FamilyOptions& options, const PlayCampaign& play) {
  std::vector<Arm> arms;
  std::vector<Problem> problems;
  for (const std::string& searcher : options.searchers) {
    for (const ReportedParts reported : options.reported)
      arms.push_back({searcher, reported, {}, {}});
  }
  for (int member = 0; member < options.members; ++member) {
    const auto number = static_cast<std::uint64_t>(member);
    problems.push_back(step_time_problem(options.seed, number, ReportedParts::none));
    for (Arm& arm : arms) {
      Problem problem = step_time_problem(options.seed, number, arm.reported);
      problem.enough_regret = k_goal;
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
  json["ratios"] = ratios_of(arms);
  return json;
}

}  // namespace steptune::search_quality
