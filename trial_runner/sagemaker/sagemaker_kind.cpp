// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/sagemaker_kind.hpp"

#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "trial_runner/instances/instance_keys.hpp"
#include "trial_runner/sagemaker/account_services.hpp"
#include "trial_runner/sagemaker/sagemaker_settings.hpp"
#include "trial_runner/sagemaker/section_types.hpp"
#include "trial_runner/sagemaker/training_job_form.hpp"

namespace steptune {
namespace {

using document::Node;

void check_wait(const Node& node, const JobSettings& job) {
  if (!job.spot || job.max_wait_s >= job.max_runtime_s) return;
  node.faults().add(
      node.pointer() + "/max_wait",
      fmt::format("a job may wait and run for {} in all, but a trial may run for {} (\"wall\" in "
                  "\"limits\"): make \"max_wait\" at least as long",
                  format_duration(job.max_wait_s), format_duration(job.max_runtime_s)));
}

class SageMakerKind final : public RunnerKind {
 public:
  [[nodiscard]] std::string_view name() const override { return "sagemaker"; }
  [[nodiscard]] std::string_view title() const override { return "SageMaker"; }

  [[nodiscard]] std::unique_ptr<RunnerSettings> read(const Node& node, const TrialLimits& limits,
                                                     bool has_command) const override {
    SageMakerSection section;
    sagemaker_section().read(node, section);
    const bool max_wait_stated = node.json().is_object() && node.json().contains("max_wait");
    auto settings = std::make_unique<SageMakerSettings>(std::move(section), limits, max_wait_stated,
                                                        has_command);
    check_wait(node, settings->section().job);
    return settings;
  }
  [[nodiscard]] Json schema(Json& definitions) const override {
    return sagemaker_section().schema(definitions);
  }
  [[nodiscard]] std::vector<document::KeyTable> tables() const override {
    return {sagemaker_section().table(), channel_section().table(),
            instance_group_section().table(), instance_price_section().table()};
  }
  [[nodiscard]] std::optional<RemoteMachine> remote_machine(
      const Json& section, const std::filesystem::path& folder) const override {
    return instance_facts(section, folder, k_price_list);
  }
  [[nodiscard]] const HeldMachinesService* held_machines() const override {
    return &account_machines();
  }
  [[nodiscard]] const LongRunForm* long_run_form() const override {
    static const TrainingJobForm form;
    return &form;
  }
  [[nodiscard]] const PriceListService* price_lists() const override {
    return &account_price_lists();
  }
};

}  // namespace

const RunnerKind& sagemaker_kind() {
  static const SageMakerKind k_kind;
  return k_kind;
}

}  // namespace steptune
