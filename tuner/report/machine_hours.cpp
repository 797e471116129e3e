// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/machine_hours.hpp"

#include <utility>

#include "common/units.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

double hours_of(double machines, double seconds) {
  return machines * seconds / k_hour_s;
}

/// True if the study counts machine-hours: it has no price, and its machines are not the tuner's
/// own.
bool is_counted_in_hours(const StudySpec& spec) {
  return !spec.runner->traits().has_price && !spec.runner->traits().uses_this_machine;
}

double machines_of(const StudySpec& spec, const TrialRecord& trial) {
  return machine_count(spec.runner->resources_of(trial.configuration));
}

}  // namespace

double MachineHours::total() const {
  double sum = unused;
  for (const auto& [number, hours] : by_trial)
    sum += hours;
  return sum;
}

std::optional<MachineHours> read_machine_hours(const StoredStudy& study) {
  const auto spec = stored_spec(study.record);
  return spec ? read_machine_hours(study, *spec) : std::nullopt;
}

std::optional<MachineHours> read_machine_hours(const StoredStudy& study, const StudySpec& spec,
                                               const std::vector<TrialRecord>* trials) {
  if (!is_counted_in_hours(spec)) return std::nullopt;
  const auto unused = study.history.unused_times(study.record.id);
  if (!unused) return std::nullopt;
  std::vector<TrialRecord> own;
  if (trials == nullptr) {
    auto all = study.history.trials(study.record.id, Milestones::leave);
    if (!all) return std::nullopt;
    own = *std::move(all);
    trials = &own;
  }
  MachineHours hours;
  // Number of machines by job or allocation. A trial names its job or allocation in `placement`, an
  // unused time in `machine`.
  std::map<std::string, double> machines_at;
  for (const TrialRecord& trial : *trials) {
    const double machines = machines_of(spec, trial);
    hours.by_trial[trial.number] = hours_of(machines, trial.spent_s);
    for (const auto& [fact, place] : trial.placement)
      machines_at[place] = machines;
  }
  for (const UnusedTime& time : *unused) {
    const auto known = machines_at.find(time.machine);
    hours.unused += hours_of(known == machines_at.end() ? 1.0 : known->second, time.seconds());
  }
  return hours;
}

std::optional<double> machine_hours_of(const StudySpec& spec, const TrialRecord& trial) {
  if (!is_counted_in_hours(spec)) return std::nullopt;
  return hours_of(machines_of(spec, trial), trial.spent_s);
}

std::string machine_hours_text(double hours) {
  return format_number(hours) + " machine-hours";
}

}  // namespace steptune
