// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "trial_runner/held_machines.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/kind_option.hpp"
#include "tuner/report/pools_report.hpp"

namespace steptune {
namespace {

struct PoolsOptions {
  HeldMachinesRequest request;
  std::string kind;
};

ExitCode show_pools(CommandContext& context, const PoolsOptions& options) {
  const HeldMachinesService& service = *find_runner_kind(options.kind)->held_machines();
  const auto report = service.list(context.clock, options.request);
  if (!report) return context.console.error(report.error());
  if (!report->warning.empty()) context.console.warning(report->warning);
  context.print([&] { return pools_json(*report); },
                [&] { return pools_text(*report, service, context.console.stdout_width()); });
  const bool left = std::ranges::any_of(report->releases, [](const Release& release) {
    return release.outcome == ReleaseOutcome::not_ready;
  });
  return left ? ExitCode::failure : ExitCode::ok;
}

}  // namespace

void add_pools_command(CLI::App& program, CommandContext& context) {
  const auto kinds = kinds_that_offer(&RunnerKind::held_machines);
  auto [command, options] = add_command<PoolsOptions>(
      program, context, "pools", "List rented machines that cost money, and give them back",
      "  steptune pools\n"
      "  steptune pools --release\n"
      "  steptune pools --region eu-west-1 --json",
      show_pools);
  HeldMachinesRequest& request = options->request;
  command->add_option("JOB", request.jobs,
                      "Only these jobs, whoever started them [default: all of Steptune's]");
  command->add_flag("--release", request.release, "Give idle machines back; running jobs continue");
  command->add_flag("--all", request.all,
                    "Show the jobs of others, too; they are released only by name");
  add_kind_option(*command, kinds, options->kind);
  add_value_option(*command, "--region", request.region, "REGION",
                   kinds.front()->held_machines()->region_help());
  add_json_option(*command, context);
}

}  // namespace steptune
