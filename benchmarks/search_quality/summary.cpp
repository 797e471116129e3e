// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/search_quality/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <boost/math/distributions/normal.hpp>
#include <fmt/format.h>

#include "common/numbers.hpp"

namespace steptune::search_quality {
namespace {

constexpr double k_infinite = std::numeric_limits<double>::infinity();

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return k_nan;
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const auto above = static_cast<std::size_t>(std::ceil(place));
  if (above == below || values[below] == values[above]) return values[below];
  return values[below] + (place - std::floor(place)) * (values[above] - values[below]);
}

/// Returns the evaluations or the cost until the regret is within the limit; infinite if it never
/// is.
double spent_until(const Problem& problem, const Trajectory& trajectory, double regret,
                   bool as_cost) {
  double spent = 0.0;
  for (const Evaluation& evaluation : trajectory.evaluations) {
    spent += as_cost ? evaluation.cost : 1.0;
    const bool full = evaluation.values && evaluation.fidelity >= 1.0;
    if (full && problem.regret((*evaluation.values)[0]) <= regret) return spent;
  }
  return k_infinite;
}

Reached reached(const Problem& problem, const Campaign& campaign, double regret, bool as_cost) {
  std::vector<double> spent;
  for (const Trajectory& trajectory : campaign.trajectories) {
    spent.push_back(spent_until(problem, trajectory, regret, as_cost));
  }
  Reached result;
  result.regret = regret;
  const auto solved =
      std::count_if(spent.begin(), spent.end(), [](double value) { return std::isfinite(value); });
  result.solved = static_cast<double>(solved) / static_cast<double>(spent.size());
  const double median = quantile(spent, 0.5);
  if (std::isfinite(median)) result.median = median;
  return result;
}

std::string reached_text(const Reached& reached) {
  return reached.median ? fmt::format("{:.4g}", *reached.median) : std::string("never");
}

bool two_objectives(const Problem& problem) {
  return problem.objectives.size() == 2;
}

Json values_json(const Problem& problem, const Evaluation& evaluation) {
  if (!evaluation.values) return nullptr;
  Json values = Json::array();
  for (std::size_t i = 0; i < evaluation.values->size(); ++i) {
    const double value = (*evaluation.values)[i];
    values.push_back(problem.maximised[i] ? -value : value);
  }
  return values;
}

Json to_json(const Reached& reached) {
  return {{"regret", reached.regret},
          {"median", reached.median ? Json(*reached.median) : Json(nullptr)},
          {"solved", reached.solved}};
}

}  // namespace

std::vector<double> progress_of(const Problem& problem, const Trajectory& trajectory) {
  std::vector<double> progress;
  std::vector<std::vector<double>> points;
  double best = k_nan;
  double volume = 0.0;
  for (const Evaluation& evaluation : trajectory.evaluations) {
    if (evaluation.values && evaluation.fidelity >= 1.0) {
      if (two_objectives(problem)) {
        points.push_back(*evaluation.values);
        volume = problem.volume_share(points);
      } else if (!((*evaluation.values)[0] >= best)) {
        best = (*evaluation.values)[0];
      }
    }
    progress.push_back(two_objectives(problem) ? volume : best);
  }
  return progress;
}

Summary summarise(const Problem& problem, const Campaign& campaign) {
  Summary summary;
  if (!two_objectives(problem)) {
    for (const double regret : {0.01, 0.05, 0.10}) {
      summary.evaluations.push_back(reached(problem, campaign, regret, false));
      if (problem.fidelities.size() > 1) {
        summary.cost.push_back(reached(problem, campaign, regret, true));
      }
    }
  }
  std::size_t longest = 0;
  std::vector<double> suggest_ms;
  std::size_t failures = 0;
  std::vector<std::vector<double>> progress;
  for (const Trajectory& trajectory : campaign.trajectories) {
    longest = std::max(longest, trajectory.evaluations.size());
    progress.push_back(progress_of(problem, trajectory));
    for (const Evaluation& evaluation : trajectory.evaluations) {
      suggest_ms.push_back(evaluation.suggest_ms);
      if (!evaluation.values) ++failures;
    }
  }
  for (const std::size_t count : {20u, 50u, 100u, 200u}) {
    if (count > longest) break;
    std::vector<double> after;
    for (const auto& steps : progress) {
      if (steps.empty()) continue;
      const double value = steps[std::min(count, steps.size()) - 1];
      const double regret = std::isnan(value) ? k_infinite : problem.regret(value);
      after.push_back(two_objectives(problem) ? value : regret);
    }
    summary.after.emplace_back(static_cast<int>(count), quantile(after, 0.5));
  }
  summary.failures =
      static_cast<double>(failures) / static_cast<double>(campaign.trajectories.size());
  summary.suggest_ms_median = quantile(suggest_ms, 0.5);
  summary.suggest_ms_p95 = quantile(suggest_ms, 0.95);
  summary.suggest_ms_p99 = quantile(suggest_ms, 0.99);
  summary.thinking_s = 1e-3 * std::accumulate(suggest_ms.begin(), suggest_ms.end(), 0.0) /
                       static_cast<double>(campaign.trajectories.size());
  return summary;
}

std::vector<double> results_of(const Problem& problem, const Campaign& campaign) {
  std::vector<double> results;
  for (const Trajectory& trajectory : campaign.trajectories) {
    const auto progress = progress_of(problem, trajectory);
    const double last = progress.empty() ? k_nan : progress.back();
    if (std::isnan(last)) {
      results.push_back(k_infinite);
    } else {
      results.push_back(two_objectives(problem) ? -last : problem.regret(last));
    }
  }
  return results;
}

double p_value(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<std::pair<double, bool>> results;
  for (const double result : a)
    results.emplace_back(result, true);
  for (const double result : b)
    results.emplace_back(result, false);
  std::sort(results.begin(), results.end());
  const auto n = static_cast<double>(results.size());
  double rank_sum = 0.0;
  double ties = 0.0;
  for (std::size_t i = 0; i < results.size();) {
    std::size_t j = i;
    while (j < results.size() && results[j].first == results[i].first)
      ++j;
    const double rank = 0.5 * static_cast<double>(i + j + 1);
    const auto tied = static_cast<double>(j - i);
    ties += tied * tied * tied - tied;
    for (; i < j; ++i)
      rank_sum += results[i].second ? rank : 0.0;
  }
  const auto count_a = static_cast<double>(a.size());
  const auto count_b = static_cast<double>(b.size());
  const double statistic = rank_sum - count_a * (count_a + 1) / 2;
  const double variance = count_a * count_b / 12 * (n + 1 - ties / (n * (n - 1)));
  if (!(variance > 0.0)) return 1.0;
  const double z = (statistic + 0.5 - count_a * count_b / 2) / std::sqrt(variance);
  return boost::math::cdf(boost::math::normal(), z);
}

Json to_json(const Problem& problem, const Campaign& campaign, const Summary& summary) {
  Json json{{"searcher", campaign.searcher}};
  Json& out = json["summary"];
  out = Json::object();
  for (const Reached& entry : summary.evaluations)
    out["evaluations"].push_back(to_json(entry));
  for (const Reached& entry : summary.cost)
    out["cost_full_runs"].push_back(to_json(entry));
  const char* measure = two_objectives(problem) ? "hypervolume_share" : "regret";
  for (const auto& [count, value] : summary.after) {
    Json entry{{"evaluations", count}, {measure, value}};
    if (!two_objectives(problem) && problem.relative_to_optimum) {
      entry["best_over_optimum"] = 1.0 + value;
    }
    out["after"].push_back(std::move(entry));
  }
  out["failures_mean"] = summary.failures;
  out["suggest_ms"] = {{"median", summary.suggest_ms_median},
                       {"p95", summary.suggest_ms_p95},
                       {"p99", summary.suggest_ms_p99}};
  out["thinking_s"] = summary.thinking_s;
  for (const Trajectory& trajectory : campaign.trajectories) {
    Json evaluations = Json::array();
    for (const Evaluation& evaluation : trajectory.evaluations) {
      Json entry{{"configuration", steptune::to_json(evaluation.configuration)},
                 {"status", !evaluation.values          ? "failed"
                            : evaluation.fidelity < 1.0 ? "stopped"
                                                        : "complete"},
                 {"values", values_json(problem, evaluation)}};
      if (problem.fidelities.size() > 1) {
        entry["fidelity"] = evaluation.fidelity;
        entry["cost"] = evaluation.cost;
      }
      evaluations.push_back(std::move(entry));
    }
    json["seeds"].push_back({{"seed", trajectory.seed}, {"evaluations", std::move(evaluations)}});
  }
  return json;
}

std::string text_of(const Problem& problem, const std::vector<Campaign>& campaigns,
                    const std::vector<Summary>& summaries) {
  std::string text;
  const bool two = two_objectives(problem);
  const bool costs = problem.fidelities.size() > 1;
  text += fmt::format("{} ({})\n", problem.name, fmt::join(problem.objective_names, ", "));
  text += fmt::format("  {:<24}", "searcher");
  if (!two) {
    text += fmt::format("{:>22}{:>8}{:>8}", costs ? "cost to 1 %" : "evaluations to 1 %", "5 %",
                        "10 %");
    text += fmt::format("{:>14}", "solved at 1 %");
  }
  std::vector<std::string> counts;
  if (!summaries.empty()) {
    for (const auto& [count, value] : summaries.front().after) {
      text += fmt::format("{:>14}", fmt::format("{}@{}", two ? "volume" : "regret", count));
    }
  }
  text += fmt::format("{:>10}{:>20}{:>14}\n", "failures", "ms (p95)", "CPU s a run");
  for (std::size_t i = 0; i < campaigns.size(); ++i) {
    const Summary& summary = summaries[i];
    text += fmt::format("  {:<24}", campaigns[i].searcher);
    const auto& spent = costs ? summary.cost : summary.evaluations;
    for (std::size_t j = 0; j < spent.size(); ++j) {
      text += fmt::format("{:>{}}", reached_text(spent[j]), j == 0 ? 22 : 8);
    }
    if (!spent.empty()) text += fmt::format("{:>14.2f}", spent[0].solved);
    for (const auto& [count, value] : summary.after)
      text += fmt::format("{:>14.4g}", value);
    text += fmt::format(
        "{:>10.1f}{:>20}{:>14.2f}\n", summary.failures,
        fmt::format("{:.2f} ({:.1f})", summary.suggest_ms_median, summary.suggest_ms_p95),
        summary.thinking_s);
  }
  return text;
}

}  // namespace steptune::search_quality
