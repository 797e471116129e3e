// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include "tuner/cli/command.hpp"
#include "tuner/cli/judged_versions.hpp"
#include "tuner/cli/judging.hpp"

namespace steptune {

void add_judge_command(CLI::App& program, CommandContext& context) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto [command, options] = add_command<JudgeOptions>(
      program, context, "judge", "Compare commands: is B faster than A?",
      "  steptune judge -- python3 train.py --- python3 train.py --compile\n"
      "  steptune judge --git main HEAD -- python3 train.py\n"
      "  steptune judge --time 2m --margin 3% -- ./a --- ./b --- ./c\n"
      "  steptune judge --study resnet --trial 3 7\n"
      "  steptune judge --fail-if slower:3% --git main HEAD -- python3 train.py\n"
      "Exit code: 0 faster, 10 tied, 11 slower, 12 undecided, 13 worse loss.",
      [words](CommandContext& within, JudgeOptions& judge) {
        judge.commands = split_commands(within.as_typed(*words));
        judge.compares_loss = true;
        return judge_commands(within, judge);
      });
  command
      ->add_option("COMMANDS", *words,
                   "After --, 2 to 8 training commands with --- between them. The other ones are "
                   "compared with the first")
      ->option_text("-- COMMAND --- COMMAND...");
  add_value_option(*command, "--git", options->revisions, "REVISION...",
                   "Run one command in working trees of these revisions, 2 to 8 [default: off]");
  add_list_option(*command, "--env", options->variables, "NAME=VALUE",
                  "Run one command with each of these variables; a single one is compared with "
                  "the unchanged command [default: none]");
  add_value_option(*command, "--venv", options->venvs, "FOLDER...",
                   "Run one command in each of these virtual environments of Python; a single one "
                   "is compared with the present one [default: none]");
  add_value_option(*command, "--build", options->build, "COMMAND",
                   "Shell command that builds the program in each revision's tree [default: none]");
  add_value_option(*command, "--time", options->time, "DURATION",
                   "Longest time, such as 2m or 1h30m [default: 5m]");
  add_value_option(*command, "--margin", options->margin, "PERCENT",
                   "Largest difference that counts as a tie [default: 2%]");
  add_value_option(*command, "--study", options->study, "NAME",
                   "Compare trials of this study in fresh runs, with --trial [default: none]");
  add_value_option(*command, "--trial", options->trials, "N...",
                   "With --study: trials to compare, up to 8; a single one is compared with the "
                   "baseline [default: none]");
  add_list_option(*command, "--fail-if", options->fail_if, "CONDITION",
                  "For pipelines: exit with 0 unless a command fails or this is certain: slower, "
                  "slower:3%, worse (the loss) or undecided; may be repeated [default: none]");
  add_value_option(*command, "--report", options->report, "FILE",
                   "Write the figures to this file as OpenMetrics text, which GitLab's metrics "
                   "reports read [default: none]");
  add_value_option(*command, "--name", options->name, "NAME",
                   "Name of the study in the history; a number is added if it exists [default: "
                   "the campaign's, or judge]");
  add_value_option(*command, "--stdin", options->input, "FILE",
                   "File that each run reads as its standard input [default: none]");
  add_value_option(*command, "--campaign", options->campaign, "NAME",
                   "Judge the next edit of this campaign: on average at most 5 % of its kept edits "
                   "are no improvement [default: none]");
  command->add_flag("--quiet", options->quiet, "Show no progress, warnings only");
  add_json_option(*command, context);
}

}  // namespace steptune
