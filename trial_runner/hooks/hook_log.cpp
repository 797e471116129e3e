// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/hooks/hook_log.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "trial_runner/hooks/knob_table.hpp"

namespace steptune {
namespace {

/// Most stored events, to bound memory.
constexpr std::size_t k_most_kept = 1000;

Json scalar_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_primitive() ? *found : Json();
}

std::vector<Json> list_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return {};
  return {found->begin(), found->end()};
}

/// Skips elements that are not text.
std::vector<std::string> texts_at(const Json& json, const char* key) {
  std::vector<std::string> texts;
  for (const Json& text : list_at(json, key)) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::optional<std::int64_t> integer_at(const Json& json, const char* key) {
  const Json number = scalar_at(json, key);
  if (!number.is_number_integer()) return std::nullopt;
  return number.get<std::int64_t>();
}

std::int64_t rank_of(const Json& row) {
  return integer_at(row, "rank").value_or(0);
}

/// Returns an event's identity; a later event of the same identity replaces an earlier one.
std::string identity_of(const Json& event, const std::string& name) {
  if (name == "knob" && rank_of(event) != 0) {
    return fmt::format("knob {} on rank {}", text_at(event, "knob"), rank_of(event));
  }
  if (name == "knob") return "knob " + text_at(event, "knob");
  if (name == "loader") return "loader " + text_at(event, "id");
  return name;
}

KnobState knob_state(const Json& event) {
  KnobState state;
  state.today = scalar_at(event, "today");
  state.value = scalar_at(event, "value");
  state.may = scalar_at(event, "may") == true;
  state.why = text_at(event, "why");
  if (rank_of(event) != 0) state.why = fmt::format("on rank {}: {}", rank_of(event), state.why);
  state.choices = list_at(event, "choices");
  state.where = texts_at(event, "where");
  state.also = texts_at(event, "also");
  const auto edit = event.find("edit");
  if (edit != event.end() && !text_at(*edit, "call").empty()) state.edit = *edit;
  return state;
}

std::string shown_value(const Json& value) {
  if (value.is_null()) return "not known";
  return printable_line(plain_text(value), 60);
}

}  // namespace

double ReplayedSteps::ceiling() const {
  return std::max(1.0, before_step_s / step_s);
}

void HookLog::add(std::string_view event) {
  // The program prints the hook's lines, so they may contain anything.
  const auto json = parse_json(event, "");
  if (!json || !json->is_object()) return;
  // A file of events may contain them in their printed form.
  const auto wrapped = json->find("hook");
  keep(wrapped == json->end() ? *json : *wrapped);
}

void HookLog::keep(const Json& event) {
  if (!event.is_object()) return;
  const std::string name = text_at(event, "event");
  if (name.empty()) return;
  if (name == "armed") {
    armed_ = true;
    return;
  }
  if (name == "imported") {
    family_ = text_at(event, "family");
    if (family_.empty()) family_ = k_pytorch_family;
    return;
  }
  if (name == "imports") {
    imports_ = texts_at(event, "modules");
    return;
  }
  std::string identity = identity_of(event, name);
  if (kept_.size() >= k_most_kept && !kept_.contains(identity)) return;
  if (name == "knob" && !add_row(event)) {
    kept_.erase(identity);
    return;
  }
  kept_.insert_or_assign(std::move(identity), event);
}

bool HookLog::add_row(const Json& event) {
  const std::string knob = text_at(event, "knob");
  const std::int64_t rank = rank_of(event);
  KnobState state = knob_state(event);
  const bool counts = rank == 0 || !state.may;
  if (!counts && !rows_.contains(knob)) return false;
  auto& rows = rows_[knob];
  if (counts) {
    rows.insert_or_assign(rank, std::move(state));
  } else {
    rows.erase(rank);
  }
  const auto refusal = std::ranges::find_if(rows, [](const auto& row) { return !row.second.may; });
  if (const auto row = refusal != rows.end() ? refusal : rows.begin(); row != rows.end()) {
    knobs_.insert_or_assign(knob, row->second);
  } else {
    knobs_.erase(knob);
  }
  return counts;
}

std::optional<std::string> HookLog::disabled() const {
  const Json& hook_event = event("disabled");
  if (!hook_event.is_object()) return std::nullopt;
  return printable_line(text_at(hook_event, "why"));
}

std::optional<std::string> HookLog::gave_up() const {
  const Json& hook_event = event("gave_up");
  if (!hook_event.is_object()) return std::nullopt;
  return printable_line(
      fmt::format("{}={} does not work with this program: {}", text_at(hook_event, "knob"),
                  shown_value(scalar_at(hook_event, "value")), text_at(hook_event, "why")));
}

std::optional<ReplayedSteps> HookLog::replay() const {
  const Json& hook_event = event("replay_ended");
  if (!hook_event.is_object()) return std::nullopt;
  const Json step_s = scalar_at(hook_event, "step_s");
  const Json before_step_s = scalar_at(hook_event, "before_step_s");
  if (!step_s.is_number() || !before_step_s.is_number()) return std::nullopt;
  const ReplayedSteps steps{step_s.get<double>(), before_step_s.get<double>()};
  const bool is_valid = steps.step_s > 0.0 && steps.before_step_s > 0.0 &&
                        std::isfinite(steps.before_step_s / steps.step_s);
  return is_valid ? std::optional(steps) : std::nullopt;
}

const Json& HookLog::event(const std::string& name) const {
  static const Json k_none;
  const auto found = kept_.find(name);
  return found == kept_.end() ? k_none : found->second;
}

std::vector<HookedLoader> HookLog::loaders() const {
  std::vector<HookedLoader> loaders;
  for (const auto& [identity, event] : kept_) {
    if (!identity.starts_with("loader ")) continue;
    HookedLoader& loader = loaders.emplace_back();
    loader.where = text_at(event, "where");
    loader.dataset = text_at(event, "dataset");
    if (const Json training = scalar_at(event, "training"); training.is_boolean()) {
      loader.training = training.get<bool>();
    }
    loader.batches = integer_at(event, "length");
    loader.batch_size = integer_at(event, "batch_size");
    loader.samples = integer_at(event, "samples");
  }
  return loaders;
}

Json HookLog::to_json() const {
  Json events = Json::array();
  for (const auto& [identity, event] : kept_)
    events.push_back(event);
  return events;
}

HookLog HookLog::from_json(const Json& json) {
  HookLog log;
  if (!json.is_array()) return log;
  for (const Json& event : json)
    log.keep(event);
  return log;
}

HookLog read_hook_events(const std::filesystem::path& file) {
  HookLog log;
  std::ifstream stream(file, std::ios::binary);
  for (std::string line; std::getline(stream, line);)
    log.add(line);
  return log;
}

std::optional<std::string> why_not_applied(const HookLog& log,
                                           const std::map<std::string, Value>& requested) {
  for (const auto& [name, value] : requested) {
    const Knob* knob = find_python_knob(name);
    if (knob == nullptr) continue;
    const auto state = log.knobs().find(name);
    if (state == log.knobs().end()) {
      return fmt::format("{}={} could not be set: the hook did not report it", name,
                         to_text(value));
    }
    const bool is_so = state->second.value == to_json(value);
    // The tuner set the variables before the program began, so the value that the program read
    // counts.
    if (is_so && knob->in_environment()) continue;
    if (is_so && (state->second.may || state->second.today == state->second.value)) continue;
    return fmt::format("{}={} could not be set, it is {}{}{}", name, to_text(value),
                       shown_value(state->second.value), state->second.why.empty() ? "" : ": ",
                       printable_line(state->second.why));
  }
  return std::nullopt;
}

}  // namespace steptune
