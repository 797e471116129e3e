// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/aws/session.hpp"

#include <random>

#include "common/environment.hpp"
#include "common/interrupts.hpp"
#include "common/pause.hpp"
#include "trial_runner/sagemaker/aws/process_output.hpp"

namespace steptune::aws {
namespace {

struct ServiceNames {
  const char* setting;      // part of the variable AWS_ENDPOINT_URL_<...>
  const char* host_prefix;  // prefix of the service's public host
  const char* signing_name;
  const char* target_prefix;
  const char* content_type;
};

ServiceNames names_of(Service service) {
  switch (service) {
    case Service::sagemaker:
      return {"SAGEMAKER", "api.sagemaker", "sagemaker", "SageMaker", "application/x-amz-json-1.1"};
    case Service::logs:
      return {"CLOUDWATCH_LOGS", "logs", "logs", "Logs_20140328", "application/x-amz-json-1.1"};
    case Service::cloudwatch:
      return {"CLOUDWATCH", "monitoring", "monitoring", "GraniteServiceVersion20100801",
              "application/x-amz-json-1.0"};
    case Service::pricing:
      break;
  }
  return {"PRICING", "api.pricing", "pricing", "AWSPriceListService", "application/x-amz-json-1.1"};
}

WaitUntil wait_in_real_time(const Clock& clock) {
  return [&clock](double time_s) {
    for (double left_s = time_s - clock.now_s(); left_s > 0.0; left_s = time_s - clock.now_s()) {
      // A signal may end the pause early, so wait in a loop.
      pause_thread(left_s);
    }
  };
}

}  // namespace

Session::Session(const Clock& clock, SharedConfig config, std::string region, RetryPolicy policy)
    : wait_until_(wait_in_real_time(clock)),
      config_(std::move(config)),
      region_(std::move(region)),
      transport_(process_environment()("AWS_CA_BUNDLE").value_or("")),
      limiter_(sagemaker_rate_limiter()),
      // Random seed, so that retries of several programs do not coincide.
      rng_(std::random_device{}(), "aws retries") {
  credentials_ = std::make_unique<CredentialsChain>(
      CredentialsParts{process_environment(), config_, transport_, clock, region_,
                       [](const std::vector<std::string>& argv) { return process_output(argv); }});
  client_ = std::make_unique<JsonClient>(
      ClientParts{transport_, clock, limiter_, rng_,
                  [this](bool refresh) { return credentials_->get(refresh); }, wait_until_, region_,
                  interrupts},
      policy);
}

Result<std::unique_ptr<Session>> Session::open(const Clock& clock, std::string region,
                                               RetryPolicy policy) {
  const Environment environment = process_environment();
  auto config = read_shared_config(environment);
  if (!config) return tl::unexpected(config.error());
  if (region.empty()) {
    auto resolved = resolve_region(environment, *config);
    if (!resolved) return tl::unexpected(resolved.error());
    region = *std::move(resolved);
  }
  return std::unique_ptr<Session>(
      new Session(clock, *std::move(config), std::move(region), policy));
}

Result<JsonService> Session::service(Service service) const {
  const ServiceNames names = names_of(service);
  const std::string region = service == Service::pricing ? "us-east-1" : region_;
  const auto endpoint =
      resolve_endpoint(process_environment(), config_, names.setting, names.host_prefix, region);
  if (!endpoint) return tl::unexpected(endpoint.error());
  return JsonService{names.signing_name, names.target_prefix, names.content_type,
                     endpoint->scheme,   endpoint->host,      region};
}

}  // namespace steptune::aws
