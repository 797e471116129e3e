// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "tuner/verdict/speed_up_record.hpp"

namespace steptune {

inline constexpr auto k_night_result_names = enum_names<NightResult>({
    {NightResult::running, "running"},
    {NightResult::kept, "kept"},
    {NightResult::improved, "improved"},
    {NightResult::regressed, "regressed"},
    {NightResult::failed, "failed"},
});
inline constexpr auto k_night_phase_names = enum_names<NightPhase>({
    {NightPhase::first, "first"},
    {NightPhase::check, "check"},
    {NightPhase::recheck, "recheck"},
    {NightPhase::search, "search"},
    {NightPhase::confirmation, "confirmation"},
});
inline constexpr auto k_trust_names =
    enum_names<Trust>({{Trust::full, "full"}, {Trust::hint, "hint"}});
inline constexpr auto k_scope_names = enum_names<SlowdownScope>({
    {SlowdownScope::shared, "shared"},
    {SlowdownScope::configuration, "configuration"},
    {SlowdownScope::unknown, "unknown"},
});
template <>
struct JsonForm<NightPhase> : JsonNames<k_night_phase_names> {};
template <>
struct JsonForm<Trust> : JsonNames<k_trust_names> {};
template <>
struct JsonForm<SlowdownScope> : JsonNames<k_scope_names> {};

template <>
const JsonRecord<UsedConfiguration>& json_record<UsedConfiguration>() {
  static const auto record = JsonRecord<UsedConfiguration>()
                                 .field("configuration", &UsedConfiguration::configuration)
                                 .field("study", &UsedConfiguration::study)
                                 .field("trial", &UsedConfiguration::trial);
  return record;
}

template <>
const JsonRecord<Slowdown>& json_record<Slowdown>() {
  static const auto record = JsonRecord<Slowdown>()
                                 .field("since", &Slowdown::since)
                                 .field("ratio", &Slowdown::ratio)
                                 .field("low", &Slowdown::low)
                                 .field("high", &Slowdown::high)
                                 .field("scope", &Slowdown::scope)
                                 .field("baseline_ratio", &Slowdown::baseline_ratio);
  return record;
}

/// Fields of the stored record. Number, start and result of a night are separate columns.
template <>
const JsonRecord<Night>& json_record<Night>() {
  using N = Night;
  static const auto record =
      JsonRecord<N>()
          .field("ended_wall_s", &N::ended_wall_s)
          .field("phase", &N::phase)
          .field("study", &N::study)
          .field("fingerprint", &N::fingerprint)
          .field("commit", &N::commit)
          .field("fast_commit", &N::fast_commit)
          .field("machine", &N::machine)
          .field("before", &N::before)
          .field("after", &N::after)
          .fields_of(&N::times, JsonRecord<NightTimes>()
                                    .field("times", &NightTimes::incumbent)
                                    .field("baseline_times", &NightTimes::baseline))
          .field("after_times", &N::after_times)
          .field("after_baseline_times", &N::after_baseline_times)
          .field("lead", &N::lead)
          .field("gain", &N::gain)
          .field("slowdown", &N::slowdown)
          .field("slower_since_wall_s", &N::slower_since_wall_s)
          .field("broken", &N::broken)
          .field("lead_shrank", &N::lead_shrank)
          .field("evidence", &N::evidence)
          .field("changes", &N::changes)
          .field("trust", &N::trust)
          .field("searched", &N::searched)
          .field("trials", &N::trials)
          .field("elapsed_s", &N::elapsed_s)
          .field("usd", &N::usd)
          .field("budget_spent", &N::budget_spent)
          .field("reason", &N::reason);
  return record;
}

namespace {

/// True if `json` has all fields that a continued night and a comparison need.
bool is_readable(const Json& json) {
  constexpr std::array k_needed{"phase", "study", "before", "after", "times", "baseline_times"};
  return json.is_object() && std::ranges::all_of(k_needed, [&](const char* name) {
           return json.contains(name) && !json[name].is_null();
         });
}

}  // namespace

std::string to_text(NightResult result) {
  return std::string(k_night_result_names.name_of(result));
}

std::optional<NightResult> night_result_from_text(std::string_view text) {
  return k_night_result_names.value_of(text);
}

std::string to_text(NightPhase phase) {
  return std::string(k_night_phase_names.name_of(phase));
}

std::string to_text(Trust trust) {
  return std::string(k_trust_names.name_of(trust));
}

NightRow to_row(const Night& night) {
  Night stored = night;
  stored.evidence = std::min(night.evidence, 1e300);
  return {night.number, night.started_wall_s, to_text(night.result), json_of(stored)};
}

Result<Night> night_from_row(const NightRow& row) {
  Night night;
  if (!is_readable(row.record) || !json_record<Night>().read(row.record, night)) {
    return fail(
        ErrorKind::store, fmt::format("the record of night {} cannot be read", row.night), "nights",
        "the history is damaged or was edited: restore a backup, or start a new one with --db");
  }
  night.number = row.night;
  night.times.night = row.night;
  night.started_wall_s = row.started_wall_s;
  night.result = night_result_from_text(row.status).value_or(NightResult::failed);
  return night;
}

}  // namespace steptune
