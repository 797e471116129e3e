// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/judge_request.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"
#include "tuner/cli/input_file.hpp"
#include "tuner/cli/run_options.hpp"
#include "tuner/cli/study_source.hpp"
#include "tuner/cli/whole_file.hpp"
#include "tuner/study/judge_defaults.hpp"

namespace steptune {
namespace {

Result<std::string> judge_name(const JudgeOptions& options) {
  const std::string& campaign = options.campaign;
  if (!campaign.empty() && !document::is_study_name(campaign)) {
    return fail(ErrorKind::usage,
                fmt::format("{} is not a campaign's name", printable_line(campaign, 80)),
                "--campaign", "give up to 64 letters, digits and _.-, but neither . nor - first");
  }
  std::string name = !options.name.empty() ? options.name : campaign.empty() ? "judge" : campaign;
  if (auto checked = check_study_name(name); !checked) return tl::unexpected(checked.error());
  return name;
}

Result<double> margin_share(const std::string& given) {
  if (given.empty()) return JudgeRequest().margin;
  const auto share = parse_share(given);
  if (share && *share > 0.0 && *share <= 0.5) return *share;
  return fail(ErrorKind::usage, fmt::format("{} is not a margin", printable_line(given, 40)),
              "--margin", "give more than 0 and at most 50 %, such as 2% or 0.02");
}

/// Returns `usage` for fewer than two versions or too many. `what` is the word for one version;
/// `hint` says how many the user may give.
Result<void> check_count(std::size_t count, const char* what, std::string hint) {
  if (count >= 2 && count <= k_most_judged) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} {}{} given", count, what, count == 1 ? " is" : "s are"), "",
              std::move(hint));
}

Result<void> check_trials(const JudgeOptions& options) {
  const bool is_alone = options.commands.empty() && options.revisions.empty() &&
                        options.variables.empty() && options.venvs.empty() &&
                        options.build.empty() && options.campaign.empty() && options.input.empty();
  if (options.study.empty() || options.trials.empty()) {
    return fail(ErrorKind::usage, "--study and --trial belong together", "",
                "for example: steptune judge --study resnet --trial 3 7");
  }
  if (!is_alone) {
    return fail(ErrorKind::usage, "trials run the study's own command", "--study",
                "leave out the command, --git, --build, --env, --venv, --campaign and --stdin");
  }
  return check_count(std::max<std::size_t>(2, options.trials.size()), "trial",
                     fmt::format("give 1 to {}", k_most_judged));
}

/// Returns the given commands. For `--env` and `--venv`, makes one command for each version from
/// the given command.
Result<std::vector<CommandWords>> judged_versions(const JudgeOptions& options,
                                                  const Environment& environment) {
  if (auto given = check_not_empty(options.commands); !given) return tl::unexpected(given.error());
  const bool has_revisions = !options.revisions.empty();
  const bool has_variables = !options.variables.empty();
  const bool has_venvs = !options.venvs.empty();
  const char* option = has_revisions ? "--git" : has_variables ? "--env" : "--venv";
  if (!has_revisions && !has_variables && !has_venvs) return options.commands;
  if ((has_revisions && has_variables) || (has_venvs && (has_revisions || has_variables))) {
    return fail(ErrorKind::usage, "only one of --git, --env and --venv can be compared", option,
                "leave the other ones out, or write several commands with --- between them");
  }
  if (options.commands.size() != 1 && !options.measures_gain) {
    return fail(ErrorKind::usage, fmt::format("with {}, one command runs in each version", option),
                option, "give one command after --");
  }
  if (has_revisions) return options.commands;
  const CommandWords& command = options.commands.front();
  return has_variables ? with_each_variable(command, options.variables)
                       : in_each_venv(command, options.venvs, environment);
}

Result<void> check_versions(const JudgeOptions& options, std::size_t commands) {
  const std::size_t revisions = options.revisions.size();
  auto counted =
      revisions > 0
          ? check_count(revisions, "revision", fmt::format("give 2 to {}", k_most_judged))
          : check_count(commands, "command",
                        fmt::format("give 2 to {}, with {} between them: steptune judge -- python3 "
                                    "a.py {} python3 b.py; or one with --git, --env or --venv",
                                    k_most_judged, k_next_command, k_next_command));
  if (!counted) return counted;
  if (!options.campaign.empty() && (revisions > 0 ? revisions : commands) != 2) {
    return fail(ErrorKind::usage, "a campaign judges one edit at a time", "--campaign",
                "give two versions: the champion, then the edit");
  }
  if (revisions > 0 || options.build.empty()) return {};
  return fail(ErrorKind::usage, "--build needs --git", "",
              "leave it out, and build before you judge");
}

}  // namespace

Result<CheckedJudgeOptions> checked_judge_options(const JudgeOptions& options,
                                                  const Environment& environment) {
  CheckedJudgeOptions checked;
  JudgeRequest& request = checked.request;
  auto name = judge_name(options);
  if (!name) return tl::unexpected(name.error());
  request.name = *std::move(name);
  request.input = options.input;
  request.compares_loss = options.compares_loss;
  if (auto may = check_input_file(options.input); !may) return tl::unexpected(may.error());
  const auto time_s = tuning_time_s(options.time);
  if (!time_s) return tl::unexpected(time_s.error());
  request.time_s = time_s->value_or(k_judge_time_s);
  const auto margin = margin_share(options.margin);
  if (!margin) return tl::unexpected(margin.error());
  request.margin = *margin;
  for (const std::string& text : options.fail_if) {
    auto condition = parse_fail_condition(text);
    if (!condition) return tl::unexpected(condition.error());
    request.slowdown = std::max(request.slowdown, condition->by);
    checked.conditions.push_back(*std::move(condition));
  }
  if (!options.report.empty()) {
    if (auto may = check_writable(options.report); !may) return tl::unexpected(may.error());
  }
  if (!options.study.empty() || !options.trials.empty()) {
    if (auto given = check_trials(options); !given) return tl::unexpected(given.error());
    return checked;
  }
  auto commands = judged_versions(options, environment);
  if (!commands) return tl::unexpected(commands.error());
  request.commands = *std::move(commands);
  if (auto fit = check_versions(options, request.commands.size()); !fit) {
    return tl::unexpected(fit.error());
  }
  return checked;
}

}  // namespace steptune
