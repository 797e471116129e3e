// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/condense.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/exit_status.hpp"
#include "common/json_fields.hpp"
#include "common/shell_quote.hpp"
#include "common/text.hpp"
#include "tuner/mcp/bounded.hpp"

namespace steptune::mcp {
namespace {

constexpr std::string_view k_error_mark = "steptune: error: ";
constexpr std::string_view k_warning_mark = "steptune: warning: ";

/// Returns the lines that are not empty.
std::vector<std::string_view> full_lines(std::string_view text) {
  std::vector<std::string_view> lines = split_lines(text);
  std::erase_if(lines, [](std::string_view line) { return line.empty(); });
  return lines;
}

/// Returns the value at a path of keys; null if there is none.
Json at(const Json& json, std::initializer_list<const char*> keys) {
  const Json* value = &json;
  for (const char* key : keys) {
    const auto found = value->is_object() ? value->find(key) : value->end();
    if (!value->is_object() || found == value->end()) return nullptr;
    value = &*found;
  }
  return *value;
}

/// Copies these members, unless they are null.
void copy(const Json& from, std::initializer_list<const char*> keys, Json& to) {
  for (const char* key : keys) {
    if (Json value = at(from, {key}); !value.is_null()) to[key] = std::move(value);
  }
}

/// Returns these members of each element of a list.
Json copies(const Json& list, std::initializer_list<const char*> keys) {
  Json all = Json::array();
  for (const Json& element : list)
    copy(element, keys, all.emplace_back());
  return all;
}

/// Rounds all numbers to four digits, because more digits only fill the agent's context.
Json rounded(const Json& json) {
  if (json.is_number_float()) {
    return parse_finite(fmt::format("{:.4g}", json.get<double>())).value_or(0.0);
  }
  if (!json.is_structured()) return json;
  Json result = json;
  for (Json& value : result)
    value = rounded(value);
  return result;
}

/// Returns `batch_size=64 precision=bf16`.
std::string configuration_text(const Json& configuration) {
  std::string text;
  if (!configuration.is_object()) return text;
  for (const auto& [name, value] : configuration.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, plain_text(value));
  return text;
}

Json speed_up_of(const Json& speed_up) {
  if (!speed_up.is_object()) return nullptr;
  return {{"ratio", at(speed_up, {"ratio"})},
          {"low_95", at(speed_up, {"low_95"})},
          {"high_95", at(speed_up, {"high_95"})},
          {"launches_each", at(speed_up, {"pairs"})}};
}

/// Returns `16..256` or the choices.
std::string range_text(const Json& parameter) {
  if (const Json choices = at(parameter, {"choices"}); choices.is_array()) {
    std::string text;
    for (const Json& choice : choices)
      text += (text.empty() ? "" : ", ") + plain_text(choice);
    return text;
  }
  const Json low = at(parameter, {"low"});
  if (low.is_null()) return text_at(parameter, "type");
  return plain_text(low) + ".." + plain_text(at(parameter, {"high"}));
}

Json survey_of(const Json& document) {
  Json json;
  const std::string name = text_at(document, "name");
  json["verdict"] =
      fmt::format("{} settings can be tuned", plain_text(at(document, {"space", "parameters"})));
  json["study"] = name;
  json["study_file"] = name + ".study.json";
  json["parameters"] = Json::object();
  const Json parameters = at(document, {"study", "parameters"});
  const Json today = at(document, {"study", "baseline"});
  for (const auto& [parameter, declared] : parameters.items()) {
    json["parameters"][parameter] = {{"today", at(today, {parameter.c_str()})},
                                     {"range", range_text(declared)}};
  }
  json["combinations"] = at(document, {"space", "feasible"});
  json["next"] = fmt::format("call tune with \"study\": \"{}.study.json\"", name);
  return json;
}

/// Returns the verdict on a study without a recommendation. `counts` are the numbers of its trials
/// by status.
std::string verdict_without_result(const Json& counts) {
  const auto any = [&](std::initializer_list<const char*> statuses) {
    return std::ranges::any_of(statuses, [&](const char* status) {
      return number_at(counts, status).value_or(0.0) > 0.0;
    });
  };
  if (any({"completed", "stopped_early", "infeasible"})) return "no trial respects all limits";
  if (any({"failed", "out_of_memory"}) && !any({"interrupted"})) return "every trial failed";
  return "nothing was measured";
}

Json run_of(const Json& document) {
  Json json;
  const Json result = at(document, {"recommendation"});
  const bool interrupted = at(document, {"end"}) == "interrupted";
  const std::string name = plain_text(at(document, {"study", "name"}));
  json["verdict"] = at(result, {"verdict"});
  if (json["verdict"].is_null()) {
    json["verdict"] = interrupted ? "stopped before a result"
                                  : verdict_without_result(at(document, {"leaderboard", "counts"}));
  }
  json["study"] = name;
  copy(result, {"outcome"}, json);
  json["reason"] = at(document, {"reason"});
  json["speed_up"] = speed_up_of(at(result, {"speed_up"}));
  json["changes"] =
      copies(at(result, {"changes"}), {"parameter", "today", "advised", "place", "edit"});
  json["trials"] = at(document, {"leaderboard", "counts"});
  copy(result, {"tuning_s", "payback_share"}, json);
  json["next"] = at(result, {"next"});
  if (interrupted) {
    json["next"] =
        "everything measured is kept: call tune again with the same arguments to continue";
  } else if (json["next"].is_null()) {
    json["next"] = "call explain with \"about\": \"output\", \"trial\": 1";
  }
  return json;
}

Json judged_command(const Json& command) {
  Json json;
  copy(command, {"name", "verdict", "command"}, json);
  if (Json speed_up = speed_up_of(at(command, {"speed_up"})); !speed_up.is_null()) {
    json["speed_up"] = std::move(speed_up);
  }
  copy(command, {"why", "loss"}, json);
  return json;
}

Json judge_of(const Json& document) {
  const Json judged = at(document, {"judge"});
  const std::string verdict = text_at(judged, "verdict");
  const std::string keep = text_at(judged, "keep");
  Json json;
  json["verdict"] = verdict;
  copy(judged, {"keep", "margin", "spent_s"}, json);
  json["commands"] = Json::array();
  std::optional<double> more_s;
  for (const Json& command : at(judged, {"commands"})) {
    json["commands"].push_back(judged_command(command));
    if (const auto needed_s = number_at(command, "more_s")) {
      more_s = std::max(more_s.value_or(0.0), *needed_s);
    }
  }
  json["study"] = at(document, {"study", "name"});
  copy(document, {"campaign"}, json);
  if (verdict == "failed") {
    json["next"] = "repair the command that failed, and judge again";
  } else if (more_s) {
    json["next"] = fmt::format("keep {}; to decide, judge again with about {} more", keep,
                               format_duration(*more_s));
  } else if (verdict == "undecided") {
    json["next"] = fmt::format("keep {}: no gain is shown", keep);
  } else {
    json["next"] = "keep " + keep;
  }
  return json;
}

Json studies_of(const Json& document) {
  Json json;
  json["studies"] =
      copies(at(document, {"studies"}), {"name", "status", "trials", "claim", "speed_up"});
  // Put the latest studies first, because a long list is cut at its end.
  std::reverse(json["studies"].begin(), json["studies"].end());
  return json;
}

std::string version_text(const Json& version) {
  const std::string commit = text_at(version, "commit");
  return commit.empty() ? text_at(version, "command") : commit;
}

/// Returns the figures of a campaign. The latest edits come first, because a long list is cut at
/// its end.
Json campaign_of(const Json& document) {
  const Json ladder = at(document, {"campaign"});
  const Json edits = at(ladder, {"edits"});
  Json json;
  copy(ladder, {"name", "kept", "gain", "next_error"}, json);
  json["champion"] = version_text(at(ladder, {"champion"}));
  if (const Json measured = at(ladder, {"measured"}); !measured.is_null()) {
    json["measured"] = {{"version", version_text(at(measured, {"challenger"}))},
                        {"verdict", at(measured, {"verdict"})},
                        {"speed_up", speed_up_of(at(measured, {"speed_up"}))}};
  }
  json["latest_first"] = Json::array();
  for (std::size_t number = edits.is_array() ? edits.size() : 0; number > 0; --number) {
    const Json& edit = edits[number - 1];
    json["latest_first"].push_back({{"edit", number},
                                    {"verdict", at(edit, {"verdict"})},
                                    {"ratio", at(edit, {"speed_up", "ratio"})},
                                    {"version", version_text(at(edit, {"challenger"}))}});
  }
  return json;
}

Json leaderboard_of(const Json& document) {
  Json json;
  const Json study = at(document, {"study"});
  copy(study, {"name", "status", "stop_reason", "tuning_s"}, json);
  json["trials"] = at(document, {"counts"});
  json["best_first"] = Json::array();
  for (const Json& row : at(document, {"rows"})) {
    const Json trial = at(row, {"trial"});
    Json& shown = json["best_first"].emplace_back();
    copy(trial, {"number", "status"}, shown);
    if (const Json gains = at(row, {"gain_over_baseline"}); gains.is_array() && !gains.empty()) {
      shown["gain"] = gains.front();
    }
    shown["configuration"] = configuration_text(at(trial, {"configuration"}));
  }
  return json;
}

Json trial_of(const Json& document) {
  const Json trial = at(document, {"trial"});
  Json json;
  copy(trial, {"number", "status", "failure"}, json);
  json["configuration"] = configuration_text(at(trial, {"configuration"}));
  json["objectives"] = at(trial, {"objectives"});
  copy(trial, {"spent_s", "peak_memory_bytes", "cpu_busy_share", "disturbance"}, json);
  copy(at(trial, {"measurement"}),
       {"samples_per_second", "startup_s", "warmup_s", "window_s", "window_steps", "remark",
        "parts_s_per_sample", "metrics"},
       json["measurement"]);
  if (const Json words = at(document, {"details", "argv"}); words.is_array()) {
    json["command"] = posix_quoted(words.get<std::vector<std::string>>());
  }
  return json;
}

Json bottleneck_of(const Json& document) {
  const Json found = at(document, {"bottleneck"});
  Json json;
  json["verdict"] = at(found, {"finding"});
  copy(found, {"evidence", "trial"}, json);
  json["stages"] = copies(at(found, {"stages"}), {"stage", "share", "most_gain"});
  json["settings"] = Json::array();
  for (const Json& response : at(found, {"responses"})) {
    Json& shown = json["settings"].emplace_back();
    copy(response, {"parameter", "now", "best"}, shown);
    shown["gain_left"] = at(response, {"gain_left", "mean"});
  }
  copy(found, {"no_responses"}, json);
  return json;
}

Json importance_of(const Json& document) {
  Json json;
  json["objectives"] = Json::array();
  for (const Json& objective : at(document, {"importance", "objectives"})) {
    Json& shown = json["objectives"].emplace_back();
    copy(objective, {"metric", "unknown", "trials"}, shown);
    shown["explained"] = at(objective, {"explained", "mean"});
    shown["shares"] = Json::object();
    for (const Json& parameter : at(objective, {"parameters"})) {
      shown["shares"][text_at(parameter, "parameter")] = at(parameter, {"with_pairs", "mean"});
    }
  }
  return json;
}

/// Returns the last lines of a trial's output that fit, so that the final error is among them.
Answer output_of(const EndedProgram& ended) {
  constexpr std::size_t k_most_bytes = 1200;
  Json kept = Json::array();
  std::size_t bytes = 0;
  const auto lines = full_lines(ended.out);
  for (auto line = lines.rbegin(); line != lines.rend() && kept.size() < k_most_items; ++line) {
    const std::string shown = printable_line(*line, 200);
    // Also count the quotes, the comma and the escape characters.
    bytes += dump_json(shown).size() + 1;
    if (bytes > k_most_bytes) break;
    kept.insert(kept.begin(), shown);
  }
  return {{{"output_lines", lines.size()}, {"output_end", kept}}, false};
}

Json condensed_document(ToolName tool, const std::string& about, const Json& document) {
  switch (tool) {
    case ToolName::survey:
      return survey_of(document);
    case ToolName::tune:
      return run_of(document);
    case ToolName::judge:
      return judge_of(document);
    case ToolName::status:
      if (document.contains("campaign")) return campaign_of(document);
      return document.contains("studies") ? studies_of(document) : leaderboard_of(document);
    case ToolName::explain:
      if (about == "bottleneck") return bottleneck_of(document);
      if (about == "importance") return importance_of(document);
      return trial_of(document);
    case ToolName::stop:
      break;
  }
  return Json::object();
}

/// Returns the last error on stderr with the lines that follow it; empty if there is none.
std::string error_text(const std::string& err) {
  const std::size_t begin = err.rfind(k_error_mark);
  if (begin == std::string::npos) return "";
  return err.substr(begin + k_error_mark.size());
}

std::string end_text(int exit_code) {
  if (exit_code == k_signal_status + SIGINT || exit_code == k_sigterm_status) {
    return "stopped before a result";
  }
  return fmt::format("ended with exit status {} without a result", exit_code);
}

Json warnings_of(const std::string& err) {
  Json warnings = Json::array();
  for (const std::string_view line : split_lines(err)) {
    if (line.starts_with(k_warning_mark))
      warnings.push_back(printable_line(line.substr(k_warning_mark.size()), 200));
  }
  return warnings;
}

}  // namespace

Answer condensed(ToolName tool, const std::string& about, const EndedProgram& ended) {
  const std::string error = error_text(ended.err);
  if (about == "output" && ended.exit_code == 0) return output_of(ended);
  auto document = parse_json(ended.out, "output");
  if (!document || !document->is_object()) {
    const auto lines = full_lines(error);
    Answer answer{Json::object(), true};
    answer.json["problem"] =
        printable_line(lines.empty() ? end_text(ended.exit_code) : std::string(lines.front()), 600);
    if (lines.size() > 1) {
      // In the error text, the line of the hint is indented.
      const std::string_view hint = lines[1];
      answer.json["next"] =
          printable_line(hint.substr(std::min(hint.find_first_not_of(' '), hint.size())), 400);
    }
    if (const auto all = full_lines(ended.err); lines.empty() && !all.empty()) {
      answer.json["last_message"] = printable_line(all.back(), 300);
    }
    return answer;
  }
  Json json = rounded(condensed_document(tool, about, *document));
  if (!error.empty()) json["problem"] = printable_line(error, 400);
  if (Json warnings = warnings_of(ended.err); !warnings.empty()) json["warnings"] = warnings;
  return {json, false};
}

Answer error_answer(const Error& error) {
  Answer answer{Json::object(), true};
  answer.json["problem"] = (error.where.empty() ? "" : error.where + ": ") + error.message;
  if (!error.hint.empty()) answer.json["next"] = error.hint;
  return answer;
}

}  // namespace steptune::mcp
