// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/init/output_look.hpp"
#include "tuner/report/campaign_ladder.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/leaderboard_columns.hpp"
#include "tuner/report/leaderboard_source.hpp"
#include "tuner/study/counting_parameter.hpp"
#include "tuner/verdict/standing.hpp"

namespace steptune {
namespace {

/// Returns candidates without descriptions.
std::vector<Candidate> candidates_of(const std::vector<std::string>& names) {
  std::vector<Candidate> candidates;
  for (const std::string& name : names)
    candidates.push_back({name, ""});
  return candidates;
}

/// Names in a history; empty if it cannot be read, because completion must not print errors.
class StoredNames {
 public:
  explicit StoredNames(const std::filesystem::path& database) {
    if (auto history = History::open_for_reading(database)) history_.emplace(*std::move(history));
  }

  [[nodiscard]] std::vector<Candidate> studies() const {
    std::vector<Candidate> names;
    if (!history_) return names;
    for (const StudyRecord& study : history_->studies().value_or(std::vector<StudyRecord>{}))
      names.push_back({study.name, to_text(study.status)});
    return names;
  }

  [[nodiscard]] std::vector<Candidate> campaigns() const {
    if (!history_) return {};
    return candidates_of(campaign_names(*history_).value_or(std::vector<std::string>{}));
  }

  /// Returns the trials of a study as candidates. If `study` is empty, uses the latest study.
  [[nodiscard]] std::vector<Candidate> trials(const std::string& study) && {
    std::vector<Candidate> names;
    const auto board = std::move(*this).board(study);
    if (!board) return names;
    const auto order = parameter_order(board->study.document);
    for (const LeaderboardRow& row : board->rows) {
      names.push_back({std::to_string(row.trial.number),
                       elide_middle(configuration_text(row.trial.configuration, order), 60)});
    }
    return names;
  }

  [[nodiscard]] std::vector<Candidate> columns(const std::string& study) && {
    std::vector<Candidate> names;
    const auto board = std::move(*this).board(study);
    if (!board) return names;
    for (const LeaderboardColumn& column :
         leaderboard_columns(*board, parameter_order(board->study.document)))
      names.push_back({column.name, printable_line(column.title)});
    return names;
  }

  [[nodiscard]] std::vector<Candidate> objectives(const std::string& study) const {
    std::vector<Candidate> names;
    const auto record = record_of(study);
    if (!record) return names;
    for (const ObjectiveView& view : objective_views(record->document))
      names.push_back({view.objective.metric, printable_line(view.title())});
    return names;
  }

  [[nodiscard]] std::vector<Candidate> parameters(const std::string& study) const {
    const auto record = record_of(study);
    if (!record) return {};
    return candidates_of(parameter_order(record->document));
  }

  [[nodiscard]] std::vector<Candidate> numeric_parameters(const std::string& study) const {
    std::vector<Candidate> names;
    const auto record = record_of(study);
    if (!record) return names;
    const auto spec = stored_spec(*record);
    if (!spec) return names;
    for (const Parameter& parameter : spec->space.parameters()) {
      if (is_numeric(parameter)) names.push_back({parameter.name, ""});
    }
    return names;
  }

 private:
  [[nodiscard]] std::optional<StudyRecord> record_of(const std::string& study) const {
    if (!history_) return std::nullopt;
    auto record = history_->study(study);
    if (!record) return std::nullopt;
    return *std::move(record);
  }

  [[nodiscard]] std::optional<Leaderboard> board(const std::string& study) && {
    auto record = record_of(study);
    if (!record) return std::nullopt;
    const StoredStudy stored = stored_study(*std::move(history_), *std::move(record));
    LeaderboardQuery query;
    query.limit = k_leading_trials;
    auto board = read_leaderboard(stored, query);
    if (!board) return std::nullopt;
    return *std::move(board);
  }

  std::optional<History> history_;
};

const CLI::App* command_called(const CLI::App& program, const std::string& name) {
  const auto commands = program.get_subcommands(
      [&](const CLI::App* each) { return !each->get_group().empty() && each->get_name() == name; });
  return commands.empty() ? nullptr : commands.front();
}

std::vector<Candidate> commands_of(const CLI::App& program) {
  std::vector<Candidate> commands;
  for (const CLI::App* command :
       program.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    commands.push_back({command->get_name(), command->get_description()});
  return commands;
}

std::vector<Candidate> options_of(const CLI::App& app) {
  std::vector<Candidate> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames())
      options.push_back({"--" + name, option->get_description()});
  }
  return options;
}

/// Returns the choices of `CLI::IsMember`, which CLI11 shows in the type:
/// `TEXT:{auto,always,never}`.
std::vector<Candidate> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}', begin);
  std::vector<Candidate> choices;
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::string choice;
  for (const char c : type.substr(begin + 1, end - begin - 1) + ",") {
    if (c != ',') {
      choice += c;
    } else {
      choices.push_back({std::exchange(choice, {}), ""});
    }
  }
  return choices;
}

/// The words in front of the word to complete, parsed.
struct Typed {
  std::vector<std::string> positional;
  std::string db;
  std::string study;                     ///< value of `--study`
  const CLI::Option* pending = nullptr;  ///< the option whose value comes next
};

Typed take_apart(const CLI::App& command, const std::vector<std::string>& words) {
  Typed typed;
  bool may_end = false;  // the pending option has a value and may get more
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool is_option = words[i].starts_with("-");
    if (may_end && is_option) typed.pending = nullptr;
    if (i + 1 == words.size()) break;
    if (typed.pending != nullptr) {
      if (typed.pending->check_lname("db")) typed.db = words[i];
      if (typed.pending->check_lname("study")) typed.study = words[i];
      // Only `--trial` is expected to get more values. Other options that allow several values are
      // usually given one, followed by an argument.
      may_end = typed.pending->check_lname("trial") && typed.pending->get_allow_extra_args();
      if (!may_end) typed.pending = nullptr;
    } else if (is_option) {
      may_end = false;
      const CLI::Option* option = command.get_option_no_throw(words[i]);
      if (option != nullptr && option->get_items_expected_max() > 0) typed.pending = option;
    } else {
      typed.positional.push_back(words[i]);
    }
  }
  return typed;
}

std::vector<Candidate> behind(std::string_view head, std::vector<Candidate> candidates) {
  for (Candidate& candidate : candidates)
    candidate.word.insert(0, head);
  return candidates;
}

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

bool ends_in_quoted_text(std::string_view expression) {
  char open = '\0';
  for (const char c : expression) {
    if (open == '\0' && (c == '\'' || c == '"')) {
      open = c;
    } else if (c == open) {
      open = '\0';
    }
  }
  return open != '\0';
}

/// Completes the last name of an expression; `columns` are the names that may occur in the
/// expression.
std::vector<Candidate> expressions(std::string_view typed, std::vector<Candidate> columns) {
  if (ends_in_quoted_text(typed)) return {};
  std::erase_if(columns, [](const Candidate& column) {
    return !std::ranges::all_of(column.word, is_of_name);
  });
  const auto name = std::find_if_not(typed.rbegin(), typed.rend(), is_of_name);
  return behind(std::string_view(typed.begin(), name.base()), std::move(columns));
}

std::vector<Candidate> values_of_option(const CLI::App& command, const CLI::Option& option,
                                        const std::string& study, const std::string& word,
                                        StoredNames names) {
  if (option.check_lname("trial")) return std::move(names).trials(study);
  if (option.check_lname("sort")) return std::move(names).columns(study);
  if (option.check_lname("columns")) {
    // Complete the last name of a list.
    return behind(word.substr(0, word.rfind(',') + 1), std::move(names).columns(study));
  }
  if (option.check_lname("where")) return expressions(word, std::move(names).columns(study));
  if (option.check_lname("objective")) return names.objectives(study);
  if (option.check_lname("over")) return names.numeric_parameters(study);
  if (option.check_lname("map")) {
    std::vector<Candidate> parameters = names.parameters(study);
    for (Candidate& parameter : parameters)
      parameter.word += '=';
    return parameters;
  }
  if (option.check_lname("as")) return candidates_of(preset_names_of(output_formats()));
  // `import` has a `--from` and a `--study` with other meanings, so check the command.
  if (option.check_lname("from") && command.get_name() == "retune") return names.studies();
  if (option.check_lname("study") && command.get_name() == "judge") return names.studies();
  if (option.check_lname("campaign")) return names.campaigns();
  return choices_of(option);
}

std::vector<Candidate> positional_of(const CLI::App& command, const Typed& typed,
                                     StoredNames names) {
  std::vector<const CLI::Option*> positionals =
      command.get_options([](const CLI::Option* option) { return option->get_positional(); });
  if (positionals.empty()) return {};
  const std::string name = positionals.front()->get_name(/*positional=*/true);
  // The argument of these commands is a file, and shells complete file names themselves.
  static constexpr std::array k_of_files{"run", "check", "rehearse"};
  if (std::ranges::find(k_of_files, command.get_name()) != k_of_files.end()) return {};
  const bool takes_trials = name.starts_with("TRIAL");
  if (command.get_name() == "campaign") {
    return typed.positional.empty() ? names.campaigns() : std::vector<Candidate>{};
  }
  if (name != "STUDY" && !takes_trials) return choices_of(*positionals.front());
  if (typed.positional.empty()) {
    std::vector<Candidate> candidates = names.studies();
    if (takes_trials) {
      const auto trials = std::move(names).trials("");
      candidates.insert(candidates.end(), trials.begin(), trials.end());
    }
    return candidates;
  }
  if (!takes_trials) return {};
  const std::string& first = typed.positional.front();
  const bool is_number = first.find_first_not_of("0123456789") == std::string::npos;
  return std::move(names).trials(is_number ? "" : first);
}

/// Joins words that bash splits at equals signs: `--db=x` becomes two words, `workers=x` one.
std::vector<std::string> without_equals_signs(const std::vector<std::string>& typed) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const std::size_t equals = typed[i].starts_with("--") ? typed[i].find('=') : std::string::npos;
    if (equals != std::string::npos) {
      words.push_back(typed[i].substr(0, equals));
      words.push_back(typed[i].substr(equals + 1));
    } else if (typed[i] != "=") {
      words.push_back(typed[i]);
    } else if (words.empty() || words.back().starts_with("--")) {
      if (i + 1 == typed.size()) words.emplace_back();
    } else {
      words.back() += '=';
      if (i + 1 < typed.size()) words.back() += typed[++i];
    }
  }
  return words;
}

/// True if bash has split the last word at an equals sign that does not follow an option. Bash
/// inserts the choice after that sign, so candidates must not repeat the part before it.
bool is_split_value(const std::vector<std::string>& typed) {
  for (std::size_t i = typed.size(); i-- > 0 && i + 2 >= typed.size();) {
    if (typed[i] == "=") return i > 0 && !typed[i - 1].starts_with("--");
  }
  return false;
}

/// Removes the opening quote of a word that is still being quoted. Shells insert the choice after
/// the quote.
std::string without_opening_quote(std::string word) {
  if (word.starts_with('"') || word.starts_with('\'')) word.erase(0, 1);
  return word;
}

/// True if the candidate has characters that a shell cannot show, such as control characters.
bool is_shown_otherwise(const Candidate& candidate) {
  return printable_line(candidate.word, candidate.word.size()) != candidate.word;
}

std::vector<Candidate> all_candidates(const CLI::App& program,
                                      const std::vector<std::string>& words,
                                      const std::filesystem::path& database) {
  if (words.size() < 2) {
    return !words.empty() && words.back().starts_with("-") ? options_of(program)
                                                           : commands_of(program);
  }
  // Words after `--` belong to another program.
  if (std::find(words.begin(), words.end() - 1, "--") != words.end() - 1) return {};
  const CLI::App* command = command_called(program, words.front());
  if (command == nullptr) return {};
  const Typed typed = take_apart(*command, words);
  if (typed.pending == nullptr && words.back().starts_with("-")) return options_of(*command);
  if (typed.pending == nullptr && command->get_name() == "help") {
    return typed.positional.empty() ? commands_of(program) : std::vector<Candidate>{};
  }
  StoredNames names(typed.db.empty() ? database : std::filesystem::path(typed.db));
  std::string study = typed.study;
  if (study.empty() && !typed.positional.empty()) study = typed.positional.front();
  if (typed.pending != nullptr) {
    return values_of_option(*command, *typed.pending, study, words.back(), std::move(names));
  }
  return positional_of(*command, typed, std::move(names));
}

}  // namespace

std::vector<Candidate> completions(const CLI::App& program, const std::vector<std::string>& typed,
                                   const std::filesystem::path& database) {
  if (is_split_value(typed)) return {};
  std::vector<std::string> words = without_equals_signs(typed);
  if (!words.empty()) words.back() = without_opening_quote(std::move(words.back()));
  std::vector<Candidate> candidates = all_candidates(program, words, database);
  const std::string prefix = words.empty() ? std::string() : words.back();
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return !candidate.word.starts_with(prefix) || is_shown_otherwise(candidate);
  });
  const std::size_t equals =
      typed.empty() || !typed.back().starts_with("--") ? std::string::npos : typed.back().find('=');
  if (equals == std::string::npos) return candidates;
  // The shell has passed `--color=a` as one word, so its candidates must begin with `--color=`.
  for (Candidate& candidate : candidates)
    candidate.word.insert(0, typed.back().substr(0, equals + 1));
  return candidates;
}

}  // namespace steptune
