// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/study_scope.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "common/document/identifiers.hpp"
#include "common/text.hpp"

namespace steptune::study {
namespace {

using document::Formula;
using document::StringTemplate;

/// Longest template in bytes. Linux refuses an argument of 128 KiB, and a placeholder may become a
/// long text.
constexpr std::size_t k_max_template_bytes = 65'536;

/// An expression with a mutex, because `Expression::evaluate` stores values in the expression. The
/// tuning loop and a searcher in another thread may evaluate it at the same time.
struct SharedExpression {
  explicit SharedExpression(Expression compiled) : expression(std::move(compiled)) {}
  std::mutex mutex;
  Expression expression;
};

}  // namespace

std::optional<Formula> read_formula(const Node& node, const std::vector<std::string>& names,
                                    const Facts& facts) {
  const auto text = node.string(document::k_max_expression_bytes);
  if (!text) return std::nullopt;
  auto expression = Expression::compile(*text, names, facts);
  if (!expression) {
    node.fault(expression.error());
    return std::nullopt;
  }
  if (expression->mentioned_parameters().empty()) {
    return Formula::constant(expression->evaluate(Configuration{}), *text);
  }
  auto shared = std::make_shared<SharedExpression>(*std::move(expression));
  return Formula(*text, [shared](const Configuration& configuration) {
    const std::lock_guard lock(shared->mutex);
    return shared->expression.evaluate(configuration);
  });
}

void StudyScope::add(Parameter parameter, std::map<std::string, std::string> strings) {
  if (!strings.empty()) (*choices_)[parameter.name] = std::move(strings);
  names_.push_back(parameter.name);
  parameters_.push_back(std::move(parameter));
}

std::optional<Formula> StudyScope::formula(const Node& node) {
  auto formula = read_formula(node, names_, facts_);
  if (formula) {
    for (std::string& name : document::identifiers_in(formula->text()))
      mention(node, std::move(name));
  }
  return formula;
}

void StudyScope::mention(const Node& node, std::string name) {
  // These sections say how trials are judged and chosen. A trial does not depend on them.
  const bool is_used =
      std::ranges::none_of(std::array{"/planned_run/", "/measure/", "/search/"},
                           [&](const char* begin) { return node.pointer().starts_with(begin); });
  if (is_used) used_.insert(name);
  mentioned_.insert(std::move(name));
}

std::optional<StringTemplate> StudyScope::string_template(const Node& node) {
  return read_template(node, {});
}

std::optional<StringTemplate> StudyScope::template_with_files(const Node& node) {
  return read_template(node, files_);
}

std::optional<StringTemplate> StudyScope::read_template(const Node& node,
                                                        const std::set<std::string>& files) {
  const auto text = node.string(k_max_template_bytes);
  if (!text) return std::nullopt;
  auto parsed = StringTemplate::parse(*text, choices_, files);
  if (!parsed) {
    node.fault(parsed.error().message);
    return std::nullopt;
  }
  for (std::string& name : parsed->others())
    mention(node, std::move(name));
  bool sound = true;
  for (const std::string& name : parsed->parameters()) {
    mention(node, name);
    if (find(name) != nullptr) continue;
    std::vector<std::string> known = names_;
    known.insert(known.end(), files.begin(), files.end());
    node.fault(
        fmt::format("the placeholder {{{}}} has no parameter{}", name, did_you_mean(name, known)));
    sound = false;
  }
  return sound ? std::optional(*std::move(parsed)) : std::nullopt;
}

std::optional<double> StudyScope::fact(std::string_view name) const {
  const auto found = facts_.find(name);
  return found == facts_.end() ? std::nullopt : std::optional(found->second);
}

const Parameter* StudyScope::find(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? nullptr : &*found;
}

document::Type<StringTemplate> template_with_files() {
  auto type = document::string_template();
  type.read = [](const Node& node) { return scope_of(node).template_with_files(node); };
  return type;
}

StudyScope& scope_of(const Node& node) {
  return dynamic_cast<StudyScope&>(*node.reading().scope);
}

}  // namespace steptune::study
