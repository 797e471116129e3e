// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "common/text.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/git_worktrees.hpp"
#include "tuner/cli/judging.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/init/judge_study.hpp"
#include "tuner/report/bisection.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/verdict/change_point.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

constexpr double k_confidence = 0.95;
/// A stage that has less time can hardly compare anything.
constexpr double k_least_stage_s = 20.0;
/// Most versions of a stage beside the good one.
constexpr std::size_t k_most_in_stage = k_most_judged - 1;
/// Half-widths of a 95 % interval in standard errors; few launches make it wider.
constexpr double k_errors_in_half_width = 2.0;

struct BisectOptions {
  std::string good;
  std::string bad;
  std::vector<std::string> command;
  std::string build;
  std::string time;
  std::string input;
  bool quiet = false;
};

/// Carries out `bisect`: stages of judging versions beside the good one.
class Bisecting {
 public:
  Bisecting(CommandContext& context, const BisectOptions& options)
      : context_(context), options_(options), begin_s_(context.clock.now_s()) {}

  ExitCode run() {
    if (auto ready = prepare(); !ready) return context_.console.error(ready.error());
    while (true) {
      const double left_s = result_.longest_s - elapsed_s();
      const auto versions = next_versions();
      if (change_->found(k_confidence) || versions.empty() || left_s < k_least_stage_s) break;
      const ExitCode code = judge_stage(versions, left_s / stages_left());
      if (was_interrupted(code)) return code;
      if (!has_verdicts_) return code == ExitCode::ok ? ExitCode::failure : code;
      if (result_.outcome == BisectionOutcome::not_slower || !bad_is_slower_) break;
    }
    return report();
  }

 private:
  [[nodiscard]] double elapsed_s() const { return context_.clock.now_s() - begin_s_; }
  [[nodiscard]] std::size_t last() const { return commits_.size() - 1; }
  [[nodiscard]] static bool was_interrupted(ExitCode code) {
    return code == ExitCode::interrupted || code == ExitCode::terminated;
  }

  void say(const std::string& text) {
    if (!options_.quiet) context_.console.message(text);
  }

  Result<void> prepare() {
    command_ = context_.as_typed(options_.command);
    if (!context_.are_all_separated(command_.size())) {
      return fail(ErrorKind::usage, "give two revisions, and the command after --", "",
                  "for example: steptune bisect v1.0 HEAD -- python3 train.py");
    }
    const auto time_s = tuning_time_s(options_.time);
    if (!time_s) return tl::unexpected(time_s.error());
    result_.longest_s = time_s->value_or(k_bisect_time_s);
    const std::string range = options_.good + ".." + options_.bad;
    const auto listed = git_output({"rev-list", "--reverse", "--first-parent", range},
                                   fmt::format("git does not know {}", printable_line(range, 80)));
    if (!listed) return tl::unexpected(listed.error());
    std::istringstream lines(*listed);
    for (std::string line; std::getline(lines, line);)
      commits_.push_back(line);
    if (commits_.empty()) {
      return fail(ErrorKind::usage,
                  fmt::format("{} is no version after {}", printable_line(options_.bad, 80),
                              printable_line(options_.good, 80)),
                  "", "give the good revision first");
    }
    change_.emplace(commits_.size());
    result_.versions = commits_.size();
    parent_ = fs::absolute(context_.database()).parent_path() / "worktrees" /
              fmt::format("bisect-{}", ::getpid());
    auto good = tree_of(options_.good);
    if (!good) return tl::unexpected(good.error());
    good_.emplace(*std::move(good));
    say(fmt::format("{} version{} after {}", commits_.size(), commits_.size() == 1 ? "" : "s",
                    printable_line(options_.good, 80)));
    return {};
  }

  /// Checks out and builds a revision.
  Result<GitWorktrees> tree_of(const std::string& revision) const {
    auto tree = GitWorktrees::check_out({revision}, parent_);
    if (tree && !options_.build.empty()) {
      if (auto built = tree->build(options_.build); !built) return tl::unexpected(built.error());
    }
    return tree;
  }

  /// The first stage includes the bad version, which shows if there is a slowdown at all.
  [[nodiscard]] std::vector<std::size_t> next_versions() const {
    if (bad_is_slower_) return change_->next(k_most_in_stage);
    std::vector<std::size_t> versions = change_->next(k_most_in_stage - 1);
    if (std::ranges::find(versions, last()) == versions.end()) versions.push_back(last());
    return versions;
  }

  /// Estimates the number of stages, this one included: each divides the versions by seven, and a
  /// last one confirms.
  [[nodiscard]] double stages_left() const {
    const auto remaining = static_cast<double>(change_->remaining(k_confidence).size());
    return 1.0 + std::ceil(std::log(remaining) / std::log(double(k_most_judged)));
  }

  ExitCode judge_stage(const std::vector<std::size_t>& versions, double time_s) {
    std::vector<GitWorktrees> trees;
    std::vector<std::size_t> built;
    for (const std::size_t version : versions) {
      auto tree = tree_of(commits_[version]);
      if (!tree) {
        if (version == last()) return context_.console.error(tree.error());
        give_up(version);
        continue;
      }
      trees.push_back(*std::move(tree));
      built.push_back(version);
    }
    has_verdicts_ = built.empty();
    if (built.empty()) return ExitCode::ok;
    JudgeOptions judge;
    judge.name = "bisect";
    judge.time = fmt::format("{:.0f}s", std::max(time_s, k_least_stage_s));
    judge.input = options_.input;
    judge.quiet = options_.quiet;
    append_command(*good_, judge.words);
    for (const GitWorktrees& tree : trees) {
      judge.words.emplace_back(k_next_command);
      append_command(tree, judge.words);
    }
    judge.take_verdicts = [&](const JudgedCommands& judged) { take(built, judged); };
    return judge_commands(context_, judge);
  }

  void append_command(const GitWorktrees& tree, std::vector<std::string>& words) const {
    words.insert(words.end(), {"env", "-C", tree.folders().front().string()});
    words.insert(words.end(), command_.begin(), command_.end());
  }

  void give_up(std::size_t version) {
    change_->skip(version);
    result_.unusable.push_back(commits_[version]);
  }

  void take(const std::vector<std::size_t>& versions, const JudgedCommands& judged) {
    has_verdicts_ = judged.first.verdict != CommandVerdict::failed;
    if (!has_verdicts_) {
      context_.console.message(judged_text(judged));
      return;
    }
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const JudgedCommand& command = judged.others[i];
      const SpeedUp& speed_up = command.speed_up;
      if (command.verdict == CommandVerdict::failed) give_up(versions[i]);
      if (versions[i] == last()) judge_bad(command.verdict);
      const double half_width = 0.5 * (std::log(speed_up.high) - std::log(speed_up.low));
      if (!std::isfinite(half_width) || !(half_width > 0.0)) continue;
      change_->observe(versions[i], -std::log(speed_up.ratio), half_width / k_errors_in_half_width);
      measured_.insert(versions[i]);
      say(fmt::format("{}: {} ({:.2f} times as fast)", commits_[versions[i]].substr(0, 12),
                      to_text(command.verdict), speed_up.ratio));
    }
  }

  /// Takes the verdict of the bad version beside the good one.
  void judge_bad(CommandVerdict verdict) {
    if (bad_is_slower_) return;
    bad_is_slower_ = verdict == CommandVerdict::slower;
    if (verdict == CommandVerdict::tied || verdict == CommandVerdict::faster)
      result_.outcome = BisectionOutcome::not_slower;
  }

  ExitCode report() {
    result_.spent_s = elapsed_s();
    result_.measured = measured_.size();
    const std::vector<double> probability = change_->probabilities();
    const bool is_slower = result_.outcome != BisectionOutcome::not_slower;
    const auto found = change_->found(k_confidence);
    if (is_slower && bad_is_slower_ && found) result_.outcome = BisectionOutcome::found;
    const auto remaining =
        is_slower ? change_->remaining(k_confidence) : std::vector<std::size_t>();
    for (const std::size_t version : remaining) {
      const auto subject =
          git_output({"log", "-1", "--format=%s", commits_[version]}, "no message");
      result_.suspects.push_back(
          {commits_[version], subject.value_or(std::string()), probability[version]});
    }
    const auto slowdown = change_->slowdown_from(found.value_or(last()));
    if (is_slower && slowdown) result_.ratio = std::exp(-*slowdown);
    if (context_.json) {
      Json json;
      json["schema_version"] = k_json_schema_version;
      json["bisect"] = bisection_json(result_);
      context_.console.json_result(json);
    } else {
      context_.console.result(bisection_text(result_));
    }
    switch (result_.outcome) {
      case BisectionOutcome::found:
        return ExitCode::ok;
      case BisectionOutcome::not_slower:
        return ExitCode::judged_tied;
      case BisectionOutcome::undecided:
        break;
    }
    return ExitCode::judged_undecided;
  }

  CommandContext& context_;
  const BisectOptions& options_;
  double begin_s_;
  std::vector<std::string> command_;
  std::vector<std::string> commits_;  ///< after the good one, the oldest first
  fs::path parent_;                   ///< folder of the working trees
  std::optional<GitWorktrees> good_;
  std::optional<ChangePoint> change_;
  std::set<std::size_t> measured_;
  bool has_verdicts_ = false;   ///< the latest stage compared versions
  bool bad_is_slower_ = false;  ///< a stage has shown it
  Bisection result_;
};

}  // namespace

void add_bisect_command(CLI::App& program, CommandContext& context) {
  auto options = std::make_shared<BisectOptions>();
  CLI::App* command =
      add_command(program, context, "bisect", "Find the commit that made a program slower",
                  "  steptune bisect v1.0 HEAD -- python3 train.py\n"
                  "  steptune bisect HEAD~64 HEAD --build \"make -j4\" --time 1h -- ./train\n"
                  "Exit code: 0 found, 10 not slower, 12 undecided.");
  command->add_option("GOOD", options->good, "Revision that was fast")->required();
  command->add_option("BAD", options->bad, "Later revision that is slow")->required();
  command->add_option("COMMAND", options->command, "The training command, after --")
      ->option_text("-- COMMAND")
      ->required();
  command
      ->add_option("--build", options->build,
                   "Shell command that builds the program in each version's tree; a version that "
                   "it cannot build is skipped [default: none]")
      ->option_text("COMMAND")
      ->check(not_empty());
  command->add_option("--time", options->time, "Longest time, such as 10m or 1h30m [default: 30m]")
      ->option_text("DURATION")
      ->check(not_empty());
  command
      ->add_option("--stdin", options->input,
                   "File that each run reads as its standard input [default: none]")
      ->option_text("FILE");
  command->add_flag("--quiet", options->quiet, "Show no progress, warnings only");
  add_json_option(*command, context);
  command->callback([&context, options] {
    context.action = [&context, options] { return Bisecting(context, *options).run(); };
  });
}

}  // namespace steptune
