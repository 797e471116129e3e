// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/rehearsal.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

#include <stdlib.h>

#include "common/text.hpp"
#include "search/space/expression.hpp"
#include "trial_runner/sagemaker/rehearsal/rehearsal.hpp"
#include "tuner/cli/sagemaker_parts.hpp"
#include "tuner/cli/study_parts.hpp"
#include "tuner/loop/loop.hpp"

namespace steptune {
namespace {

constexpr double k_assumed_step_s = 0.1;
constexpr double k_step_noise = 0.03;
constexpr double k_stage_jitter = 0.2;
/// An account that grants what the study needs: quotas are for `run` to meet.
constexpr int k_quota = 1000;

/// A folder that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "steptune-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The configuration behind a job's hyperparameters, which are texts.
Configuration configuration_of(const StudySpec& study, const Json& hyperparameters) {
  Configuration configuration;
  for (const Parameter& parameter : study.space.parameters()) {
    const auto found = hyperparameters.find(parameter.name);
    if (found == hyperparameters.end() || !found->is_string()) continue;
    const std::string text = found->get<std::string>();
    if (parameter.kind == ParameterKind::integer) {
      const auto number = parse_finite(text);
      if (number) configuration.set(parameter.name, static_cast<std::int64_t>(*number));
    } else if (parameter.kind == ParameterKind::floating) {
      if (const auto number = parse_finite(text)) configuration.set(parameter.name, *number);
    } else if (parameter.kind == ParameterKind::boolean) {
      configuration.set(parameter.name, text == "true");
    } else {
      const auto choice = std::ranges::find_if(
          parameter.choices, [&](const Value& value) { return to_text(value) == text; });
      if (choice != parameter.choices.end()) configuration.set(parameter.name, *choice);
    }
  }
  return configuration;
}

rehearsal::ProgramModel program_model(const StudySpec& study, const SpeedModel& speed) {
  return [&study, speed](const Json& input) {
    const auto hyperparameters = input.find("HyperParameters");
    const Configuration configuration =
        configuration_of(study, hyperparameters == input.end() ? Json::object() : *hyperparameters);
    const AssumedSpeed assumed = speed(configuration);
    rehearsal::SimulatedProgram program;
    program.startup_s = assumed.startup_s;
    program.samples_per_step = samples_per_step(study, configuration).value_or(1.0);
    program.step_s = assumed.seconds_per_sample * program.samples_per_step;
    program.noise.step = k_step_noise;
    return program;
  };
}

class Warnings final : public LoopListener {
 public:
  void on_warning(const std::string& message) override { messages.push_back(message); }
  std::vector<std::string> messages;
};

double stage_s(const rehearsal::JobAudit& job, const std::string& stage) {
  double sum_s = 0.0;
  for (const auto& transition : job.transitions) {
    if (transition.status == stage && transition.end_s) {
      sum_s += *transition.end_s - transition.start_s;
    }
  }
  return sum_s;
}

/// The bill as the account itself would make it out.
void add_bill(const StudySpec& study, const rehearsal::AccountAudit& audit,
              RehearsedTuning& tuning) {
  const auto usd_per_s = [&](const std::string& type, int count) {
    const auto found = study.runner.cluster.prices.find(type);
    return found == study.runner.cluster.prices.end() ? 0.0
                                                      : found->second.usd_per_hour * count / 3600.0;
  };
  for (const rehearsal::JobAudit& job : audit.jobs) {
    ++(job.warm ? tuning.warm_starts : tuning.cold_starts);
    const double training_s = std::min(job.billed_s, stage_s(job, "Training"));
    for (const auto& [type, count] : job.instances) {
      tuning.usd += job.billed_s * usd_per_s(type, count);
      tuning.not_training_usd += (job.billed_s - training_s) * usd_per_s(type, count);
    }
  }
  for (const rehearsal::PoolAudit& pool : audit.pools) {
    const double usd = pool.retained_s * usd_per_s(pool.instance_type, pool.instances);
    tuning.usd += usd;
    tuning.not_training_usd += usd;
  }
}

}  // namespace

SpeedModel constant_speed(const StudySpec& study) {
  return [&study](const Configuration& configuration) {
    return AssumedSpeed{k_assumed_step_s / samples_per_step(study, configuration).value_or(1.0)};
  };
}

Result<SpeedModel> expressed_speed(const StudySpec& study, const std::string& seconds_per_sample) {
  std::vector<std::string> names;
  for (const Parameter& parameter : study.space.parameters())
    names.push_back(parameter.name);
  auto compiled = Expression::compile(seconds_per_sample, names, study.facts);
  if (!compiled) return tl::unexpected(compiled.error());
  auto expression = std::make_shared<Expression>(*std::move(compiled));
  return [expression](const Configuration& configuration) {
    return AssumedSpeed{expression->evaluate(configuration)};
  };
}

std::optional<SpeedModel> recorded_speed(const std::vector<TrialRecord>& trials) {
  std::map<Configuration, AssumedSpeed> known;
  AssumedSpeed mean{0.0, 0.0};
  double count = 0.0;
  for (const TrialRecord& trial : trials) {
    if (!trial.measurement || trial.measurement->status != MeasurementStatus::steady) continue;
    const AssumedSpeed speed{trial.measurement->seconds_per_sample, trial.measurement->startup_s};
    known[trial.configuration] = speed;
    mean.seconds_per_sample += speed.seconds_per_sample;
    mean.startup_s += speed.startup_s;
    count += 1.0;
  }
  if (known.empty()) return std::nullopt;
  mean = {mean.seconds_per_sample / count, mean.startup_s / count};
  return [known = std::move(known), mean](const Configuration& configuration) {
    const auto found = known.find(configuration);
    return found == known.end() ? mean : found->second;
  };
}

Result<RehearsedTuning> rehearse_tuning(const StudySpec& study, const SpeedModel& speed,
                                        std::uint64_t seed, double wall_time_s) {
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    return fail(ErrorKind::runner, "no temporary folder can be made for the rehearsal", {},
                "set TMPDIR to a folder that can be written");
  }
  VirtualClock clock(wall_time_s);
  rehearsal::AccountOptions account;
  account.seed = seed;
  account.stages.jitter = k_stage_jitter;
  account.training_quota = {{"*", k_quota}};
  account.warm_pool_quota = {{"*", k_quota}};
  account.spot_billed_share = study.runner.sagemaker.spot_share;
  account.instances = study.runner.cluster.prices;
  rehearsal::Rehearsal stage(clock, program_model(study, speed), account);
  auto searcher = make_study_searcher(study);
  if (!searcher) return tl::unexpected(searcher.error());
  auto scheduler = make_study_scheduler(study);
  if (!scheduler) return tl::unexpected(scheduler.error());
  const auto runner = stage.make_runner(sagemaker_options(study));
  auto history = History::open_for_writing(folder.path() / "history.db", clock);
  if (!history) return tl::unexpected(history.error());
  Warnings warnings;
  const auto result = run_loop({study, **searcher, **scheduler, *runner, *history, clock, warnings,
                                folder.path() / "logs", nullptr});
  if (!result) return tl::unexpected(result.error());

  RehearsedTuning tuning;
  tuning.duration_s = clock.now_s();
  tuning.warnings = warnings.messages;
  const auto record = history->study(study.name);
  if (!record) return tl::unexpected(record.error());
  const auto trials = history->trials(record->id);
  if (!trials) return tl::unexpected(trials.error());
  tuning.trials = static_cast<int>(trials->size());
  tuning.counted_usd = record->overhead_usd;
  for (const TrialRecord& trial : *trials)
    tuning.counted_usd += trial.spent_usd;
  stage.account().advance_until_quiet(clock.now_s() + 86'400.0);
  add_bill(study, stage.account().audit(), tuning);
  return tuning;
}

}  // namespace steptune
