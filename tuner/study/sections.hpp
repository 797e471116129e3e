// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/document/section.hpp"
#include "tuner/study/study_spec.hpp"

/// What a study file says, section by section; each key is declared once, in the .cpp of its
/// section. `study_format.hpp` puts them together.
namespace steptune::study {

using document::InFingerprint;
using document::key;
using document::Key;
using document::Node;
using document::ObjectNode;
using document::Section;
using document::Type;

[[nodiscard]] const Section<Facts>& facts_section();
[[nodiscard]] const Section<PlannedRun>& planned_run_section();
[[nodiscard]] const Section<PlannedPhase>& planned_phase_section();
[[nodiscard]] Type<std::vector<Objective>> objectives();
[[nodiscard]] const Section<Guard>& guard_section();
/// `search`, less `try`.
[[nodiscard]] const Section<SearchSpec>& search_section();
[[nodiscard]] const Section<BudgetSpec>& budget_section();
[[nodiscard]] const Section<MeasureSpec>& measure_section();
[[nodiscard]] const Section<ReportFormat>& reports_section();
/// `reports`: a preset's name, or an object. `samples_per_step` depends on the trial and stays
/// empty.
[[nodiscard]] Type<ReportFormat> reports();
[[nodiscard]] const Section<TrialLimits>& limits_section();
/// A metric's name, as trainers call them.
[[nodiscard]] Type<std::string> metric_name();
/// Values by variable.
[[nodiscard]] Type<std::map<std::string, document::StringTemplate>> environment();

[[nodiscard]] const Section<ConfigFileSpec>& config_file_section();
/// Files by placeholder, each of which the reading's `StudyScope` knows then.
[[nodiscard]] Type<std::map<std::string, ConfigFileSpec>> config_files();
[[nodiscard]] const Section<LaunchSpec>& launch_section();
[[nodiscard]] const Section<HooksSpec>& hooks_section();
/// That object or, for a hook that only reports, its name: `"pytorch"`.
[[nodiscard]] Type<HooksSpec> hooks();

/// Keys that are read and written with regard to others. `parameters` adds to the reading's
/// `StudyScope`; `constraints` are read by `read_constraints` when the search space is made;
/// `baseline` and `try` need that space.
[[nodiscard]] Key<StudySpec> command_key();
[[nodiscard]] Key<StudySpec> parameters_key();
[[nodiscard]] Key<StudySpec> constraints_key();
[[nodiscard]] std::vector<std::string> read_constraints(const Node& node);
[[nodiscard]] Key<StudySpec> baseline_key();
[[nodiscard]] Key<StudySpec> try_key();
/// `limits` and `command` are read before it.
[[nodiscard]] Key<StudySpec> runner_key();
/// The runner of a study that says nothing of one.
[[nodiscard]] std::shared_ptr<const RunnerSettings> default_runner(document::Reading& reading,
                                                                   const StudySpec& study);

}  // namespace steptune::study
