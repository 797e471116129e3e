// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/setting_changes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "trial_runner/hooks/knob_table.hpp"
#include "tuner/knobs/knob_role.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/knob_edit.hpp"
#include "tuner/study/config_files.hpp"

namespace steptune {
namespace {

constexpr const char* k_environment = "environment";

std::optional<Value> value_in(const Configuration& configuration, const std::string& name) {
  const Value* value = configuration.find(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

/// True if the parameter decides the knob's value.
bool sets_knob(const KnobRule& rule, const std::string& parameter) {
  const auto* text = std::get_if<document::StringTemplate>(&rule);
  if (text == nullptr) return false;
  const auto names = text->parameters();
  return std::ranges::find(names, parameter) != names.end();
}

/// A place in the program and the text to write there.
struct Edit {
  std::string place;
  std::string text;
};

/// Returns the words of `argv` that differ from `former`, with the option that they belong to. If
/// `argv` only lacks words, returns `without --option`. Returns an empty text if the words belong
/// to no option.
std::string changed_words(const std::vector<std::string>& argv,
                          const std::vector<std::string>& former) {
  const auto [begin, former_begin] = std::ranges::mismatch(argv, former);
  auto end = argv.end();
  auto former_end = former.end();
  while (end != begin && former_end != former_begin && *(end - 1) == *(former_end - 1)) {
    --end;
    --former_end;
  }
  std::vector<std::string> words(begin, end);
  if (words.empty()) {
    const std::vector<std::string> gone(former_begin, former_end);
    return gone.empty() ? "" : "without " + shell_quoted(gone);
  }
  if (!words.front().starts_with('-')) {
    // Without its option, a value tells the reader nothing.
    if (begin == argv.begin() || !(begin - 1)->starts_with('-')) return {};
    words.insert(words.begin(), *(begin - 1));
  }
  return shell_quoted(words);
}

Edit program_edit(const Knob& knob, const Value& value, const HookLog& seen) {
  const auto found = seen.knobs().find(knob.name);
  const KnobState state = found == seen.knobs().end() ? KnobState() : found->second;
  const KnobEdit edit = knob_edit(knob, value, state);
  const auto places = edit_places(state);
  Edit result{places.empty() ? "" : fmt::format("{}", fmt::join(places, ", ")), ""};
  if (!edit.call.empty()) {
    result.text = fmt::format("{}(..., {})", called_there(edit, state.where), edit.argument);
  } else if (!edit.lines.empty()) {
    result.text = fmt::format("{}", fmt::join(edit.lines, "; "));
  } else if (!edit.shell.empty()) {
    result = {k_environment, edit.shell};
  }
  return result;
}

/// Returns the edit that changes `former` into `advised`. These configurations differ in one
/// parameter.
Edit edit_between(const StudySpec& study, const Configuration& advised, const Configuration& former,
                  const HookLog& seen) {
  const auto usual = knob_values(study, former);
  for (const auto& [name, value] : knob_values(study, advised)) {
    const auto before = usual.find(name);
    if (before != usual.end() && before->second == value) continue;
    if (const Knob* knob = find_python_knob(name)) return program_edit(*knob, value, seen);
  }
  for (const auto& [name, config] : study.config_files) {
    const ConfigValues now = config_values(config, advised);
    const ConfigValues was = config_values(config, former);
    for (const auto& [key, value] : now.values.values()) {
      const Value* before = was.values.find(key);
      if (before != nullptr && *before == value) continue;
      const auto named = now.keys.find(key);
      return {config.file.filename().string(),
              fmt::format("{}: {}", named == now.keys.end() ? key : named->second, to_text(value))};
    }
  }
  const std::string words =
      changed_words(plain_command(study, advised), plain_command(study, former));
  if (!words.empty()) return {"", words};
  const auto variables = render_command(study, former).environment;
  for (const auto& [name, value] : render_command(study, advised).environment) {
    const auto before = variables.find(name);
    if (before == variables.end() || before->second != value) {
      return {k_environment, fmt::format("{}={}", name, shell_quoted(value))};
    }
  }
  return {};
}

/// True if the program already uses the recommended value, although the baseline does not set it.
bool is_applied(const StudySpec& study, const std::string& parameter, const Value& advised,
                const HookLog& seen) {
  if (!study.hooks.python) return false;
  return std::ranges::any_of(*study.hooks.python, [&](const auto& knob) {
    const auto state = seen.knobs().find(knob.first);
    return sets_knob(knob.second, parameter) && state != seen.knobs().end() &&
           state->second.today == to_json(advised);
  });
}

/// True if `advised` is the last value of the parameter's range in the direction of the change,
/// upwards or downwards.
bool is_last_value(const Parameter& parameter, double today, double advised) {
  if (parameter.kind == ParameterKind::integer || parameter.kind == ParameterKind::floating) {
    return advised == (advised > today ? parameter.high : parameter.low);
  }
  if (parameter.kind != ParameterKind::ordinal) return false;
  const auto value =
      number_in(advised > today ? parameter.choices.back() : parameter.choices.front());
  return value == advised;
}

/// True if values beyond `advised` make no sense: fewer than one thread or worker, more threads
/// than CPUs.
bool is_natural_end(const StudySpec& study, const std::string& name, double today, double advised) {
  if (advised < today) return advised <= 1.0 && advised == std::floor(advised);
  if (role_of(study.parameter_roles, name) != KnobRole::threads) return false;
  const auto cpus = study.facts.find("cpus");
  return cpus != study.facts.end() && advised >= cpus->second;
}

bool ends_range(const StudySpec& study, const std::string& name, const std::optional<Value>& today,
                const std::optional<Value>& advised) {
  const Parameter* parameter = study.space.find(name);
  if (parameter == nullptr || !today || !advised) return false;
  const auto before = number_in(*today);
  const auto now = number_in(*advised);
  if (!before || !now) return false;
  return is_last_value(*parameter, *before, *now) && !is_natural_end(study, name, *before, *now);
}

std::string value_text(const std::optional<Value>& value) {
  return value ? printable_line(to_text(*value), 60) : "not set";
}

/// Returns rows with aligned cells; the last cell of a line is not padded.
std::string aligned_lines(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    std::size_t blanks = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].empty()) {
        line += std::string(blanks, ' ') + row[i];
        blanks = 0;
      }
      if (widths[i] > 0) blanks += widths[i] - display_width(row[i]) + 2;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::vector<SettingChange> setting_changes(const StudySpec& study, const Configuration& advised,
                                           const HookLog& seen) {
  std::vector<SettingChange> changes;
  for (const std::string& name : parameter_order(study.document)) {
    const auto today = value_in(study.baseline, name);
    const auto now = value_in(advised, name);
    if (today == now) continue;
    if (!today && is_applied(study, name, *now, seen)) continue;
    Configuration former = advised;
    if (today) {
      former.set(name, *today);
    } else {
      former.erase(name);
    }
    auto [place, text] = edit_between(study, advised, former, seen);
    changes.push_back(
        {name, today, now, std::move(place), std::move(text), ends_range(study, name, today, now)});
  }
  return changes;
}

Result<HookLog> read_hook_log(const StoredStudy& study) {
  HookLog seen;
  const auto trials = study.history.standing_trials(study.record.id, 1);
  if (!trials) return tl::unexpected(trials.error());
  for (const TrialRecord& trial : *trials) {
    if (!trial.hook.is_null()) seen = HookLog::from_json(trial.hook);
  }
  return seen;
}

std::string change_lines(const std::vector<SettingChange>& changes, std::size_t width) {
  std::vector<std::vector<std::string>> rows;
  for (const SettingChange& change : changes) {
    rows.push_back({rows.empty() ? "change" : "", change.parameter,
                    fmt::format("{} -> {}", value_text(change.today), value_text(change.advised)),
                    printable_line(change.place, 200), printable_line(change.edit, 300)});
  }
  const std::string text = aligned_lines(rows);
  if (width == 0) return text;
  std::string cut;
  for (const std::string_view line : split_lines(text))
    cut += elide_middle(line, width) + "\n";
  return cut;
}

std::string range_line(const std::vector<SettingChange>& changes) {
  std::vector<std::string> ends;
  for (const SettingChange& change : changes) {
    if (change.ends_range)
      ends.push_back(fmt::format("{} {}", change.parameter, value_text(change.advised)));
  }
  if (ends.empty()) return {};
  return fmt::format("range   {} {} of {}: nothing beyond was tried\n", fmt::join(ends, ", "),
                     ends.size() == 1 ? "is the end" : "are the ends",
                     ends.size() == 1 ? "its range" : "their ranges");
}

template <>
const JsonRecord<SettingChange>& json_record<SettingChange>() {
  using S = SettingChange;
  static const auto record =
      JsonRecord<S>()
          .field("parameter", &S::parameter)
          .field("today", &S::today)
          .field("advised", &S::advised)
          .text_or_null("place", &S::place, "File and line, file, or environment")
          .field("ends_range", &S::ends_range,
                 "True if the range ends at the advised value, so nothing beyond was tried")
          .text_or_null("edit", &S::edit);
  return record;
}

}  // namespace steptune
