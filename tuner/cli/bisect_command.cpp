// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/json.hpp"
#include "common/sha256.hpp"
#include "common/short_hash.hpp"
#include "common/text.hpp"
#include "tuner/cli/bisected_versions.hpp"
#include "tuner/cli/command.hpp"
#include "tuner/cli/git_worktrees.hpp"
#include "tuner/cli/input_file.hpp"
#include "tuner/cli/judging.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/init/judge_study.hpp"
#include "tuner/report/bisection.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/trial_json.hpp"
#include "tuner/study/judge_defaults.hpp"
#include "tuner/study/limits.hpp"
#include "tuner/verdict/change_point.hpp"

namespace steptune {
namespace {

namespace fs = std::filesystem;

struct BisectOptions {
  std::string good;
  std::string bad;
  std::vector<std::string> command;
  std::vector<std::string> package;  ///< a package's name, then versions; empty: compare commits
  std::string build;
  std::string time;
  std::string input;
  bool quiet = false;
};

/// Last stage of a bisection that was killed or interrupted.
struct UnfinishedStage {
  std::string study;
  std::vector<std::size_t> versions;
};

/// Carries out `bisect`. Each stage compares some versions with the good one. If the history has
/// earlier stages of the same command, the bisection continues after them.
class Bisecting {
 public:
  Bisecting(CommandContext& context, const BisectOptions& options)
      : context_(context), options_(options), begin_s_(context.clock.now_s()) {}

  ExitCode run() {
    if (auto ready = prepare(); !ready) return context_.console.error(ready.error());
    while (!is_over()) {
      if (!good_) {
        auto good = versions_.make_ready(versions_.names.front());
        if (!good) return context_.console.error(good.error());
        good_.emplace(*std::move(good));
      }
      const ExitCode code = judge_stage(next_versions());
      if (code == ExitCode::interrupted || code == ExitCode::terminated) return code;
      if (has_failed_) return code == ExitCode::ok ? ExitCode::failure : code;
    }
    return report();
  }

 private:
  [[nodiscard]] double spent_s() const { return earlier_s_ + context_.clock.now_s() - begin_s_; }
  [[nodiscard]] double left_s() const { return result_.longest_s - spent_s(); }
  /// Returns the index of the bad version in `change_`. There, index 0 is the first version after
  /// the good one.
  [[nodiscard]] std::size_t bad_version() const { return versions_.names.size() - 2; }
  [[nodiscard]] const std::string& name_of(std::size_t version) const {
    return versions_.names[version + 1];
  }

  void say(const std::string& text) {
    if (!options_.quiet) context_.console.message(text);
  }

  Result<void> prepare() {
    if (auto separated = separate_command(); !separated) return separated;
    if (auto checked = check_input_file(options_.input); !checked) return checked;
    const auto time_s = tuning_time_s(options_.time);
    if (!time_s) return tl::unexpected(time_s.error());
    result_.longest_s = time_s->value_or(k_bisect_time_s);
    auto versions = options_.package.empty() ? commits() : packages();
    if (!versions) return tl::unexpected(versions.error());
    versions_ = *std::move(versions);
    name_ = "bisect-" + identity();
    result_.versions = versions_.names.size() - 1;
    change_.emplace(result_.versions);
    say(fmt::format("{} version{} after {}", result_.versions, result_.versions == 1 ? "" : "s",
                    printable_line(given_.front(), 80)));
    return read_earlier_stages();
  }

  /// Separates the versions from the command. With `--package`, CLI11 stores the command's first
  /// words as GOOD and BAD.
  Result<void> separate_command() {
    const bool is_package = !options_.package.empty();
    command_ = context_.after_separator;
    std::size_t command_words = options_.command.size();
    if (is_package) {
      command_words += (options_.good.empty() ? 0U : 1U) + (options_.bad.empty() ? 0U : 1U);
      result_.package = options_.package.front();
      given_.assign(options_.package.begin() + 1, options_.package.end());
    } else {
      given_ = {options_.good, options_.bad};
    }
    if (command_.empty() || command_words != command_.size()) {
      if (is_package) {
        return fail(ErrorKind::usage, "give --package without revisions, and the command after --",
                    "",
                    "for example: steptune bisect --package torch 2.4.0 2.5.0 -- python3 train.py");
      }
      return fail(ErrorKind::usage, "give two revisions, and the command after --", "",
                  "for example: steptune bisect v1.0 HEAD -- python3 train.py");
    }
    if (is_package && !options_.build.empty()) {
      return fail(ErrorKind::usage, "a package's versions are installed, not built", "--build",
                  "leave it out");
    }
    return {};
  }

  Result<BisectedVersions> commits() {
    auto trees = TreesFolder::take(context_.database(), "bisect");
    if (!trees) return tl::unexpected(trees.error());
    trees_.emplace(*std::move(trees));
    return commit_versions(given_[0], given_[1], command_, options_.build, trees_->path);
  }

  Result<BisectedVersions> packages() const {
    return package_versions({result_.package, given_, command_,
                             fs::absolute(context_.database()).parent_path(), options_.quiet},
                            context_.console.environment());
  }

  /// Returns a hash of everything that decides what the bisection measures.
  [[nodiscard]] std::string identity() const {
    const Json facts = {{"package", result_.package}, {"versions", versions_.names},
                        {"command", command_},        {"build", options_.build},
                        {"input", options_.input},    {"folder", fs::current_path().string()}};
    return short_hash(sha256_hex(dump_json(facts)));
  }

  /// Reads the results of the same command's earlier stages from the history. If the last stage is
  /// unfinished, sets `unfinished_`, so that the next stage continues it.
  Result<void> read_earlier_stages() {
    std::error_code error;
    if (!fs::exists(context_.database(), error)) return {};
    const auto history = History::open_for_reading(context_.database());
    if (!history) return tl::unexpected(history.error());
    const auto stages = read_bisect_stages(*history, name_);
    if (!stages) return tl::unexpected(stages.error());
    for (const BisectStage& stage : *stages) {
      earlier_s_ += stage.elapsed_s;
      const auto versions = versions_of(stage);
      if (!versions) continue;
      unfinished_ = std::nullopt;
      if (stage.is_finished) {
        if (stage.judged.first.verdict != CommandVerdict::failed)
          add_measurements(*versions, stage.judged);
      } else {
        unfinished_ = UnfinishedStage{stage.study, *versions};
      }
    }
    if (!stages->empty())
      say(fmt::format("continues an earlier bisection, which took {} so far",
                      format_duration(earlier_s_)));
    return {};
  }

  /// Returns the versions that a stage compared with the good one; nullopt if the stage ran other
  /// commands.
  [[nodiscard]] std::optional<std::vector<std::size_t>> versions_of(
      const BisectStage& stage) const {
    std::vector<std::size_t> versions;
    for (const auto& command : stage.commands) {
      const auto same = std::ranges::find(versions_.names, command, versions_.command);
      if (same == versions_.names.end()) return std::nullopt;
      if (same != versions_.names.begin())
        versions.push_back(static_cast<std::size_t>(same - versions_.names.begin() - 1));
    }
    if (versions.size() + 1 != stage.commands.size()) return std::nullopt;
    return versions;
  }

  [[nodiscard]] bool bad_is_unusable() const {
    const auto& unusable = result_.unusable;
    return std::ranges::find(unusable, versions_.names.back()) != unusable.end();
  }

  [[nodiscard]] bool is_over() const {
    if (result_.outcome == BisectionOutcome::not_slower || starts_too_slowly_) return true;
    if (bad_is_unusable() && !bad_is_slower_) return true;
    if (bad_is_slower_ &&
        (change_->found(k_bisect_confidence) || !change_->can_narrow(k_bisect_confidence)))
      return true;
    return left_s() < k_least_stage_s || next_versions().empty();
  }

  /// Returns the versions of the next stage. Until the bad version is known to be slower, each
  /// stage includes it.
  [[nodiscard]] std::vector<std::size_t> next_versions() const {
    if (unfinished_) return unfinished_->versions;
    // The good version is judged, too.
    const std::size_t most = k_most_judged - 1;
    return bad_is_slower_ ? change_->next(most) : change_->next_with_bad(most);
  }

  ExitCode judge_stage(const std::vector<std::size_t>& versions) {
    has_failed_ = true;
    std::vector<ReadyVersion> ready;
    std::vector<std::size_t> compared;
    for (const std::size_t version : versions) {
      auto made = versions_.make_ready(name_of(version));
      if (!made) {
        if (version == bad_version()) return context_.console.error(made.error());
        skip(version, made.error().message);
        continue;
      }
      ready.push_back(*std::move(made));
      compared.push_back(version);
    }
    const std::string continued = unfinished_ ? unfinished_->study : "";
    unfinished_.reset();
    // Building the versions may have used up the time.
    if (compared.empty() || left_s() < k_least_stage_s) {
      has_failed_ = false;
      return ExitCode::ok;
    }
    JudgeOptions judge;
    judge.name = name_;
    judge.continued = continued;
    judge.time =
        fmt::format("{:.0f}s", change_->stage_s(k_bisect_confidence, left_s(), result_.longest_s));
    judge.input = options_.input;
    judge.quiet = options_.quiet;
    judge.commands = {versions_.command(versions_.names.front())};
    for (const std::size_t version : compared)
      judge.commands.push_back(versions_.command(name_of(version)));
    judge.take_verdicts = [&](const JudgedCommands& judged) {
      has_failed_ = judged.first.verdict == CommandVerdict::failed;
      if (has_failed_) {
        context_.console.message(judged_text(judged));
        return;
      }
      starts_too_slowly_ = judged.first.slow_start_s.has_value();
      add_measurements(compared, judged);
      // Skip failed versions until this call of `bisect` ends. A later call tries them again.
      for (std::size_t i = 0; i < compared.size(); ++i) {
        const JudgedCommand& command = judged.others[i];
        if (command.verdict == CommandVerdict::failed || command.slow_start_s)
          skip(compared[i], command.why);
      }
    };
    return judge_commands(context_, judge);
  }

  void skip(std::size_t version, const std::string& why) {
    change_->skip(version);
    const std::string& name = name_of(version);
    say(fmt::format("skipped {}: {}", version_text(result_, name), printable_line(why, 500)));
    if (std::ranges::find(result_.unusable, name) == result_.unusable.end())
      result_.unusable.push_back(name);
  }

  void add_measurements(const std::vector<std::size_t>& versions, const JudgedCommands& judged) {
    std::vector<ChangePoint::Observation> stage;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const JudgedCommand& command = judged.others[i];
      const SpeedUp& speed_up = command.speed_up;
      const auto measured = slowdown_in_stage(speed_up);
      if (!measured) continue;
      stage.push_back({versions[i], measured->value, measured->error});
      measured_.insert(versions[i]);
      say(fmt::format("{}: {} ({:.2f} times as fast)", version_text(result_, name_of(versions[i])),
                      to_text(*command.verdict), speed_up.ratio));
    }
    change_->observe(std::move(stage));
    judge_bad();
  }

  /// Decides from all measurements so far if the bad version is slower than the good one.
  void judge_bad() {
    const auto bad = change_->measured(bad_version());
    if (!bad || bad_is_slower_) return;
    const auto slower = is_slower(*bad);
    bad_is_slower_ = slower.value_or(false);
    if (slower && !*slower) result_.outcome = BisectionOutcome::not_slower;
  }

  ExitCode report() {
    result_.spent_s = spent_s();
    result_.bad_is_slower = bad_is_slower_;
    result_.bad_is_unusable = bad_is_unusable();
    result_.measured = measured_.size();
    const std::vector<double> probability = change_->probabilities();
    const bool is_slower = result_.outcome != BisectionOutcome::not_slower;
    const auto found = change_->found(k_bisect_confidence);
    if (is_slower && bad_is_slower_ && found) result_.outcome = BisectionOutcome::found;
    const auto remaining =
        is_slower ? change_->remaining(k_bisect_confidence) : std::vector<std::size_t>();
    for (const std::size_t version : remaining) {
      const std::string& name = name_of(version);
      result_.suspects.push_back({name, versions_.subject(name), probability[version]});
    }
    if (!remaining.empty()) result_.before = versions_.names[remaining.front()];
    const auto slowdown = change_->slowdown_from(found.value_or(bad_version()));
    if (is_slower && slowdown) result_.ratio = std::exp(-*slowdown);
    context_.print(
        [&] {
          return document_json({{"bisect", json_of(result_)}});
        },
        [&] { return bisection_text(result_); });
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
  double earlier_s_ = 0.0;          ///< time of the stages in the history
  std::vector<std::string> given_;  ///< versions as given on the command line
  std::vector<std::string> command_;
  std::optional<TreesFolder> trees_;
  BisectedVersions versions_;
  std::string name_;  ///< name of the first stage's study; later stages add a number
  std::optional<ReadyVersion> good_;
  std::optional<ChangePoint> change_;
  std::set<std::size_t> measured_;
  std::optional<UnfinishedStage> unfinished_;
  bool has_failed_ = false;  ///< the latest stage could compare nothing because of an error
  /// True if the good version reported no progress in its share of the latest stage's time.
  bool starts_too_slowly_ = false;
  bool bad_is_slower_ = false;  ///< the measurements so far show that the bad version is slower
  Bisection result_;
};

}  // namespace

void add_bisect_command(CLI::App& program, CommandContext& context) {
  auto [command, options] = add_command<BisectOptions>(
      program, context, "bisect", "Find the commit that made a program slower",
      "  steptune bisect v1.0 HEAD -- python3 train.py\n"
      "  steptune bisect HEAD~64 HEAD --build \"make -j4\" --time 1h -- ./train\n"
      "  steptune bisect --package torch 2.4.0 2.5.0 2.6.0 -- python3 train.py\n"
      "The same command continues a bisection that has ended early.\n"
      "Exit code: 0 found, 10 not slower, 12 undecided.",
      [](CommandContext& within, const BisectOptions& given) {
        return Bisecting(within, given).run();
      });
  command->add_option("GOOD", options->good, "Revision that was fast")->option_text("GOOD");
  command->add_option("BAD", options->bad, "Later revision that is slow")->option_text("BAD");
  command->add_option("COMMAND", options->command, "The training command, after --")
      ->option_text("-- COMMAND");
  add_value_option(*command, "--package", options->package, "NAME VERSION...",
                   "Instead of revisions, compare versions of this Python package, the fast one "
                   "first, each in a virtual environment; a version between the first and the last "
                   "that pip cannot install is skipped [default: off]");
  add_value_option(*command, "--build", options->build, "COMMAND",
                   "Shell command that builds the program in each version's tree; a version "
                   "between GOOD and BAD that it cannot build is skipped [default: none]");
  add_value_option(*command, "--time", options->time, "DURATION",
                   "Longest time, such as 10m or 1h30m [default: 30m]");
  add_value_option(*command, "--stdin", options->input, "FILE",
                   "File that each run reads as its standard input [default: none]");
  command->add_flag("--quiet", options->quiet, "Show no progress, warnings only");
  add_json_option(*command, context);
}

}  // namespace steptune
