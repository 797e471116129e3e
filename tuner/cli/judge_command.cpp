// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "tuner/cli/command.hpp"
#include "tuner/cli/judging.hpp"

namespace steptune {

void add_judge_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<JudgeOptions>();
  CLI::App* command =
      add_command(program, context, "judge", "Compare commands: is B faster than A?",
                  "  steptune judge -- python3 train.py --- python3 train.py --compile\n"
                  "  steptune judge --git main HEAD -- python3 train.py\n"
                  "  steptune judge --time 2m --margin 3% -- ./a --- ./b --- ./c\n"
                  "  steptune judge --study resnet --trial 3 7\n"
                  "  steptune judge --fail-if slower:3% --git main HEAD -- python3 train.py\n"
                  "Exit code: 0 faster, 10 tied, 11 slower, 12 undecided, 13 worse loss.");
  command
      ->add_option("COMMANDS", options->words,
                   "After --, 2 to 8 training commands with --- between them. The other ones are "
                   "compared with the first")
      ->option_text("-- COMMAND --- COMMAND...");
  command
      ->add_option("--git", options->revisions,
                   "Run one command in working trees of these revisions, 2 to 8 [default: off]")
      ->option_text("REVISION...")
      ->check(not_empty());
  command
      ->add_option("--env", options->variables,
                   "Run one command with each of these variables; a single one is compared with "
                   "the unchanged command [default: none]")
      ->option_text("NAME=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->check(not_empty());
  command
      ->add_option("--venv", options->venvs,
                   "Run one command in each of these virtual environments of Python; a single one "
                   "is compared with the present one [default: none]")
      ->option_text("FOLDER...")
      ->check(not_empty());
  command
      ->add_option("--build", options->build,
                   "Shell command that builds the program in each revision's tree [default: none]")
      ->option_text("COMMAND")
      ->check(not_empty());
  command->add_option("--time", options->time, "Longest time, such as 2m or 1h30m [default: 5m]")
      ->option_text("DURATION")
      ->check(not_empty());
  command
      ->add_option("--margin", options->margin,
                   "Largest difference that counts as a tie [default: 2%]")
      ->option_text("PERCENT")
      ->check(not_empty());
  command
      ->add_option("--study", options->study,
                   "Compare trials of this study in fresh runs, with --trial [default: none]")
      ->option_text("NAME")
      ->check(not_empty());
  command
      ->add_option("--trial", options->trials,
                   "With --study: trials to compare, up to 8; a single one is compared with the "
                   "baseline [default: none]")
      ->option_text("N...")
      ->check(not_empty());
  command
      ->add_option("--fail-if", options->fail_if,
                   "For pipelines: exit with 0 unless a command fails or this is certain: slower, "
                   "slower:3%, worse (the loss) or undecided; may be repeated [default: none]")
      ->option_text("CONDITION")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->check(not_empty());
  command
      ->add_option("--report", options->report,
                   "Write the figures to this file as OpenMetrics text, which GitLab's metrics "
                   "reports read [default: none]")
      ->option_text("FILE")
      ->check(not_empty());
  command
      ->add_option("--name", options->name,
                   "Name of the study in the history; a number is added if it exists [default: "
                   "the campaign's, or judge]")
      ->option_text("NAME")
      ->check(not_empty());
  command
      ->add_option("--stdin", options->input,
                   "File that each run reads as its standard input [default: none]")
      ->option_text("FILE");
  command
      ->add_option("--campaign", options->campaign,
                   "Judge the next edit of this campaign: on average at most 5 % of its kept edits "
                   "are no improvement [default: none]")
      ->option_text("NAME")
      ->check(not_empty());
  command->add_flag("--quiet", options->quiet, "Show no progress, warnings only");
  add_json_option(*command, context);
  command->callback([&context, options] {
    context.action = [&context, options] {
      options->words = context.as_typed(options->words);
      options->compares_loss = true;
      return judge_commands(context, *options);
    };
  });
}

}  // namespace steptune
