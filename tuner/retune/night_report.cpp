// SPDX-License-Identifier: Apache-2.0
#include "tuner/retune/night_report.hpp"

#include <cmath>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/text.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/verdict/speed_up_record.hpp"

namespace steptune {
namespace {

/// Returns the name of the slowdown's cause. Scripts read these names, so they must not change.
std::string cause_name(const Night& night) {
  if (!night.broken.empty()) return "configuration";
  switch (night.slowdown->scope) {
    case SlowdownScope::shared: {
      bool machine = false, library = false;
      for (const MachineChange& change : night.changes)
        (machine_part(change.name) == MachinePart::library ? library : machine) = true;
      if (machine == library) return "machine_or_library";
      return machine ? "machine" : "library";
    }
    case SlowdownScope::configuration:
      return "configuration";
    case SlowdownScope::unknown:
      break;
  }
  return "unknown";
}

Json regression_json(const Night& night, const NightContext& context) {
  if (!night.slowdown && night.broken.empty()) return nullptr;
  Json json{{"cause", cause_name(night)},
            {"failure", night.broken.empty() ? Json(nullptr) : Json(night.broken)},
            {"since_night", nullptr},
            {"since", nullptr},
            {"slowdown", nullptr},
            {"baseline_slowdown", nullptr},
            {"evidence", nullptr}};
  if (night.slowdown) {
    json["since_night"] = night.slowdown->since;
    json["since"] = format_utc(night.slower_since_wall_s);
    json["slowdown"] = {{"ratio", night.slowdown->ratio},
                        {"low_95", night.slowdown->low},
                        {"high_95", night.slowdown->high}};
    json["baseline_slowdown"] =
        night.slowdown->baseline_ratio ? Json(*night.slowdown->baseline_ratio) : Json(nullptr);
    json["evidence"] = std::min(night.evidence, 1e300);
  }
  json["bisect"] = context.bisect_command.empty() ? Json(nullptr) : Json(context.bisect_command);
  return json;
}

std::string cause_text(const Night& night) {
  const std::string cause = cause_name(night);
  if (cause == "configuration")
    return "probably the configuration: the baseline has slowed down less than half as much";
  if (cause == "machine") return "probably the machine: the baseline has slowed down, too";
  if (cause == "library") return "probably a library: the baseline has slowed down, too";
  if (cause == "machine_or_library")
    return "machine, library or the program itself: the baseline has slowed down, too";
  return "there is no second configuration to compare with";
}

std::string interval_text(double ratio, double low, double high) {
  return fmt::format("{} times (95 % interval {}-{})", format_factor(ratio), format_factor(low),
                     format_factor(high));
}

std::string outcome_text(const Night& night) {
  switch (night.result) {
    case NightResult::kept:
      return "nothing better was shown; the configuration stays";
    case NightResult::improved:
      return "another configuration is in use from now on";
    case NightResult::regressed:
      return night.broken.empty() ? "the configuration in use has become slower"
                                  : "the configuration in use no longer works";
    case NightResult::failed:
      return "nothing could be measured";
    case NightResult::running:
      break;
  }
  return "interrupted; the next 'steptune retune' continues it";
}

}  // namespace

Json night_json(const Night& night, const NightContext& context) {
  Json json;
  json["schema_version"] = k_json_schema_version;
  json["study"] = context.study;
  json["night"] = night.number;
  json["result"] = to_text(night.result);
  json["reason"] = night.reason.empty() ? outcome_text(night) : night.reason;
  json["started"] = format_utc(night.started_wall_s);
  json["configuration"] = to_json(night.after.configuration);
  json["previous"] = night.after.configuration == night.before.configuration
                         ? Json(nullptr)
                         : to_json(night.before.configuration);
  json["measured_in"] = {{"study", night.after.study}, {"trial", night.after.trial}};
  json["gain"] = json_of(night.gain);
  json["lead_over_baseline"] = json_of(night.lead);
  json["regression"] = regression_json(night, context);
  json["machine_changes"] = json_of(night.changes);
  json["trust"] = to_text(night.trust);
  json["searched_trials"] = night.searched;
  json["trials"] = night.trials;
  json["elapsed_s"] = night.elapsed_s;
  json["cost_usd"] = night.usd;
  json["budget_spent"] = night.budget_spent;
  json["night_study"] = night.study;
  json["warnings"] = context.warnings;
  return json;
}

Json not_begun_json(const std::string& study, const Error& error) {
  return {{"schema_version", k_json_schema_version},
          {"study", study},
          {"result", to_text(NightResult::failed)},
          {"reason", error.text()}};
}

std::string night_text(const Night& night, const NightContext& context, std::size_t width) {
  std::string text = fmt::format("{}  night {} of {}: {} ({} trial{}, {}, {})\n",
                                 to_text(night.result), night.number, context.study,
                                 outcome_text(night), night.trials, night.trials == 1 ? "" : "s",
                                 format_duration(night.elapsed_s), format_usd(night.usd));
  text += fmt::format("best   {}\n",
                      configuration_text(night.after.configuration, context.parameter_order));
  if (night.gain && std::isfinite(night.gain->ratio)) {
    text += fmt::format("       {} as fast as {}\n",
                        interval_text(night.gain->ratio, night.gain->low, night.gain->high),
                        night.broken.empty() ? configuration_text(night.before.configuration,
                                                                  context.parameter_order)
                                             : "the baseline");
  } else if (std::isfinite(night.lead.ratio)) {
    text += fmt::format("       {} as fast as the baseline\n",
                        interval_text(night.lead.ratio, night.lead.low, night.lead.high));
  }
  if (night.slowdown) {
    text += fmt::format(
        "slower {} the time since night {} ({})\n       {}\n",
        interval_text(night.slowdown->ratio, night.slowdown->low, night.slowdown->high),
        night.slowdown->since, format_utc(night.slower_since_wall_s), cause_text(night));
  }
  if (!night.changes.empty()) {
    text += fmt::format("change {}\n", printable_line(to_text(night.changes), 2000));
  }
  if (!night.reason.empty()) text += fmt::format("why    {}\n", printable_line(night.reason, 2000));
  constexpr std::string_view k_title = "next   ";  // the other titles are as wide
  // If nothing could be measured, the trials of the night show why.
  const std::string next = night.result == NightResult::failed
                               ? fmt::format("leaderboard {} --all", night.study)
                               : "best " + context.study;
  text = wrapped_entries(text, width, k_title.size()) +
         fmt::format("next   steptune {}{}\n", next, context.database_option);
  if (context.bisect_command.empty()) return text;
  const char* unknown = night.fast_commit.empty() ? " (replace GOOD by a fast commit)" : "";
  return text + fmt::format("       find the commit that made it slower{}:\n       {}\n", unknown,
                            context.bisect_command);
}

std::vector<std::string> night_events(const Night& night) {
  std::vector<std::string> events;
  if (night.result == NightResult::improved) events.emplace_back("improved");
  if (night.slowdown || !night.broken.empty()) events.emplace_back("regressed");
  if (night.result == NightResult::failed) events.emplace_back("failed");
  if (night.budget_spent) events.emplace_back("budget");
  if (events.empty()) events.emplace_back("completed");
  return events;
}

}  // namespace steptune
