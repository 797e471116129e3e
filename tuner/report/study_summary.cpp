// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/study_summary.hpp"

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/objective_view.hpp"
#include "tuner/report/text_table.hpp"
#include "tuner/study/parameter_keys.hpp"

namespace steptune {
namespace {

const std::string& type_name(ParameterKind kind) {
  return study::parameter_types().at(static_cast<std::size_t>(kind));
}

std::string choices_text(const Parameter& parameter) {
  std::string text;
  for (std::size_t i = 0; i < parameter.choices.size() && i < k_shown_elements; ++i) {
    text += (i > 0 ? ", " : "") + printable_line(to_text(parameter.choices[i]), 40);
  }
  if (parameter.choices.size() > k_shown_elements) {
    text += fmt::format(" and {} more", parameter.choices.size() - k_shown_elements);
  }
  return text;
}

std::string size_text(const StudySpec& study, const SpaceSize& size) {
  const std::size_t count = study.space.parameters().size();
  std::string text = fmt::format("{} parameter{}, ", count, count == 1 ? "" : "s");
  if (size.feasible && size.product && *size.feasible != *size.product) {
    return text + fmt::format(
                      "{} configurations ({} combinations before conditions and "
                      "constraints)",
                      *size.feasible, *size.product);
  }
  if (size.feasible) return text + fmt::format("{} configurations", *size.feasible);
  if (size.product) {
    return text + fmt::format("{} combinations before conditions and constraints",
                              format_number(static_cast<double>(*size.product)));
  }
  return text + "not countable";
}

std::string limit_text(const std::optional<double>& limit, const char* words) {
  return limit ? fmt::format(" {} {}", words, format_number(*limit)) : std::string();
}

std::string ratio_text(const std::optional<double>& ratio, const char* words) {
  return ratio ? fmt::format(" {} {} x the baseline's", words, format_number(*ratio))
               : std::string();
}

std::string guard_text(const Guard& guard, const UnitName& unit) {
  std::string text = guard.metric + limit_text(guard.min, "at least") +
                     limit_text(guard.max, "at most") +
                     ratio_text(guard.min_ratio_to_baseline, "at least") +
                     ratio_text(guard.max_ratio_to_baseline, "at most");
  if (guard.after_samples > 0.0) {
    text += fmt::format(", judged after {} {}", format_number(guard.after_samples), unit.plural);
  }
  if (guard.over_launches) text += ", over all launches";
  return text;
}

std::string objectives_text(const StudySpec& study) {
  std::string text;
  for (const ObjectiveView& view : objective_views(study)) {
    const bool maximize = view.objective.direction == Direction::maximize;
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", view.title(),
                        maximize ? " (maximized)" : "");
  }
  if (study.planned_run.samples) {
    text += fmt::format(" of a run over {} {}", format_number(*study.planned_run.samples),
                        unit_name(study).plural);
  }
  if (study.planned_run.deadline_s) {
    text += fmt::format(", in at most {}", format_duration(*study.planned_run.deadline_s));
  }
  if (study.planned_run.max_cost_usd) {
    text += fmt::format(", for at most {}", format_usd(*study.planned_run.max_cost_usd));
  }
  return text;
}

std::string budget_text(const StudySpec& study) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const BudgetSpec& budget = study.budget;
  if (budget.trials) add(fmt::format("{} trials", *budget.trials));
  if (budget.time_s) add(format_duration(*budget.time_s));
  if (budget.cost_usd) add(format_usd(*budget.cost_usd));
  if (budget.stop_at_payback) add("or until further trials no longer pay back");
  return text;
}

std::string parameters_text(const SearchSpace& space) {
  TextTable table({{"", Align::left}, {"", Align::left}, {"", Align::left}, {"", Align::left}});
  for (const Parameter& parameter : space.parameters()) {
    table.add_row({"           " + parameter.name, type_name(parameter.kind),
                   parameter_summary(parameter),
                   parameter.when ? "when " + printable_line(*parameter.when) : ""});
  }
  return table.text();
}

}  // namespace

SpaceSize space_size(const SearchSpace& space) {
  SpaceSize size;
  size.product = space.product_size();
  if (const auto points = space.enumerate_points(k_most_counted)) {
    size.feasible = points->size() / space.parameters().size();
  }
  return size;
}

std::string parameter_summary(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::boolean) return "false, true";
  if (!parameter.choices.empty()) return choices_text(parameter);
  std::string text =
      fmt::format("{} .. {}", format_number(parameter.low), format_number(parameter.high));
  if (parameter.scale == Scale::log) text += " (log)";
  if (parameter.scale == Scale::log2) text += " (log2)";
  if (parameter.step) text += fmt::format(" step {}", format_number(*parameter.step));
  if (const auto count = parameter.level_count()) {
    text += fmt::format(", {} value{}", *count, *count == 1 ? "" : "s");
  }
  return text;
}

std::string study_summary(const StudySpec& study, const SpaceSize& size,
                          std::span<const SummaryLine> of_runner) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<10} {}\n", name, value);
  };
  add("study", fmt::format("{}  ({}): valid", study.name, study.file.string()));
  add("space", size_text(study, size));
  text += parameters_text(study.space);
  for (const std::string& constraint : study.space.constraints()) {
    add("constraint", printable_line(constraint));
  }
  for (const auto& [name, config] : study.config_files) {
    add("file",
        fmt::format("{}: each trial reads a copy with {} edited value{}", config.file.string(),
                    config.edits.size(), config.edits.size() == 1 ? "" : "s"));
  }
  add("baseline", configuration_text(study.baseline, parameter_order(study.document)));
  add("objectives", objectives_text(study));
  for (const Guard& guard : study.guards)
    add("guard", guard_text(guard, unit_name(study)));
  add("search", fmt::format("{}, scheduler {}, seed {}", study.search.searcher,
                            study.search.scheduler, study.search.seed));
  add("budget", budget_text(study));
  for (const SummaryLine& line : of_runner)
    add(line.name.c_str(), line.text);
  return text;
}

}  // namespace steptune
