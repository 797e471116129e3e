// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/guess_input.hpp"

#include "common/json_fields.hpp"

namespace steptune {

std::string known_loss(const GuessInput& input) {
  const bool in_output = input.reading && input.reading->metrics.contains("loss");
  if (in_output || (input.survey && input.survey->last.metrics.contains("loss"))) return "loss";
  if (input.space == nullptr || !input.space->reports.is_object()) return "";
  const auto metrics = input.space->reports.find("metrics");
  if (metrics == input.space->reports.end()) return "";
  for (const char* loss : {"loss", "train_loss"}) {
    for (const Json& metric : *metrics)
      if (text_at(metric, "name") == loss) return loss;
  }
  return "";
}

std::optional<double> seen_samples_per_step(const GuessInput& input) {
  if (input.reading && input.reading->samples_per_step) return input.reading->samples_per_step;
  return input.survey ? input.survey->samples_per_step() : std::nullopt;
}

bool tells_optimizer_steps(const GuessInput& input) {
  const bool is_known_trainer = input.space != nullptr && !input.space->is_of_a_file();
  return is_known_trainer || seen_samples_per_step(input);
}

}  // namespace steptune
