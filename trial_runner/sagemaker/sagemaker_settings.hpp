// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "common/document/section.hpp"
#include "trial_runner/instances/rented_instances.hpp"
#include "trial_runner/runner_kind.hpp"
#include "trial_runner/sagemaker/job_settings.hpp"
#include "trial_runner/sagemaker/sagemaker_runner.hpp"

namespace steptune {

/// Keys of the section `runner` of type `sagemaker`.
struct SageMakerSection {
  std::string region;  ///< empty: the region that the AWS configuration names
  RentedInstances instances;
  JobSettings job;
  int parallel = 1;
  int trials_per_job = 6;  ///< trials that one job may run in turn
  /// Price of the instances' volumes. The default 0 leaves the price out, because the installed
  /// price table lacks it.
  double storage_usd_per_gb_month = 0.0;
  std::optional<double> keep_alive_s;  ///< longest life of an unused warm pool; 0: no pools
  double poll_s = 5.0;                 ///< time between two polls of jobs and of their logs
};

/// Returns the section's keys and the rules between them. `check_training_jobs` checks SageMaker's
/// rules later, when the configurations are known.
[[nodiscard]] const document::Section<SageMakerSection>& sagemaker_section();

/// Adds a fault at each key of the study file whose value SageMaker would refuse in a job. Checks
/// the jobs of the baseline on up to 64 sets of machines, and of up to 32 example configurations.
void check_training_jobs(const SageMakerSection& section, const StudyView& study,
                         document::Faults& faults);

class SageMakerSettings final : public RunnerSettings {
 public:
  /// Computes settings that depend on the limits. `max_wait_stated` is true if the section contains
  /// `max_wait`.
  SageMakerSettings(SageMakerSection section, const TrialLimits& limits, bool max_wait_stated,
                    bool has_command);

  [[nodiscard]] const SageMakerSection& section() const { return section_; }
  /// Returns the options for the runner.
  [[nodiscard]] SageMakerOptions options() const;

  [[nodiscard]] const RunnerKind& kind() const override;
  [[nodiscard]] Json write(const document::Writing& writing) const override;
  [[nodiscard]] Json resumed_document(const Json& stored, const Json& written) const override;
  [[nodiscard]] std::shared_ptr<const RunnerSettings> complete(
      const StudyView& study, document::Faults& faults) const override;
  [[nodiscard]] Resources resources_of(const Configuration& configuration) const override;
  [[nodiscard]] std::optional<HourlyPrice> price_of(
      const Configuration& configuration) const override;
  [[nodiscard]] std::vector<SummaryLine> summary(const Configuration& baseline) const override;
  [[nodiscard]] Result<RunnerParts> make(const Clock& clock, std::uint64_t seed) const override;
  [[nodiscard]] std::unique_ptr<RehearsalStage> rehearse(
      const RehearsalOptions& options) const override;

 private:
  SageMakerSection section_;
};

}  // namespace steptune
