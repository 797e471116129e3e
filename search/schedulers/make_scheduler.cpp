// SPDX-License-Identifier: Apache-2.0
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

}  // namespace

const std::vector<std::string>& scheduler_names() {
  static const std::vector<std::string> k_names = {"none", "asha", "racing", "median"};
  return k_names;
}

Result<std::unique_ptr<Scheduler>> make_scheduler(const std::string& name,
                                                  const SchedulerOptions& options) {
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
