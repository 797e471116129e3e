// SPDX-License-Identifier: Apache-2.0
// Plays a schedule of requests in a simulated account, and prints the results of its jobs and
// pools.
//
//   standard input   {"programs": {image: {"ends_after_s", "exit_code", "failure"}},
//                     "warm_pool_quota": {type: count},
//                     "requests": [{"at_s", "operation", "input"}], "until_s"}
//   standard output  {"jobs": {name: {...}}, "retained_s": {name: seconds}}
#include <iostream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "common/json.hpp"
#include "trial_runner/sagemaker/simulated_account/simulated_account.hpp"

namespace {

using steptune::Json;
namespace simulated = steptune::simulated;

simulated::SimulatedProgram program_of(const Json& description) {
  simulated::SimulatedProgram program;
  if (description.contains("ends_after_s")) program.ends_after_s = description["ends_after_s"];
  program.exit_code = description.value("exit_code", 0);
  program.failure = description.value("failure", "");
  program.stop_s = 0.0;
  return program;
}

Json audit_of(simulated::SimulatedAccount& account) {
  Json result = {{"jobs", Json::object()}, {"retained_s", Json::object()}};
  const simulated::AccountAudit audit = account.audit();
  for (const simulated::JobAudit& job : audit.jobs) {
    Json stages = Json::array();
    for (const simulated::StatusTransition& transition : job.transitions)
      stages.push_back(transition.status);
    result["jobs"][job.name] = {
        {"status", job.status},       {"secondary", job.secondary},
        {"warm", job.warm},           {"failure_reason", job.failure_reason},
        {"billable_s", job.billed_s}, {"stages", stages}};
  }
  for (const simulated::PoolAudit& pool : audit.pools)
    result["retained_s"][pool.job] = pool.retained_s;
  return result;
}

int play(const Json& schedule) {
  simulated::AccountOptions options;
  options.request_latency_s = 0.0;
  options.warm_pool_quota = schedule.at("warm_pool_quota").get<std::map<std::string, int>>();
  steptune::VirtualClock clock;
  simulated::SimulatedAccount account(
      clock,
      [&](const Json& input) {
        const auto image =
            input.at("AlgorithmSpecification").at("TrainingImage").get<std::string>();
        return program_of(schedule.at("programs").at(image));
      },
      options);
  for (const Json& request : schedule.at("requests")) {
    account.advance_to(request.at("at_s").get<double>());
    steptune::aws::HttpRequest post;
    post.headers = {
        {"X-Amz-Target", fmt::format("SageMaker.{}", request.at("operation").get<std::string>())}};
    post.body = steptune::dump_json(request.at("input"));
    const auto response = account.send(post, {});
    if (!response || response->status != 200) {
      std::cerr << (response ? response->body : response.error().text()) << '\n';
      return 1;
    }
  }
  account.advance_to(schedule.at("until_s").get<double>());
  std::cout << steptune::dump_json(audit_of(account)) << '\n';
  return 0;
}

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const auto schedule = steptune::parse_json(text, "standard input");
  if (!schedule) {
    std::cerr << schedule.error().text() << '\n';
    return 1;
  }
  try {
    return play(*schedule);
  } catch (const Json::exception& exception) {
    std::cerr << exception.what() << '\n';
    return 1;
  }
}
