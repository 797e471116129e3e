// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/counted_steps.hpp"

#include <algorithm>

#include "common/document/identifiers.hpp"
#include "tuner/knobs/knob_role.hpp"

namespace steptune {
namespace {

/// Returns the first parameter of this role that `planned_run.batch_size` uses (if `counted`) or
/// does not use.
std::optional<std::string> parameter_of(const StudySpec& study, KnobRole role, bool counted) {
  const auto names = document::identifiers_in(study.planned_run.batch_size->text());
  for (const Parameter& parameter : study.space.parameters()) {
    const bool is_counted = std::ranges::find(names, parameter.name) != names.end();
    if (is_counted == counted && role_of(study.parameter_roles, parameter.name) == role) {
      return parameter.name;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> accumulation_parameter(const StudySpec& study) {
  if (!study.planned_run.batch_size) return std::nullopt;
  return parameter_of(study, KnobRole::accumulation, /*counted=*/true);
}

std::optional<std::string> forgotten_accumulation(const StudySpec& study) {
  const bool counts_batch =
      study.planned_run.batch_size && parameter_of(study, KnobRole::batch, /*counted=*/true);
  if (study.report_format.preset != "hf-trainer" || !counts_batch) return std::nullopt;
  return parameter_of(study, KnobRole::accumulation, /*counted=*/false);
}

bool counts_batches(const StudySpec& study) {
  const auto& preset = study.report_format.preset;
  return preset == "lightning" || preset == "keras";
}

std::optional<double> samples_per_count(const StudySpec& study,
                                        const Configuration& configuration) {
  const auto samples = samples_per_step(study, configuration);
  if (!samples || !counts_batches(study)) return samples;
  const auto parameter = accumulation_parameter(study);
  const Value* batches = parameter ? configuration.find(*parameter) : nullptr;
  const double count = batches == nullptr ? 1.0 : number_in(*batches).value_or(1.0);
  return count >= 1.0 ? *samples / count : *samples;
}

}  // namespace steptune
