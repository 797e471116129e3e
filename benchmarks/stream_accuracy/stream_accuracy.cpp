// SPDX-License-Identifier: Apache-2.0
// Checks trials on simulated programs whose long-run speed is known by construction.
#include <cmath>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "benchmarks/stream_accuracy/stream_cells.hpp"
#include "benchmarks/stream_accuracy/stream_trial.hpp"
#include "common/json.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

struct Options {
  int streams = 100;
  std::uint64_t seed = 0;
  std::string cell;
  bool second_family = false;
  bool json = false;
  StopRule rule;
};

/// Length of a planned run that makes its start negligible.
constexpr double k_planned_samples = 1e9;

PlannedRun run_of_samples(double samples) {
  PlannedRun plan;
  plan.samples = samples;
  return plan;
}

/// Sum and number of a rule's relative errors over all streams.
struct Errors {
  double sum = 0.0;
  int count = 0;
  void add(double error) {
    if (!std::isfinite(error)) return;
    sum += error;
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / count; }
};

struct Row {
  std::string name;
  int streams = 0;
  int unseen = 0;  ///< number of streams among `seen` with `StreamTrial::unseen`
  int not_steady = 0;
  int seen = 0;     ///< streams that ended with an estimate and an interval
  int judged = 0;   ///< streams among `seen` that are not `unseen`
  int covered = 0;  ///< streams among `judged` whose interval contains the true value
  /// Streams among `seen` whose true value is between the interval's lower end and
  /// `slowest_seconds_per_sample`.
  int bounded = 0;
  double seconds = 0.0;
  double half_widths = 0.0;  ///< sum of the relative half-widths over `seen`
  Errors bias, plan_bias, steps_3_to_5, skip_5, median, tqdm;
};

void add(Row& row, const StreamTrial& trial) {
  const Measurement& m = trial.measurement;
  const double truth_s = trial.truth_s;
  const bool has_interval = m.status == MeasurementStatus::steady || m.whole_run;
  row.unseen += has_interval && trial.unseen ? 1 : 0;
  ++row.streams;
  row.seconds += trial.seconds;
  row.steps_3_to_5.add(trial.naive.steps_3_to_5_s / truth_s - 1.0);
  row.skip_5.add(trial.naive.skip_5_s / truth_s - 1.0);
  row.median.add(trial.naive.median_s / truth_s - 1.0);
  row.tqdm.add(trial.naive.tqdm_s / truth_s - 1.0);
  row.not_steady += m.status == MeasurementStatus::steady ? 0 : 1;
  if (!has_interval) return;
  ++row.seen;
  row.half_widths += m.half_width_s / m.seconds_per_sample;
  row.bounded +=
      truth_s >= m.seconds_per_sample - m.half_width_s && truth_s <= m.slowest_seconds_per_sample
          ? 1
          : 0;
  if (trial.unseen) return;
  ++row.judged;
  row.bias.add(m.seconds_per_sample / truth_s - 1.0);
  const double planned_s = planned_time(run_of_samples(k_planned_samples), m).value - m.once_s();
  row.plan_bias.add(planned_s / k_planned_samples / truth_s - 1.0);
  row.covered += std::abs(m.seconds_per_sample - truth_s) <= m.half_width_s ? 1 : 0;
}

Row run_cell(const StreamCell& cell, const Options& options) {
  Row row;
  row.name = cell.name;
  for (int stream = 0; stream < options.streams; ++stream) {
    add(row, run_stream_trial(cell.program, options.rule, cell.states_queue,
                              options.seed + static_cast<std::uint64_t>(stream)));
  }
  return row;
}

std::string percent(double share, int decimals) {
  return std::isfinite(share) ? fmt::format("{:+.{}f}", 100.0 * share, decimals) : "-";
}

std::string mean_percent(double sum, int count) {
  return count > 0 ? fmt::format("{:.1f}", 100.0 * sum / count) : "-";
}

std::string share(int part, int whole) {
  return whole > 0 ? fmt::format("{:.1f}", 100.0 * part / whole) : "-";
}

void print_heading() {
  fmt::print(
      "| program | bias % | plan's bias % | +- % | covered % | bounded % | not steady % | unseen % "
      "| "
      "trial s | steps 3-5 "
      "% | skip 5 % | "
      "median % | tqdm % |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void print_row(const Row& row) {
  fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {:.1f} | {} | {} | {} | {} |\n", row.name,
             percent(row.bias.mean(), 2), percent(row.plan_bias.mean(), 2),
             mean_percent(row.half_widths, row.seen), share(row.covered, row.judged),
             share(row.bounded, row.seen), share(row.not_steady, row.streams),
             share(row.unseen, row.streams), row.seconds / row.streams,
             percent(row.steps_3_to_5.mean(), 1), percent(row.skip_5.mean(), 1),
             percent(row.median.mean(), 1), percent(row.tqdm.mean(), 1));
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json json_of(const Row& row) {
  return {{"program", row.name},
          {"streams", row.streams},
          {"steady", row.seen},
          {"unseen", row.unseen},
          {"judged", row.judged},
          {"covered", row.covered},
          {"bounded", row.bounded},
          {"bias", number(row.bias.mean())},
          {"plan_bias", number(row.plan_bias.mean())},
          {"trial_s", row.seconds / row.streams},
          {"half_width", number(row.half_widths / row.seen)},
          {"naive_bias",
           {{"steps_3_to_5", number(row.steps_3_to_5.mean())},
            {"skip_5", number(row.skip_5.mean())},
            {"median", number(row.median.mean())},
            {"tqdm", number(row.tqdm.mean())}}}};
}

int run(const Options& options) {
  const auto family = options.second_family ? CellFamily::second : CellFamily::first;
  Json rows = Json::array();
  if (!options.json) print_heading();
  for (const StreamCell& cell : stream_cells(family)) {
    if (cell.name.find(options.cell) == std::string::npos) continue;
    const Row row = run_cell(cell, options);
    if (options.json) rows.push_back(json_of(row));
    if (!options.json) print_row(row);
    std::fflush(stdout);
  }
  if (options.json) fmt::print("{}\n", Json{{"schema_version", 1}, {"rows", rows}}.dump(2));
  return 0;
}

}  // namespace
}  // namespace steptune

int main(int argc, char** argv) {
  steptune::Options options;
  CLI::App app{"Errors of trials of programs whose long-run speed is known by construction"};
  app.add_option("--streams", options.streams, "Trials of each program")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the first trial; each further trial adds 1")
      ->capture_default_str();
  app.add_option("--cell", options.cell, "Only programs whose name contains this");
  app.add_flag("--second-family", options.second_family,
               "Use step times, noise and periods that the estimator was not developed with");
  app.add_flag("--json", options.json, "Print JSON");
  app.add_option("--half-width", options.rule.target_half_width,
                 "Relative half-width of the interval at which a trial ends")
      ->check(CLI::Range(0.0001, 0.5))
      ->capture_default_str();
  app.add_option("--max-trial", options.rule.max_trial_s, "Longest time of a trial, in seconds")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  app.add_option("--min-steps", options.rule.min_window_steps, "Fewest steps of a trial's window")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--most-hidden", options.rule.most_hidden,
                 "A trial continues while a buffer may hide more than this share of the estimate")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--earlier", options.rule.earlier_trials,
                 "Number of earlier trials of the same study before each trial")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return steptune::run(options);
}
