// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/job_list.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "common/numbers.hpp"

namespace steptune::simulated {
namespace {

/// Removes the jobs that the request's filters of name and time exclude.
void filter_by_name_and_time(std::vector<ListedJob>& jobs, const Json& request) {
  const auto name = request.value("NameContains", std::string());
  const double after_s = request.value("CreationTimeAfter", -k_infinity);
  std::erase_if(jobs, [&](const ListedJob& listed) {
    return listed.job->name().find(name) == std::string::npos ||
           listed.context.wall_minus_clock_s + listed.job->created_s() <= after_s;
  });
}

/// True if the request has no filter by the pool's status, or the job passes it.
bool passes_status(const Json& summary, const Json& request) {
  const auto pool = request.value("WarmPoolStatusEquals", std::string());
  const Json::json_pointer pool_status("/WarmPoolStatus/Status");
  return pool.empty() || (summary.contains(pool_status) && summary.at(pool_status) == pool);
}

}  // namespace

Answer<Json> list_page(std::vector<ListedJob> jobs, const Json& request) {
  const int size = request.value("MaxResults", 10);
  // The real service has another message for sizes below 1, which the tuner never sends.
  if (size < 1 || size > 100) {
    return refuse_input(
        fmt::format("1 validation error detected: Value '{}' at 'maxResults' failed to satisfy "
                    "constraint: Member must have value less than or equal to 100",
                    size));
  }
  filter_by_name_and_time(jobs, request);
  if (request.value("SortOrder", "") == "Descending") std::ranges::reverse(jobs);
  std::size_t begin = 0;
  if (request.contains("NextToken")) {
    const auto token = request["NextToken"].get<std::string>();
    const auto read = std::from_chars(token.data(), token.data() + token.size(), begin);
    if (read.ec != std::errc() || read.ptr != token.data() + token.size()) {
      return refuse_input("The NextToken is invalid");
    }
  }
  begin = std::min(begin, jobs.size());
  const std::size_t end = std::min(jobs.size(), begin + static_cast<std::size_t>(size));
  // Filter by status only after the page is cut, as the real service does (API reference of
  // ListTrainingJobs). So a page can be short or empty although `NextToken` is set.
  Json answer = {{"TrainingJobSummaries", Json::array()}};
  for (std::size_t i = begin; i < end; ++i) {
    Json entry = summary(*jobs[i].job, jobs[i].context);
    if (passes_status(entry, request)) answer["TrainingJobSummaries"].push_back(std::move(entry));
  }
  if (end < jobs.size()) answer["NextToken"] = fmt::format("{}", end);
  return answer;
}

}  // namespace steptune::simulated
