// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/aws_session.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/pools_report.hpp"

namespace steptune {
namespace {

struct PoolsOptions {
  std::vector<std::string> jobs;
  bool release = false;
  bool all = false;
  std::string region;
};

/// Nothing is left out silently: costs that cannot be told are announced.
std::optional<PriceTable> prices_of(CommandContext& context, const std::string& region) {
  auto table = find_price_table(region);
  if (table) return *std::move(table);
  context.console.warning(
      fmt::format("costs are unknown: {}; 'steptune prices refresh --region {}' makes a table",
                  table.error().message, region));
  return std::nullopt;
}

/// The machines of the jobs that were named; one that holds none is an error.
Result<std::vector<HeldMachines>> find_named(TrainingJobs& jobs, const PoolsOptions& options,
                                             double now_wall_s, const PriceTable* prices) {
  std::vector<HeldMachines> found;
  for (const std::string& name : options.jobs) {
    const auto state = jobs.describe(name);
    if (!state) return tl::unexpected(state.error().to_error());
    if (!*state) {
      return fail(ErrorKind::not_found, fmt::format("there is no job \"{}\"", printable_line(name)),
                  {}, "'steptune pools --all' lists what holds machines");
    }
    if (auto held = held_machines(**state, now_wall_s, prices)) found.push_back(*std::move(held));
  }
  return found;
}

Result<PoolsView> look(aws::Session& session, const Clock& clock, const PoolsOptions& options,
                       const PriceTable* prices) {
  const auto service = session.service(aws::Service::sagemaker);
  if (!service) return tl::unexpected(service.error());
  TrainingJobs jobs(session.client(), *service);
  PoolsView view;
  view.region = session.region();
  view.prices = prices;
  view.now_wall_s = clock.wall_time_s();
  if (!options.jobs.empty()) {
    auto named = find_named(jobs, options, view.now_wall_s, prices);
    if (!named) return tl::unexpected(named.error());
    view.machines = *std::move(named);
  } else {
    auto held = find_held_machines(jobs, view.now_wall_s, prices);
    if (!held) return tl::unexpected(held.error().to_error());
    view.machines = *std::move(held);
  }
  const bool only_ours = options.jobs.empty() && !options.all;
  if (only_ours) {
    view.hidden =
        std::erase_if(view.machines, [](const HeldMachines& each) { return !each.owner; });
  }
  if (!options.release) return view;
  // What nobody named is released only if it is ours.
  std::vector<HeldMachines> to_release;
  for (const HeldMachines& held : view.machines) {
    if (held.holding != Holding::running && (held.owner || !options.jobs.empty())) {
      to_release.push_back(held);
    }
  }
  auto releases = release_pools(jobs, to_release, clock, session.wait_until(), prices);
  if (!releases) return tl::unexpected(releases.error().to_error());
  view.releases = *std::move(releases);
  std::erase_if(view.machines, [&](const HeldMachines& held) {
    return std::ranges::any_of(view.releases, [&](const Release& release) {
      return release.machines.job == held.job && release.outcome != ReleaseOutcome::not_ready;
    });
  });
  return view;
}

ExitCode show_pools(CommandContext& context, const PoolsOptions& options) {
  const auto session = open_aws_session(context.clock, options.region);
  if (!session) return context.console.error(session.error());
  const auto prices = prices_of(context, (*session)->region());
  const auto view = look(**session, context.clock, options, prices ? &*prices : nullptr);
  if (!view) return context.console.error(view.error());
  if (context.json) {
    context.console.json_result(pools_json(*view));
  } else {
    context.console.result(pools_text(*view));
  }
  const bool left = std::ranges::any_of(view->releases, [](const Release& release) {
    return release.outcome == ReleaseOutcome::not_ready;
  });
  return left ? ExitCode::failure : ExitCode::ok;
}

}  // namespace

void add_pools_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<PoolsOptions>();
  CLI::App* command = add_command(program, context, "pools",
                                  "List the SageMaker machines that cost money, and give them back",
                                  "  steptune pools\n"
                                  "  steptune pools --release\n"
                                  "  steptune pools --region eu-west-1 --json");
  command->add_option(
      "JOB", options->jobs,
      "Only these training jobs, whoever started them [default: all of Steptune's]");
  command->add_flag("--release", options->release, "Give warm pools back; running jobs go on");
  command->add_flag("--all", options->all,
                    "Show the jobs of others, too; they are released only by name");
  command
      ->add_option("--region", options->region,
                   "AWS region [default: AWS_REGION, else the AWS profile's]")
      ->option_text("REGION");
  add_json_option(*command, context);
  command->callback([&context, options] {
    context.action = [&context, options] { return show_pools(context, *options); };
  });
}

}  // namespace steptune
