// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/document/section.hpp"
#include "tuner/study/study_spec.hpp"

/// Sections of a study file. Each key is declared once, in the .cpp file of its section.
/// `study_format.hpp` combines the sections.
namespace steptune::study {

/// Most elements of a list and most members of an object in a study file, if nothing else limits
/// them.
inline constexpr std::size_t k_max_elements = 1000;

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
/// Keys of `search` except `try`.
[[nodiscard]] const Section<SearchSpec>& search_section();
[[nodiscard]] const Section<BudgetSpec>& budget_section();
[[nodiscard]] const Section<MeasureSpec>& measure_section();
[[nodiscard]] const Section<CampaignSpec>& campaign_section();
/// A name of a study or campaign.
[[nodiscard]] Type<std::string> study_name();
[[nodiscard]] const Section<ReportFormat>& reports_section();
/// `reports`: a preset's name, or an object. `samples_per_step` depends on the trial and stays
/// empty.
[[nodiscard]] Type<ReportFormat> reports();
[[nodiscard]] const Section<TrialLimits>& limits_section();
/// A metric's name, as training programs use it.
[[nodiscard]] Type<std::string> metric_name();
/// Returns why a study may not set this environment variable and what to do instead; nullopt if it
/// may. Refuses variables that decide which program or code really runs, and variables that the
/// tuner itself sets. Also refuses names that look like secrets, because the history stores the
/// study.
[[nodiscard]] std::optional<std::string> denied_variable(std::string_view name);
/// Templates for the values of environment variables, by name.
[[nodiscard]] Type<std::map<std::string, document::StringTemplate>> environment();

[[nodiscard]] const Section<ConfigFileSpec>& config_file_section();
/// Configuration files, by the placeholder for their path. Reading adds the placeholders to the
/// `StudyScope`.
[[nodiscard]] Type<std::map<std::string, ConfigFileSpec>> config_files();
[[nodiscard]] const Section<LaunchSpec>& launch_section();
[[nodiscard]] const Section<HooksSpec>& hooks_section();
/// `hooks`: an object, or the name of a hook that only reports: `"python"`.
[[nodiscard]] Type<HooksSpec> hooks();

/// Keys that depend on other keys. `parameters` adds to the `StudyScope`. `read_constraints` reads
/// `constraints` when the search space is made. `baseline` and `try` need that space.
[[nodiscard]] Key<StudySpec> command_key();
[[nodiscard]] Key<StudySpec> parameters_key();
[[nodiscard]] Key<StudySpec> constraints_key();
[[nodiscard]] std::vector<std::string> read_constraints(const Node& node);
[[nodiscard]] Key<StudySpec> baseline_key();
[[nodiscard]] Key<StudySpec> try_key();
/// Key for `runner`. Must be read after `limits` and `command`.
[[nodiscard]] Key<StudySpec> runner_key();
/// Returns the runner of a study that names none.
[[nodiscard]] std::shared_ptr<const RunnerSettings> default_runner(document::Reading& reading,
                                                                   const TrialLimits& limits,
                                                                   bool has_command);

}  // namespace steptune::study
