// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/text.hpp"
#include "search/space/search_space.hpp"
#include "search/space/space_rules.hpp"

namespace steptune {
namespace {

/// Most levels of a parameter whose positions and numbers are stored in a table.
constexpr std::uint64_t k_max_table = 65'536;
/// Most branches that a walk through a discrete space takes to find a satisfying point.
constexpr std::uint64_t k_satisfying_branches = 2'000'000;

std::string pointer_of(const Parameter& parameter) {
  return "/parameters/" + parameter.name;
}

std::vector<std::string> names_of(const std::vector<Parameter>& parameters, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(parameters[i].name);
  return names;
}

Result<void> check_definitions(const std::vector<Parameter>& parameters) {
  if (parameters.empty()) return fail(ErrorKind::usage, "no parameters", "/parameters");
  if (parameters.size() > k_max_parameters) {
    return fail(ErrorKind::usage,
                fmt::format("{} parameters are more than {}", parameters.size(), k_max_parameters),
                "/parameters");
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (auto checked = parameter.check(); !checked) {
      Error error = checked.error();
      error.where = pointer_of(parameter) + error.where;
      return tl::unexpected(std::move(error));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (parameters[j].name != parameter.name) continue;
      return fail(ErrorKind::usage,
                  fmt::format("the parameter \"{}\" is defined twice", parameter.name),
                  pointer_of(parameter));
    }
  }
  return {};
}

std::vector<std::string> text_choices(const Parameter& parameter) {
  std::vector<std::string> texts;
  for (const Value& choice : parameter.choices) {
    if (const auto* text = std::get_if<std::string>(&choice)) texts.push_back(*text);
  }
  return texts;
}

/// Checks that texts are choices of the parameters they are compared with, and that text values are
/// not used as numbers.
Result<void> check_texts(const Expression& expression, const std::vector<Parameter>& parameters,
                         const std::string& where) {
  const auto find = [&](const std::string& name) -> const Parameter& {
    return *std::ranges::find_if(
        parameters, [&](const Parameter& parameter) { return parameter.name == name; });
  };
  for (const auto& [name, text] : expression.compared_texts()) {
    const auto texts = text_choices(find(name));
    if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
    return fail(ErrorKind::usage,
                fmt::format("in \"{}\": \"{}\" is not a value of {}{}",
                            printable_line(expression.text(), 120), printable_line(text, 60), name,
                            did_you_mean(text, texts)),
                where, fmt::format("{}: {}", name, find(name).range_text()));
  }
  for (const std::string& name : expression.used_as_numbers()) {
    if (text_choices(find(name)).empty()) continue;
    return fail(ErrorKind::usage,
                fmt::format("in \"{}\": values of {} are strings, which compare with strings only",
                            printable_line(expression.text(), 120), name),
                where, "write the choices as numbers, without quotes");
  }
  return {};
}

/// Compiles a condition or constraint, whose place is `where`.
Result<Expression> compile_rule(const std::string& text, const std::vector<Parameter>& parameters,
                                const Facts& facts, const std::string& where) {
  auto compiled = Expression::compile(text, names_of(parameters, parameters.size()), facts);
  if (!compiled) {
    compiled.error().where = where;
    return compiled;
  }
  if (auto checked = check_texts(*compiled, parameters, where); !checked) {
    return tl::unexpected(checked.error());
  }
  return compiled;
}

Result<std::vector<std::optional<Expression>>> compile_conditions(
    const std::vector<Parameter>& parameters, const Facts& facts) {
  std::vector<std::optional<Expression>> conditions(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].when) continue;
    const std::string where = pointer_of(parameters[i]) + "/when";
    auto compiled = compile_rule(*parameters[i].when, parameters, facts, where);
    if (!compiled) return tl::unexpected(compiled.error());
    const auto earlier = names_of(parameters, i);
    for (const std::string& name : compiled->mentioned_parameters()) {
      if (std::find(earlier.begin(), earlier.end(), name) != earlier.end()) continue;
      return fail(ErrorKind::usage,
                  name == parameters[i].name
                      ? fmt::format("the condition of {} mentions itself", name)
                      : fmt::format("the condition of {} mentions {}, which is declared later",
                                    parameters[i].name, name),
                  where, fmt::format("declare {} first", name));
    }
    conditions[i] = *std::move(compiled);
  }
  return conditions;
}

Result<std::vector<Expression>> compile_constraints(const std::vector<Parameter>& parameters,
                                                    const std::vector<std::string>& texts,
                                                    const Facts& facts) {
  if (texts.size() > k_max_constraints) {
    return fail(ErrorKind::usage, fmt::format("more than {} constraints", k_max_constraints),
                "/constraints");
  }
  std::vector<Expression> constraints;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto compiled = compile_rule(texts[i], parameters, facts, fmt::format("/constraints/{}", i));
    if (!compiled) return tl::unexpected(compiled.error());
    constraints.push_back(*std::move(compiled));
  }
  return constraints;
}

}  // namespace

Result<SearchSpace> SearchSpace::create(std::vector<Parameter> parameters,
                                        const std::vector<std::string>& constraints,
                                        const Facts& facts) {
  if (auto checked = check_definitions(parameters); !checked) {
    return tl::unexpected(checked.error());
  }
  auto conditions = compile_conditions(parameters, facts);
  if (!conditions) return tl::unexpected(conditions.error());
  auto compiled = compile_constraints(parameters, constraints, facts);
  if (!compiled) return tl::unexpected(compiled.error());

  SearchSpace space;
  for (const Parameter& parameter : parameters) {
    Column column;
    column.levels = parameter.level_count().value_or(0);
    column.even = parameter.kind != ParameterKind::integer || parameter.scale != Scale::log;
    if (column.levels > 0 && column.levels <= k_max_table) {
      for (std::uint64_t level = 0; level < column.levels; ++level) {
        const Value value = parameter.level(level);
        column.positions.push_back(parameter.position_of(value));
        column.numbers.push_back(Expression::number_of(value));
      }
    }
    space.columns_.push_back(std::move(column));
  }
  const auto names = names_of(parameters, parameters.size());
  space.rules_ = std::make_shared<const SpaceRules>(names, *conditions, *compiled);
  space.parameters_ = std::move(parameters);
  space.constraint_texts_ = constraints;
  if (constraints.empty()) return space;
  if (const auto whole = space.why_unsatisfiable()) {
    for (std::size_t i = 0; i < compiled->size(); ++i) {
      SearchSpace alone = space;
      alone.rules_ = std::make_shared<const SpaceRules>(names, *conditions,
                                                        std::vector<Expression>{(*compiled)[i]});
      const auto why = alone.why_unsatisfiable();
      if (!why) continue;
      return fail(ErrorKind::usage,
                  fmt::format("no configuration was found that satisfies the constraint \"{}\": {}",
                              constraints[i], why->message),
                  fmt::format("/constraints/{}", i), why->hint);
    }
    return fail(
        ErrorKind::usage,
        "no configuration was found that satisfies all constraints together: " + whole->message,
        "/constraints", whole->hint);
  }
  return space;
}

std::optional<Error> SearchSpace::why_unsatisfiable() const {
  Rng rng(0, "satisfiable");
  for (int i = 0; i < k_most_draws; ++i) {
    if (draw(rng)) return std::nullopt;
  }
  if (discrete()) {
    const Walk walked = walk(k_satisfying_branches, [](std::span<const double>) { return false; });
    if (walked == Walk::ended) return std::nullopt;
    if (walked == Walk::finished) {
      return Error{ErrorKind::usage, "the whole space was searched", {}, {}};
    }
  }
  return Error{
      ErrorKind::usage,
      fmt::format("{} were drawn at random", k_most_draws),
      {},
      "narrow the ranges to where constraints hold, or give \"float\" parameters a \"step\""};
}

}  // namespace steptune
