// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/sagemaker_parts.hpp"

#include <algorithm>

namespace steptune {
namespace {

/// Trials that may be handed over ahead of their turn when nothing is learned from their results.
constexpr int k_backlog = 64;

}  // namespace

SageMakerOptions sagemaker_options(const StudySpec& study) {
  const SageMakerSpec& spec = study.runner.sagemaker;
  SageMakerOptions options;
  options.settings = spec.settings;
  options.prices.region = spec.region;
  options.prices.instances = study.runner.cluster.prices;
  options.parallel = study.runner.parallel;
  options.backlog = std::max(k_backlog, options.parallel);
  options.keep_alive_s = static_cast<int>(spec.keep_alive_s.value_or(k_default_keep_alive_s));
  options.look_s = spec.poll_s;
  options.read_logs_s = spec.poll_s;
  options.log_delay_s = 2.0 * spec.poll_s;
  options.close_look_s = std::min(options.close_look_s, spec.poll_s);
  return options;
}

Result<std::unique_ptr<Runner>> connect_sagemaker_runner(const StudySpec& study, const Clock& clock,
                                                         aws::Session& session) {
  auto sagemaker = session.service(aws::Service::sagemaker);
  if (!sagemaker) return tl::unexpected(sagemaker.error());
  auto logs = session.service(aws::Service::logs);
  if (!logs) return tl::unexpected(logs.error());
  auto cloudwatch = session.service(aws::Service::cloudwatch);
  if (!cloudwatch) return tl::unexpected(cloudwatch.error());
  SageMakerConnection connection{session.client(), *std::move(sagemaker), *std::move(logs),
                                 session.wait_until(), *std::move(cloudwatch)};
  SageMakerOptions options = sagemaker_options(study);
  // Without a table there is less to advise, and nothing else to miss.
  if (auto table = find_price_table(session.region())) options.types = *std::move(table);
  return std::make_unique<SageMakerRunner>(clock, std::move(connection), std::move(options));
}

}  // namespace steptune
