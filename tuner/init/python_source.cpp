// SPDX-License-Identifier: Apache-2.0
#include "tuner/init/python_source.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/text.hpp"
#include "tuner/init/command_line.hpp"

namespace steptune {
namespace {

constexpr std::size_t k_max_source_bytes = std::size_t{1} << 20;
constexpr std::size_t k_max_call_bytes = 4000;
constexpr std::size_t k_max_declared = 2000;

/// Length of the string literal at the begin of `text`, 0 if there is none.
std::size_t string_length(std::string_view text) {
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) return 0;
  const std::string_view quote =
      text.substr(0, text.size() >= 3 && text[1] == text[0] && text[2] == text[0] ? 3 : 1);
  for (std::size_t i = quote.size(); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text.substr(i).starts_with(quote)) {
      return i + quote.size();
    }
  }
  return text.size();
}

/// The arguments of a call whose parenthesis has just been opened, cut at commas.
std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> arguments{""};
  int depth = 0;
  text = text.substr(0, k_max_call_bytes);
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

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

struct Literal {
  std::string text;
  OptionKind kind = OptionKind::unknown;
};

/// A number, string or truth value, or a product of whole numbers.
std::optional<Literal> literal_of(const std::string& expression) {
  static const RE2 k_product(R"((\d+)\s*\*\s*(\d+))");
  static const RE2 k_integer(R"([+-]?\d[\d_]*)");
  const std::string text = trimmed(expression);
  if (text == "True" || text == "False") return Literal{text, OptionKind::boolean};
  const std::size_t quoted = string_length(text);
  if (quoted >= 2 && quoted == text.size()) {
    return Literal{text.substr(1, quoted - 2), OptionKind::text};
  }
  std::int64_t left = 0;
  std::int64_t right = 0;
  if (RE2::FullMatch(text, k_product, &left, &right) && left < 1'000'000 && right < 1'000'000) {
    return Literal{fmt::format("{}", left * right), OptionKind::integer};
  }
  if (RE2::FullMatch(text, k_integer)) {
    std::string digits = text;
    std::erase(digits, '_');
    return Literal{digits, OptionKind::integer};
  }
  if (parse_finite(text)) return Literal{text, OptionKind::number};
  return std::nullopt;
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
      // click: "--amp/--no-amp".
      const std::size_t slash = literal->text.find('/');
      const std::string name = literal->text.substr(0, slash);
      if (slash != std::string::npos) option.negation = literal->text.substr(slash + 1);
      if (name.starts_with("--") && !option.name.starts_with("--")) {
        if (!option.name.empty()) option.aliases.push_back(option.name);
        option.name = name;
      } else if (option.name.empty()) {
        option.name = name;
      } else {
        option.aliases.push_back(name);
      }
    }
    ++position;
  }
  for (const auto& [key, value] : keywords)
    read_keyword(key, value, option);
  // Others read the word, as click does; argparse calls bool(), to which any text is true.
  const bool calls_type = function == "add_argument";
  if (!calls_type && option.form == OptionForm::any_text) option.form = OptionForm::separate;
  return option;
}

/// Without comments, and without what stands in long strings: documentation, mostly. Lines stay.
std::string code_of(std::string_view source) {
  std::string code;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '#') {
      i = std::min(source.find('\n', i), source.size());
      if (i < source.size()) code += '\n';
    } else if (const std::size_t length = string_length(source.substr(i))) {
      const std::string_view text = source.substr(i, length);
      if (text.starts_with("\"\"\"") || text.starts_with("'''")) {
        code +=
            "\"\"" + std::string(static_cast<std::size_t>(std::ranges::count(text, '\n')), '\n');
      } else {
        code += text;
      }
      i += length - 1;
    } else {
      code += source[i];
    }
  }
  return code;
}

/// Which one counts of several assignments to a name: of a program the first, as its settings come
/// before what it does with them.
enum class Repeated { first, last };

std::vector<ProgramOption> top_level_assignments(std::string_view source, Repeated repeated) {
  static const RE2 k_assignment(R"((?m)^([A-Za-z][A-Za-z0-9_]*)\s*=\s*([^#\n]+?)\s*(?:#.*)?$)");
  std::vector<ProgramOption> options;
  re2::StringPiece rest(source.data(), source.size());
  std::string name;
  std::string value;
  while (options.size() < k_max_declared &&
         RE2::FindAndConsume(&rest, k_assignment, &name, &value)) {
    ProgramOption option;
    option.name = "--" + name;
    option.form = OptionForm::joined;
    option.python_truth = true;
    if (const auto literal = literal_of(value)) {
      option.default_value = literal->text;
      option.kind = literal->kind;
    }
    const auto same = std::ranges::find(options, option.name, &ProgramOption::name);
    if (same == options.end()) {
      options.push_back(std::move(option));
    } else if (repeated == Repeated::last) {
      *same = std::move(option);
    }
  }
  return options;
}

/// Whether it does more than to assign: another script that the command names, a model, a data set.
bool is_program(const std::string& code) {
  static const RE2 k_statement(
      R"((?m)^(?:(?:async\s+)?(?:def|for|with)|class|while|if\s+__name__)\b)");
  return RE2::PartialMatch(code, k_statement);
}

/// `max_iters` for `--max_iters`.
ProgramOption as_setting(ProgramOption option, const std::string& file_name) {
  option.name = option.name.substr(2);
  option.form = OptionForm::assignment;
  option.default_from = file_name;
  return option;
}

/// The name that `range` of these arguments counts to: of `N`, `first, N`, `1, N + 1` and
/// `first, first + N`.
std::string counted_to(const std::string& arguments) {
  static const RE2 k_bound(
      R"(\s*(?:([\w.]+)\s*,\s*)?(?:([\w.]+)\s*\+\s*)?([A-Za-z_]\w*)\s*(?:\+\s*1\s*)?)");
  std::string first;
  std::string added;
  std::string name;
  if (!RE2::FullMatch(arguments, k_bound, &first, &added, &name)) return "";
  return added == first || added.empty() ? name : "";
}

/// Names that loops count to which train and stand in no other loop: of an inner one nobody knows
/// how often it is run.
std::set<std::string> bounds_of_training(std::string_view code) {
  static const RE2 k_line(R"(([^\n]*)\n?)");
  static const RE2 k_header(R"(([ \t]*)(for\b|while\b|\S)?(?s:.*))");
  static const RE2 k_range(R"([ \t]*for\s+\w+\s+in\s+(?:[\w.]+\()?[\w.]*range\(([^()]*)\).*)");
  static const RE2 k_trains(
      R"((?i)backward\(|opt\w*\.step\(|scaler\.step\(|(?:^|[^.\w])\w*step\(|train|\bfit\()");
  struct Loop {
    std::size_t indent = 0;
    std::string bound;  ///< empty: none that counts
  };
  std::vector<Loop> loops;  // that the line is in, from the outermost on
  std::set<std::string> bounds;
  re2::StringPiece rest(code.data(), code.size());
  std::string line;
  while (!rest.empty() && RE2::Consume(&rest, k_line, &line)) {
    std::string blank;
    std::string word;
    if (!RE2::FullMatch(line, k_header, &blank, &word) || word.empty()) continue;
    while (!loops.empty() && loops.back().indent >= blank.size())
      loops.pop_back();
    if (!loops.empty() && !loops.front().bound.empty() && RE2::PartialMatch(line, k_trains)) {
      bounds.insert(loops.front().bound);
    }
    if (word != "for" && word != "while") continue;
    std::string arguments;
    const bool counts = loops.empty() && RE2::FullMatch(line, k_range, &arguments);
    loops.push_back({blank.size(), counts ? counted_to(arguments) : ""});
    if (counts && RE2::PartialMatch(line.substr(line.rfind(')')), k_trains))
      bounds.insert(loops.back().bound);
  }
  return bounds;
}

/// What is handed on under its own name (`train(epochs=epochs)`) is no other value.
bool is_assigned_once(std::string_view code, const std::string& name) {
  const RE2 assignment(
      fmt::format(R"(\b{}\s*(?:[-+*/%:&|^@]|//|\*\*|<<|>>)?=\s*([^=\s][^\s,)]*))", name));
  re2::StringPiece rest(code.data(), code.size());
  std::string value;
  std::size_t times = 0;
  while (RE2::FindAndConsume(&rest, assignment, &value))
    times += value == name ? 0U : 1U;
  return times == 1;
}

/// Names of parsed arguments that are assigned to: `epochs` of `args.epochs = 1`.
std::set<std::string> assigned_arguments(const std::string& code) {
  static const RE2 k_parsed(
      R"(\b([A-Za-z_]\w*)\s*(?:,\s*\w+\s*)?=\s*[\w.]*parse_(?:known_)?args\()");
  static const RE2 k_assigned(R"((?m)^[ \t]*([A-Za-z_]\w*)\.([A-Za-z_]\w*)[ \t]*[-+*/]*=[^=])");
  std::set<std::string> parsed{"FLAGS"};
  std::string object;
  std::string name;
  for (re2::StringPiece rest(code); RE2::FindAndConsume(&rest, k_parsed, &object);)
    parsed.insert(object);
  // Functions are handed them under the usual names.
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
  const std::string code = code_of(source.substr(0, k_max_source_bytes));
  std::vector<ProgramOption> options;
  if (code.find("configurator.py") != std::string::npos) {
    options = top_level_assignments(code, Repeated::first);
  }
  re2::StringPiece rest(code);
  std::string function;
  std::size_t found = 0;
  while (found++ < k_max_declared && RE2::FindAndConsume(&rest, k_call, &function)) {
    ProgramOption option = option_of_call(function, arguments_of({rest.data(), rest.size()}));
    if (option.name.starts_with('-')) options.push_back(std::move(option));
  }
  const std::set<std::string> assigned = assigned_arguments(code);
  const bool reads_truth = code.find("jsonargparse") != std::string::npos;
  for (ProgramOption& option : options) {
    if (reads_truth && option.form == OptionForm::any_text) option.form = OptionForm::separate;
    option.default_from = file_name;
    option.is_assigned = assigned.contains(plain_name(option.name));
  }
  return options;
}

std::vector<ProgramOption> settings_of_source(std::string_view source,
                                              const std::string& file_name) {
  const std::string code = code_of(source.substr(0, k_max_source_bytes));
  std::vector<ProgramOption> settings;
  if (is_program(code)) return settings;
  for (ProgramOption& option : top_level_assignments(code, Repeated::last)) {
    if (option.default_value) settings.push_back(as_setting(std::move(option), file_name));
  }
  return settings;
}

std::vector<ProgramOption> loop_bounds_of(std::string_view source, const std::string& file_name) {
  const std::string code = code_of(source.substr(0, k_max_source_bytes));
  const std::set<std::string> bounds = bounds_of_training(code);
  std::vector<ProgramOption> counted;
  for (ProgramOption& option : top_level_assignments(code, Repeated::first)) {
    const std::string name = option.name.substr(2);
    if (!option.default_value || option.kind == OptionKind::text || !bounds.contains(name) ||
        !is_assigned_once(code, name)) {
      continue;
    }
    counted.push_back(as_setting(std::move(option), file_name));
  }
  return counted;
}

}  // namespace steptune
