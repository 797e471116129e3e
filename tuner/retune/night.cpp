// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/enum_names.hpp"
#include "common/json_fields.hpp"
#include "tuner/verdict/speed_up_record.hpp"

namespace steptune {
namespace {

constexpr auto k_results = enum_names<NightResult>({
    {NightResult::running, "running"},
    {NightResult::kept, "kept"},
    {NightResult::improved, "improved"},
    {NightResult::regressed, "regressed"},
    {NightResult::failed, "failed"},
});
constexpr auto k_phases = enum_names<NightPhase>({
    {NightPhase::first, "first"},
    {NightPhase::check, "check"},
    {NightPhase::recheck, "recheck"},
    {NightPhase::search, "search"},
    {NightPhase::confirmation, "confirmation"},
});
constexpr auto k_trusts = enum_names<Trust>({{Trust::full, "full"}, {Trust::hint, "hint"}});
constexpr auto k_scopes = enum_names<SlowdownScope>({
    {SlowdownScope::shared, "shared"},
    {SlowdownScope::configuration, "configuration"},
    {SlowdownScope::unknown, "unknown"},
});

Json used_json(const UsedConfiguration& used) {
  return {
      {"configuration", to_json(used.configuration)}, {"study", used.study}, {"trial", used.trial}};
}

UsedConfiguration used_from(const Json& json) {
  UsedConfiguration used;
  if (auto read = configuration_from_json(json.at("configuration"), "night")) {
    used.configuration = *std::move(read);
  }
  used.study = json.at("study").get<std::string>();
  used.trial = json.at("trial").get<std::int64_t>();
  return used;
}

Json slowdown_json(const Slowdown& slowdown) {
  Json json{{"since", slowdown.since},
            {"ratio", slowdown.ratio},
            {"low", slowdown.low},
            {"high", slowdown.high},
            {"scope", k_scopes.name_of(slowdown.scope)}};
  if (slowdown.baseline_ratio) json["baseline_ratio"] = *slowdown.baseline_ratio;
  return json;
}

Slowdown slowdown_from(const Json& json) {
  Slowdown slowdown;
  slowdown.since = json.at("since").get<std::int64_t>();
  slowdown.ratio = json.at("ratio").get<double>();
  slowdown.low = json.at("low").get<double>();
  slowdown.high = json.at("high").get<double>();
  slowdown.scope =
      k_scopes.value_of(json.at("scope").get<std::string>()).value_or(SlowdownScope::unknown);
  if (json.contains("baseline_ratio")) {
    slowdown.baseline_ratio = json.at("baseline_ratio").get<double>();
  }
  return slowdown;
}

std::vector<MachineChange> changes_from(const Json& json) {
  std::vector<MachineChange> changes;
  for (const Json& change : json) {
    changes.push_back({change.at("name").get<std::string>(), change.at("before").get<std::string>(),
                       change.at("after").get<std::string>()});
  }
  return changes;
}

Night read_record(const NightRow& row) {
  const Json& json = row.record;
  Night night;
  night.number = row.night;
  night.started_wall_s = row.started_wall_s;
  night.result = night_result_from_text(row.status).value_or(NightResult::failed);
  night.ended_wall_s = json.at("ended_wall_s").get<double>();
  night.phase = k_phases.value_of(json.at("phase").get<std::string>()).value_or(NightPhase::check);
  night.study = json.at("study").get<std::string>();
  night.fingerprint = json.at("fingerprint").get<std::string>();
  night.commit = json.value("commit", "");
  night.fast_commit = json.value("fast_commit", "");
  night.machine = json.at("machine").get<MachineDescription>();
  night.before = used_from(json.at("before"));
  night.after = used_from(json.at("after"));
  night.times = {row.night, json.at("times").get<std::vector<double>>(),
                 json.at("baseline_times").get<std::vector<double>>()};
  night.after_times = json.at("after_times").get<std::vector<double>>();
  night.after_baseline_times = json.at("after_baseline_times").get<std::vector<double>>();
  JsonForm<SpeedUp>::read(json.at("lead"), night.lead);
  JsonForm<std::optional<SpeedUp>>::read(json.at("gain"), night.gain);
  if (json.at("slowdown").is_object()) night.slowdown = slowdown_from(json.at("slowdown"));
  night.slower_since_wall_s = json.at("slower_since_wall_s").get<double>();
  night.broken = json.at("broken").get<std::string>();
  night.lead_shrank = json.at("lead_shrank").get<bool>();
  night.evidence = json.at("evidence").get<double>();
  night.changes = changes_from(json.at("changes"));
  night.trust = k_trusts.value_of(json.at("trust").get<std::string>()).value_or(Trust::hint);
  night.searched = json.at("searched").get<std::int64_t>();
  night.trials = json.at("trials").get<std::int64_t>();
  night.elapsed_s = json.at("elapsed_s").get<double>();
  night.usd = json.at("usd").get<double>();
  night.budget_spent = json.at("budget_spent").get<bool>();
  night.reason = json.at("reason").get<std::string>();
  return night;
}

}  // namespace

std::string to_text(NightResult result) {
  return std::string(k_results.name_of(result));
}

std::optional<NightResult> night_result_from_text(std::string_view text) {
  return k_results.value_of(text);
}

std::string to_text(NightPhase phase) {
  return std::string(k_phases.name_of(phase));
}

std::string to_text(Trust trust) {
  return std::string(k_trusts.name_of(trust));
}

NightRow to_row(const Night& night) {
  Json json;
  json["ended_wall_s"] = night.ended_wall_s;
  json["phase"] = to_text(night.phase);
  json["study"] = night.study;
  json["fingerprint"] = night.fingerprint;
  json["commit"] = night.commit;
  json["fast_commit"] = night.fast_commit;
  json["machine"] = night.machine;
  json["before"] = used_json(night.before);
  json["after"] = used_json(night.after);
  json["times"] = night.times.incumbent;
  json["baseline_times"] = night.times.baseline;
  json["after_times"] = night.after_times;
  json["after_baseline_times"] = night.after_baseline_times;
  json["lead"] = JsonForm<SpeedUp>::write(night.lead);
  json["gain"] = JsonForm<std::optional<SpeedUp>>::write(night.gain);
  json["slowdown"] = night.slowdown ? slowdown_json(*night.slowdown) : Json(nullptr);
  json["slower_since_wall_s"] = night.slower_since_wall_s;
  json["broken"] = night.broken;
  json["lead_shrank"] = night.lead_shrank;
  json["evidence"] = std::min(night.evidence, 1e300);
  json["changes"] = to_json(night.changes);
  json["trust"] = to_text(night.trust);
  json["searched"] = night.searched;
  json["trials"] = night.trials;
  json["elapsed_s"] = night.elapsed_s;
  json["usd"] = night.usd;
  json["budget_spent"] = night.budget_spent;
  json["reason"] = night.reason;
  return {night.number, night.started_wall_s, to_text(night.result), std::move(json)};
}

Result<Night> night_from_row(const NightRow& row) {
  try {
    return read_record(row);
  } catch (const Json::exception& exception) {
    return fail(
        ErrorKind::store,
        fmt::format("the record of night {} cannot be read: {}", row.night, exception.what()),
        "nights",
        "the history is damaged or was edited: restore a backup, or start a new one with "
        "--db");
  }
}

}  // namespace steptune
