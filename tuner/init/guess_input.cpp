// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/guess_input.hpp"

#include <set>
#include <string>

#include "common/json_fields.hpp"
#include "trial_runner/reports/text_phase.hpp"

namespace steptune {

namespace {

/// Returns the name of the training loss. Prefers usual names, then the only other name that ends
/// in `loss`.
std::string loss_among(const std::set<std::string>& metrics) {
  for (const char* loss : {"loss", "train_loss", "training_loss", "total_loss", "lm_loss"})
    if (metrics.contains(loss)) return loss;
  std::string found;
  for (const std::string& name : metrics) {
    if (!name.ends_with("loss") || is_evaluation_name(name)) continue;
    if (!found.empty()) return "";
    found = name;
  }
  return found;
}

}  // namespace

std::string known_loss(const GuessInput& input) {
  if (input.survey && input.survey->last.metrics.contains("loss")) return "loss";
  if (input.reading) {
    std::set<std::string> names;
    for (const auto& [name, lines] : input.reading->metrics)
      names.insert(name);
    if (std::string loss = loss_among(names); !loss.empty()) return loss;
  }
  if (input.space == nullptr || !input.space->reports.is_object()) return "";
  const auto metrics = input.space->reports.find("metrics");
  if (metrics == input.space->reports.end()) return "";
  std::set<std::string> names;
  for (const Json& metric : *metrics)
    names.insert(text_at(metric, "name"));
  return loss_among(names);
}

std::optional<double> seen_samples_per_step(const GuessInput& input) {
  if (input.reading && input.reading->samples_per_step) return input.reading->samples_per_step;
  return input.survey ? input.survey->samples_per_step() : std::nullopt;
}

bool counts_optimizer_steps(const GuessInput& input) {
  const bool is_known_trainer = input.space != nullptr && !input.space->is_of_a_file();
  return is_known_trainer || seen_samples_per_step(input);
}

}  // namespace steptune
