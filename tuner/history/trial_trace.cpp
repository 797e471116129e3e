// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/trial_trace.hpp"

#include <algorithm>
#include <cmath>

#include "common/json_fields.hpp"

namespace steptune {
namespace {

/// Rounds times of reports and decisions, to shorten the text.
double to_microseconds(double seconds) {
  return std::round(seconds * 1e6) / 1e6;
}

/// Rounds times of a `MachineSecond`, to shorten the text. The machine is sampled about once a
/// second.
double to_milliseconds(double seconds) {
  return std::round(seconds * 1e3) / 1e3;
}

double number_or_zero(const Json& json, const char* name) {
  return number_at(json, name).value_or(0.0);
}

Disturbance disturbance_from(const Json& json) {
  Disturbance disturbance;
  disturbance.other_load = number_at(json, "other_load").value_or(MachineSecond::k_unknown);
  disturbance.steal = number_at(json, "steal").value_or(MachineSecond::k_unknown);
  disturbance.other_gpu_processes = static_cast<int>(number_or_zero(json, "other_gpu_processes"));
  disturbance.memory_pressure = number_or_zero(json, "memory_pressure");
  disturbance.storage_pressure = number_or_zero(json, "storage_pressure");
  disturbance.quota_wait = number_or_zero(json, "quota_wait");
  const auto throttled = json.find("clocks_throttled");
  disturbance.clocks_throttled =
      throttled != json.end() && throttled->is_boolean() && throttled->get<bool>();
  return disturbance;
}

/// Rounds a machine figure: a share (at most 1) to 0.0001, a clock to whole hertz.
double rounded(double value) {
  return value < 1.0 ? std::round(value * 1e4) / 1e4 : std::round(value);
}

/// Returns one array for each figure. Leaves out figures that the runner could not see.
Json machine_json(const std::vector<MachineSecond>& seconds) {
  Json json = Json::object();
  for (const MachineSecond& second : seconds) {
    json["from_s"].push_back(to_milliseconds(second.from_s));
    json["to_s"].push_back(to_milliseconds(second.to_s));
  }
  for (const MachineFigure& figure : k_machine_figures) {
    if (std::ranges::none_of(
            seconds, [&](const auto& second) { return std::isfinite(second.*figure.value); }))
      continue;
    Json& column = json[std::string(figure.name)];
    for (const MachineSecond& second : seconds)
      column.push_back(number_or_null(rounded(second.*figure.value)));
  }
  return json;
}

std::vector<MachineSecond> machine_from(const Json& json) {
  const auto found = json.find("machine");
  if (found == json.end() || !found->is_object()) return {};
  const auto from_s = numbers_at(*found, "from_s");
  const auto to_s = numbers_at(*found, "to_s");
  std::vector<MachineSecond> seconds(std::min(from_s.size(), to_s.size()));
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    seconds[i].from_s = from_s[i];
    seconds[i].to_s = to_s[i];
  }
  for (const MachineFigure& figure : k_machine_figures) {
    const auto column = numbers_at(*found, std::string(figure.name).c_str());
    for (std::size_t i = 0; i < std::min(seconds.size(), column.size()); ++i)
      seconds[i].*figure.value = column[i];
  }
  return seconds;
}

/// Returns the objects in the array `name`.
std::vector<Json> objects_at(const Json& json, const char* name) {
  std::vector<Json> objects;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array()) return objects;
  std::ranges::copy_if(*found, std::back_inserter(objects),
                       [](const Json& element) { return element.is_object(); });
  return objects;
}

}  // namespace

Json to_json(const TrialTrace& trace) {
  Json json = Json::object();
  json["at_s"] = Json::array();
  json["samples"] = Json::array();
  json["steps"] = Json::array();
  for (const TracePoint& point : trace.progress.points) {
    json["at_s"].push_back(to_microseconds(point.at_s));
    json["samples"].push_back(point.samples);
    json["steps"].push_back(point.steps);
  }
  for (const TracePhase& phase : trace.progress.phases) {
    json["phases"].push_back({{"name", phase.name},
                              {"from_s", to_microseconds(phase.from_s)},
                              {"to_s", to_microseconds(phase.to_s)}});
  }
  for (const DisturbedTime& time : trace.disturbed) {
    json["disturbed"].push_back({{"from_s", to_microseconds(time.from_s)},
                                 {"to_s", to_microseconds(time.to_s)},
                                 {"other_load", number_or_null(time.disturbance.other_load)},
                                 {"steal", number_or_null(time.disturbance.steal)},
                                 {"other_gpu_processes", time.disturbance.other_gpu_processes},
                                 {"memory_pressure", time.disturbance.memory_pressure},
                                 {"storage_pressure", time.disturbance.storage_pressure},
                                 {"quota_wait", time.disturbance.quota_wait},
                                 {"clocks_throttled", time.disturbance.clocks_throttled}});
  }
  for (const TrialDecision& decision : trace.decisions) {
    json["decisions"].push_back({{"at_s", to_microseconds(decision.at_s)},
                                 {"steps", decision.steps},
                                 {"stop", decision.stop},
                                 {"values", numbers_or_null(decision.values)},
                                 {"half_widths", numbers_or_null(decision.half_widths)},
                                 {"reason", decision.reason}});
  }
  if (!trace.machine.empty()) json["machine"] = machine_json(trace.machine);
  if (trace.spared_startup_s > 0.0) {
    json["spared_startup_s"] = to_microseconds(trace.spared_startup_s);
  }
  return json;
}

TrialTrace trial_trace_from_json(const Json& json) {
  TrialTrace trace;
  const auto at_s = numbers_at(json, "at_s");
  const auto samples = numbers_at(json, "samples");
  const auto steps = numbers_at(json, "steps");
  const std::size_t size = std::min({at_s.size(), samples.size(), steps.size()});
  for (std::size_t i = 0; i < size; ++i)
    trace.progress.points.push_back({at_s[i], samples[i], steps[i]});
  for (const Json& phase : objects_at(json, "phases")) {
    trace.progress.phases.push_back(
        {text_at(phase, "name"), number_or_zero(phase, "from_s"), number_or_zero(phase, "to_s")});
  }
  for (const Json& time : objects_at(json, "disturbed")) {
    trace.disturbed.push_back(
        {number_or_zero(time, "from_s"), number_or_zero(time, "to_s"), disturbance_from(time)});
  }
  for (const Json& decision : objects_at(json, "decisions")) {
    const auto stop = decision.find("stop");
    trace.decisions.push_back({number_or_zero(decision, "at_s"), number_or_zero(decision, "steps"),
                               stop != decision.end() && stop->is_boolean() && stop->get<bool>(),
                               numbers_at(decision, "values"), numbers_at(decision, "half_widths"),
                               text_at(decision, "reason")});
  }
  trace.machine = machine_from(json);
  trace.spared_startup_s = number_or_zero(json, "spared_startup_s");
  return trace;
}

}  // namespace steptune
