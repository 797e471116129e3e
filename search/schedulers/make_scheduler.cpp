// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "search/schedulers/schedulers.hpp"

namespace steptune {
namespace {

class NoScheduler final : public Scheduler {
 public:
  StopDecision on_estimate(const TrialEstimate&) override { return {}; }
  void on_exempt(const TrialEstimate&) override {}
  void forget(std::int64_t) override {}
};

Result<void> check(const SchedulerOptions& options) {
  if (!(options.eta >= k_least_eta) || options.eta > k_most_eta) {
    return fail(
        ErrorKind::usage,
        fmt::format("eta must lie in {} to {}, not {}", k_least_eta, k_most_eta, options.eta),
        "/search/eta");
  }
  if (!(options.min_resource > 0.0) || !std::isfinite(options.min_resource)) {
    return fail(ErrorKind::usage, "the first rung must be a positive number of steps",
                "/search/min_steps");
  }
  if (!(options.max_resource >= options.min_resource) || !std::isfinite(options.max_resource)) {
    return fail(ErrorKind::usage, "a full trial must have at least the steps of the first rung",
                "/search/max_steps");
  }
  return {};
}

}  // namespace

const std::vector<std::string>& scheduler_names() {
  static const std::vector<std::string> k_names = {"none", "asha", "racing", "median"};
  return k_names;
}

Result<std::unique_ptr<Scheduler>> make_scheduler(const std::string& name,
                                                  const SchedulerOptions& options) {
  if (auto checked = check(options); !checked) return tl::unexpected(checked.error());
  if (name == "none") return std::make_unique<NoScheduler>();
  if (name == "asha") return make_asha_scheduler(options);
  if (name == "racing") return make_racing_scheduler();
  if (name == "median") return make_median_scheduler(options);
  return fail(ErrorKind::usage,
              fmt::format("there is no scheduler \"{}\"{}", printable_line(name, 60),
                          did_you_mean(name, scheduler_names())),
              {}, fmt::format("schedulers: {}", fmt::join(scheduler_names(), ", ")));
}

}  // namespace steptune
