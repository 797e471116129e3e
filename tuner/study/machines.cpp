// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <stdexcept>

#include "common/text.hpp"
#include "tuner/study/evaluation.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

/// A count that is no whole number in range becomes 0, which no runner accepts.
int count_of(const StudySpec& study, const std::string& expression,
             const Configuration& configuration) {
  constexpr double k_most = 10'000.0;
  const auto constant = parse_finite(expression);
  const double count =
      constant ? *constant : study::compiled(study, expression).evaluate(configuration);
  return count >= 0.0 && count <= k_most && count == std::floor(count) ? static_cast<int>(count)
                                                                       : 0;
}

}  // namespace

Resources resources_of(const StudySpec& study, const Configuration& configuration) {
  Resources resources;
  const auto value_of = [&](const std::string& name) {
    return study::value_text(study, configuration, name);
  };
  const std::vector<MachinesSpec>& machines = study.runner.cluster.machines;
  for (const MachinesSpec& part : machines) {
    InstanceGroup group{part.group, {}, count_of(study, part.instance_count, configuration)};
    if (group.instance_count == 0 && machines.size() > 1) continue;
    group.instance_type = study::parsed(part.instance_type).render(value_of).value_or("");
    resources.groups.push_back(std::move(group));
  }
  if (!machines.empty() && resources.groups.empty()) resources.instance_count = 0;
  if (resources.groups.size() == 1) {
    resources.instance_type = resources.groups.front().instance_type;
    resources.instance_count = resources.groups.front().instance_count;
    resources.groups.clear();
  }
  return resources;
}

double on_demand_usd_per_hour(const StudySpec& study, const Configuration& configuration) {
  const RunnerSpec& runner = study.runner;
  if (runner.cluster.machines.empty()) {
    return runner.price_per_hour.value_or(0.0) * runner.instances;
  }
  const auto price = usd_per_hour(runner.cluster.prices, resources_of(study, configuration));
  // Every type that the space can ask for was given its price when the study was read.
  if (!price) throw std::logic_error(price.error().text());
  return *price;
}

double usd_per_hour(const StudySpec& study, const Configuration& configuration) {
  const SageMakerSpec& sagemaker = study.runner.sagemaker;
  const double share = sagemaker.settings.spot ? sagemaker.spot_share : 1.0;
  return share * on_demand_usd_per_hour(study, configuration);
}

bool has_price(const StudySpec& study) {
  return study.runner.price_per_hour.has_value() || !study.runner.cluster.machines.empty();
}

}  // namespace steptune
