// SPDX-License-Identifier: Apache-2.0
//
// A client of a service with scripted answers, under a virtual clock.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trial_runner/sagemaker/aws/client.hpp"

namespace steptune::aws {

/// Answers with the script's entries, one per request, and repeats the last one.
class ScriptedTransport final : public HttpTransport {
 public:
  Result<HttpResponse> send(const HttpRequest& request, const HttpTimeouts&) override {
    requests.push_back(request);
    auto answer = script.front();
    if (script.size() > 1) script.pop_front();
    return answer;
  }
  std::deque<Result<HttpResponse>> script;
  std::vector<HttpRequest> requests;
};

inline HttpResponse answer(int status, std::string body, Headers headers = {}) {
  return {status, std::move(headers), std::move(body)};
}

class JsonClientTest : public testing::Test {
 protected:
  JsonClient client(RetryPolicy policy = {}) {
    return JsonClient({transport_, clock_, limiter_, rng_,
                       [this](bool refresh) -> Result<Credentials> {
                         if (refresh) ++refreshes_;
                         if (!credentials_fault_.empty()) {
                           return fail(ErrorKind::runner, credentials_fault_);
                         }
                         return Credentials{"AKID", Secret("sesame"), Secret("token"), {}, "test"};
                       },
                       [this](double time_s) {
                         waits_s_.push_back(time_s - clock_.now_s());
                         clock_.advance_to(time_s);
                       },
                       "us-east-1", interrupts_},
                      policy);
  }

  AwsResult<Json> create(const Json& input = Json::object()) {
    JsonClient json_client = client();
    return json_client.call(k_service, "CreateTrainingJob", input);
  }

  const JsonService k_service{"sagemaker", "SageMaker", "application/x-amz-json-1.1", "https",
                              "api.sagemaker.us-east-1.amazonaws.com"};
  ScriptedTransport transport_;
  VirtualClock clock_{1'795'000'000.0};
  RateLimiter limiter_ = sagemaker_rate_limiter();
  Rng rng_{1, "client_test"};
  std::function<int()> interrupts_;
  int refreshes_ = 0;
  std::string credentials_fault_;  ///< reason for missing credentials
  std::vector<double> waits_s_;    ///< waits that the client requested
};

}  // namespace steptune::aws
