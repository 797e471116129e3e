// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/objective_view.hpp"

#include <cmath>
#include <limits>

#include "common/interval.hpp"
#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

const Json* find(const Json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

}  // namespace

std::string ObjectiveView::title() const {
  if (objective.is_time()) return planned_run ? "time" : "time/1M samples";
  if (objective.is_cost()) return planned_run ? "cost" : "cost/1M samples";
  return objective.metric;
}

std::string ObjectiveView::unit() const {
  if (objective.is_time()) return planned_run ? "s" : "s/1e6 samples";
  if (objective.is_cost()) return planned_run ? "USD" : "USD/1e6 samples";
  return {};
}

std::string ObjectiveView::text(double value) const {
  if (!std::isfinite(value)) return "-";
  if (objective.is_time()) return format_duration(value);
  if (objective.is_cost()) return format_usd(value);
  return format_number(value);
}

double ObjectiveView::gain(double reference, double value) const {
  if (!(reference > 0.0) || !(value > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  return objective.direction == Direction::minimize ? reference / value : value / reference;
}

std::vector<ObjectiveView> objective_views(const StudySpec& study) {
  std::vector<ObjectiveView> views;
  for (const Objective& objective : study.objectives) {
    views.push_back({objective, study.planned_run.samples.has_value()});
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
      views.push_back({objective, planned});
    }
  }
  if (views.empty()) views.push_back({Objective{"time", Direction::minimize}, planned});
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
