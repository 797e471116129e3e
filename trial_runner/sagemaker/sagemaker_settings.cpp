// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/sagemaker_settings.hpp"

#include <algorithm>
#include <utility>

#include "trial_runner/sagemaker/account_services.hpp"
#include "trial_runner/sagemaker/aws/session.hpp"
#include "trial_runner/sagemaker/sagemaker_kind.hpp"
#include "trial_runner/sagemaker/service_limits.hpp"
#include "trial_runner/sagemaker/simulated_stage.hpp"

namespace steptune {

SageMakerSettings::SageMakerSettings(SageMakerSection section, const TrialLimits& limits,
                                     bool max_wait_stated, bool has_command)
    : section_(std::move(section)) {
  JobSettings& job = section_.job;
  // AWS bills volumes by months of 30 days (examples on https://aws.amazon.com/ebs/pricing/).
  section_.instances.storage_usd_per_hour =
      section_.storage_usd_per_gb_month * job.volume_gb / (30.0 * 24.0);
  job.max_runtime_s = limits.wall_s;
  if (job.spot && !max_wait_stated) {
    job.max_wait_s = std::min(2.0 * limits.wall_s, k_longest_job_s);
  }
  traits_.parallel = section_.parallel;
  // Without a command, the image's own entry point runs and reads the parameters as
  // hyperparameters.
  traits_.needs_command = !job.code_s3_uri.empty();
  traits_.takes_all_parameters = !has_command;
  traits_.uses_this_machine = false;
  traits_.sees_files = false;
  traits_.takes_hooks = true;
  traits_.launchers = {{Launcher::torchrun, true}, {Launcher::mpi}};
  traits_.has_price = true;
  traits_.machines_vary = true;
  const double kept_s =
      job.spot ? 0.0 : section_.keep_alive_s.value_or(SageMakerOptions{}.keep_alive_s);
  // StopTrainingJob sends SIGTERM, and SIGKILL after 120 s.
  traits_.longest_billed_s = limits.wall_s + 120.0 + kept_s;
}

const RunnerKind& SageMakerSettings::kind() const {
  return sagemaker_kind();
}

SageMakerOptions SageMakerSettings::options() const {
  SageMakerOptions options;
  options.settings = section_.job;
  options.prices.region = section_.region;
  options.prices.instances = section_.instances.paid();
  options.parallel = section_.parallel;
  options.trials_per_job = section_.trials_per_job;
  options.backlog = 64;  // enough for searchers that do not learn from results
  if (section_.keep_alive_s) options.keep_alive_s = static_cast<int>(*section_.keep_alive_s);
  options.poll_interval_s = section_.poll_s;
  return options;
}

Json SageMakerSettings::write(const document::Writing& writing) const {
  return sagemaker_section().write(section_, writing);
}

Json SageMakerSettings::resumed_document(const Json& stored, const Json& written) const {
  return with_stored_prices(write({}), stored, written);
}

std::shared_ptr<const RunnerSettings> SageMakerSettings::complete(const StudyView& study,
                                                                  document::Faults& faults) const {
  auto completed = std::make_shared<SageMakerSettings>(*this);
  if (resolve_prices(completed->section_.instances, study, faults)) {
    completed->section_.job.price_parts = completed->section_.instances.price_parts();
    check_training_jobs(completed->section_, study, faults);
  }
  return completed;
}

Resources SageMakerSettings::resources_of(const Configuration& configuration) const {
  return section_.instances.resources_of(configuration);
}

std::optional<HourlyPrice> SageMakerSettings::price_of(const Configuration& configuration) const {
  const double usd = section_.instances.usd_per_hour(configuration);
  return HourlyPrice{section_.job.spot ? section_.job.spot_share * usd : usd, usd};
}

std::vector<SummaryLine> SageMakerSettings::summary(const Configuration& baseline) const {
  return {runner_line(*this, ", " + section_.instances.text()),
          prices_line(section_.instances, price_of(baseline)->expected_usd,
                      section_.job.spot ? " as managed spot is expected" : "")};
}

Result<RunnerParts> SageMakerSettings::make(const Clock& clock, std::uint64_t /*seed*/) const {
  auto opened = aws::Session::open(clock, section_.region);
  if (!opened) return tl::unexpected(opened.error());
  const std::shared_ptr<aws::Session> session = *std::move(opened);
  auto sagemaker = session->service(aws::Service::sagemaker);
  if (!sagemaker) return tl::unexpected(sagemaker.error());
  auto logs = session->service(aws::Service::logs);
  if (!logs) return tl::unexpected(logs.error());
  auto cloudwatch = session->service(aws::Service::cloudwatch);
  if (!cloudwatch) return tl::unexpected(cloudwatch.error());
  SageMakerConnection connection{session->client(), *std::move(sagemaker), *std::move(logs),
                                 session->wait_until(), *std::move(cloudwatch)};
  SageMakerOptions options = this->options();
  // Continue without a price table, because only some advice needs it.
  if (auto table = find_price_table(k_price_list, session->region()))
    options.types = *std::move(table);
  return RunnerParts{
      session, &clock,
      std::make_unique<SageMakerRunner>(clock, std::move(connection), std::move(options))};
}

std::unique_ptr<RehearsalStage> SageMakerSettings::rehearse(const RehearsalOptions& options) const {
  return make_simulated_stage(*this, options);
}

}  // namespace steptune
