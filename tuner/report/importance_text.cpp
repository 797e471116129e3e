// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/importance_report.hpp"
#include "tuner/report/text_table.hpp"

namespace steptune {
namespace {

/// Columns of the widest name or value.
constexpr std::size_t k_widest = 24;

std::string value_word(const Value& value) {
  return elide_middle(printable_line(to_text(value)), k_widest);
}

std::string styled(const std::string& text, const char* code, const TextStyle& style) {
  return style.color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

/// Title and data of a column of shares: for failures, or for an objective. Objectives that are a
/// fixed multiple of each other share one column.
struct ShareColumn {
  std::string title;
  const Importance* importance = nullptr;
};

std::vector<ShareColumn> share_columns(const StudyImportance& study) {
  std::vector<ShareColumn> columns;
  std::vector<std::size_t> column_of;
  for (const ObjectiveImportance& objective : study.objectives) {
    if (objective.follows) {
      column_of.push_back(column_of[*objective.follows]);
      columns[column_of.back()].title += ", " + objective.view.title();
      continue;
    }
    column_of.push_back(columns.size());
    if (objective.importance.why_unknown.empty()) {
      columns.push_back({objective.view.title(), &objective.importance});
    } else {
      columns.push_back({objective.view.title(), nullptr});
    }
  }
  if (study.failure.why_unknown.empty()) columns.push_back({"failure", &study.failure});
  std::erase_if(columns, [](const ShareColumn& column) { return column.importance == nullptr; });
  return columns;
}

const ParameterImportance* parameter_in(const Importance& importance, const std::string& name) {
  const auto found =
      std::ranges::find(importance.parameters, name, &ParameterImportance::parameter);
  return found == importance.parameters.end() ? nullptr : &*found;
}

std::string pair_cell(const Importance& importance, const PairImportance& wanted) {
  for (const PairImportance& pair : importance.pairs) {
    if (pair.first == wanted.first && pair.second == wanted.second) return share_text(pair.share);
  }
  return "-";
}

TextTable share_table(const std::vector<ShareColumn>& columns, const ObjectiveView* effects_of) {
  std::vector<TextTable::Column> titles{{"share of variance", Align::left}};
  for (const ShareColumn& column : columns)
    titles.push_back({column.title, Align::right});
  if (effects_of != nullptr)
    titles.push_back({"by itself, in " + effects_of->title(), Align::left});
  TextTable table(std::move(titles));
  const Importance& first = *columns.front().importance;
  for (const ParameterImportance& parameter : first.parameters) {
    std::vector<std::string> cells{elide_middle(parameter.parameter, k_widest)};
    for (const ShareColumn& column : columns) {
      const ParameterImportance* there = parameter_in(*column.importance, parameter.parameter);
      cells.push_back(there == nullptr ? "-" : share_text(*there));
    }
    if (effects_of != nullptr) cells.push_back(effect_text(parameter, first, *effects_of));
    table.add_row(std::move(cells));
  }
  std::vector<PairImportance> pairs;
  for (const ShareColumn& column : columns) {
    for (const PairImportance& pair : column.importance->pairs) {
      const bool there = std::ranges::any_of(pairs, [&](const PairImportance& p) {
        return p.first == pair.first && p.second == pair.second;
      });
      if (!there && pairs.size() < k_shown_elements) pairs.push_back(pair);
    }
  }
  for (const PairImportance& pair : pairs) {
    std::vector<std::string> cells{fmt::format("{} with {}", elide_middle(pair.first, k_widest),
                                               elide_middle(pair.second, k_widest))};
    for (const ShareColumn& column : columns)
      cells.push_back(pair_cell(*column.importance, pair));
    table.add_row(std::move(cells));
  }
  return table;
}

/// Returns the table of shares with as many columns as fit, at least the first.
std::string shares(const StudyImportance& study, const TextStyle& style) {
  std::vector<ShareColumn> columns = share_columns(study);
  if (columns.empty()) return {};
  const bool has_effects = columns.front().importance != &study.failure;
  const ObjectiveView* view = has_effects ? &study.objectives.front().view : nullptr;
  for (const ObjectiveImportance& objective : study.objectives) {
    if (&objective.importance == columns.front().importance) view = &objective.view;
  }
  TextTable table = share_table(columns, view);
  if (style.width > 0 && table.width() > style.width) table = share_table(columns, nullptr);
  while (style.width > 0 && table.width() > style.width && columns.size() > 1) {
    columns.pop_back();
    table = share_table(columns, nullptr);
  }
  const std::string text = table.text();
  const std::size_t end = text.find('\n');
  return styled(text.substr(0, end), "2", style) + text.substr(end);
}

std::string basis_lines(const StudyImportance& study, std::size_t width) {
  std::string text;
  for (const ObjectiveImportance& objective : study.objectives) {
    if (objective.follows) {
      text += wrapped(fmt::format("{}: a fixed multiple of {}", objective.view.title(),
                                  study.objectives[*objective.follows].view.title()),
                      width);
      continue;
    }
    if (!objective.importance.why_unknown.empty()) {
      text += wrapped(
          fmt::format("{}: {}", objective.view.title(), objective.importance.why_unknown), width);
      continue;
    }
    const double explained = objective.importance.explained.mean;
    // A model that explains less than half of the variance is almost useless.
    text += wrapped(
        fmt::format("{}: {} trials, of whose variance the model explains {}{}",
                    objective.view.title(), objective.importance.trials, format_percent(explained),
                    explained < 0.5 ? ": too little to rely on the shares" : ""),
        width);
  }
  if (study.failure.why_unknown.empty()) {
    text += wrapped(
        fmt::format("failure: {} of {} trials, of whose variance the model explains {}",
                    study.failed, study.ended, format_percent(study.failure.explained.mean)),
        width);
  } else {
    text += wrapped(fmt::format("failure: {}", study.failure.why_unknown), width);
  }
  return text;
}

std::string ablation(const ObjectiveImportance& objective, const StudyImportance& study,
                     const TextStyle& style) {
  const AblationPath& path = objective.ablation;
  if (!path.why_unknown.empty()) {
    return wrapped(
        fmt::format("from baseline to best, {}: {}", objective.view.title(), path.why_unknown),
        style.width);
  }
  std::string text = wrapped(
      fmt::format("from baseline (trial {}) to best (trial {}), {}: {}", study.baseline.value_or(0),
                  study.best.value_or(0), objective.view.title(), ablation_headline(path)),
      style.width);
  text.pop_back();
  text = styled(text, "1", style);
  TextTable table({{"", Align::left}, {"", Align::right}, {"", Align::left}});
  std::size_t widest = 40;
  if (style.width > 0) widest = std::max<std::size_t>(24, style.width > 42 ? style.width - 42 : 24);
  for (const AblationStep& step : path.steps) {
    table.add_row({"  " + elide_middle(changes_text(step), widest),
                   gain_text(step.gain, path.logarithmic),
                   step.measured ? "measured" : "by the model"});
  }
  return text + "\n" + table.text();
}

}  // namespace

std::string share_text(const Estimate& share) {
  return fmt::format("{:.0f} % ({:.0f}-{:.0f})", 100.0 * share.mean, 100.0 * share.low,
                     100.0 * share.high);
}

std::string share_text(const ParameterImportance& parameter) {
  return parameter.varied ? share_text(parameter.alone) : "-";
}

std::string effect_text(const ParameterImportance& parameter, const Importance& importance,
                        const ObjectiveView& view) {
  if (!parameter.effect) return parameter.varied ? "" : "one value in all trials";
  const MainEffect& effect = *parameter.effect;
  if (!has_clear_effect(parameter, importance)) return "no clear effect";
  const bool less_is_better = view.objective.direction == Direction::minimize;
  const Value& best = less_is_better ? effect.least : effect.most;
  const Value& worst = less_is_better ? effect.most : effect.least;
  return fmt::format("{} to {}: {}", value_word(worst), value_word(best),
                     gain_text(effect.size, importance.logarithmic));
}

std::string gain_text(const Estimate& gain, bool logarithmic) {
  if (!logarithmic) {
    return fmt::format("{} ({} to {})", format_number(gain.mean), format_number(gain.low),
                       format_number(gain.high));
  }
  return fmt::format("{} ({}-{})", format_ratio(gain.mean), format_factor(gain.low),
                     format_factor(gain.high));
}

std::string changes_text(const AblationStep& step) {
  std::string text;
  for (const ValueChange& change : step.changes) {
    const auto word = [](const std::optional<Value>& value) {
      return value ? value_word(*value) : std::string("-");
    };
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", change.parameter,
                        word(change.from), word(change.to));
  }
  return text;
}

bool excludes_no_change(const AblationStep& step, bool logarithmic) {
  const double nothing = logarithmic ? 1.0 : 0.0;
  return step.gain.low > nothing || step.gain.high < nothing;
}

std::string ablation_headline(const AblationPath& path) {
  std::string text;
  std::size_t measurable_steps = 0;
  for (const AblationStep& step : path.steps) {
    if (!excludes_no_change(step, path.logarithmic)) continue;
    ++measurable_steps;
    text += fmt::format(
        "{}{} {}", text.empty() ? "" : ", ", step.changes.front().parameter,
        path.logarithmic ? format_factor(step.gain.mean) : format_number(step.gain.mean));
  }
  const std::string whole =
      path.logarithmic ? format_ratio(path.gain.mean) : format_number(path.gain.mean);
  if (measurable_steps == 0) return whole + ", no single step has a measurable effect";
  if (measurable_steps < path.steps.size()) text += "; no measurable effect from the rest";
  return whole + ": " + text;
}

std::string importance_text(const StudyImportance& study, const TextStyle& style) {
  std::string text = shares(study, style) + basis_lines(study, style.width);
  for (const ObjectiveImportance& objective : study.objectives) {
    if (!objective.follows) text += ablation(objective, study, style);
  }
  return text;
}

}  // namespace steptune
