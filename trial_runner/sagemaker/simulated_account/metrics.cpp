// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/simulated_account/metrics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "common/numbers.hpp"
#include "trial_runner/sagemaker/cloudwatch.hpp"

namespace steptune::simulated {
namespace {

/// Machine of a metric's dimension `Host`, named `<job>/algo-<n>`.
struct Host {
  const SimulatedJob* job = nullptr;
  InstanceType type;
};

std::string dimension(const Json& metric, const std::string& name) {
  for (const Json& entry : metric.value("Dimensions", Json::array())) {
    if (entry.value("Name", std::string()) == name) return entry.value("Value", std::string());
  }
  return {};
}

Host find_host(const TrainingService& service, const AccountOptions& options,
               const std::string& host) {
  const auto slash = host.find("/algo-");
  if (slash == std::string::npos) return {};
  const SimulatedJob* job = service.job(host.substr(0, slash));
  int number = 0;
  const char* end = host.data() + host.size();
  const auto read = std::from_chars(host.data() + slash + 6, end, number);
  if (job == nullptr || read.ec != std::errc() || read.ptr != end || number < 1) return {};
  for (const auto& [type, count] : job->instances()) {
    const auto known = options.instances.find(type);
    if (number <= count)
      return {job, known == options.instances.end() ? InstanceType{} : known->second};
    number -= count;
  }
  return {};
}

/// Returns the utilisation in percent, summed over all cores or accelerators.
double utilisation(const SimulatedProgram& program, const InstanceType& type,
                   const std::string& metric) {
  if (metric == "CPUUtilization") return 100.0 * program.cpu_share * type.vcpus;
  if (metric == "GPUUtilization") return 100.0 * program.gpu_share * type.gpus;
  return 0.0;
}

}  // namespace

Answer<Json> get_metric_data(const TrainingService& service, const AccountOptions& options,
                             double wall_minus_clock_s, const Json& request, double now_s) {
  const double from_s = request.value("StartTime", -k_infinity);
  const double until_s = request.value("EndTime", k_infinity);
  const double wall_now_s = now_s + wall_minus_clock_s;
  Json results = Json::array();
  for (const Json& query : request.at("MetricDataQueries")) {
    const Json& metric = query.at("MetricStat").at("Metric");
    const auto name = metric.at("MetricName").get<std::string>();
    Json times = Json::array();
    Json values = Json::array();
    const Host host = find_host(service, options, dimension(metric, "Host"));
    if (host.job != nullptr) {
      for (const ContainerRun& run : host.job->runs()) {
        const double value = utilisation(run.program, host.type, name);
        if (value <= 0.0) continue;
        const double end_s = wall_minus_clock_s + run.end_s.value_or(now_s);
        double minute_s =
            std::floor((wall_minus_clock_s + run.start_s) / k_metric_period_s) * k_metric_period_s;
        minute_s = std::max(minute_s, std::ceil(from_s / k_metric_period_s) * k_metric_period_s);
        const double last_s = std::min(
            {end_s, until_s, wall_now_s - options.metric_delay_s - k_metric_period_s + 1e-6});
        for (; minute_s < last_s; minute_s += k_metric_period_s) {
          times.push_back(minute_s);
          values.push_back(value);
        }
      }
    }
    results.push_back({{"Id", query.at("Id")},
                       {"Label", name},
                       {"StatusCode", "Complete"},
                       {"Timestamps", times},
                       {"Values", values}});
  }
  return Json{{"MetricDataResults", results}};
}

}  // namespace steptune::simulated
