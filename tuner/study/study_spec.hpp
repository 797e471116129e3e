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
#include "trial_runner/hooks/pytorch_hook.hpp"
#include "trial_runner/reports/report_format.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/runner.hpp"
#include "trial_runner/runner_kind.hpp"
#include "tuner/knobs/knob_role.hpp"

namespace steptune {

enum class Direction { minimize, maximize };

/// `time` and `cost` are those of the planned run (or per million samples); anything else is a
/// metric that trials report.
struct Objective {
  std::string metric;
  Direction direction = Direction::minimize;
  [[nodiscard]] bool is_time() const { return metric == "time"; }
  [[nodiscard]] bool is_cost() const { return metric == "cost"; }
  /// What a better value is called, for people.
  [[nodiscard]] const char* comparative() const {
    return is_time() ? "faster" : is_cost() ? "cheaper" : "better";
  }
  /// It follows from how fast the program trains: so do its interval and the machine's drift.
  [[nodiscard]] bool is_timed() const { return is_time() || is_cost(); }
};

/// A limit that a configuration must respect to be a winner.
struct Guard {
  std::string metric;
  double after_samples = 0.0;  ///< judged once a trial has processed this many
  std::optional<double> max;
  std::optional<double> min;
  std::optional<double> max_ratio_to_baseline;
  std::optional<double> min_ratio_to_baseline;
};

/// One element of the command line, there as a whole or not at all: it is left out where its
/// condition does not hold or a parameter that it mentions is inactive.
struct CommandPart {
  std::optional<document::Formula> when;
  std::vector<document::StringTemplate> args;
};

/// A configuration file that the program reads: each trial gets a copy of its own with these
/// values.
struct ConfigFileSpec {
  std::filesystem::path file;  ///< absolute; its ending tells the format
  /// Values by key (`loader.batch_size`); those whose parameter is inactive stay as the file has
  /// them.
  std::map<std::string, document::StringTemplate> edits;
  std::string content;  ///< of the file when the study began
  /// The content without the values that every trial replaces: of the fingerprint.
  std::string kept;
};

/// What the long run does between its steps: an evaluation, a checkpoint.
struct PlannedPhase {
  std::optional<double> every_samples;  ///< exactly one of these two
  std::optional<double> every_steps;
  std::optional<double> seconds;  ///< what it takes where no trial has shown it
};

/// The long run that the tuning is for.
struct PlannedRun {
  std::optional<double> samples;
  /// Samples per optimizer step: `batch_size * accumulation`.
  std::optional<document::Formula> batch_size;
  std::map<std::string, PlannedPhase> phases;  ///< by the name that the program reports
  std::optional<double> deadline_s;            ///< the run must not take longer
  std::optional<double> max_cost_usd;          ///< nor cost more
};

// The most that a study file may say.
/// Doubles hold every whole number up to here, so that a seed survives every JSON reader.
inline constexpr std::uint64_t k_most_seed = std::uint64_t{1} << 53;
inline constexpr std::int64_t k_most_budget_trials = 1'000'000;
inline constexpr int k_most_confirm_pairs = 100;

struct SearchSpec {
  std::string searcher = "bayes";
  std::string scheduler = "asha";
  std::uint64_t seed = 0;
  std::optional<int> initial_points;
  std::vector<Configuration> hints;  ///< `try`: measured right after the baseline
  /// Studies of the same history whose trials tell where to look first; its own name is skipped.
  std::vector<std::string> learn_from;
  std::string over;             ///< parameter that counts machines; empty: the one that is found
  double min_efficiency = 0.7;  ///< that another machine is to pay, in (0, 1]
  /// What an hour of waiting for a machine to start is worth, US dollars; nothing: as much as the
  /// machine.
  std::optional<double> waiting_per_hour;
  /// Whether it begins with what an expert would try; nothing: as whoever tunes decides.
  std::optional<bool> first_guesses;
  /// Least gain that counts, as a share of the baseline's speed: if no configuration can gain as
  /// much, the study ends; 0: it never ends for this.
  double worth = 0.05;
  double eta = 3.0;
  double min_steps = 10.0;
  double max_steps = 810.0;
};

struct BudgetSpec {
  std::optional<std::int64_t> trials;  ///< search trials, baseline and hints included
  std::optional<double> time_s;
  std::optional<double> cost_usd;
  /// `time_s` is what this money pays for (`with_money_as_time`); nothing: it is the study's own.
  std::optional<double> time_of_usd;
  bool stop_at_payback = false;
  int consecutive_failures = 5;  ///< the study ends after so many failed trials in a row
};

/// A configuration that is confirmed whatever its value in the search was, and runs again in every
/// round of a finalist that is still open: what is in use today, beside its challengers.
struct ConfirmCompanion {
  Configuration configuration;
  int rounds = 1;  ///< that it runs in of its own accord
};

/// How long one trial is measured.
struct MeasureSpec {
  double target_half_width = 0.02;  ///< relative; a trial ends by itself once it is this tight
  double max_trial_s = 120.0;       ///< measured no longer than this after start-up
  double min_window_s = 1.0;        ///< and no shorter
  int min_window_steps = 30;        ///< and over no fewer: intervals of fewer are too narrow
  /// Batches that can be ready in buffers at most: `workers * prefetch`.
  std::optional<document::Formula> buffers;
  PageCache cache = PageCache::warm;
  std::vector<std::filesystem::path> data;  ///< absolute; what `cache` speaks of
  int confirm_pairs = 3;  ///< interleaved pairs of incumbent and baseline at the end
  bool sentinels = true;  ///< the baseline returns during the search, to see whether machines drift
  std::optional<ConfirmCompanion> companion;  ///< no key of the study file: `retune` sets it
};

/// In place of a search space that has not been read yet: one `bool` that nothing uses.
[[nodiscard]] SearchSpace placeholder_space();

/// A knob's value as the study file gives it: the same for all trials, or by parameters.
using KnobRule = std::variant<Value, document::StringTemplate>;

/// What is put into programs that nobody changes.
struct HooksSpec {
  /// Of PyTorch's import hook, by knob; empty: it only reports. Nothing: no hook.
  std::optional<std::map<std::string, KnobRule>> pytorch;
};

/// The processes that the program runs as, by configuration.
struct LaunchSpec {
  Launcher with = Launcher::torchrun;
  std::optional<document::Formula> nodes;  ///< nothing: as many as the runner's machines
  document::Formula processes_per_node = document::Formula::constant(1.0, "1");
  std::vector<document::StringTemplate> options;  ///< what is empty is not given
};

/// Where trials are measured.
enum class TrialsIn {
  fresh,   ///< each in a process of its own
  forked,  ///< the same, forked from one that has its modules, where that makes no difference
  /// In the long run itself, which is not started for them, and what confirms, too (`exec --tune`).
  attached,
};

/// A validated study file with all defaults filled in.
struct StudySpec {
  std::string name;
  std::filesystem::path file;  ///< absolute
  std::vector<CommandPart> command;
  std::map<std::string, document::StringTemplate> environment;
  std::map<std::string, ConfigFileSpec> config_files;  ///< by the placeholder of their copy's path
  std::optional<LaunchSpec> launch;
  HooksSpec hooks;
  TrialsIn trials = TrialsIn::fresh;
  std::filesystem::path working_directory;  ///< absolute; default: the study file's folder
  bool terminal = false;                    ///< trials have a pseudo-terminal
  std::filesystem::path standard_input;     ///< absolute; of trials; empty: none
  SearchSpace space = placeholder_space();
  Facts facts;
  document::ChoiceStrings choice_strings;
  KnobRoles parameter_roles;  ///< of those that declare one
  Configuration baseline;
  PlannedRun planned_run;
  std::vector<Objective> objectives;
  std::vector<Guard> guards;
  SearchSpec search;
  BudgetSpec budget;
  MeasureSpec measure;
  ReportFormat report_format;
  std::shared_ptr<const RunnerSettings> runner;  ///< never null once read
  TrialLimits limits;
  /// Parameters, configuration files and facts that an expression or template outside the search
  /// space mentions.
  std::set<std::string> mentioned;

  /// The document with defaults and facts, in canonical form: what is stored with the history.
  /// Reading it (`study_from_json`) gives the same study, whatever the machine.
  Json document;
  /// Hash of everything that decides what a trial's measurement means (command, environment, space,
  /// baseline, objectives, planned run, measurement, runner), not of budgets and search settings.
  std::string fingerprint;
};

/// Facts about this machine: `cpus` (usable by this process: affinity and cgroup quota), `gpus`,
/// `memory_gb`.
[[nodiscard]] Facts detected_facts();

/// Reads and validates a study file. `facts` the file itself states win over those given. Every
/// fault found is told, at most 20, each with the JSON pointer, what is wrong and what would be
/// right, in one error of kind `usage`.
[[nodiscard]] Result<StudySpec> read_study(const std::filesystem::path& file, const Facts& facts);
/// The same for a document in memory, be it a study file's or a stored `StudySpec::document`;
/// `file` is used in messages and for relative paths. Paths that the document names need not exist,
/// but for configuration files whose content it does not hold.
[[nodiscard]] Result<StudySpec> study_from_json(const Json& document,
                                                const std::filesystem::path& file,
                                                const Facts& facts);
/// A stored `StudySpec::document` for who only reads what was measured: the same study, but that
/// what has to hold between its keys, and for example configurations, is not checked again, and
/// that it keeps its document and the fingerprint that it was stored with. Most of the time of
/// `study_from_json` goes into these. What is to be run is read by that.
[[nodiscard]] Result<StudySpec> stored_study_from_json(const Json& document,
                                                       const std::filesystem::path& file,
                                                       const Facts& facts, std::string fingerprint);

/// What a trial of `configuration` runs: templates filled in, conditional parts decided.
struct RenderedCommand {
  std::vector<std::string> argv;  ///< as a runner starts it: with its launcher's words
  std::optional<Launch> launch;
  std::map<std::string, std::string> environment;  ///< without the hook's
  std::optional<PytorchHookRequest> hook;  ///< its knobs: those that differ from the baseline

  /// Whether anything is to be put into the program.
  [[nodiscard]] bool needs_hook() const { return hook && !hook->knobs.empty(); }
};
/// `copies`: by name, the paths under which the program finds its configuration files; those that
/// are not named are the study's own.
[[nodiscard]] RenderedCommand render_command(const StudySpec& study,
                                             const Configuration& configuration,
                                             const document::NamedTexts& copies = {});
/// The command alone, without the words that launch it.
[[nodiscard]] std::vector<std::string> plain_command(const StudySpec& study,
                                                     const Configuration& configuration);
/// What `launch` says for a configuration, counts that are no whole number or out of range as 0;
/// nothing where the study has none.
[[nodiscard]] std::optional<Launch> launch_of(const StudySpec& study,
                                              const Configuration& configuration);

/// What the study says of each knob for a configuration; knobs whose parameter is inactive are left
/// out.
[[nodiscard]] std::map<std::string, Value> knob_values(const StudySpec& study,
                                                       const Configuration& configuration);

/// Adds what brings the hook in: its variables, and its folder in front of `python_path`, which is
/// what PYTHONPATH would be without it. No change without a hook.
[[nodiscard]] Result<void> add_hook(const std::optional<PytorchHookRequest>& hook,
                                    std::string_view python_path,
                                    std::map<std::string, std::string>& environment);

/// `words` as one line for a shell, for display and copying; nothing of this program runs a shell.
/// Control characters appear as `$'\033'`, so that no value can drive the terminal.
[[nodiscard]] std::string shell_quoted(const std::vector<std::string>& words);
[[nodiscard]] std::string shell_quoted(std::string_view word);

/// Samples per optimizer step under a configuration, if the study tells.
[[nodiscard]] std::optional<double> samples_per_step(const StudySpec& study,
                                                     const Configuration& configuration);
[[nodiscard]] std::optional<double> samples_per_step(const document::Formula& batch_size,
                                                     const Configuration& configuration);

/// Steps whose samples can be ready in buffers at most, if the study tells.
[[nodiscard]] std::optional<double> buffered_steps(const StudySpec& study,
                                                   const Configuration& configuration);

/// USD per hour of all machines of a configuration together, as a run is expected to be billed
/// (managed spot: its share of the on-demand price); 0 where the study has no price.
[[nodiscard]] double usd_per_hour(const StudySpec& study, const Configuration& configuration);
/// The same on demand: the price of a billed second (the discount of managed spot is that fewer
/// seconds are billed), and the most that an hour can cost.
[[nodiscard]] double on_demand_usd_per_hour(const StudySpec& study,
                                            const Configuration& configuration);

}  // namespace steptune
