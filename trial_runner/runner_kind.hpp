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

/// What a kind of runner is, for the rest of the program, which names none. To add one: implement
/// `RunnerKind` and `RunnerSettings` in a folder of its own and list it in runner_kinds.cpp.
namespace steptune {

class HeldMachinesService;
class LongRunForm;
class PriceListService;
class RehearsalStage;
class RunnerKind;
struct RehearsalOptions;

/// USD per hour of all machines of one trial together.
struct HourlyPrice {
  double expected_usd = 0.0;   ///< as a run is expected to be billed (managed spot: its share)
  double on_demand_usd = 0.0;  ///< of each billed second; the most that an hour can cost
};

/// What holds for every trial of a study, whatever its configuration.
struct RunnerTraits {
  int parallel = 1;                   ///< trials at the same time, as the study asks for
  bool needs_command = true;          ///< without "command" there is nothing to run
  bool takes_all_parameters = false;  ///< each parameter has an effect without being mentioned
  bool uses_this_machine = true;      ///< trials compete with the tuner for its CPUs
  bool sees_files = true;             ///< trials find files of this machine under the same paths
  bool gives_streams = false;  ///< trials may have a terminal (`TrialSpec::terminal`) and input
  bool takes_hooks = false;    ///< its trials are given PyTorch's hook (`TrialSpec::python_path`)
  std::vector<LauncherSupport>
      launchers;           ///< the preferred one first; none: no study can have `launch`
  bool has_price = false;  ///< `price_of` gives one
  /// Configurations need different machines, so that the start of a trial takes longer where none
  /// of its kind is held; prices differ with them.
  bool machines_vary = false;
  /// The longest that one trial can be billed. Nothing: no money is spent, prices are notional.
  std::optional<double> longest_billed_s;
  /// Facts that measurements depend on although nothing in the study mentions them.
  std::set<std::string> facts;
};

/// A study as its runner's section is checked against it.
struct StudyView {
  const Configuration& baseline;
  /// All configurations of a small space, some of a large one; the baseline is the first.
  std::span<const Configuration> examples;
  /// The values that the parameters in a set (and those that decide whether they are active) take
  /// together; the baseline alone if the set is empty, nothing if there are more than `most`.
  std::function<std::optional<std::vector<Configuration>>(std::set<std::string> parameters,
                                                          std::uint64_t most)>
      combinations;
  /// What a runner would be asked to start for a configuration; machines are left to the runner.
  std::function<TrialSpec(const Configuration&)> trial;
};

/// A runner, and what it stands on.
struct RunnerParts {
  std::shared_ptr<void> foundation;  ///< connections, virtual time: outlives the runner
  const Clock* clock = nullptr;      ///< that trials, and so the loop, run under
  std::unique_ptr<Runner> runner;
};

/// A line of what `steptune check` tells: `prices`, `ml.g5.xlarge $1.41 per hour`.
struct SummaryLine {
  std::string name;
  std::string text;
  bool is_fatal = false;  ///< as long as it is so, no trial of the study can be started
};

/// The section `runner` of one study, read. Immutable.
class RunnerSettings {
 public:
  virtual ~RunnerSettings() = default;

  [[nodiscard]] virtual const RunnerKind& kind() const = 0;
  [[nodiscard]] const RunnerTraits& traits() const { return traits_; }

  /// The section with every default written out; reading it gives the same settings. What is
  /// written for the fingerprint is persistent: another form makes stored studies look different.
  [[nodiscard]] virtual Json write(const document::Writing& writing) const = 0;
  /// The section with which a study goes on that was begun as `stored`; `written` is what the study
  /// file itself says now. What comes from elsewhere (price tables) may be kept as it was.
  [[nodiscard]] virtual Json resumed_document(const Json& stored, const Json& written) const;

  /// These settings with what only the whole study decides (prices of all types that it can ask
  /// for); null where there is nothing to add. Adds what is wrong with them for this study.
  [[nodiscard]] virtual std::shared_ptr<const RunnerSettings> complete(
      const StudyView& study, document::Faults& faults) const;
  /// Adds what would only matter to whoever is about to run the study: files that are missing.
  virtual void check_files(document::Faults& faults) const;

  /// The machines that a trial of `configuration` rents; none: it runs where the tuner does.
  [[nodiscard]] virtual Resources resources_of(const Configuration& configuration) const;
  /// Nothing where the study has no price.
  [[nodiscard]] virtual std::optional<HourlyPrice> price_of(
      const Configuration& configuration) const = 0;
  /// For people: the first line tells what runs where, further ones what it costs.
  [[nodiscard]] virtual std::vector<SummaryLine> summary(const Configuration& baseline) const = 0;

  /// The runner. `clock` is the system's and outlives it, as these settings do. `seed`: of the
  /// study, for runners that draw random numbers.
  [[nodiscard]] virtual Result<RunnerParts> make(const Clock& clock, std::uint64_t seed) const = 0;
  /// The same against a simulated provider; null where nothing is paid for.
  [[nodiscard]] virtual std::unique_ptr<RehearsalStage> rehearse(
      const RehearsalOptions& options) const;

 protected:
  RunnerSettings() = default;
  RunnerSettings(const RunnerSettings&) = default;
  RunnerSettings& operator=(const RunnerSettings&) = default;

  RunnerTraits traits_;
};

/// `local, 2 trials at a time`, and `details` after it.
[[nodiscard]] SummaryLine runner_line(const RunnerSettings& settings, const std::string& details);

/// What is known of the machines that trials run on, before a study's parameters are read.
struct RemoteMachine {
  std::map<std::string, double, std::less<>> facts;  ///< `cpus`, `gpus`, `memory_gb`
  std::string why_not_more;  ///< "nothing is known about ml.x1.large": why others are missing
  std::vector<std::string> expressions;  ///< of the section, which may mention them
};

/// A kind of runner: what stands as `type` in a study's section `runner`. Stateless.
class RunnerKind {
 public:
  RunnerKind() = default;
  RunnerKind(const RunnerKind&) = delete;
  RunnerKind& operator=(const RunnerKind&) = delete;
  virtual ~RunnerKind() = default;

  /// Persistent: it stands in study files and databases.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// As people write it: `SageMaker`.
  [[nodiscard]] virtual std::string_view title() const = 0;

  /// Reads the section. Always settings, with faults added where it is wrong. `has_command`:
  /// whether the study has a command.
  [[nodiscard]] virtual std::unique_ptr<RunnerSettings> read(const document::Node& section,
                                                             const TrialLimits& limits,
                                                             bool has_command) const = 0;
  /// The section's definition in the schema; `definitions` gets those that it refers to.
  [[nodiscard]] virtual Json schema(Json& definitions) const = 0;
  /// Its keys for the reference, and those of the objects in it.
  [[nodiscard]] virtual std::vector<document::KeyTable> tables() const = 0;
  /// Facts where trials do not run on the tuner's machine, from the section as it is written, which
  /// may be wrong; nothing: the tuner's own hold.
  [[nodiscard]] virtual std::optional<RemoteMachine> remote_machine(
      const Json& section, const std::filesystem::path& folder) const;

  /// What a kind may offer beside; null where it does not.
  [[nodiscard]] virtual const HeldMachinesService* held_machines() const { return nullptr; }
  [[nodiscard]] virtual const PriceListService* price_lists() const { return nullptr; }
  [[nodiscard]] virtual const LongRunForm* long_run_form() const { return nullptr; }
  /// What `steptune doctor` tells of this kind's needs.
  [[nodiscard]] virtual std::vector<Diagnosis> diagnose() const { return {}; }
};

}  // namespace steptune
