// SPDX-License-Identifier: Apache-2.0
//
// A home folder, variables and endpoints that may provide credentials.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "trial_runner/sagemaker/aws/credentials.hpp"
#include "trial_runner/sagemaker/aws/process_output.hpp"

namespace steptune::aws {

inline constexpr double k_credentials_now_s = 1'795'248'000.0;  // 2026-11-21T08:00:00Z
inline constexpr const char* k_credentials_later = "2026-11-21T09:00:00Z";

/// Answers requests by `METHOD host/path`, with the HTTP status in `statuses` or 200.
class RoutedTransport final : public HttpTransport {
 public:
  Result<HttpResponse> send(const HttpRequest& request, const HttpTimeouts&) override {
    requests.push_back(request);
    const std::string name = request.method + " " + request.host + request.path;
    const auto route = routes.find(name);
    if (route == routes.end()) return fail(ErrorKind::unavailable, "no route", request.url());
    const auto status = statuses.find(name);
    return HttpResponse{status == statuses.end() ? 200 : status->second, {}, route->second};
  }
  std::map<std::string, std::string> routes;
  std::map<std::string, int> statuses;
  std::vector<HttpRequest> requests;
};

inline std::string sts_answer(const std::string& id) {
  return "<R><Credentials><AccessKeyId>" + id +
         "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
         "<Expiration>" +
         k_credentials_later + "</Expiration></Credentials></R>";
}

class CredentialsTest : public testing::Test {
 protected:
  void SetUp() override {
    variables_["HOME"] = home_.path().string();
    variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  }

  void write(const std::filesystem::path& path, const std::string& text) {
    home_.write(path, text);
  }

  [[nodiscard]] Environment environment() const {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
  }

  Result<Credentials> get() {
    const auto config = read_shared_config(environment());
    if (!config) return tl::unexpected(config.error());
    CredentialsChain chain(
        {environment(), *config, transport_, clock_, "eu-west-1", &process_output});
    return chain.get();
  }

  std::string id() {
    const auto credentials = get();
    return credentials ? credentials->access_key_id : credentials.error().text();
  }

  TemporaryFolder home_{"aws"};
  std::map<std::string, std::string> variables_;
  RoutedTransport transport_;
  VirtualClock clock_{k_credentials_now_s};
};

}  // namespace steptune::aws
