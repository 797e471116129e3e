// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/python_source.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/text.hpp"
#include "tuner/init/command_line.hpp"
#include "tuner/init/help_text.hpp"
#include "tuner/init/program_option.hpp"
#include "tuner/init/python_text.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

/// Splits the arguments of a call at commas. `text` starts after the opening parenthesis.
std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> arguments{""};
  int depth = 0;
  text = text.substr(0, 2 * k_most_line_bytes);  // long help is written over several lines
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (const std::size_t length = string_length(text.substr(i))) {
      arguments.back() += text.substr(i, length);
      i += length - 1;
    } else if (letter == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (letter == ')' && depth == 0) {
      return arguments;
    } else if (letter == ',' && depth == 0) {
      arguments.emplace_back();
    } else {
      depth += (letter == '(' || letter == '[' || letter == '{') ? 1 : 0;
      depth -= (letter == ')' || letter == ']' || letter == '}') ? 1 : 0;
      if (letter != '\n') arguments.back() += letter;
    }
  }
  return {};
}

void read_keyword(const std::string& key, const std::string& value, ProgramOption& option) {
  if (key == "default") {
    const auto literal = literal_of(value);
    if (!literal) return;
    option.default_value = literal->text;
    if (option.kind == OptionKind::unknown) option.kind = literal->kind;
  } else if (key == "type") {
    const std::string type = trimmed(value);
    if (type == "int") option.kind = OptionKind::integer;
    if (type == "float") option.kind = OptionKind::number;
    if (type == "str") option.kind = OptionKind::text;
    if (type.find("bool") != std::string::npos) option.kind = OptionKind::boolean;
    if (type == "bool") option.form = OptionForm::any_text;
  } else if (key == "action" || key == "is_flag") {
    if (value.find("store_true") != std::string::npos || value.find("True") != std::string::npos) {
      option.form = OptionForm::flag;
      if (!option.default_value) option.default_value = "false";
    }
    if (value.find("BooleanOptionalAction") != std::string::npos) {
      option.form = OptionForm::flag;
      option.negation = "--no-" + option.name.substr(std::min<std::size_t>(2, option.name.size()));
    }
  } else if (key == "choices") {
    const std::string list = trimmed(value);
    if (list.size() < 2 || (list[0] != '[' && list[0] != '(')) return;
    for (const std::string& element : arguments_of(list.substr(1, list.size() - 2) + ")")) {
      if (const auto literal = literal_of(element)) option.choices.push_back(literal->text);
    }
  }
}

ProgramOption option_of_call(const std::string& function,
                             const std::vector<std::string>& arguments) {
  static const RE2 k_keyword(R"(^\s*([A-Za-z_]+)\s*=([^=](?s:.*))$)");
  const bool is_absl = function.starts_with("DEFINE_");
  ProgramOption option;
  option.form = is_absl ? OptionForm::joined : OptionForm::separate;
  if (function == "DEFINE_integer") option.kind = OptionKind::integer;
  if (function == "DEFINE_float") option.kind = OptionKind::number;
  if (function == "DEFINE_bool" || function == "DEFINE_boolean") option.kind = OptionKind::boolean;
  std::vector<std::pair<std::string, std::string>> keywords;
  std::size_t position = 0;
  for (const std::string& argument : arguments) {
    std::string key;
    std::string value;
    if (RE2::FullMatch(argument, k_keyword, &key, &value)) {
      keywords.emplace_back(key, value);
      continue;
    }
    const auto literal = literal_of(argument);
    if (is_absl && position == 0 && literal) {
      option.name = "--" + literal->text;
      option.aliases.push_back("-" + literal->text);
    }
    if (is_absl && position == 1) keywords.emplace_back("default", argument);
    if (!is_absl && literal && literal->text.starts_with('-')) {
      // click declares an option and its negation together: "--amp/--no-amp".
      const std::size_t slash = literal->text.find('/');
      if (slash != std::string::npos) option.negation = literal->text.substr(slash + 1);
      add_name(literal->text.substr(0, slash), option);
    }
    ++position;
  }
  for (const auto& [key, value] : keywords)
    read_keyword(key, value, option);
  // With `type=bool`, argparse calls bool(), for which any text is true. Other libraries, such as
  // click, parse the word.
  const bool calls_type = function == "add_argument";
  if (!calls_type && option.form == OptionForm::any_text) option.form = OptionForm::separate;
  return option;
}

/// True if the code does more than assign values. It is then no file of settings, but a script, a
/// model or a data set.
bool is_program(const std::string& code) {
  static const RE2 k_statement(
      R"((?m)^(?:(?:async\s+)?(?:def|for|with)|class|while|if\s+__name__)\b)");
  return RE2::PartialMatch(code, k_statement);
}

/// Returns the options whose values the script overwrites: `epochs` for `args.epochs = 1`.
std::set<std::string> assigned_arguments(const std::string& code) {
  static const RE2 k_parsed(
      R"(\b([A-Za-z_]\w*)\s*(?:,\s*\w+\s*)?=\s*[\w.]*parse_(?:known_)?args\()");
  static const RE2 k_assigned(R"((?m)^[ \t]*([A-Za-z_]\w*)\.([A-Za-z_]\w*)[ \t]*[-+*/]*=[^=])");
  std::set<std::string> parsed{"FLAGS"};
  std::string object;
  std::string name;
  for (re2::StringPiece rest(code); RE2::FindAndConsume(&rest, k_parsed, &object);)
    parsed.insert(object);
  // Usual names of the parsed arguments in functions that receive them.
  parsed.insert({"args", "opt"});
  std::set<std::string> assigned;
  for (re2::StringPiece rest(code); RE2::FindAndConsume(&rest, k_assigned, &object, &name);) {
    if (parsed.contains(object)) assigned.insert(plain_name(name));
  }
  return assigned;
}

}  // namespace

std::optional<std::filesystem::path> python_script_of(const std::vector<std::string>& argv,
                                                      const std::filesystem::path& folder) {
  if (argv.empty()) return std::nullopt;
  const std::size_t at = program_words(argv).begin - 1;
  std::filesystem::path file;
  if (argv[at].ends_with(".py")) {
    file = folder / argv[at];
  } else if (at > 0 && argv[at - 1] == "-m") {
    std::string module = argv[at];
    std::ranges::replace(module, '.', '/');
    file = folder / (module + ".py");
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
  return file;
}

std::vector<ProgramOption> options_of_source(std::string_view source,
                                             const std::string& file_name) {
  static const RE2 k_call(R"(\b(add_argument|option|DEFINE_[a-z]+)\s*\()");
  const std::string code = code_of(source.substr(0, k_most_text_bytes));
  std::vector<ProgramOption> options;
  if (code.find("configurator.py") != std::string::npos) {
    options = assignments_in(code, Repeated::first);
  }
  re2::StringPiece rest(code);
  std::string function;
  std::size_t found = 0;
  while (found++ < k_most_options && RE2::FindAndConsume(&rest, k_call, &function)) {
    ProgramOption option = option_of_call(function, arguments_of({rest.data(), rest.size()}));
    if (option.name.starts_with('-')) options.push_back(std::move(option));
  }
  const std::set<std::string> assigned = assigned_arguments(code);
  // Like click, jsonargparse parses the word.
  const bool parses_booleans = code.find("jsonargparse") != std::string::npos;
  for (ProgramOption& option : options) {
    if (parses_booleans && option.form == OptionForm::any_text) option.form = OptionForm::separate;
    option.default_from = file_name;
    option.is_assigned = assigned.contains(plain_name(option.name));
  }
  return options;
}

std::vector<ProgramOption> settings_of_source(std::string_view source,
                                              const std::string& file_name) {
  const std::string code = code_of(source.substr(0, k_most_text_bytes));
  std::vector<ProgramOption> settings;
  if (is_program(code)) return settings;
  for (ProgramOption& option : assignments_in(code, Repeated::last)) {
    if (option.default_value) settings.push_back(as_setting(std::move(option), file_name));
  }
  return settings;
}

}  // namespace steptune
