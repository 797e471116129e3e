// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/judging.hpp"
#include "tuner/report/campaign_ladder.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

struct CampaignOptions {
  std::string name;
  std::string time;
  bool measure = false;
  bool quiet = false;
};

Result<CampaignLadder> ladder_of(const CommandContext& context, const std::string& name) {
  const auto history = History::open_for_reading(context.database());
  if (!history) return tl::unexpected(history.error());
  auto ladder = read_campaign(*history, name);
  if (!ladder || !ladder->edits.empty()) return ladder;
  const auto names = campaign_names(*history);
  if (!names) return tl::unexpected(names.error());
  return fail(ErrorKind::not_found,
              fmt::format("there is no campaign {}", printable_line(name, 80)), "",
              names->empty() ? "begin one with: steptune judge --campaign NAME -- A --- B"
                             : fmt::format("campaigns: {}", fmt::join(*names, ", ")));
}

/// Returns the last kept edit. `ladder` must have a kept edit.
const CampaignEdit& last_kept(const CampaignLadder& ladder) {
  return *std::ranges::find_if(ladder.edits.rbegin(), ladder.edits.rend(), &CampaignEdit::is_kept);
}

/// True if the judgement ended with a verdict. The history then has that verdict.
bool has_verdict(ExitCode code) {
  return code == ExitCode::ok || code == ExitCode::failure || code == ExitCode::judged_tied ||
         code == ExitCode::judged_slower || code == ExitCode::judged_undecided ||
         code == ExitCode::judged_worse;
}

/// Returns the options that compare the champion with the first version. Fails with `usage` if no
/// edit was kept, or if only one of these versions is a commit.
Result<JudgeOptions> options_of_gain(const CampaignOptions& options, const CampaignLadder& ladder) {
  if (kept_edits(ladder) == 0) {
    return fail(ErrorKind::usage, "no edit was kept, so the champion is the first version",
                "--measure", "leave it out");
  }
  const CampaignVersion& first = ladder.edits.front().champion;
  const CampaignVersion& champion = champion_of(ladder);
  if (first.commit.empty() != champion.commit.empty()) {
    return fail(ErrorKind::usage,
                "the first version is a command and the champion is a commit, or the reverse",
                "--measure", "compare them with: steptune judge");
  }
  JudgeOptions judge;
  judge.commands = {first.command, champion.command};
  if (!champion.commit.empty()) {
    judge.revisions = {first.commit, champion.commit};
    judge.build = last_kept(ladder).build;
  }
  judge.input = last_kept(ladder).input;
  judge.campaign = ladder.name;
  judge.measures_gain = true;
  judge.time = options.time;
  judge.quiet = options.quiet;
  return judge;
}

ExitCode show_campaign(CommandContext& context, const CampaignOptions& options) {
  auto ladder = ladder_of(context, options.name);
  if (!ladder) return context.console.error(ladder.error());
  ExitCode code = ExitCode::ok;
  if (!options.measure && !options.time.empty()) {
    return context.console.error(
        Error{ErrorKind::usage, "--time needs --measure", "--time", "leave it out"});
  }
  if (options.measure) {
    const auto judge = options_of_gain(options, *ladder);
    if (!judge) return context.console.error(judge.error());
    code = judge_commands(context, *judge);
    if (!has_verdict(code)) return code;
    ladder = ladder_of(context, options.name);
    if (!ladder) return context.console.error(ladder.error());
  }
  context.print(
      [&] {
        return document_json({{"campaign", json_of(*ladder)}});
      },
      [&] { return campaign_text(*ladder); });
  return code;
}

}  // namespace

void add_campaign_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<CampaignOptions>(
      program, context, "campaign", "Show the edits that 'judge --campaign' judged, and their gain",
      "  steptune campaign faster-loader\n"
      "  steptune campaign faster-loader --measure --time 10m",
      show_campaign);
  command->add_option("NAME", options->name, "Name of the campaign")->required();
  command->add_flag("--measure", options->measure,
                    "Compare the champion with the first version, in fresh runs");
  add_value_option(*command, "--time", options->time, "DURATION",
                   "With --measure: longest time, such as 2m or 1h30m [default: 5m]");
  command->add_flag("--quiet", options->quiet, "With --measure: show no progress, warnings only");
  add_json_option(*command, context);
}

}  // namespace steptune
