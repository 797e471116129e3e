// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/instance_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "common/json_fields.hpp"
#include "common/median.hpp"
#include "common/numbers.hpp"
#include "trial_runner/sagemaker/cloudwatch.hpp"

namespace steptune {
namespace {

constexpr std::array k_metrics{"CPUUtilization", "GPUUtilization", "GPUMemoryUtilization",
                               "MemoryUtilization", "DiskUtilization"};

/// A host, named `<job>/algo-<n>`. Hosts are numbered across all groups.
struct Host {
  std::size_t job = 0;
  std::size_t machine = 0;  ///< index in the job's machine types
  int number = 1;
};

JobUtilisation without_metrics(const EndedJob& job, const PriceTable& sizes) {
  JobUtilisation utilisation{job, {}};
  for (const InstanceGroup& group : rented_groups(job.resources)) {
    const auto known = std::ranges::find(utilisation.machines, group.instance_type,
                                         &MachineUtilisation::instance_type);
    if (known != utilisation.machines.end()) {
      known->count += group.instance_count;
      continue;
    }
    MachineUtilisation machine;
    machine.instance_type = group.instance_type;
    machine.count = group.instance_count;
    const auto size = sizes.instances.find(group.instance_type);
    if (size != sizes.instances.end()) machine.size = size->second;
    utilisation.machines.push_back(std::move(machine));
  }
  return utilisation;
}

std::vector<Host> hosts_of(std::size_t index, const JobUtilisation& utilisation) {
  std::vector<Host> hosts;
  int number = 0;
  for (const InstanceGroup& group : rented_groups(utilisation.job.resources)) {
    const auto machine = std::ranges::find(utilisation.machines, group.instance_type,
                                           &MachineUtilisation::instance_type);
    const auto at = static_cast<std::size_t>(machine - utilisation.machines.begin());
    for (int i = 0; i < group.instance_count; ++i)
      hosts.push_back({index, at, ++number});
  }
  return hosts;
}

Json query_for(const std::string& id, const std::string& job, int host, const char* metric) {
  return {
      {"Id", id},
      {"MetricStat",
       {{"Metric",
         {{"Namespace", k_training_jobs},
          {"MetricName", metric},
          {"Dimensions",
           Json::array({{{"Name", "Host"}, {"Value", fmt::format("{}/algo-{}", job, host)}}})}}},
        // CloudWatch expects an integer.
        {"Period", static_cast<std::int64_t>(k_metric_period_s)},
        {"Stat", "Average"}}}};
}

/// Values of each query, from all pages. Contains only minutes that lie wholly within the training.
using Points = std::map<std::string, std::vector<double>>;

void read_page(const Json& page, const std::map<std::string, const EndedJob*>& jobs,
               Points& points) {
  const auto results = page.find("MetricDataResults");
  if (results == page.end() || !results->is_array()) return;
  for (const Json& result : *results) {
    if (!result.is_object()) continue;
    const std::string id = text_at(result, "Id");
    const auto times = result.find("Timestamps");
    const auto values = result.find("Values");
    const auto job = jobs.find(id);
    if (job == jobs.end() || times == result.end() || values == result.end()) continue;
    if (!times->is_array() || !values->is_array()) continue;
    for (std::size_t i = 0; i < std::min(times->size(), values->size()); ++i) {
      if (!(*times)[i].is_number() || !(*values)[i].is_number()) continue;
      const double minute_s = (*times)[i].get<double>();
      const bool whole = minute_s >= job->second->training_since_wall_s &&
                         minute_s + k_metric_period_s <= job->second->training_until_wall_s;
      if (whole) points[id].push_back((*values)[i].get<double>());
    }
  }
}

std::optional<double> most(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return *std::ranges::max_element(values);
}

/// Converts percentages summed over `units` into shares of all units. Empty if the size is unknown.
std::vector<double> shares(const std::vector<double>& percents, int units) {
  std::vector<double> result;
  if (units <= 0) return result;
  for (const double percent : percents)
    result.push_back(std::clamp(percent / (100.0 * units), 0.0, 1.0));
  return result;
}

void take(MachineUtilisation& machine, const std::string& metric,
          const std::vector<double>& percents) {
  if (metric == "CPUUtilization") {
    const auto cpu = shares(percents, machine.size.vcpus);
    machine.cpu = median(cpu);
    machine.cpu_most = most(cpu);
  } else if (metric == "GPUUtilization") {
    const auto gpu = shares(percents, machine.size.gpus);
    machine.gpu = median(gpu);
    machine.gpu_most = most(gpu);
  } else if (metric == "GPUMemoryUtilization") {
    machine.gpu_memory_most = most(shares(percents, machine.size.gpus));
  } else if (metric == "MemoryUtilization") {
    machine.memory_most = most(shares(percents, 1));
  } else {
    machine.disk_most = most(shares(percents, 1));
  }
}

}  // namespace

aws::AwsResult<std::vector<JobUtilisation>> read_utilisation(aws::JsonClient& client,
                                                             const aws::JsonService& cloudwatch,
                                                             const std::vector<EndedJob>& jobs,
                                                             const PriceTable& sizes) {
  std::vector<JobUtilisation> all;
  std::vector<Host> hosts;
  for (const EndedJob& job : jobs) {
    JobUtilisation utilisation = without_metrics(job, sizes);
    const auto added = hosts_of(all.size(), utilisation);
    if ((hosts.size() + added.size()) * k_metrics.size() > k_most_metrics) break;
    hosts.insert(hosts.end(), added.begin(), added.end());
    all.push_back(std::move(utilisation));
  }
  if (hosts.empty()) return all;
  double from_s = k_infinity;
  double until_s = 0.0;
  Json queries = Json::array();
  std::map<std::string, const EndedJob*> job_of_query;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const EndedJob& job = all[hosts[i].job].job;
    from_s = std::min(from_s, job.training_since_wall_s);
    until_s = std::max(until_s, job.training_until_wall_s);
    for (std::size_t metric = 0; metric < k_metrics.size(); ++metric) {
      const std::string id = fmt::format("h{}m{}", i, metric);
      queries.push_back(query_for(id, job.job, hosts[i].number, k_metrics[metric]));
      job_of_query.emplace(id, &job);
    }
  }
  Json input = {{"MetricDataQueries", std::move(queries)},
                {"StartTime", std::floor(from_s / k_metric_period_s) * k_metric_period_s},
                {"EndTime", std::ceil(until_s / k_metric_period_s) * k_metric_period_s},
                {"ScanBy", "TimestampAscending"}};
  Points points;
  while (true) {
    const auto page = client.call(cloudwatch, "GetMetricData", input, /*max_attempts=*/1);
    if (!page) return tl::unexpected(page.error());
    read_page(*page, job_of_query, points);
    const std::string next = text_at(*page, "NextToken");
    if (next.empty()) break;
    input["NextToken"] = next;
  }
  for (std::size_t metric = 0; metric < k_metrics.size(); ++metric) {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> of_machine;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const auto found = points.find(fmt::format("h{}m{}", i, metric));
      if (found == points.end()) continue;
      auto& values = of_machine[{hosts[i].job, hosts[i].machine}];
      values.insert(values.end(), found->second.begin(), found->second.end());
    }
    for (const auto& [at, values] : of_machine)
      take(all[at.first].machines[at.second], k_metrics[metric], values);
  }
  return all;
}

}  // namespace steptune
