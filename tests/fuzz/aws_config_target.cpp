// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"
#include "trial_runner/sagemaker/aws/shared_config.hpp"

namespace steptune::fuzz {

void run_aws_config(std::string_view input) {
  const auto [config_text, credentials_text] = split_at_mark(input);
  auto config = aws::parse_shared_file(config_text, "config");
  auto credentials = aws::parse_shared_file(credentials_text, "credentials");
  for (const auto* sections : {&config, &credentials}) {
    if (*sections) continue;
    const Error& error = sections->error();
    const auto colon = error.where.find(':');
    require(colon != std::string::npos, "an error without its line");
    // The line may hold a secret.
    require(error.text().size() < 200U, "an error that quotes the file");
  }
  if (!config || !credentials) return;
  const aws::SharedConfig shared{*std::move(config), *std::move(credentials), "default"};
  const Environment nothing = [](const std::string&) { return std::nullopt; };
  const auto region = aws::resolve_region(nothing, shared);
  const auto endpoint = aws::resolve_endpoint(nothing, shared, "SAGEMAKER", "api.sagemaker",
                                              region.value_or("us-east-1"));
  if (!endpoint) return;
  require(endpoint->scheme == "http" || endpoint->scheme == "https", "a scheme that is not HTTP");
  require(!endpoint->host.empty(), "an endpoint without a host");
}

}  // namespace steptune::fuzz
