// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/replay/replay_kind.hpp"

#include <utility>

#include <fmt/format.h>

#include "trial_runner/replay/replay_runner.hpp"
#include "trial_runner/replay/replay_section.hpp"

namespace steptune {
namespace {

class ReplayKind final : public RunnerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "replay"; }
  [[nodiscard]] std::string_view title() const override { return "recorded step times"; }
  [[nodiscard]] std::unique_ptr<RunnerSettings> read(const document::Node& node, const TrialLimits&,
                                                     bool) const override {
    ReplaySection section;
    replay_section().read(node, section);
    return std::make_unique<ReplaySettings>(std::move(section));
  }
  [[nodiscard]] Json schema(Json& definitions) const override {
    return replay_section().schema(definitions);
  }
  [[nodiscard]] std::vector<document::KeyTable> tables() const override {
    return {replay_section().table()};
  }
};

}  // namespace

const RunnerKind& replay_kind() {
  static const ReplayKind k_kind;
  return k_kind;
}

ReplaySettings::ReplaySettings(ReplaySection section) : section_(std::move(section)) {
  const bool rents = !section_.instances.groups.empty();
  traits_.parallel = section_.parallel;
  traits_.needs_command = false;
  traits_.takes_all_parameters = !section_.table.empty();  // the table's columns are the parameters
  traits_.uses_this_machine = !rents;
  traits_.has_price = rents || section_.price.usd_per_hour.has_value();
  traits_.machines_vary = rents;
}

Json ReplaySettings::write(const document::Writing& writing) const {
  return replay_section().write(section_, writing);
}

Json ReplaySettings::resumed_document(const Json& stored, const Json& written) const {
  return with_stored_prices(write({}), stored, written);
}

std::shared_ptr<const RunnerSettings> ReplaySettings::complete(const StudyView& study,
                                                               document::Faults& faults) const {
  ReplaySection section = section_;
  resolve_prices(section.instances, study, faults);
  check_positive(section.seconds_per_sample, "/runner/seconds_per_sample", study.examples, faults);
  return std::make_shared<ReplaySettings>(std::move(section));
}

void ReplaySettings::check_files(document::Faults& faults) const {
  std::error_code error;
  if (section_.table.empty() || std::filesystem::is_regular_file(section_.table, error)) return;
  faults.add("/runner/table", fmt::format("the file {} does not exist", section_.table.string()));
}

Resources ReplaySettings::resources_of(const Configuration& configuration) const {
  return section_.instances.resources_of(configuration);
}

std::optional<HourlyPrice> ReplaySettings::price_of(const Configuration& configuration) const {
  if (section_.instances.groups.empty()) return section_.price.of_share(section_.parallel);
  const double usd = section_.instances.usd_per_hour(configuration);
  return HourlyPrice{usd, usd};
}

std::vector<SummaryLine> ReplaySettings::summary(const Configuration& baseline) const {
  if (section_.instances.groups.empty()) return {runner_line(*this, text_of(section_.price))};
  return {runner_line(*this, ", " + section_.instances.text()),
          prices_line(section_.instances, price_of(baseline)->expected_usd, "")};
}

Result<RunnerParts> ReplaySettings::make(const Clock& clock, std::uint64_t seed) const {
  auto model = section_.table.empty()
                   ? Result<ReplayModel>(synthetic_replay_model(
                         [formula = section_.seconds_per_sample](const Configuration& trial) {
                           return std::optional(formula->evaluate(trial));
                         }))
                   : table_replay_model(section_.table, section_.objective_column);
  if (!model) return tl::unexpected(model.error());
  ReplayOptions options;
  options.parallel = section_.parallel;
  options.seed = seed;
  options.startup_s = section_.startup_s;
  options.noise.step = section_.noise;
  options.noise.run = section_.launch_variation;
  auto virtual_clock = std::make_shared<VirtualClock>(clock.wall_time_s());
  RunnerParts parts;
  parts.clock = virtual_clock.get();
  parts.runner =
      std::make_unique<ReplayRunner>(*virtual_clock, *std::move(model), std::move(options));
  parts.foundation = std::move(virtual_clock);
  return parts;
}

}  // namespace steptune
