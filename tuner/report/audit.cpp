// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/audit.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/interval.hpp"
#include "common/text.hpp"

namespace steptune {
namespace {

AuditResult complete(const StudySpec& spec, const Configuration& configuration) {
  const auto checked = spec.space.check(configuration);
  if (checked) return {"complete", true};
  return {"complete", false, checked.error().message};
}

AuditResult feasible(const TrialRecord& trial) {
  if (trial.status == TrialStatus::completed) return {"feasible", true};
  const std::string reason = trial.failure.empty() ? "" : ": " + printable_line(trial.failure, 160);
  return {"feasible", false,
          fmt::format("trial {} is {}{}", trial.number, to_text(trial.status), reason)};
}

/// True if `a` is better than `b` in one objective and not worse in any, beyond both 95 %
/// intervals.
bool dominates(const Standing& standing, const TrialRecord& a, const TrialRecord& b) {
  bool better_in_one = false;
  for (std::size_t i = 0; i < standing.rules().objectives.size(); ++i) {
    if (i >= a.objectives.size() || i >= b.objectives.size()) return false;
    const double gain = standing.value(b, i) - standing.value(a, i);
    const double noise = k_z_95 * (standing.error(a, i) + standing.error(b, i));
    if (!(gain > -noise)) return false;
    better_in_one = better_in_one || gain > noise;
  }
  return better_in_one;
}

/// True if `trial` may be as good as `other`, although `other` has the better measurement.
bool may_be_equal(const Standing& standing, const TrialRecord& trial, const TrialRecord& other,
                  const std::optional<Recommendation>& recommendation) {
  if (recommendation) {
    return std::ranges::find(recommendation->tied, other.number) != recommendation->tied.end();
  }
  const auto tied = standing.tied_with(other);
  return std::ranges::find(tied, trial.number) != tied.end();
}

AuditResult not_dominated(const Standing& standing, const TrialRecord& trial,
                          const std::optional<Recommendation>& recommendation) {
  for (const TrialRecord* other : standing.candidates()) {
    if (other->number == trial.number || other->configuration == trial.configuration) continue;
    // Fresh runs of both configurations are better evidence than these search trials.
    const bool confirmed = recommendation && finalist_of(*recommendation, other->number) != nullptr;
    if (confirmed || !dominates(standing, *other, trial)) continue;
    if (may_be_equal(standing, trial, *other, recommendation)) continue;
    // The baseline is recommended although a search trial was better: a better search trial alone
    // proves nothing.
    if (recommendation && keeps_baseline(recommendation->claim)) {
      return {"not_dominated", std::nullopt,
              fmt::format("trial {} was better in the search, but no fresh runs have shown it",
                          other->number)};
    }
    return {
        "not_dominated", false,
        fmt::format(
            "by its measurement trial {} is better{}", other->number,
            standing.rules().objectives.size() > 1 ? " in one objective and no worse in any" : "")};
  }
  return {"not_dominated", true};
}

AuditResult above_noise(const StudySpec& spec, const TrialRecord& trial,
                        const std::optional<Recommendation>& recommendation) {
  const std::string check = "above_noise";
  if (trial.configuration == spec.baseline) return {check, true};
  if (!recommendation) {
    return {
        check, false,
        fmt::format("trial {} is from the search: no fresh runs have confirmed it", trial.number)};
  }
  const bool is_recommended = recommendation->incumbent_trial == trial.number;
  const FinalistResult* finalist = finalist_of(*recommendation, trial.number);
  if ((is_recommended && recommendation->claim == Claim::faster) ||
      (finalist != nullptr && finalist->verdict == Verdict::faster)) {
    return {check, true};
  }
  if (is_recommended && recommendation->claim == Claim::feasible) {
    return {check, false,
            "it respects all limits, but was not shown to be faster than the baseline"};
  }
  return {check, false, "no fresh runs have confirmed that it is faster than the baseline"};
}

/// Returns the machine on which trials ran when `trial` started; nullopt if it was not recorded.
Result<std::optional<MachineDescription>> machine_of(const StoredStudy& study,
                                                     const TrialRecord& trial) {
  auto sessions = study.history.sessions(study.record.id);
  if (!sessions) return tl::unexpected(sessions.error());
  std::optional<MachineDescription> machine;
  for (SessionRecord& session : *sessions) {
    if (machine && session.started_wall_s > trial.started_wall_s) break;
    machine = std::move(session.machine);
  }
  return machine;
}

AuditResult measured_here(const StudySpec& spec, const TrialRecord& trial,
                          const std::optional<MachineDescription>& there,
                          const MachineDescription& here) {
  const std::string check = "measured_here";
  if (trial.origin == k_import_origin) {
    return {check, false,
            fmt::format("trial {} was imported: Steptune has not measured it", trial.number)};
  }
  const RunnerTraits& traits = spec.runner->traits();
  if (!traits.needs_command) return {check, std::nullopt, "its trials were replayed"};
  if (!traits.uses_this_machine) {
    return {check, std::nullopt, "its trials ran on other machines"};
  }
  if (!there) return {check, std::nullopt, "the history does not record the machine"};
  std::vector<std::string> others;
  constexpr std::array<const char*, 5> k_hardware{"cpu", "cpus", "memory", "gpu", "gpu_driver"};
  for (const char* part : k_hardware) {
    const auto was = there->find(part);
    const auto is = here.find(part);
    const std::string before = was == there->end() ? "none" : was->second;
    const std::string now = is == here.end() ? "none" : is->second;
    if (before == now) continue;
    others.push_back(
        fmt::format("{} was {}, is {}", part, printable_line(before, 80), printable_line(now, 80)));
  }
  if (others.empty()) return {check, true};
  return {check, false, fmt::format("{}", fmt::join(others, "; "))};
}

std::string denied(const std::string& check) {
  if (check == "not_dominated") return "dominated";
  if (check == "above_noise") return "not above the noise";
  if (check == "measured_here") return "not measured on this machine";
  return "not " + check;
}

}  // namespace

Result<std::vector<AuditResult>> audit(const StoredStudy& study, const StudySpec& spec,
                                       const TrialRecord& trial,
                                       const std::optional<Recommendation>& recommendation,
                                       const MachineDescription& here) {
  const auto standing = read_standing(study);
  if (!standing) return tl::unexpected(standing.error());
  const auto machine = machine_of(study, trial);
  if (!machine) return tl::unexpected(machine.error());
  const bool is_about_it =
      recommendation && (recommendation->incumbent_trial == trial.number ||
                         finalist_of(*recommendation, trial.number) != nullptr);
  const std::optional<Recommendation> none;
  const auto& about_it = is_about_it ? recommendation : none;
  return std::vector<AuditResult>{complete(spec, trial.configuration), feasible(trial),
                                  not_dominated(*standing, trial, about_it),
                                  above_noise(spec, trial, about_it),
                                  measured_here(spec, trial, *machine, here)};
}

std::vector<std::string> audit_warnings(const std::vector<AuditResult>& results) {
  std::vector<std::string> lines;
  for (const AuditResult& result : results) {
    if (result.holds.value_or(true)) continue;
    lines.push_back(fmt::format("{}: {}", denied(result.check), result.why));
  }
  return lines;
}

template <>
const JsonRecord<AuditResult>& json_record<AuditResult>() {
  static const auto record =
      JsonRecord<AuditResult>()
          .field("check", &AuditResult::check,
                 "complete, feasible, not_dominated, above_noise or measured_here")
          .field("holds", &AuditResult::holds, "null: not known")
          .text_or_null("why", &AuditResult::why);
  return record;
}

}  // namespace steptune
