// SPDX-License-Identifier: Apache-2.0
#include "tuner/history/trial_documents.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "common/json.hpp"
#include "tuner/history/json_reader.hpp"
#include "tuner/history/named_members.hpp"

namespace steptune {
namespace {

constexpr NamedMembers<Measurement, 15> k_measurement_numbers{{
    {"seconds_per_sample", &Measurement::seconds_per_sample},
    {"half_width_s", &Measurement::half_width_s},
    {"step_seconds_per_sample", &Measurement::step_seconds_per_sample},
    {"step_half_width_s", &Measurement::step_half_width_s},
    {"step_standard_error_s", &Measurement::step_standard_error_s},
    {"ratio_error", &Measurement::ratio_error},
    {"slowest_seconds_per_sample", &Measurement::slowest_seconds_per_sample},
    {"startup_s", &Measurement::startup_s},
    {"warmup_s", &Measurement::warmup_s},
    {"warmup_excess_s", &Measurement::warmup_excess_s},
    {"window_s", &Measurement::window_s},
    {"window_steps", &Measurement::window_steps},
    {"window_samples", &Measurement::window_samples},
    {"total_samples", &Measurement::total_samples},
    {"silent_s", &Measurement::silent_s},
}};
constexpr NamedMembers<Measurement, 2, std::optional<bool>> k_measurement_flags{{
    {"samples_reported", &Measurement::samples_reported},
    {"steps_known", &Measurement::steps_known},
}};
constexpr NamedMembers<Measurement, 3, std::map<std::string, double>> k_measurement_maps{{
    {"metrics", &Measurement::metrics},
    {"metric_errors", &Measurement::metric_errors},
    {"parts", &Measurement::parts},
}};
constexpr NamedMembers<TrialRecord, 5, std::optional<double>> k_trial_numbers{{
    {"expected_improvement", &TrialRecord::expected_improvement},
    {"cpu_busy_share", &TrialRecord::cpu_busy},
    {"peak_unreclaimable_bytes", &TrialRecord::peak_unreclaimable_bytes},
    {"storage_read_bytes", &TrialRecord::storage_read_bytes},
    {"awaited_start_s", &TrialRecord::awaited_start_s},
}};
constexpr NamedMembers<MachineLevel, 2> k_machine_level_numbers{{
    {"log_ratio", &MachineLevel::log_ratio},
    {"standard_error", &MachineLevel::standard_error},
}};

void put(Json& json, std::string_view name, double value) {
  if (std::isfinite(value)) json[std::string(name)] = value;
}

void put(Json& json, std::string_view name, bool value) {
  json[std::string(name)] = value;
}

template <typename T>
void put(Json& json, std::string_view name, const std::optional<T>& value) {
  if (value) put(json, name, *value);
}

void put(Json& json, std::string_view name, const std::map<std::string, double>& numbers) {
  if (numbers.empty()) return;
  Json& object = json[std::string(name)] = Json::object();
  for (const auto& [each, value] : numbers)
    put(object, each, value);
}

template <typename T, std::size_t N, typename Member>
void put_members(Json& json, const NamedMembers<T, N, Member>& fields, const T& from) {
  for (const auto& [name, member] : fields)
    put(json, name, from.*member);
}

Json milestones_to_json(const std::vector<Milestone>& milestones) {
  Json json = Json::array();
  for (const Milestone& milestone : milestones) {
    json.push_back({{"fidelity", milestone.fidelity},
                    {"values", milestone.values},
                    {"standard_errors", milestone.standard_errors}});
  }
  return json;
}

Json to_json(const Measurement& measurement) {
  Json json{{"status", to_text(measurement.status)}};
  put_members(json, k_measurement_numbers, measurement);
  if (measurement.whole_run) json["whole_run"] = true;
  put_members(json, k_measurement_flags, measurement);
  put_members(json, k_measurement_maps, measurement);
  for (const auto& [name, phase] : measurement.phases)
    put_members(json["phases"][name], k_phase_numbers, phase);
  for (const LevelChange& change : measurement.level_changes) {
    Json& written = json["level_changes"].emplace_back();
    put_members(written, k_level_change_numbers, change);
    if (!change.machine) continue;
    written["machine"]["figure"] = change.machine->figure;
    put_members(written["machine"], k_machine_change_numbers, *change.machine);
  }
  if (!measurement.remark.empty()) json["remark"] = measurement.remark;
  for (const auto& name : measurement.not_finite)
    json["not_finite"].push_back(name);
  return json;
}

/// Reads a member into `out`. Returns false if `name` is not one of `fields`.
template <typename T, std::size_t N, typename Member>
bool get_member(std::string_view name, ondemand::value value,
                const NamedMembers<T, N, Member>& fields, T& out) {
  for (const auto& [field, member] : fields) {
    if (name != field) continue;
    get(value, out.*member);
    return true;
  }
  return false;
}

template <typename T, std::size_t N>
void get_members(ondemand::value value, const NamedMembers<T, N>& fields, T& out) {
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return;
  for_each_field(object, [&](std::string_view name, ondemand::value number) {
    get_member(name, number, fields, out);
  });
}

std::vector<Milestone> milestones_of(ondemand::value value) {
  std::vector<Milestone> milestones;
  for (ondemand::value element : value.get_array()) {
    ondemand::object json = element.get_object();
    Milestone& milestone = milestones.emplace_back();
    milestone.fidelity = json["fidelity"].get_double();
    milestone.values = numbers_of(json["values"]);
    milestone.standard_errors = numbers_of(json["standard_errors"]);
  }
  return milestones;
}

void get_phases(ondemand::value value, std::map<std::string, PhaseEstimate>& phases) {
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return;
  for_each_field(object, [&](std::string_view name, ondemand::value phase) {
    get_members(phase, k_phase_numbers, phases[std::string(name)]);
  });
}

void get_status(ondemand::value value, TrialRecord& trial) {
  const auto status = measurement_status_from_text(std::string_view(value.get_string()));
  if (!status) throw simdjson::simdjson_error(simdjson::INCORRECT_TYPE);
  trial.measurement->status = *status;
}

void get_not_finite(ondemand::value value, TrialRecord& trial) {
  for (ondemand::value name : value.get_array())
    trial.measurement->not_finite.emplace(std::string_view(name.get_string()));
}

/// Returns a changed machine figure; nullopt if this program does not know the figure.
std::optional<MachineFigureChange> machine_change(ondemand::value value) {
  MachineFigureChange change;
  for_each_field(value.get_object(), [&](std::string_view name, ondemand::value element) {
    if (get_member(name, element, k_machine_change_numbers, change) || name != "figure") return;
    const std::string_view figure = element.get_string();
    const auto* known = std::ranges::find(k_machine_figures, figure, &MachineFigure::name);
    if (known != k_machine_figures.end()) change.figure = known->name;
  });
  return change.figure.empty() ? std::nullopt : std::optional(change);
}

void get_level_changes(ondemand::value value, TrialRecord& trial) {
  for (ondemand::value written : value.get_array()) {
    LevelChange& change = trial.measurement->level_changes.emplace_back();
    for_each_field(written.get_object(), [&](std::string_view name, ondemand::value element) {
      if (get_member(name, element, k_level_change_numbers, change)) return;
      if (name == "machine") change.machine = machine_change(element);
    });
  }
}

void get_gpu(ondemand::value value, TrialRecord& trial) {
  GpuUse& gpu = trial.gpu.emplace();
  for_each_field(value.get_object(), [&](std::string_view name, ondemand::value element) {
    if (get_member(name, element, k_gpu_use_numbers, gpu)) return;
    double others = 0.0;
    if (name != "most_other_processes") return;
    get(element, others);
    gpu.most_other_processes = static_cast<int>(others);
  });
}

struct FieldReader {
  std::string_view name;
  void (*read)(ondemand::value value, TrialRecord& trial);
};

/// Readers of fields that are in none of the tables.
constexpr std::array k_field_readers{
    FieldReader{"status", get_status},
    FieldReader{"whole_run",
                [](ondemand::value value, TrialRecord& trial) {
                  trial.measurement->whole_run = value.get_bool().value();
                }},
    FieldReader{"phases", [](ondemand::value value,
                             TrialRecord& trial) { get_phases(value, trial.measurement->phases); }},
    FieldReader{"level_changes", get_level_changes},
    FieldReader{"remark",
                [](ondemand::value value, TrialRecord& trial) {
                  trial.measurement->remark = std::string_view(value.get_string());
                }},
    FieldReader{"not_finite", get_not_finite},
    FieldReader{"gpu", get_gpu},
    FieldReader{"hook",
                [](ondemand::value value, TrialRecord& trial) {
                  trial.hook =
                      Json::parse(std::string_view(simdjson::to_json_string(value)), nullptr,
                                  /*allow_exceptions=*/false);
                }},
    FieldReader{"disturbed_s",
                [](ondemand::value value, TrialRecord& trial) { get(value, trial.disturbed_s); }},
    FieldReader{"machine_level",
                [](ondemand::value value, TrialRecord& trial) {
                  get_members(value, k_machine_level_numbers, trial.level);
                }},
    FieldReader{"cpu_clock",
                [](ondemand::value value, TrialRecord& trial) {
                  get_members(value, k_cpu_clock_numbers, trial.cpu_clock.emplace());
                }},
};

/// Readers of milestones and rungs, which are half of a trial's measurement.
constexpr std::array k_milestone_readers{
    FieldReader{"milestones", [](ondemand::value value,
                                 TrialRecord& trial) { trial.milestones = milestones_of(value); }},
    FieldReader{"rungs", [](ondemand::value value,
                            TrialRecord& trial) { trial.rungs = milestones_of(value); }},
};

template <std::size_t N>
void read_field(const std::array<FieldReader, N>& readers, std::string_view name,
                ondemand::value value, TrialRecord& trial) {
  for (const FieldReader& reader : readers) {
    if (reader.name == name) return reader.read(value, trial);
  }
}

}  // namespace

std::string measurement_document(const TrialRecord& trial) {
  Json json = to_json(*trial.measurement);
  if (!trial.milestones.empty()) json["milestones"] = milestones_to_json(trial.milestones);
  if (!trial.rungs.empty()) json["rungs"] = milestones_to_json(trial.rungs);
  if (trial.gpu) {
    Json& gpu = json["gpu"];
    put_members(gpu, k_gpu_use_numbers, *trial.gpu);
    gpu["most_other_processes"] = trial.gpu->most_other_processes;
  }
  if (!trial.hook.is_null()) json["hook"] = trial.hook;
  if (trial.disturbed_s > 0.0) put(json, "disturbed_s", trial.disturbed_s);
  put_members(json, k_trial_numbers, trial);
  if (trial.level.log_ratio != 0.0)
    put_members(json["machine_level"], k_machine_level_numbers, trial.level);
  if (trial.cpu_clock) put_members(json["cpu_clock"], k_cpu_clock_numbers, *trial.cpu_clock);
  return dump_json(json);
}

bool read_measurement(std::string_view text, Milestones milestones, TrialRecord& trial) {
  Measurement& measurement = trial.measurement.emplace();
  bool has_status = false;
  const bool read = read_object(text, [&](ondemand::object object) {
    for_each_field(object, [&](std::string_view name, ondemand::value value) {
      if (get_member(name, value, k_measurement_numbers, measurement) ||
          get_member(name, value, k_measurement_flags, measurement) ||
          get_member(name, value, k_measurement_maps, measurement) ||
          get_member(name, value, k_trial_numbers, trial)) {
        return;
      }
      has_status = has_status || name == "status";
      read_field(k_field_readers, name, value, trial);
      if (milestones == Milestones::read) read_field(k_milestone_readers, name, value, trial);
    });
  });
  return read && has_status && !trial.hook.is_discarded();
}

bool read_configuration(std::string_view text, Configuration& configuration) {
  return read_object(text, [&](ondemand::object object) {
    for_each_field(object, [&](std::string_view name, ondemand::value value) {
      configuration.set(std::string(name), value_of(value));
    });
  });
}

std::string texts_document(const std::map<std::string, std::string>& texts) {
  Json json = Json::object();
  for (const auto& [name, text] : texts)
    json[name] = text;
  return dump_json(json);
}

bool read_texts(std::string_view text, std::map<std::string, std::string>& texts) {
  if (text == "{}") return true;
  return read_object(text, [&](ondemand::object object) {
    for_each_field(object, [&](std::string_view name, ondemand::value value) {
      std::string_view element;
      if (value.get_string().get(element) == simdjson::SUCCESS) texts.emplace(name, element);
    });
  });
}

}  // namespace steptune
