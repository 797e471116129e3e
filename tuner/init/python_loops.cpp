// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <re2/re2.h>

#include "trial_runner/reports/preset.hpp"
#include "tuner/init/program_option.hpp"
#include "tuner/init/python_source.hpp"
#include "tuner/init/python_text.hpp"
#include "tuner/study/limits.hpp"

namespace steptune {
namespace {

/// The number to which a loop counts: a variable's name, or a literal number.
struct Bound {
  std::string name;
  std::string range;  ///< `range(3)`; only for a number
  std::int64_t count = 0;
  std::optional<CountUnit> unit;  ///< epochs or steps

  bool operator==(const Bound&) const = default;
};

/// Returns the bound of a `range` with these arguments: `N`, `first, N`, `1, N + 1` or `first,
/// first + N`.
std::optional<Bound> counted_to(const std::string& arguments) {
  static const RE2 k_name(
      R"(\s*(?:([\w.]+)\s*,\s*)?(?:([\w.]+)\s*\+\s*)?([A-Za-z_]\w*)\s*(?:\+\s*1\s*)?)");
  static const RE2 k_number(R"(\s*(?:([\w.]+)\s*,\s*)?(?:([\w.]+)\s*\+\s*)?(\d\w*)\s*)");
  std::string first;
  std::string added;
  std::string end;
  const bool is_name = RE2::FullMatch(arguments, k_name, &first, &added, &end);
  if (!is_name && !RE2::FullMatch(arguments, k_number, &first, &added, &end)) return std::nullopt;
  if (added != first && !added.empty()) return std::nullopt;
  Bound bound;
  if (is_name) {
    bound.name = end;
    return bound;
  }
  const auto number = literal_of(end);
  if (!number || number->kind != OptionKind::integer) return std::nullopt;
  bound.count = std::stoll(number->text.substr(0, 15));
  const auto begin = added.empty() ? literal_of(first) : std::nullopt;
  if (begin && begin->kind == OptionKind::integer) {
    bound.count -= std::stoll(begin->text.substr(0, 15));
  }
  bound.range = fmt::format("range({})", trimmed(arguments));
  return bound;
}

/// Guesses from a loop variable's name whether the loop counts epochs or steps.
std::optional<CountUnit> unit_of_name(const std::string& variable) {
  static const RE2 k_epoch("(?i).*epoch.*|ep|e");
  static const RE2 k_step("(?i).*(?:step|iter|update|batch).*|it");
  if (RE2::FullMatch(variable, k_epoch)) return CountUnit::epochs;
  return RE2::FullMatch(variable, k_step) ? std::optional(CountUnit::steps) : std::nullopt;
}

/// Returns the bounds of outermost loops that train. Ignores inner loops, because it is unknown how
/// often they run. The loop's variable decides if a literal number counts epochs or steps. If the
/// variable says neither, the calls within the loop decide.
std::vector<Bound> bounds_of_training(std::string_view code) {
  static const RE2 k_line(R"(([^\n]*)\n?)");
  static const RE2 k_header(R"(([ \t]*)(for\b|while\b|\S)?(?s:.*))");
  static const RE2 k_range(R"([ \t]*for\s+(\w+)\s+in\s+(?:[\w.]+\()?[\w.]*range\(([^()]*)\).*)");
  static const RE2 k_steps(R"((?i)backward\(|opt\w*\.step\(|scaler\.step\()");
  static const RE2 k_trains(
      R"((?i)backward\(|opt\w*\.step\(|scaler\.step\(|(?:^|[^.\w])\w*step\(|train|\bfit\()");
  struct Loop {
    std::size_t indent = 0;
    std::optional<Bound> bound;  ///< nullopt: the loop does not count epochs or steps
    bool is_range = false;
  };
  std::vector<Loop> loops;  // loops around the line, outermost first
  std::vector<Bound> bounds;
  const auto found = [&](const std::string& text) {
    Bound bound = *loops.front().bound;
    // An inner loop over a fixed number of steps is no pass over the data.
    const bool counts_within =
        std::any_of(loops.begin() + 1, loops.end(), [](const Loop& loop) { return loop.is_range; });
    if (bound.name.empty() && counts_within) return;
    if (!bound.unit && RE2::PartialMatch(text, k_steps)) {
      bound.unit = loops.size() > 1 ? CountUnit::epochs : CountUnit::steps;
    }
    const bool is_clear = !bound.name.empty() || bound.unit;
    if (is_clear && std::ranges::find(bounds, bound) == bounds.end()) bounds.push_back(bound);
  };
  re2::StringPiece rest(code.data(), code.size());
  std::string line;
  while (!rest.empty() && RE2::Consume(&rest, k_line, &line)) {
    std::string blank;
    std::string word;
    if (!RE2::FullMatch(line, k_header, &blank, &word) || word.empty()) continue;
    while (!loops.empty() && loops.back().indent >= blank.size())
      loops.pop_back();
    if (!loops.empty() && loops.front().bound && RE2::PartialMatch(line, k_trains)) found(line);
    if (word != "for" && word != "while") continue;
    std::string variable;
    std::string arguments;
    const bool is_range = RE2::FullMatch(line, k_range, &variable, &arguments);
    const bool counts = loops.empty() && is_range;
    loops.push_back({blank.size(), counts ? counted_to(arguments) : std::nullopt, is_range});
    if (!loops.back().bound) continue;
    if (loops.back().bound->name.empty()) loops.back().bound->unit = unit_of_name(variable);
    const std::string body = line.substr(std::min(line.find("):"), line.size()));
    if (counts && RE2::PartialMatch(body, k_trains)) found(body);
  }
  return bounds;
}

/// True if the code assigns a value to the name exactly once. Ignores arguments that are passed on
/// under their own names (`train(epochs=epochs)`).
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

}  // namespace

std::vector<ProgramOption> loop_bounds_of(std::string_view source, const std::string& file_name) {
  static const RE2 k_rounds(R"(\bnum_boost_round\s*=\s*(\w+))");
  const std::string code = code_of(source.substr(0, k_most_text_bytes));
  const std::vector<Bound> bounds = bounds_of_training(code);
  std::set<std::string> rounds;
  std::string value;
  for (re2::StringPiece rest(code); RE2::FindAndConsume(&rest, k_rounds, &value);)
    rounds.insert(value);
  const std::string round = rounds.size() == 1 ? *rounds.begin() : "";
  std::vector<ProgramOption> counted;
  const auto add = [&](const std::string& name, const std::string& number,
                       const std::string& from) {
    counted.push_back({.name = name,
                       .form = OptionForm::assignment,
                       .kind = OptionKind::integer,
                       .default_value = number,
                       .default_from = from});
  };
  for (const ProgramOption& option : assignments_in(code, Repeated::first, Depth::any)) {
    const std::string name = option.name.substr(2);
    const bool is_bound = name == round || std::ranges::any_of(bounds, [&](const Bound& bound) {
                            return bound.name == name;
                          });
    if (!option.default_value || option.kind == OptionKind::text || !is_bound ||
        !is_assigned_once(code, name)) {
      continue;
    }
    add(name == round ? "num_boost_round" : name, *option.default_value, file_name);
  }
  if (const auto number = literal_of(round); number && number->kind == OptionKind::integer) {
    add("num_boost_round", number->text, file_name);
  }
  std::vector<Bound> numbers = bounds;
  std::erase_if(numbers, [](const Bound& bound) { return !bound.name.empty(); });
  // If several loops have literal bounds, it is unknown which one trains.
  if (counted.empty() && numbers.size() == 1 && numbers.front().count > 0) {
    const Bound& bound = numbers.front();
    add(bound.unit == CountUnit::epochs ? "epochs" : "steps", fmt::format("{}", bound.count),
        fmt::format("{} in {}", bound.range, file_name));
  }
  return counted;
}

}  // namespace steptune
