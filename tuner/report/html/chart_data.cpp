// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html/chart_data.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/numbers.hpp"
#include "tuner/report/html/analysis_sections.hpp"
#include "tuner/verdict/objectives.hpp"

namespace steptune {
namespace {

/// Largest number of decisions of all trials together. The decisions take at most a tenth of a
/// report of a thousand trials.
constexpr std::size_t k_most_decisions = 4'000;
constexpr std::size_t k_fewest_decisions_each = 2;

/// Rounds to `digits` significant digits. This shortens the text without a visible difference.
Json rounded(double value, int digits = 4) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0.0) return 0;
  const double scale =
      std::pow(10.0, digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  const double result = std::round(value * scale) / scale;
  if (result == std::floor(result) && std::abs(result) < 1e15) {
    return static_cast<std::int64_t>(result);
  }
  return result;
}

Json rounded(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values)
    json.push_back(rounded(value, 6));
  return json;
}

Json trial_data(const LeaderboardRow& row, const std::vector<ObjectiveView>& objectives,
                const std::vector<std::string>& parameters) {
  const TrialRecord& trial = row.trial;
  Json json;
  json["n"] = trial.number;
  json["status"] = to_text(trial.status);
  json["purpose"] = to_text(trial.purpose);
  if (row.rank) json["rank"] = *row.rank;
  if (row.best) json["best"] = true;
  if (row.pareto) json["pareto"] = true;
  json["values"] = rounded(trial.objectives);
  json["widths"] = Json::array();
  for (std::size_t i = 0; i < trial.objectives.size() && i < objectives.size(); ++i)
    json["widths"].push_back(rounded(half_width_95(trial, i)));
  json["parameters"] = Json::array();
  for (const std::string& name : parameters) {
    const Value* value = trial.configuration.find(name);
    json["parameters"].push_back(value == nullptr ? Json(nullptr) : to_json(*value));
  }
  return json;
}

double since(double at_s, double origin_s) {
  return std::round((at_s - origin_s) * 100.0) / 100.0;
}

/// Returns start and end of each launch in seconds since `origin_s`. The end is null if the launch
/// is still running.
Json launch_times(const StudyReport& report, const TrialRecord& trial, double origin_s) {
  Json times = Json::array();
  const auto add = [&](double from_s, double to_s) {
    if (from_s <= 0.0) return;
    times.push_back(
        {since(from_s, origin_s), to_s > 0.0 ? Json(since(to_s, origin_s)) : Json(nullptr)});
  };
  const auto attempts = report.attempts.find(trial.number);
  bool latest_is_listed = false;
  if (attempts != report.attempts.end()) {
    for (const AttemptRecord& attempt : attempts->second) {
      add(attempt.started_wall_s, attempt.ended_wall_s);
      latest_is_listed = latest_is_listed || attempt.attempt == trial.attempt;
    }
  }
  if (!latest_is_listed) add(trial.started_wall_s, trial.ended_wall_s);
  return times;
}

double first_start_s(const StudyReport& report) {
  double first_s = k_infinity;
  const auto see = [&](double start_s) {
    if (start_s > 0.0) first_s = std::min(first_s, start_s);
  };
  for (const LeaderboardRow& row : report.board.rows)
    see(row.trial.started_wall_s);
  for (const auto& [number, attempts] : report.attempts) {
    for (const AttemptRecord& attempt : attempts)
      see(attempt.started_wall_s);
  }
  for (const UnusedTime& time : report.unused)
    see(time.from_wall_s);
  return first_s;
}

/// Returns the number of decisions about a trial while it ran, and the latest of them.
Json decisions_data(const std::vector<TrialDecision>& decisions,
                    const std::vector<ObjectiveView>& objectives, std::size_t most) {
  Json latest = Json::array();
  const std::size_t shown = std::min(most, decisions.size());
  for (std::size_t i = decisions.size() - shown; i < decisions.size(); ++i) {
    const TrialDecision& decision = decisions[i];
    Json json{{"at", rounded(decision.at_s)},
              {"steps", rounded(decision.steps)},
              {"values", Json::array()},
              {"widths", Json::array()}};
    for (std::size_t k = 0; k < decision.values.size() && k < objectives.size(); ++k) {
      // A decision stores values that are to be minimised. If the objective is maximised, negate
      // them again.
      json["values"].push_back(rounded(to_minimized(objectives[k].objective, decision.values[k])));
    }
    for (const double half_width : decision.half_widths)
      json["widths"].push_back(rounded(half_width));
    if (decision.stop) json["stop"] = true;
    if (!decision.reason.empty()) json["reason"] = decision.reason;
    latest.push_back(std::move(json));
  }
  return {{"count", decisions.size()}, {"latest", std::move(latest)}};
}

Json trace_data(const TrialTrace& trace, const TrialRecord& trial) {
  Json json;
  Json seconds = Json::array();
  Json samples = Json::array();
  TracePoint last;
  for (const TracePoint& point : trace.progress.points) {
    seconds.push_back(rounded(point.at_s - last.at_s));
    samples.push_back(rounded(point.samples - last.samples));
    last = point;
  }
  json["seconds"] = std::move(seconds);
  json["samples"] = std::move(samples);
  if (last.steps > 0.0 && last.samples > 0.0) {
    json["samples_per_step"] = rounded(last.samples / last.steps);
  }
  for (const TracePhase& phase : trace.progress.phases) {
    json["phases"].push_back({phase.name, rounded(phase.from_s, 6), rounded(phase.to_s, 6)});
  }
  for (const DisturbedTime& time : trace.disturbed) {
    json["disturbed"].push_back({rounded(time.from_s, 6), rounded(time.to_s, 6)});
  }
  if (trial.measurement) {
    const Measurement& measurement = *trial.measurement;
    const double spared_s = trace.spared_startup_s;
    json["startup"] = rounded(measurement.startup_s - spared_s, 6);
    json["window"] = {rounded(measurement.window_begin_s() - spared_s, 6),
                      rounded(measurement.window_end_s() - spared_s, 6)};
    json["mean"] = rounded(measurement.step_seconds_per_sample, 6);
  }
  return json;
}

}  // namespace

Json chart_data(const StudyReport& report) {
  Json json;
  json["objectives"] = Json::array();
  for (const ObjectiveView& view : report.board.objectives) {
    json["objectives"].push_back({{"name", view.title()},
                                  {"unit", view.unit()},
                                  {"minimize", view.objective.direction == Direction::minimize}});
  }
  json["parameters"] = report.board.parameters;
  if (report.baseline) json["baseline"] = *report.baseline;
  if (report.recommendation) json["recommended"] = report.recommendation->incumbent_trial;
  json["trials"] = Json::array();
  json["traces"] = Json::object();
  const double origin_s = first_start_s(report);
  const std::size_t most_decisions =
      std::max(k_fewest_decisions_each,
               k_most_decisions / std::max<std::size_t>(1, report.board.rows.size()));
  for (const LeaderboardRow& row : report.board.rows) {
    Json trial = trial_data(row, report.board.objectives, report.board.parameters);
    trial["launches"] = launch_times(report, row.trial, origin_s);
    for (const char* fact : {"instances", "start", "job", "allocation"}) {
      const auto placed = row.trial.placement.find(fact);
      if (placed != row.trial.placement.end()) trial[fact] = placed->second;
    }
    json["trials"].push_back(std::move(trial));
    const auto trace = report.traces.find(row.trial.number);
    if (trace != report.traces.end() && !trace->second.progress.points.empty()) {
      Json& shown = json["traces"][std::to_string(row.trial.number)];
      shown = trace_data(trace->second, row.trial);
      if (const auto& decisions = trace->second.decisions; !decisions.empty()) {
        shown["decisions"] = decisions_data(decisions, report.board.objectives, most_decisions);
      }
    }
  }
  for (const UnusedTime& time : report.unused) {
    json["unused"].push_back({{"machine", time.machine},
                              {"from", since(time.from_wall_s, origin_s)},
                              {"to", since(time.to_wall_s, origin_s)},
                              {"usd", rounded(time.usd, 3)}});
  }
  if (report.analysis) add_analysis_data(json, *report.analysis);
  if (report.board.scaling) json["scaling"] = scaling_data(*report.board.scaling);
  return json;
}

}  // namespace steptune
