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

/// StoppingCondition/MaxWaitTimeInSeconds: 28 days.
inline constexpr double k_longest_wait_s = 28.0 * 86'400.0;

/// What the section of a study on SageMaker says.
struct SageMakerSection {
  std::string region;  ///< empty: the one that the AWS configuration names
  RentedInstances instances;
  JobSettings job;
  int parallel = 1;
  int trials_per_job = 6;  ///< that a job may run in turn
  /// Of the instances' volumes; 0: not priced, as the price list that is shipped does not tell it.
  double storage_usd_per_gb_month = 0.0;
  std::optional<double> keep_alive_s;  ///< longest life of an unused warm pool; 0: no pools
  double poll_s = 5.0;                 ///< between looks at jobs and at their logs
};

/// The keys of the section, and what must hold between them. What the service would refuse is found
/// later, by `check_training_jobs`, when the configurations are known.
[[nodiscard]] const document::Section<SageMakerSection>& sagemaker_section();

/// What SageMaker would refuse about the jobs of a study, as far as the baseline, every set of
/// machines and the examples show it, at its place in the study file.
void check_training_jobs(const SageMakerSection& section, const StudyView& study,
                         document::Faults& faults);

class SageMakerSettings final : public RunnerSettings {
 public:
  /// Fills in the settings that follow from the limits. `max_wait_stated`: in the section.
  SageMakerSettings(SageMakerSection section, const TrialLimits& limits, bool max_wait_stated,
                    bool has_command);

  [[nodiscard]] const SageMakerSection& section() const { return section_; }
  /// What the runner is told.
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
