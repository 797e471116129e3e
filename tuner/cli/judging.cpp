// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/judging.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/cli/git_worktrees.hpp"
#include "tuner/cli/judge_reports.hpp"
#include "tuner/cli/judge_request.hpp"
#include "tuner/cli/judged_trials.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/signals.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/cli/study_tuning.hpp"
#include "tuner/history/open_if_present.hpp"
#include "tuner/init/judge_study.hpp"
#include "tuner/report/campaign_ladder.hpp"
#include "tuner/report/earlier_judgements.hpp"
#include "tuner/report/fail_conditions.hpp"
#include "tuner/report/judged_commands.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/study/judge_defaults.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

/// Seconds for which the first command is watched after its first progress. A short time suffices,
/// because the comparison measures the command again.
constexpr double k_watch_s = 2.0;

/// True if the first command has reported no progress yet, but may still do so.
bool is_starting(const OutputLook& look) {
  return look.unread && !look.unread->has_ended && !look.unread->repeated;
}

/// The steps of `judge`.
class Judging {
 public:
  Judging(CommandContext& context, const JudgeOptions& options)
      : context_(context), options_(options) {}

  ExitCode run() {
    auto checked = checked_judge_options(options_, context_.console.environment());
    if (!checked) return context_.console.error(checked.error());
    request_ = std::move(checked->request);
    conditions_ = std::move(checked->conditions);
    // If another tuner has this history open for writing, it measures: fail before anything
    // disturbs it.
    auto present = open_if_present(context_.database(), context_.clock);
    if (!present) return context_.console.error(present.error());
    const auto checked_out = check_out();
    // Ctrl-C in the terminal also makes a build fail, so check for a signal before the build's
    // error.
    if (flags_.count() > 0) return stopped();
    if (!checked_out) return context_.console.error(checked_out.error());
    const double begin_s = context_.clock.now_s();
    std::optional<OutputLook> look;
    if (options_.study.empty()) {
      auto seen = look_at_first();
      if (flags_.count() > 0) return stopped();
      if (!seen) return context_.console.error(seen.error());
      if (is_starting(*seen)) {
        JudgedCommands judged = judged_without_start(
            request_.commands, request_.margin, context_.clock.now_s() - begin_s, request_.time_s);
        name_revisions(judged);
        // The caller's own result does not say why nothing was compared, so print it here.
        if (is_part()) context_.console.message(judged_text(judged));
        return print(judged, nullptr, std::nullopt);
      }
      look = *std::move(seen);
    }
    auto history = opened_or_new(*std::move(present), context_.database(), context_.clock);
    if (!history) return context_.console.error(history.error());
    for (const std::string& warning : history->warnings())
      context_.console.warning(warning);
    if (auto learned = learn_from_judgements(*history); !learned) {
      return context_.console.error(learned.error());
    }
    if (auto joined = join_campaign(*history); !joined) {
      return context_.console.error(joined.error());
    }
    auto study = look ? study_of(*look) : study_of_trials();
    if (!study) return context_.console.error(study.error());
    if (!continue_study(*history, *study)) {
      RunOptions naming;
      naming.fresh = true;
      naming.yes = true;
      naming.quiet = options_.quiet;
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
  /// True if another command called `judge` and prints the result itself.
  [[nodiscard]] bool is_part() const {
    return options_.measures_gain || options_.take_verdicts != nullptr;
  }

  void say(const std::string& text) {
    if (!options_.quiet) context_.console.message(text);
  }

  ExitCode stopped() {
    context_.console.message("stopped before the commands were judged");
    return flags_.exit_code();
  }

  Result<void> check_out() {
    if (options_.revisions.empty()) return {};
    auto trees = TreesFolder::take(context_.database(), "judge");
    if (!trees) return tl::unexpected(trees.error());
    trees_.emplace(*std::move(trees));
    auto worktrees = GitWorktrees::check_out(options_.revisions, trees_->path);
    if (!worktrees) return tl::unexpected(worktrees.error());
    worktrees_.emplace(*std::move(worktrees));
    if (!options_.build.empty()) {
      if (auto built = worktrees_->build(options_.build); !built) return built;
    }
    request_.commands.resize(options_.revisions.size(), CommandWords(request_.commands.front()));
    commands_of_revisions_ = request_.commands;
    for (std::size_t i = 0; i < request_.commands.size(); ++i)
      request_.commands[i] = in_folder(worktrees_->folders()[i], commands_of_revisions_[i]);
    return {};
  }

  /// Sets the expected scatter of pairs, from earlier judgements of the same program.
  Result<void> learn_from_judgements(const History& history) {
    if (request_.commands.empty()) return {};
    const auto pairs =
        pairs_of_earlier_judgements(history, without_tree(first_command()), options_.campaign);
    if (!pairs) return tl::unexpected(pairs.error());
    request_.pair_deviation = pairs->deviation();
    request_.pair_freedom = pairs->degrees_of_freedom;
    return {};
  }

  /// Adds this judgement to the campaign. Sets the error of this edit, which depends on the
  /// verdicts on earlier edits.
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
    const std::string warning = champion_warning(*ladder, request_.campaign->commits);
    if (!warning.empty()) context_.console.warning(warning);
    return {};
  }

  /// Gives `study` the name and seed of the unfinished study `JudgeOptions::continued`, and adds
  /// the time that it has taken to the budget. Returns false if there is no such study, or if it
  /// compares other commands.
  bool continue_study(const History& history, StudySpec& study) const {
    if (options_.continued.empty()) return false;
    const auto former = history.study(options_.continued);
    if (!former || former->status == StudyStatus::finished) return false;
    if (former->fingerprint != study.fingerprint) return false;
    study.name = former->name;
    study.document["name"] = former->name;
    study.search.seed = former->seed;
    study.document["search"]["seed"] = former->seed;
    const double time_s = former->elapsed_s + request_.time_s;
    study.budget.time_s = time_s;
    study.document["budget"]["time"] = time_s;
    return true;
  }

  /// Returns the first command as it was given, without the folder of a revision.
  [[nodiscard]] const CommandWords& first_command() const {
    return worktrees_ ? commands_of_revisions_.front() : request_.commands.front();
  }

  /// Shows revisions and commands as the user gave them, without the folders of working trees:
  /// these are removed at the end.
  void name_revisions(JudgedCommands& judged) const {
    if (!worktrees_) return;
    for (std::size_t i = 0; i < options_.revisions.size(); ++i) {
      JudgedCommand& command = i == 0 ? judged.first : judged.others[i - 1];
      command.name = options_.revisions[i];
      command.command = shell_quoted(commands_of_revisions_[i]);
    }
  }

  Result<OutputLook> look_at_first() {
    say(fmt::format("runs {} until it has reported progress for some seconds, for at most {}: {}",
                    worktrees_ ? options_.revisions.front() : judged_name(0),
                    format_duration(longest_start_s()),
                    printable_line(shell_quoted(first_command()), 300)));
    auto look = look_once();
    if (look && look->lacked_stream == LackedStream::terminal && !request_.terminal) {
      say("the program needs a terminal: runs it again with one");
      request_.terminal = true;
      look = look_once();
    }
    return look;
  }

  /// Returns the time in which the first command must report progress. The comparison starts the
  /// command again, so after a longer start no time would be left to compare. A smaller share would
  /// refuse programs that start slowly only once, with cold caches.
  [[nodiscard]] double longest_start_s() const { return 0.5 * request_.time_s; }

  Result<OutputLook> look_once() {
    LookOptions look;
    look.argv = request_.commands.front();
    look.folder = fs::current_path();
    look.log_path = log_directory(context_.database(), request_.name) / "look.log";
    look.terminal = request_.terminal;
    if (!request_.input.empty()) look.standard_input = look.folder / request_.input;
    look.longest_start_s = longest_start_s();
    look.watch_s = k_watch_s;
    return look_at_output(look, context_.clock, [this] { return flags_.count() > 0; });
  }

  Result<StudySpec> study_of(const OutputLook& look) {
    auto study = judge_study(request_, look);
    if (!study) return tl::unexpected(study.error());
    why_no_loss_ = std::move(study->why_no_loss);
    return study_from_json(study->document, fs::current_path() / (request_.name + ".study.json"),
                           detected_facts());
  }

  Result<StudySpec> study_of_trials() {
    const auto stored = open_stored_study(context_, options_.study);
    if (!stored) return tl::unexpected(stored.error());
    auto trials = judged_trials(*stored, options_.trials, request_);
    if (!trials) return tl::unexpected(trials.error());
    trials_.emplace(*std::move(trials));
    why_no_loss_ = trials_->study.guards.empty() ? "the study has no guard on it"
                                                 : "the study's guards judge each run";
    return trials_->study;
  }

  ExitCode report(const StudySpec& study, History history, const LoopResult& result) {
    auto record = history.study(study.name);
    if (!record) return context_.console.error(record.error());
    const auto trials = history.trials(record->id);
    if (!trials) return context_.console.error(trials.error());
    JudgedCommands judged =
        judged_commands(study, *trials, result.recommendation, record->elapsed_s);
    judged.why_no_loss = why_no_loss_;
    if (trials_) trials_->name(judged);
    name_revisions(judged);
    std::optional<CampaignLadder> ladder;
    if (study.campaign) {
      auto read = read_campaign(history, study.campaign->name);
      if (!read) return context_.console.error(read.error());
      ladder = *std::move(read);
    }
    return print(judged, json_of(*record), ladder);
  }

  /// Prints the verdicts, or passes them to `take_verdicts`. `study` is null if the judgement ended
  /// before a study was made.
  ExitCode print(const JudgedCommands& judged, const Json& study,
                 const std::optional<CampaignLadder>& ladder) {
    const std::vector<FailResult> results = check_conditions(conditions_, judged);
    const ExitCode code = exit_code_of(judged, results);
    if (options_.take_verdicts) options_.take_verdicts(judged);
    if (is_part()) return code;
    if (context_.json) {
      Json json = document_json({{"study", study}, {"judge", json_of(judged)}});
      json["judge"]["fail_if"] = json_of(results);
      if (ladder) json["campaign"] = last_edit_record().write(*ladder);
      context_.console.json_result(json);
    } else {
      std::string text = judged_text(judged);
      text += fail_text(results);
      if (ladder) text += edit_text(*ladder);
      context_.console.result(text);
    }
    const auto reported = report_to_pipeline(context_.console, judged, results, options_.report);
    if (!reported) return context_.console.error(reported.error());
    return code;
  }

  CommandContext& context_;
  const JudgeOptions& options_;
  JudgeRequest request_;
  std::vector<FailCondition> conditions_;
  std::string why_no_loss_;
  std::optional<JudgedTrials> trials_;  ///< trials of `--trial`
  std::optional<TreesFolder> trees_;
  std::optional<GitWorktrees> worktrees_;
  std::vector<CommandWords> commands_of_revisions_;  ///< without the folders of working trees
  const SignalFlags flags_;
};

}  // namespace

ExitCode judge_commands(CommandContext& context, const JudgeOptions& options) {
  return Judging(context, options).run();
}

}  // namespace steptune
