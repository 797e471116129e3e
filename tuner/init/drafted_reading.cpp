// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/drafted_reading.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trial_runner/reports/text_phase.hpp"
#include "tuner/init/named_loss.hpp"

namespace steptune {
namespace {

constexpr const char* k_drafted_name = "expressions drafted from the output";

/// True if the metrics include the training's loss. With `of_evaluation`, true if they include any
/// result of an evaluation.
bool has_loss_metric(const std::map<std::string, std::size_t>& metrics, bool of_evaluation) {
  return std::ranges::any_of(metrics, [&](const auto& counted) {
    const std::string& metric = counted.first;
    if (is_evaluation_name(metric) || of_evaluation)
      return is_evaluation_name(metric) && of_evaluation;
    return metric.find("loss") != std::string::npos || is_loss_word(metric);
  });
}

}  // namespace

std::optional<OutputReading> drafted_reading(const RepeatedLine& line, std::string_view output) {
  if (!line.is_certain) return std::nullopt;
  OutputFormat format{k_drafted_name, reports_for(line), {}};
  format.format.metrics = line.metrics;
  if (line.unit == CountUnit::epochs) format.sample_unit = CountUnit::epochs;
  return best_reading({format}, output);
}

OutputReading with_drafted_losses(OutputReading reading, std::string_view output) {
  if (reading.format.reports.is_null()) return reading;
  OutputFormat format = reading.format;
  if (format.reports.is_string()) format.reports = Json{{"preset", format.reports}};
  for (const MetricDefinition& loss : loss_expressions(output)) {
    if (has_loss_metric(reading.metrics, is_evaluation_name(loss.name))) continue;
    format.format.metrics.push_back(loss);
    format.reports["metrics"].push_back(metric_json(loss));
  }
  if (format.format.metrics.size() == reading.format.format.metrics.size()) return reading;
  format.name += " and an expression for the loss, drafted from the output";
  auto completed = best_reading({format}, output);
  return completed ? *std::move(completed) : reading;
}

}  // namespace steptune
