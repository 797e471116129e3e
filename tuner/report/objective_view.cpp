// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/objective_view.hpp"

#include <cmath>

#include <fmt/format.h>

#include "common/interval.hpp"
#include "common/json_fields.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/verdict/planned_time.hpp"

namespace steptune {
namespace {

const Json* find(const Json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

}  // namespace

std::string ObjectiveView::title() const {
  if (!objective.is_timed() || planned_run) return objective.metric;
  return fmt::format("{}/1M {}", objective.metric, counted.plural);
}

std::string ObjectiveView::unit() const {
  if (!objective.is_timed()) return {};
  const std::string unit = objective.is_time() ? "s" : "USD";
  return planned_run ? unit : fmt::format("{}/1e6 {}", unit, counted.plural);
}

std::string ObjectiveView::text(double value) const {
  if (!std::isfinite(value)) return "-";
  if (objective.is_time()) return format_duration(value);
  if (objective.is_cost()) return format_usd(value);
  return format_number(value);
}

std::string ObjectiveView::text_of_trial(double value) const {
  if (!objective.is_timed() || planned_run || !(value > 0.0)) return text(value);
  const double per_second = planned_samples(PlannedRun{}) / value;
  return objective.is_time() ? fmt::format("{} {}", format_number(per_second), counted.per_second())
                             : fmt::format("{} per million {}", text(value), counted.plural);
}

double ObjectiveView::gain(double reference, double value) const {
  if (!(reference > 0.0) || !(value > 0.0)) return k_nan;
  return objective.direction == Direction::minimize ? reference / value : value / reference;
}

const UnitName& unit_of(const std::vector<ObjectiveView>& objectives) {
  static const UnitName k_samples;
  return objectives.empty() ? k_samples : objectives.front().counted;
}

std::vector<ObjectiveView> objective_views(const StudySpec& study) {
  std::vector<ObjectiveView> views;
  for (const Objective& objective : study.objectives) {
    views.push_back({objective, study.planned_run.samples.has_value(), unit_name(study)});
  }
  return views;
}

std::vector<ObjectiveView> objective_views(const Json& document) {
  const Json* planned_run = find(document, "planned_run");
  const bool planned = planned_run != nullptr && find(*planned_run, "samples") != nullptr;
  std::vector<ObjectiveView> views;
  if (const Json* objectives = find(document, "objectives");
      objectives != nullptr && objectives->is_array()) {
    for (const Json& entry : *objectives) {
      Objective objective;
      objective.metric = entry.is_string() ? entry.get<std::string>() : text_at(entry, "metric");
      if (text_at(entry, "direction") == "maximize") {
        objective.direction = Direction::maximize;
      }
      views.push_back({objective, planned, unit_name(document)});
    }
  }
  if (views.empty()) {
    views.push_back({Objective{"time", Direction::minimize}, planned, unit_name(document)});
  }
  return views;
}

std::vector<std::string> parameter_order(const Json& document) {
  std::vector<std::string> names;
  if (const Json* parameters = find(document, "parameters");
      parameters != nullptr && parameters->is_object()) {
    for (const auto& [name, definition] : parameters->items())
      names.push_back(name);
  }
  return names;
}

double half_width_95(const TrialRecord& trial, std::size_t objective) {
  if (objective >= trial.standard_errors.size()) return 0.0;
  const double half_width = k_z_95 * trial.standard_errors[objective];
  return std::isfinite(half_width) ? half_width : 0.0;
}

}  // namespace steptune
