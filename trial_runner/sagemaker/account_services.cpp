// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/sagemaker/account_services.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/environment.hpp"
#include "common/text.hpp"
#include "trial_runner/sagemaker/aws/session.hpp"
#include "trial_runner/sagemaker/aws/shared_config.hpp"
#include "trial_runner/sagemaker/held_machines.hpp"
#include "trial_runner/sagemaker/price_list.hpp"
#include "trial_runner/sagemaker/region.hpp"

namespace steptune {
namespace {

constexpr const char* k_usual_region = "us-east-1";

Result<std::unique_ptr<aws::Session>> open_session(const Clock& clock, const std::string& region) {
  aws::RetryPolicy policy;
  policy.max_attempts = 4;  // few, because the user waits for the answer
  return aws::Session::open(clock, region, policy);
}

/// Finds the machines that the named jobs hold. Returns an error if a job does not exist.
Result<std::vector<HeldMachines>> find_named(TrainingJobs& jobs,
                                             const std::vector<std::string>& names,
                                             double now_wall_s, const PriceTable* prices) {
  std::vector<HeldMachines> found;
  for (const std::string& name : names) {
    const auto state = jobs.describe(name);
    if (!state) return tl::unexpected(state.error().to_error());
    if (!*state) {
      return fail(ErrorKind::not_found, fmt::format("there is no job \"{}\"", printable_line(name)),
                  {}, "'steptune pools --all' lists the jobs that hold machines");
    }
    if (auto held = held_machines(**state, now_wall_s, prices)) found.push_back(*std::move(held));
  }
  return found;
}

class AccountMachines final : public HeldMachinesService {
 public:
  [[nodiscard]] std::string region_help() const override {
    return "AWS region [default: AWS_REGION, else the AWS profile's]";
  }
  [[nodiscard]] std::string kept_name(bool several) const override {
    return several ? "warm pools" : "warm pool";
  }
  [[nodiscard]] std::string end_command() const override {
    return "aws sagemaker stop-training-job --training-job-name JOB";
  }

  [[nodiscard]] Result<HeldMachinesReport> list(const Clock& clock,
                                                const HeldMachinesRequest& request) const override {
    const auto session = open_session(clock, request.region);
    if (!session) return tl::unexpected(session.error());
    const auto service = (*session)->service(aws::Service::sagemaker);
    if (!service) return tl::unexpected(service.error());
    TrainingJobs jobs((*session)->client(), *service);
    HeldMachinesReport report;
    report.region = (*session)->region();
    report.now_wall_s = clock.wall_time_s();
    const auto table = find_price_table(k_price_list, report.region);
    const PriceTable* prices = table ? &*table : nullptr;
    if (table) report.prices_date = table->date;
    if (auto found = find(jobs, request, report, prices); !found) {
      return tl::unexpected(found.error());
    }
    const bool all_known = std::ranges::all_of(
        report.machines, [](const HeldMachines& held) { return held.usd_per_hour.has_value(); });
    if (!table && !all_known) {
      report.warning =
          fmt::format("costs are unknown: {}; 'steptune prices refresh --region {}' makes a table",
                      table.error().message, report.region);
    }
    if (!request.release) return report;
    auto releases =
        release_pools(jobs, to_release(report, request), clock, (*session)->wait_until(), prices);
    if (!releases) return tl::unexpected(releases.error().to_error());
    report.releases = *std::move(releases);
    std::erase_if(report.machines, [&](const HeldMachines& held) {
      return std::ranges::any_of(report.releases, [&](const Release& release) {
        return release.machines.job == held.job && release.outcome != ReleaseOutcome::not_ready;
      });
    });
    return report;
  }

 private:
  static Result<void> find(TrainingJobs& jobs, const HeldMachinesRequest& request,
                           HeldMachinesReport& report, const PriceTable* prices) {
    if (!request.jobs.empty()) {
      auto named = find_named(jobs, request.jobs, report.now_wall_s, prices);
      if (!named) return tl::unexpected(named.error());
      report.machines = *std::move(named);
      return {};
    }
    auto held = find_held_machines(jobs, report.now_wall_s, prices);
    if (!held) return tl::unexpected(held.error().to_error());
    report.machines = *std::move(held);
    if (request.all) return {};
    report.hidden =
        std::erase_if(report.machines, [](const HeldMachines& each) { return !each.owner; });
    return {};
  }

  /// Chooses the warm pools to release: pools of this program's jobs, and of jobs that the user
  /// named. Leaves out running jobs.
  static std::vector<HeldMachines> to_release(const HeldMachinesReport& report,
                                              const HeldMachinesRequest& request) {
    std::vector<HeldMachines> chosen;
    for (const HeldMachines& held : report.machines) {
      if (held.holding != Holding::running && (held.owner || !request.jobs.empty())) {
        chosen.push_back(held);
      }
    }
    return chosen;
  }
};

class AccountPriceLists final : public PriceListService {
 public:
  [[nodiscard]] std::string name() const override { return k_price_list; }
  [[nodiscard]] std::string region_help() const override {
    return "AWS region [default: AWS_REGION, else the AWS profile's, else us-east-1]";
  }
  [[nodiscard]] std::string region_fault(const std::string& region) const override {
    return is_region(region) ? std::string() : fmt::format("\"{}\" is not an AWS region", region);
  }
  [[nodiscard]] Result<std::string> default_region() const override {
    const Environment environment = process_environment();
    const auto config = aws::read_shared_config(environment);
    if (!config) return tl::unexpected(config.error());
    return aws::resolve_region(environment, *config).value_or(k_usual_region);
  }
  [[nodiscard]] std::string heading() const override { return "SageMaker training on demand"; }
  [[nodiscard]] std::string description() const override {
    return "Amazon SageMaker training, on-demand, USD per instance and hour";
  }
  [[nodiscard]] std::string source() const override {
    return "AWS Price List API, GetProducts, AmazonSageMaker, component Training";
  }
  [[nodiscard]] Result<ListedPrices> list(const Clock& clock,
                                          const std::string& region) const override {
    const auto session = open_session(clock, region);
    if (!session) return tl::unexpected(session.error());
    const auto pricing = (*session)->service(aws::Service::pricing);
    if (!pricing) return tl::unexpected(pricing.error());
    return list_training_prices((*session)->client(), *pricing, region);
  }
};

}  // namespace

const HeldMachinesService& account_machines() {
  static const AccountMachines k_service;
  return k_service;
}

const PriceListService& account_price_lists() {
  static const AccountPriceLists k_service;
  return k_service;
}

}  // namespace steptune
