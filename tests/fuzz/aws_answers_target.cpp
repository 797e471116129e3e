// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>

#include "tests/fuzz/targets.hpp"
#include "trial_runner/sagemaker/aws/client.hpp"
#include "trial_runner/sagemaker/aws/credentials.hpp"
#include "trial_runner/sagemaker/aws/credentials_json.hpp"
#include "trial_runner/sagemaker/held_machines.hpp"
#include "trial_runner/sagemaker/instance_metrics.hpp"
#include "trial_runner/sagemaker/log_follower.hpp"
#include "trial_runner/sagemaker/price_list.hpp"
#include "trial_runner/sagemaker/training_jobs.hpp"

namespace steptune::fuzz {
namespace {

constexpr double k_now_s = 1'795'000'000.0;
constexpr const char* k_secret = "sesame-open";

/// Answers with the parts of the script between the lines `---` in turn, then with empty objects.
/// The first line of a part is the HTTP status, the rest the body.
class ScriptedTransport final : public aws::HttpTransport {
 public:
  explicit ScriptedTransport(std::string_view script) : rest_(script) {}

  Result<aws::HttpResponse> send(const aws::HttpRequest&, const aws::HttpTimeouts&) override {
    if (rest_.empty()) return aws::HttpResponse{200, {}, "{}"};
    const auto [answer, rest] = split_at_mark(rest_);
    rest_ = rest;
    const std::size_t end = std::min(answer.find('\n'), answer.size());
    int status = 200;
    std::from_chars(answer.data(), answer.data() + end, status);
    return aws::HttpResponse{status,
                             {{"Date", "Sat, 21 Nov 2026 08:00:00 GMT"}, {"x-amzn-RequestId", "r"}},
                             std::string(answer.substr(std::min(end + 1, answer.size())))};
  }

 private:
  std::string_view rest_;
};

/// A client of that transport in virtual time.
struct Account {
  explicit Account(std::string_view script) : transport(script) {}

  ScriptedTransport transport;
  VirtualClock clock{k_now_s};
  aws::RateLimiter limiter = aws::sagemaker_rate_limiter();
  Rng rng{1, "aws-fuzz"};
  aws::WaitUntil wait_until = [this](double time_s) {
    clock.advance_to(time_s);
    return true;
  };
  aws::JsonClient client{{transport, clock, limiter, rng,
                          [](bool) -> Result<aws::Credentials> {
                            return aws::Credentials{"AKID", Secret(k_secret), Secret(""), {}, "t"};
                          },
                          wait_until, "us-east-1"},
                         {2, 0.1, 0.1}};
  aws::JsonService service{"s", "S", "application/x-amz-json-1.1", "http", "h"};
};

void require_no_secret(const aws::AwsError& error) {
  require(error.to_error().text().find(k_secret) == std::string::npos,
          "an error contains the secret");
}

template <typename T>
void require_no_secret(const aws::AwsResult<T>& result) {
  if (!result) require_no_secret(result.error());
}

void ask_for_jobs(Account& account) {
  TrainingJobs jobs(account.client, account.service);
  const auto state = jobs.describe("job");
  require_no_secret(state);
  if (state && *state) {
    const auto held = held_machines(**state, k_now_s, nullptr);
    require(!held || !(*state)->ended() || held->holding != Holding::running, "an ended job runs");
  }
  require_no_secret(jobs.list({"s-", "", k_now_s - 1e6}));
  const auto machines = find_held_machines(jobs, k_now_s, nullptr);
  require_no_secret(machines);
  if (machines) {
    require_no_secret(release_pools(jobs, *machines, account.clock, account.wait_until, nullptr));
  }
}

void ask_for_logs(Account& account) {
  LogFollower logs(account.client, account.service, "s-", k_now_s - 1e3);
  for (int poll = 0; poll < 3; ++poll) {
    const auto lines = logs.poll();
    require_no_secret(lines);
    if (!lines) continue;
    for (const LogLine& line : *lines)
      require(std::isfinite(line.wall_s), "a line's time is not finite");
  }
}

void ask_for_prices(Account& account) {
  const auto prices = list_training_prices(account.client, account.service, "us-east-1");
  if (!prices) return;
  for (const auto& [name, type] : prices->instances) {
    require(std::isfinite(type.usd_per_hour) && type.usd_per_hour > 0.0, name + " has no price");
    require(type.vcpus >= 0 && type.gpus >= 0 && type.memory_gib >= 0.0,
            name + " has a negative size");
  }
}

void ask_for_metrics(Account& account) {
  EndedJob job;
  job.job = "job";
  job.resources.instance_type = "ml.g5.xlarge";
  job.training_since_wall_s = k_now_s - 3600.0;
  job.training_until_wall_s = k_now_s;
  require_no_secret(read_utilisation(account.client, account.service, {job}, PriceTable{}));
}

void ask_for_credentials(Account& account) {
  aws::SharedConfig config;
  config.profile = "default";
  config.config["default"] = {{"role_arn", "arn:aws:iam::1:role/r"},
                              {"credential_source", "Environment"}};
  const Environment environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "AWS_ACCESS_KEY_ID") return "AKID";
    if (name == "AWS_SECRET_ACCESS_KEY") return k_secret;
    if (name == "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") return "/keys";
    return std::nullopt;
  };
  const aws::CredentialsParts parts{environment,
                                    config,
                                    account.transport,
                                    account.clock,
                                    "us-east-1",
                                    [](const std::vector<std::string>&) -> Result<std::string> {
                                      return fail(ErrorKind::runner, "no processes here");
                                    }};
  for (const auto& found : {aws::assumed_role_credentials(parts), aws::container_credentials(parts),
                            aws::instance_credentials(parts)}) {
    if (found && *found) {
      require(!(*found)->access_key_id.empty(), "keys without an id");
    } else if (!found) {
      require(found.error().text().find(k_secret) == std::string::npos,
              "an error contains the secret");
    }
  }
}

}  // namespace

void run_aws_answers(std::string_view input) {
  // An error may quote the answer, so skip answers that contain the secret.
  if (input.find(k_secret) != std::string_view::npos) return;
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view asked = input.substr(0, end);
  Account account(input.substr(std::min(end + 1, input.size())));
  if (asked == "jobs") return ask_for_jobs(account);
  if (asked == "logs") return ask_for_logs(account);
  if (asked == "prices") return ask_for_prices(account);
  if (asked == "metrics") return ask_for_metrics(account);
  ask_for_credentials(account);
}

}  // namespace steptune::fuzz
