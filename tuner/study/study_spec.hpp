// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/configuration.hpp"
#include "common/document/formula.hpp"
#include "common/document/string_template.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "search/space/search_space.hpp"
#include "trial_runner/hooks/python_hook.hpp"
#include "trial_runner/measure/half_widths.hpp"
#include "trial_runner/reports/report_format.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/runner_kind.hpp"
#include "tuner/knobs/knob_role.hpp"

namespace steptune {

enum class Direction { minimize, maximize };

/// Metric to minimize or maximize. `time` and `cost` are for the planned run (or for a million
/// samples). Any other name is a metric that trials report.
struct Objective {
  std::string metric;
  Direction direction = Direction::minimize;
  [[nodiscard]] bool is_time() const { return metric == "time"; }
  [[nodiscard]] bool is_cost() const { return metric == "cost"; }
  /// Returns the word for a better value, for people.
  [[nodiscard]] const char* comparative() const {
    return is_time() ? "faster" : is_cost() ? "cheaper" : "better";
  }
  /// True if the value follows from the training speed. Such a value has an interval, and the
  /// machine's drift affects it.
  [[nodiscard]] bool is_timed() const { return is_time() || is_cost(); }
};

/// A limit that a configuration must respect to be a winner.
struct Guard {
  std::string metric;
  double after_samples = 0.0;  ///< judged once a trial has processed this many samples
  std::optional<double> max;
  std::optional<double> min;
  std::optional<double> max_ratio_to_baseline;
  std::optional<double> min_ratio_to_baseline;
  /// True if the guard compares means over all launches, after their end. A single trial then
  /// violates the guard only by a value that is not finite.
  bool over_launches = false;
};
/// Least number of reports in the window of a guard with `after_samples`, and the latest end of
/// that window, as a multiple of `after_samples`.
inline constexpr std::size_t k_least_guard_reports = 5;
inline constexpr double k_longest_guard_window = 1.75;
/// Returns the name of a guard's judged value in a trial's metrics. This is the metric's own name,
/// or `loss@20000` if the guard judges after 20 000 samples.
[[nodiscard]] std::string judged_metric(const Guard& guard);
/// True for the guard on `peak_memory_bytes`, which the runner reports at the end.
[[nodiscard]] bool is_memory_guard(const Guard& guard);
/// Returns the factor that gives a guard's limit from the baseline's value. For a negative value,
/// the factor is not the ratio itself: 1.02 allows 2 % of the absolute value more. So the limit for
/// -5 is -4.9, and the factor is 0.98.
[[nodiscard]] double multiple_of_baseline(double ratio, double baseline);

/// Arguments of the command line that are present together or not at all. The arguments are left
/// out if the condition is false or if a parameter that they mention is inactive.
struct CommandPart {
  std::optional<document::Formula> when;
  std::vector<document::StringTemplate> args;
};

/// A configuration file that the program reads. Each trial gets its own copy with these values.
struct ConfigFileSpec {
  std::filesystem::path file;  ///< absolute; its extension is the format
  /// Values by key (`loader.batch_size`). If a value's parameter is inactive, the file's own value
  /// stays.
  std::map<std::string, document::StringTemplate> edits;
  std::string content;  ///< content of the file when the study was started
  /// The content without the values that every trial replaces. Part of the fingerprint.
  std::string kept;
};

/// Work of the long run between its steps, such as an evaluation or a checkpoint.
struct PlannedPhase {
  std::optional<double> every_samples;  ///< set if and only if `every_steps` is not
  std::optional<double> every_steps;
  std::optional<double> seconds;  ///< duration if no trial has shown the phase
};

/// The long run for which the study tunes.
struct PlannedRun {
  std::optional<double> samples;
  /// Samples per optimizer step: `batch_size * accumulation`.
  std::optional<document::Formula> batch_size;
  std::map<std::string, PlannedPhase> phases;  ///< by the phase's name in the program's reports
  std::optional<double> deadline_s;            ///< longest allowed time of the run
  std::optional<double> max_cost_usd;          ///< highest allowed cost of the run
};

// Largest values in a study file.
inline constexpr std::int64_t k_most_budget_trials = 1'000'000;
inline constexpr int k_most_confirm_pairs = 100;
/// One-sided error of the lower end of a 95 % interval.
inline constexpr double k_one_sided_error = 0.025;

struct SearchSpec {
  std::string searcher = "bayes";
  std::string scheduler = "asha";
  std::uint64_t seed = 0;
  std::optional<int> initial_points;
  std::vector<Configuration> hints;  ///< `try`: measured right after the baseline
  /// Studies in the same history from whose trials the searcher learns. The study's own name is
  /// skipped.
  std::vector<std::string> learn_from;
  std::string over;             ///< parameter that counts machines; empty: `counting_parameter`
  double min_efficiency = 0.7;  ///< least efficiency of an additional machine, in (0, 1]
  /// Price of an hour of waiting for a machine to start, in US dollars. Unset: the machine's price.
  std::optional<double> waiting_per_hour;
  /// True if the search starts with settings that an expert would try. Unset: the caller decides.
  std::optional<bool> first_guesses;
  /// Least gain that is worth a change, as a share of the baseline's speed. If no configuration can
  /// gain as much, the study ends. 0: the study never ends for this reason.
  double worth = 0.05;
  /// Terms of a trial's peak memory: it is nearly a constant plus a multiple of each term.
  std::vector<document::Formula> memory_terms;
  double eta = 3.0;
  double min_steps = 10.0;
  double max_steps = 810.0;
};

struct BudgetSpec {
  std::optional<std::int64_t> trials;  ///< search trials, baseline and hints included
  std::optional<double> time_s;
  std::optional<double> cost_usd;
  /// Amount in USD from which `time_s` was computed (`with_money_as_time`). Unset: the study file
  /// states `time_s`.
  std::optional<double> time_of_usd;
  bool stop_at_payback = false;
  int consecutive_failures = 5;  ///< failed trials in a row after which the study ends
};

/// The configuration in use today. It is always confirmed, whatever its value in the search, and it
/// runs in each round of the other finalists.
struct ConfigurationInUse {
  Configuration configuration;
  int rounds = 1;  ///< least number of its rounds, even if no other finalist is open
};

/// Targets for the measurement of one trial.
struct MeasureSpec {
  /// Relative half-width of the confidence interval at which a trial's measurement ends.
  double target_half_width = k_usual_half_width;
  double max_trial_s = 120.0;  ///< longest measurement after start-up
  double min_window_s = 1.0;   ///< shortest measured window
  /// Least number of steps of a window. With fewer steps, intervals are too narrow.
  int min_window_steps = 30;
  /// Largest number of batches ready in buffers: `workers * prefetch`.
  std::optional<document::Formula> buffers;
  PageCache cache = PageCache::warm;
  std::vector<std::filesystem::path> data;  ///< absolute paths of the data that the tuner drops
                                            ///< from memory or reads, as `cache` requires
  int confirm_pairs = 3;                    ///< pairs of incumbent and baseline at the end
  bool interleave = true;  ///< runs of a pair take turns, each stopped while the other one runs
  bool sentinels = true;   ///< repeat the baseline during the search, to see if machines drift
  /// True if each configuration is confirmed, to find out if it is faster, slower or within
  /// `search.worth`.
  bool confirm_all = false;
  /// With `confirm_all`: largest one-sided error of calling a configuration faster.
  double confirm_error = k_one_sided_error;
  /// With `confirm_all`: also find out if a configuration is slower by this share. 0: do not.
  double confirm_slowdown = 0.0;
  /// Standard deviation of a pair's log ratio, as earlier judgements of the program showed it.
  double pair_deviation = 0.0;
  double pair_freedom = 0.0;  ///< degrees of freedom of `pair_deviation`; 0: nothing is known
  std::optional<ConfigurationInUse> in_use;  ///< not a key of the study file: `retune` sets it
};

/// The campaign for which a study judges an edit.
struct CampaignSpec {
  std::string name;
  /// Commits of the champion and of the edit, if one command ran in both of them. Empty: the
  /// campaign compares two commands.
  std::vector<std::string> commits;
  std::string build;  ///< shell command that built each commit; empty: none
  /// True if the study compares the champion with the first version. Then it judges no edit.
  bool measures_gain = false;
};

struct StudySpec;
/// Returns the number of configurations that a study compares if it confirms each one
/// (`MeasureSpec::confirm_all`): the baseline and `try`, or without `try` the whole space. Returns
/// nullopt if the number is unlimited.
[[nodiscard]] std::optional<std::uint64_t> confirmed_configurations(const StudySpec& study);

/// Returns a placeholder for a search space that has not been read yet: one unused `bool`.
[[nodiscard]] SearchSpace placeholder_space();

/// A knob's value in the study file: the same for all trials, or computed from parameters.
using KnobRule = std::variant<Value, document::StringTemplate>;

/// Hooks for unmodified programs.
struct HooksSpec {
  /// Settings of the Python hook, by knob. Empty: the hook only reports. Unset: no hook.
  std::optional<std::map<std::string, KnobRule>> python;
};

/// Number of processes of a distributed program, computed from the configuration.
struct LaunchSpec {
  Launcher with = Launcher::torchrun;
  std::optional<document::Formula> nodes;  ///< unset: one for each machine of the runner
  document::Formula processes_per_node = document::Formula::constant(1.0, "1");
  std::vector<document::StringTemplate> options;  ///< empty words are left out
};

/// Process in which trials are measured.
enum class TrialsIn {
  fresh,  ///< each trial in its own new process
  /// Each trial of the search in a process that is forked from one with imported modules, if the
  /// result is the same.
  forked,
  /// All trials and confirming runs in the user's long run (`exec --tune`), which was not started
  /// for them.
  attached,
};

/// A validated study file with all defaults filled in.
struct StudySpec {
  std::string name;
  std::filesystem::path file;  ///< absolute
  std::vector<CommandPart> command;
  std::map<std::string, document::StringTemplate> environment;
  /// Configuration files, by the placeholder for the path of the trial's copy.
  std::map<std::string, ConfigFileSpec> config_files;
  std::optional<LaunchSpec> launch;
  HooksSpec hooks;
  TrialsIn trials = TrialsIn::fresh;
  std::filesystem::path working_directory;  ///< absolute; default: the study file's folder
  bool terminal = false;                    ///< trials have a pseudo-terminal
  /// Absolute path of the trials' standard input; empty: none.
  std::filesystem::path standard_input;
  SearchSpace space = placeholder_space();
  Facts facts;
  document::ChoiceStrings choice_strings;
  KnobRoles parameter_roles;  ///< roles of the parameters that declare one
  Configuration baseline;
  PlannedRun planned_run;
  std::vector<Objective> objectives;
  std::vector<Guard> guards;
  SearchSpec search;
  BudgetSpec budget;
  MeasureSpec measure;
  std::optional<CampaignSpec> campaign;
  ReportFormat report_format;
  std::string unit = "samples";  ///< unit of the program's counter, for people: `unit_name`
  /// Speed of the baseline's steps on batches kept in memory, as a multiple of their usual speed.
  /// No loader setting can gain more. Unset: not measured.
  std::optional<double> loading_ceiling;
  std::shared_ptr<const RunnerSettings> runner;  ///< never null once read
  TrialLimits limits;
  /// Parameters, configuration files and facts that are mentioned outside the search space.
  std::set<std::string> mentioned;
  /// Names in `mentioned` that can make a difference to a trial.
  std::set<std::string> used;

  /// The document with defaults and facts, in canonical form, as the history stores it. Reading it
  /// (`study_from_json`) gives the same study on any machine.
  Json document;
  /// Hash of everything that decides the meaning of a trial's measurement: command, environment,
  /// space, baseline, objectives, planned run, measurement, runner. Budgets and search settings are
  /// not part of it.
  std::string fingerprint;
};

/// Returns the facts about this machine: `cpus` (usable by this process: affinity and cgroup
/// quota), `gpus`, `memory_gb`.
[[nodiscard]] Facts detected_facts();

/// Reads and validates a study file. Facts in the file replace facts in `facts`. Fails with
/// `not_found` if there is no such file, otherwise with one error of kind `usage` that lists the
/// first 20 faults. Each fault says where it is, what is wrong and what would be right.
[[nodiscard]] Result<StudySpec> read_study(const std::filesystem::path& file, const Facts& facts);
/// Reads and validates a document in memory: a study file's, or a stored `StudySpec::document`.
/// `file` is used in messages and for relative paths. Paths in the document need not exist, except
/// for configuration files whose content it does not contain.
[[nodiscard]] Result<StudySpec> study_from_json(const Json& document,
                                                const std::filesystem::path& file,
                                                const Facts& facts);
/// Reads a stored `StudySpec::document` for showing results. Gives the same study, but does not
/// check again that its keys and example configurations fit together. These checks take most of the
/// time of `study_from_json`. Keeps the stored document and fingerprint. Use `study_from_json` for
/// a study that is to be run.
[[nodiscard]] Result<StudySpec> stored_study_from_json(const Json& document,
                                                       const std::filesystem::path& file,
                                                       const Facts& facts, std::string fingerprint);

/// Command of a trial of `configuration`: templates filled in, conditional parts decided.
struct RenderedCommand {
  /// Words with which the runner starts the command, including the launcher's words.
  std::vector<std::string> argv;
  std::optional<Launch> launch;
  std::map<std::string, std::string> environment;  ///< without the hook's variables
  /// Settings of the hook: the fixed knobs, and the knobs whose value differs from the baseline's.
  std::optional<PythonHookRequest> hook;

  /// True if the hook has to change a setting of the program.
  [[nodiscard]] bool needs_hook() const { return hook && !hook->knobs.empty(); }
};
/// Returns the command for a configuration. `copies`: paths of the program's configuration files,
/// by name. For missing names, uses the study's own files.
[[nodiscard]] RenderedCommand render_command(const StudySpec& study,
                                             const Configuration& configuration,
                                             const document::NamedTexts& copies = {});
/// Returns the command without the launcher's words.
[[nodiscard]] std::vector<std::string> plain_command(const StudySpec& study,
                                                     const Configuration& configuration);
/// Returns `launch` for a configuration; nullopt if the study has none. Counts that are not whole
/// numbers, or out of range, become 0.
[[nodiscard]] std::optional<Launch> launch_of(const StudySpec& study,
                                              const Configuration& configuration);

/// Returns the value of each knob for a configuration, without knobs whose parameter is inactive.
[[nodiscard]] std::map<std::string, Value> knob_values(const StudySpec& study,
                                                       const Configuration& configuration);

/// Adds the hook's environment variables. Puts the hook's folder before the study's PYTHONPATH, or
/// before `python_path` if the study sets none. Does nothing if `hook` is unset.
[[nodiscard]] Result<void> add_hook(const std::optional<PythonHookRequest>& hook,
                                    std::string_view python_path,
                                    std::map<std::string, std::string>& environment);

/// Returns `words` as one line for a shell, for display and copying; trials run without a shell.
/// Control characters appear as `$'\033'`, so that no value can control the terminal.
[[nodiscard]] std::string shell_quoted(const std::vector<std::string>& words);
[[nodiscard]] std::string shell_quoted(std::string_view word);

/// Returns the samples per optimizer step of a configuration; nullopt if the study does not state
/// them.
[[nodiscard]] std::optional<double> samples_per_step(const StudySpec& study,
                                                     const Configuration& configuration);
[[nodiscard]] std::optional<double> samples_per_step(const document::Formula& batch_size,
                                                     const Configuration& configuration);

/// Returns the largest number of steps whose samples can be ready in buffers; nullopt if the study
/// does not state it.
[[nodiscard]] std::optional<double> buffered_steps(const StudySpec& study,
                                                   const Configuration& configuration);

/// Returns the expected price in USD per hour of all machines of a configuration together; 0 if the
/// study has no price. For managed spot, this is a share of the on-demand price.
[[nodiscard]] double usd_per_hour(const StudySpec& study, const Configuration& configuration);
/// Returns the on-demand price in USD per hour. It is also the price of billed seconds: managed
/// spot bills fewer seconds, not a lower price. No hour costs more.
[[nodiscard]] double on_demand_usd_per_hour(const StudySpec& study,
                                            const Configuration& configuration);

}  // namespace steptune
