// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trial_runner/cost/fixed_price.hpp"
#include "trial_runner/instances/rented_instances.hpp"
#include "trial_runner/runner_kind.hpp"

namespace steptune {

/// Returns the kind of runner that replays recorded or modelled step times under a virtual clock.
[[nodiscard]] const RunnerKind& replay_kind();

/// Keys of the section `runner` of type `replay`.
struct ReplaySection {
  FixedPrice price;
  int parallel = 1;
  RentedInstances instances;    ///< instances that a trial would rent; used only for prices
  std::filesystem::path table;  ///< JSON file of a recorded table; empty: use the formula below
  std::optional<std::string> objective_column;
  std::optional<document::Formula> seconds_per_sample;  ///< the model
  double startup_s = 5.0;
  double noise = 0.01;            ///< relative standard deviation of a step's time
  double launch_variation = 0.0;  ///< relative standard deviation of step times between launches
};

class ReplaySettings final : public RunnerSettings {
 public:
  explicit ReplaySettings(ReplaySection section);

  [[nodiscard]] const ReplaySection& section() const { return section_; }

  [[nodiscard]] const RunnerKind& kind() const override { return replay_kind(); }
  [[nodiscard]] Json write(const document::Writing& writing) const override;
  [[nodiscard]] Json resumed_document(const Json& stored, const Json& written) const override;
  [[nodiscard]] std::shared_ptr<const RunnerSettings> complete(
      const StudyView& study, document::Faults& faults) const override;
  void check_files(document::Faults& faults) const override;
  [[nodiscard]] Resources resources_of(const Configuration& configuration) const override;
  [[nodiscard]] std::optional<HourlyPrice> price_of(
      const Configuration& configuration) const override;
  [[nodiscard]] std::vector<SummaryLine> summary(const Configuration& baseline) const override;
  [[nodiscard]] Result<RunnerParts> make(const Clock& clock, std::uint64_t seed) const override;

 private:
  ReplaySection section_;
};

}  // namespace steptune
