// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/document/section.hpp"
#include "common/document/string_template.hpp"
#include "trial_runner/runner_kind.hpp"
#include "trial_runner/slurm/allocation_spec.hpp"
#include "trial_runner/slurm/slurm_options.hpp"

namespace steptune {

/// Keys of the section `runner` of type `slurm`.
struct SlurmSection {
  using Template = document::StringTemplate;

  slurm::SlurmOptions run;
  document::Formula nodes = document::Formula::constant(1.0, "1");
  document::Formula gpus_per_node = document::Formula::constant(0.0, "0");
  Template partition = Template::parse("").value();
  Template account = Template::parse("").value();
  Template qos = Template::parse("").value();
  Template constraint = Template::parse("").value();
  Template gres = Template::parse("").value();
  Template reservation = Template::parse("").value();
  Template time = Template::parse("").value();
  std::vector<Template> options;
  Template memory = Template::parse("all").value();
  std::optional<std::vector<std::string>> inherit;  ///< nullopt: all variables
  std::filesystem::path folder;  ///< empty: `.steptune/slurm` in the tuner's folder

  /// Returns the allocation spec of a configuration's trial. An invalid node count becomes 0, which
  /// the runner refuses.
  [[nodiscard]] slurm::AllocationSpec allocation_spec_of(const Configuration& configuration) const;
  /// True if the allocation spec depends on the configuration.
  [[nodiscard]] bool allocations_vary() const;
};

[[nodiscard]] const document::Section<SlurmSection>& slurm_section();

class SlurmSettings final : public RunnerSettings {
 public:
  SlurmSettings(SlurmSection section, const TrialLimits& limits);

  [[nodiscard]] const SlurmSection& section() const { return section_; }
  [[nodiscard]] std::filesystem::path folder() const;

  [[nodiscard]] const RunnerKind& kind() const override;
  [[nodiscard]] Json write(const document::Writing& writing) const override;
  [[nodiscard]] std::shared_ptr<const RunnerSettings> complete(
      const StudyView& study, document::Faults& faults) const override;
  [[nodiscard]] Resources resources_of(const Configuration& configuration) const override;
  [[nodiscard]] std::optional<HourlyPrice> price_of(
      const Configuration& configuration) const override;
  /// Runs `sbatch --test-only` to find out if and when Slurm would start the study's allocations.
  [[nodiscard]] std::vector<SummaryLine> summary(const Configuration& baseline) const override;
  [[nodiscard]] Result<RunnerParts> make(const Clock& clock, std::uint64_t seed) const override;
  [[nodiscard]] std::unique_ptr<RehearsalStage> rehearse(
      const RehearsalOptions& options) const override;

 private:
  /// Returns the length of the shortest useful allocation: the longest trial plus `poll`. The
  /// runner sees the allocation's start only in the next list of the queue.
  [[nodiscard]] double least_allocation_s() const;

  SlurmSection section_;
  TrialLimits limits_;
  /// Specs of the example configurations, the baseline's spec first.
  std::vector<slurm::AllocationSpec> specs_;
  std::string mpi_;  ///< srun's MPI option for the baseline's launch; empty: none
};

}  // namespace steptune
