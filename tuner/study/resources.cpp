// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <stdexcept>

#include "tuner/study/study_spec.hpp"

namespace steptune {
namespace {

/// A count that is no whole number in range becomes 0, which no runner accepts.
int count_of(const document::Formula& formula, const Configuration& configuration) {
  constexpr double k_most = 10'000.0;
  const double count = formula.evaluate(configuration);
  return count >= 0.0 && count <= k_most && count == std::floor(count) ? static_cast<int>(count)
                                                                       : 0;
}

}  // namespace

Resources resources_of(const StudySpec& study, const Configuration& configuration) {
  Resources resources;
  const std::vector<InstancesSpec>& instances = study.runner.cluster.instances;
  for (const InstancesSpec& part : instances) {
    InstanceGroup group{part.group, {}, count_of(part.count, configuration)};
    if (group.instance_count == 0 && instances.size() > 1) continue;
    group.instance_type = part.type.render(configuration).value_or("");
    resources.groups.push_back(std::move(group));
  }
  if (!instances.empty() && resources.groups.empty()) resources.instance_count = 0;
  if (resources.groups.size() == 1) {
    resources.instance_type = resources.groups.front().instance_type;
    resources.instance_count = resources.groups.front().instance_count;
    resources.groups.clear();
  }
  return resources;
}

double on_demand_usd_per_hour(const StudySpec& study, const Configuration& configuration) {
  const RunnerSpec& runner = study.runner;
  if (runner.cluster.instances.empty()) {
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
  return study.runner.price_per_hour.has_value() || !study.runner.cluster.instances.empty();
}

}  // namespace steptune
