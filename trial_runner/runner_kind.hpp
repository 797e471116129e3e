// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.hpp"
#include "common/configuration.hpp"
#include "common/document/key_table.hpp"
#include "common/document/node.hpp"
#include "common/document/type.hpp"
#include "common/error.hpp"
#include "common/json.hpp"
#include "trial_runner/diagnosis.hpp"
#include "trial_runner/launch/launch.hpp"
#include "trial_runner/resources.hpp"
#include "trial_runner/runner.hpp"

/// Interface of a kind of runner. The rest of the program names no kind. To add one, implement
/// `RunnerKind` and `RunnerSettings` in a new folder and list the kind in runner_kinds.cpp.
namespace steptune {

class HeldMachinesService;
class LongRunForm;
class PriceListService;
class RehearsalStage;
class RunnerKind;
struct RehearsalOptions;

/// Prices of an hour with one configuration, in USD.
struct HourlyPrice {
  /// Expected bill for all machines of the planned run, for the metric `cost`. Managed spot: a
  /// share of the on-demand price.
  double expected_usd = 0.0;
  double on_demand_usd = 0.0;  ///< on-demand price that a trial pays, the most that it can cost
};

/// Properties that all trials of a study share, whatever their configuration.
struct RunnerTraits {
  int parallel = 1;           ///< number of trials at the same time that the study requests
  bool needs_command = true;  ///< a study without "command" cannot run
  /// Each parameter has an effect even if no template mentions it.
  bool takes_all_parameters = false;
  bool uses_this_machine = true;  ///< trials and the tuner share the same CPUs
  bool sees_files = true;         ///< trials find this machine's files under the same paths
  bool gives_streams = false;     ///< trials may have a terminal (`TrialSpec::terminal`) and input
  bool takes_hooks = false;       ///< trials get the Python hook (`TrialSpec::python_path`)
  /// Preferred launcher first. Empty: studies cannot have `launch`.
  std::vector<LauncherSupport> launchers;
  bool has_price = false;  ///< `price_of` returns a price
  /// Configurations need different machines. If so, prices differ, and a trial starts more slowly
  /// if the runner holds no machine of the needed kind.
  bool machines_vary = false;
  /// Longest time, in seconds, for which one trial can be billed. nullopt: no money is spent, and
  /// prices are only estimates for people.
  std::optional<double> longest_billed_s;
  /// Names of facts about the machine (`cpus`) that affect measurements even if the study's
  /// expressions do not mention them.
  std::set<std::string> facts;
};

/// The study against which its runner's section is checked.
struct StudyView {
  const Configuration& baseline;
  /// All configurations of a small space, or some of a large one. The baseline is the first.
  std::span<const Configuration> examples;
  /// Returns all combinations of values of these parameters and of the parameters that decide if
  /// they are active. If the set is empty, returns only the baseline. If there are more than `most`
  /// combinations, returns nullopt.
  std::function<std::optional<std::vector<Configuration>>(std::set<std::string> parameters,
                                                          std::uint64_t most)>
      combinations;
  /// Returns the trial that the runner would have to start for a configuration. Lacks the rented
  /// machines, which the runner adds.
  std::function<TrialSpec(const Configuration&)> trial;
};

/// A runner and the objects that it needs.
struct RunnerParts {
  std::shared_ptr<void> foundation;  ///< objects that the runner uses, such as connections or a
                                     ///< virtual clock; outlives the runner
  const Clock* clock = nullptr;      ///< clock of the trials, and so of the loop
  std::unique_ptr<Runner> runner;
};

/// A line of `steptune check`'s output: `prices`, `ml.g5.xlarge $1.41 per hour`.
struct SummaryLine {
  std::string name;
  std::string text;
  /// True: no trial of the study can start until the user has corrected this.
  bool is_fatal = false;
};

/// The section `runner` of one study, parsed. Immutable.
class RunnerSettings {
 public:
  virtual ~RunnerSettings() = default;

  [[nodiscard]] virtual const RunnerKind& kind() const = 0;
  [[nodiscard]] const RunnerTraits& traits() const { return traits_; }

  /// Returns the section with every default written out; reading it gives the same settings. The
  /// part written for the fingerprint is persistent: if its form changed, stored studies could not
  /// continue.
  [[nodiscard]] virtual Json write(const document::Writing& writing) const = 0;
  /// Returns the section to use when a stored study continues. `stored` is the section with which
  /// the study began; `written` is the section in the current study file. May keep stored values
  /// that do not come from the study file (price tables).
  [[nodiscard]] virtual Json resumed_document(const Json& stored, const Json& written) const;

  /// Returns these settings plus values that depend on the whole study. An example is the prices of
  /// all types that its configurations can request. Null if there is nothing to add. Adds a fault
  /// for each setting that does not fit the study.
  [[nodiscard]] virtual std::shared_ptr<const RunnerSettings> complete(
      const StudyView& study, document::Faults& faults) const;
  /// Adds faults that matter only when the study is about to run: missing files.
  virtual void check_files(document::Faults& faults) const;

  /// Returns the machines that a trial of `configuration` rents. No type: the trial runs on the
  /// tuner's machine.
  [[nodiscard]] virtual Resources resources_of(const Configuration& configuration) const;
  /// Returns the prices of a configuration; nullopt if the study has no price.
  [[nodiscard]] virtual std::optional<HourlyPrice> price_of(
      const Configuration& configuration) const = 0;
  /// Returns lines for people. The first line says where trials run; further lines say what they
  /// cost.
  [[nodiscard]] virtual std::vector<SummaryLine> summary(const Configuration& baseline) const = 0;

  /// Creates the runner. `clock` is the system's clock. `clock` and these settings outlive the
  /// runner. `seed` is the study's, for runners that draw random numbers.
  [[nodiscard]] virtual Result<RunnerParts> make(const Clock& clock, std::uint64_t seed) const = 0;
  /// Creates the runner on a simulated provider. Returns null if this kind of runner has no
  /// simulated provider.
  [[nodiscard]] virtual std::unique_ptr<RehearsalStage> rehearse(
      const RehearsalOptions& options) const;

 protected:
  RunnerSettings() = default;
  RunnerSettings(const RunnerSettings&) = default;
  RunnerSettings& operator=(const RunnerSettings&) = default;

  RunnerTraits traits_;
};

/// Returns the line `local, 2 trials at a time`, followed by `details`.
[[nodiscard]] SummaryLine runner_line(const RunnerSettings& settings, const std::string& details);

/// Known facts about the machines of a study's trials, before the study's parameters are read.
struct RemoteMachine {
  std::map<std::string, double, std::less<>> facts;  ///< `cpus`, `gpus`, `memory_gb`
  /// Reason why other facts are missing: "nothing is known about ml.x1.large".
  std::string why_not_more;
  std::vector<std::string> expressions;  ///< expressions in the section that may use these facts
};

/// A kind of runner: the value of `type` in a study's section `runner`. Stateless.
class RunnerKind {
 public:
  RunnerKind() = default;
  RunnerKind(const RunnerKind&) = delete;
  RunnerKind& operator=(const RunnerKind&) = delete;
  virtual ~RunnerKind() = default;

  /// Returns the name. It is persistent: study files and databases contain it.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Returns the name as people write it: `SageMaker`.
  [[nodiscard]] virtual std::string_view title() const = 0;

  /// Reads the section. Always returns settings; adds faults if the section is wrong. `has_command`
  /// is true if the study has a command.
  [[nodiscard]] virtual std::unique_ptr<RunnerSettings> read(const document::Node& section,
                                                             const TrialLimits& limits,
                                                             bool has_command) const = 0;
  /// Returns the schema of the section. Adds other definitions that it uses to `definitions`.
  [[nodiscard]] virtual Json schema(Json& definitions) const = 0;
  /// Returns tables for the reference: the section's keys, and the keys of objects in the section.
  [[nodiscard]] virtual std::vector<document::KeyTable> tables() const = 0;
  /// Returns facts about the machines of trials; nullopt if trials run on the tuner's own machine.
  /// `section` is the section as written in the study file; it may be invalid.
  [[nodiscard]] virtual std::optional<RemoteMachine> remote_machine(
      const Json& section, const std::filesystem::path& folder) const;

  /// Return the optional services of a kind; null if the kind does not have the service.
  [[nodiscard]] virtual const HeldMachinesService* held_machines() const { return nullptr; }
  [[nodiscard]] virtual const PriceListService* price_lists() const { return nullptr; }
  [[nodiscard]] virtual const LongRunForm* long_run_form() const { return nullptr; }
  /// Returns the checks that `steptune doctor` makes for this kind.
  [[nodiscard]] virtual std::vector<Diagnosis> diagnose() const { return {}; }
};

}  // namespace steptune
