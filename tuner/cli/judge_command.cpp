// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/git_worktrees.hpp"
#include "tuner/cli/input_file.hpp"
#include "tuner/cli/judging.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/cli/study_tuning.hpp"
#include "tuner/history/open_if_present.hpp"
#include "tuner/init/judge_study.hpp"
#include "tuner/report/campaign_ladder.hpp"
#include "tuner/report/judged_commands.hpp"
#include "tuner/report/trial_json.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

constexpr double k_default_time_s = 300.0;
/// Share of the time that may pass until the first command reports progress.
constexpr double k_most_until_progress = 0.4;
/// Seconds for which the first command is watched. The comparison itself measures it again.
constexpr double k_watch_s = 2.0;

Result<double> margin_share(const std::string& given) {
  if (given.empty()) return JudgeRequest().margin;
  const bool in_percent = given.ends_with('%');
  const auto number =
      parse_finite(in_percent ? std::string_view(given).substr(0, given.size() - 1) : given);
  const double share = number.value_or(-1.0) * (in_percent ? 0.01 : 1.0);
  if (share > 0.0 && share <= 0.5) return share;
  return fail(ErrorKind::usage, fmt::format("{} is not a margin", printable_line(given, 40)),
              "--margin", "give more than 0 and at most 50 %, such as 2% or 0.02");
}

/// Returns the commands between the separators.
Result<std::vector<std::vector<std::string>>> commands_of(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> commands(1);
  for (const std::string& word : words) {
    if (word == k_next_command) {
      commands.emplace_back();
    } else {
      commands.back().push_back(word);
    }
  }
  if (std::ranges::any_of(commands, &std::vector<std::string>::empty)) {
    return fail(ErrorKind::usage, "a command is empty", "",
                "for example: steptune judge -- python3 a.py --- python3 b.py");
  }
  return commands;
}

/// Returns the command to be run in each folder.
std::vector<std::vector<std::string>> in_each_folder(const std::vector<std::string>& command,
                                                     const std::vector<fs::path>& folders) {
  std::vector<std::vector<std::string>> commands;
  for (const fs::path& folder : folders) {
    std::vector<std::string> words{"env", "-C", folder.string()};
    words.insert(words.end(), command.begin(), command.end());
    commands.push_back(std::move(words));
  }
  return commands;
}

Result<void> check_count(std::size_t count) {
  if (count >= 2 && count <= k_most_judged) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} command{} given", count, count == 1 ? " is" : "s are"), "",
              fmt::format("give 2 to {}, with {} between them: steptune judge -- python3 a.py {} "
                          "python3 b.py; or one with --git",
                          k_most_judged, k_next_command, k_next_command));
}

ExitCode exit_code_of(CommandVerdict verdict) {
  switch (verdict) {
    case CommandVerdict::faster:
      return ExitCode::ok;
    case CommandVerdict::slower:
      return ExitCode::judged_slower;
    case CommandVerdict::tied:
      return ExitCode::judged_tied;
    case CommandVerdict::undecided:
      return ExitCode::judged_undecided;
    case CommandVerdict::failed:
      break;
  }
  return ExitCode::failure;
}

/// The steps of `judge`.
class Judging {
 public:
  Judging(CommandContext& context, const JudgeOptions& options)
      : context_(context), options_(options) {}

  ExitCode run() {
    if (auto ready = prepare(); !ready) return context_.console.error(ready.error());
    const double begin_s = context_.clock.now_s();
    const auto look = look_at_first();
    if (flags_.count() > 0) return stopped();
    if (!look) return context_.console.error(look.error());
    auto history = opened_or_new(std::nullopt, context_.database(), context_.clock);
    if (!history) return context_.console.error(history.error());
    for (const std::string& warning : history->warnings())
      context_.console.warning(warning);
    if (auto joined = join_campaign(*history); !joined) {
      return context_.console.error(joined.error());
    }
    auto study = study_of(*look);
    if (!study) return context_.console.error(study.error());
    if (!continue_study(*history, *study)) {
      RunOptions naming;
      naming.fresh = true;
      naming.yes = true;
      const auto named = settle_identity(context_.console, naming, *history, *study);
      if (!named) return context_.console.error(named.error().error);
    }
    const StudyTuning tuning{options_.quiet, false, "", context_.clock.now_s() - begin_s, {}};
    const auto result = tune_study(context_, tuning, *study, *history, flags_);
    if (!result) return context_.console.error(result.error());
    if (flags_.count() > 0) return stopped();
    return report(*study, *std::move(history), *result);
  }

 private:
  void say(const std::string& text) {
    if (!options_.quiet) context_.console.message(text);
  }

  ExitCode stopped() {
    context_.console.message("stopped before the commands were judged");
    return flags_.exit_code();
  }

  Result<void> prepare() {
    if (auto named = name_study(); !named) return named;
    request_.input = options_.input;
    if (auto may = check_input_file(options_.input); !may) return may;
    const auto time_s = tuning_time_s(options_.time);
    if (!time_s) return tl::unexpected(time_s.error());
    request_.time_s = time_s->value_or(k_default_time_s);
    const auto margin = margin_share(options_.margin);
    if (!margin) return tl::unexpected(margin.error());
    request_.margin = *margin;
    auto commands = commands_of(options_.words);
    if (!commands) return tl::unexpected(commands.error());
    request_.commands = *std::move(commands);
    if (!options_.campaign.empty()) {
      const std::size_t versions =
          options_.revisions.empty() ? request_.commands.size() : options_.revisions.size();
      if (versions != 2) {
        return fail(ErrorKind::usage, "a campaign judges one edit at a time", "--campaign",
                    "give two versions: the champion, then the edit");
      }
    }
    if (options_.revisions.empty()) {
      if (!options_.build.empty()) {
        return fail(ErrorKind::usage, "--build needs --git", "",
                    "leave it out, and build before you judge");
      }
      return check_count(request_.commands.size());
    }
    return check_out();
  }

  Result<void> check_out() {
    if (request_.commands.size() != 1) {
      return fail(ErrorKind::usage, "with --git, one command runs in each revision", "--git",
                  "give one command after --");
    }
    if (auto counted = check_count(options_.revisions.size()); !counted) return counted;
    const fs::path parent = fs::absolute(context_.database()).parent_path() / "worktrees" /
                            fmt::format("{}-{}", request_.name, ::getpid());
    auto worktrees = GitWorktrees::check_out(options_.revisions, parent);
    if (!worktrees) return tl::unexpected(worktrees.error());
    worktrees_.emplace(*std::move(worktrees));
    if (!options_.build.empty()) {
      if (auto built = worktrees_->build(options_.build); !built) return built;
    }
    const std::vector<std::string> command = request_.commands.front();
    request_.commands = in_each_folder(command, worktrees_->folders());
    return {};
  }

  Result<void> name_study() {
    const std::string& campaign = options_.campaign;
    if (!campaign.empty() && !document::is_study_name(campaign)) {
      return fail(ErrorKind::usage,
                  fmt::format("{} is not a campaign's name", printable_line(campaign, 80)),
                  "--campaign", "letters, digits and _.- are allowed, a letter or digit first");
    }
    request_.name = !options_.name.empty() ? options_.name : campaign.empty() ? "judge" : campaign;
    return check_study_name(request_.name);
  }

  /// Takes the error of this edit from the campaign's edits so far.
  Result<void> join_campaign(const History& history) {
    if (options_.campaign.empty()) return {};
    CampaignSpec campaign;
    campaign.name = options_.campaign;
    if (worktrees_) campaign.commits = worktrees_->commits();
    campaign.build = options_.build;
    campaign.measures_gain = options_.measures_gain;
    request_.campaign = std::move(campaign);
    if (options_.measures_gain) return {};
    const auto ladder = read_campaign(history, options_.campaign);
    if (!ladder) return tl::unexpected(ladder.error());
    request_.error = next_error(*ladder);
    return {};
  }

  /// Gives the study the name and seed of the unfinished study `continued`. Returns false if there
  /// is none with these commands.
  bool continue_study(const History& history, StudySpec& study) const {
    if (options_.continued.empty()) return false;
    const auto former = history.study(options_.continued);
    if (!former || former->status == StudyStatus::finished) return false;
    if (former->fingerprint != study.fingerprint) return false;
    study.name = former->name;
    study.document["name"] = former->name;
    study.search.seed = former->seed;
    study.document["search"]["seed"] = former->seed;
    return true;
  }

  Result<OutputLook> look_at_first() {
    say(fmt::format("runs {} for some seconds to see how it reports progress: {}", judged_name(0),
                    printable_line(shell_quoted(request_.commands.front()), 300)));
    auto look = look_once();
    if (look && look->lacked_stream == LackedStream::terminal && !request_.terminal) {
      say("the program needs a terminal: runs it again with one");
      request_.terminal = true;
      look = look_once();
    }
    return look;
  }

  Result<OutputLook> look_once() {
    LookOptions look;
    look.argv = request_.commands.front();
    look.folder = fs::current_path();
    look.log_path = log_directory(context_.database(), request_.name) / "look.log";
    look.terminal = request_.terminal;
    if (!request_.input.empty()) look.standard_input = look.folder / request_.input;
    look.longest_start_s = std::min(look.longest_start_s, k_most_until_progress * request_.time_s);
    look.watch_s = k_watch_s;
    return look_at_output(look, context_.clock, [this] { return flags_.count() > 0; });
  }

  Result<StudySpec> study_of(const OutputLook& look) {
    const auto document = judge_study(request_, look);
    if (!document) return tl::unexpected(document.error());
    return study_from_json(*document, fs::current_path() / (request_.name + ".study.json"),
                           detected_facts());
  }

  ExitCode report(const StudySpec& study, History history, const LoopResult& result) {
    auto record = history.study(study.name);
    if (!record) return context_.console.error(record.error());
    const auto trials = history.trials(record->id);
    if (!trials) return context_.console.error(trials.error());
    const JudgedCommands judged =
        judged_commands(study, *trials, result.recommendation, record->elapsed_s);
    const ExitCode code = exit_code_of(verdict_of_all(judged));
    if (options_.take_verdicts) options_.take_verdicts(judged);
    if (options_.measures_gain || options_.take_verdicts) return code;
    std::optional<CampaignLadder> ladder;
    if (study.campaign) {
      auto read = read_campaign(history, study.campaign->name);
      if (!read) return context_.console.error(read.error());
      ladder = *std::move(read);
    }
    if (context_.json) {
      Json json;
      json["schema_version"] = k_json_schema_version;
      json["study"] = study_json(*record);
      json["judge"] = judged_json(judged);
      if (ladder) json["campaign"] = last_edit_json(*ladder);
      context_.console.json_result(json);
    } else {
      std::string text = judged_text(judged);
      if (ladder) text += edit_text(*ladder);
      context_.console.result(text);
    }
    return code;
  }

  CommandContext& context_;
  const JudgeOptions& options_;
  JudgeRequest request_;
  std::optional<GitWorktrees> worktrees_;
  const SignalFlags flags_;
};

}  // namespace

ExitCode judge_commands(CommandContext& context, const JudgeOptions& options) {
  return Judging(context, options).run();
}

void add_judge_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<JudgeOptions>();
  CLI::App* command =
      add_command(program, context, "judge", "Compare commands: is B faster than A?",
                  "  steptune judge -- python3 train.py --- python3 train.py --compile\n"
                  "  steptune judge --git main HEAD -- python3 train.py\n"
                  "  steptune judge --time 2m --margin 3% -- ./a --- ./b --- ./c\n"
                  "Exit code: 0 faster, 10 tied, 11 slower, 12 undecided.");
  command
      ->add_option("COMMANDS", options->words,
                   "After --, 2 to 8 training commands with --- between them. The other ones are "
                   "compared with the first")
      ->option_text("-- COMMAND --- COMMAND...")
      ->required();
  command
      ->add_option("--git", options->revisions,
                   "Run one command in working trees of these revisions, 2 to 8 [default: off]")
      ->option_text("REVISION...")
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
                   "Judge the next edit of this campaign: at most 5 % of its kept edits are no "
                   "improvement [default: none]")
      ->option_text("NAME")
      ->check(not_empty());
  command->add_flag("--quiet", options->quiet, "Show no progress, warnings only");
  add_json_option(*command, context);
  command->callback([&context, options] {
    context.action = [&context, options] {
      options->words = context.as_typed(options->words);
      return judge_commands(context, *options);
    };
  });
}

}  // namespace steptune
