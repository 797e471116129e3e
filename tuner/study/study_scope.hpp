// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/document/node.hpp"
#include "search/space/search_space.hpp"

namespace steptune::study {

using document::Node;

/// An expression that compiles over `names` and `facts`.
[[nodiscard]] std::optional<document::Formula> read_formula(const Node& node,
                                                            const std::vector<std::string>& names,
                                                            const Facts& facts);

/// The parameters and facts of a study while its file is read. Remembers which of them are
/// mentioned outside the search space.
class StudyScope final : public document::Scope {
 public:
  explicit StudyScope(Facts facts) : facts_(std::move(facts)) {}

  /// A faulty parameter is added, too, by name and kind, so that one slip does not make every
  /// mention of it another fault. `strings`: those behind the labels of its choices.
  void add(Parameter parameter, std::map<std::string, std::string> strings);

  [[nodiscard]] std::optional<document::Formula> formula(const Node& node) override;
  [[nodiscard]] std::optional<document::StringTemplate> string_template(const Node& node) override;
  [[nodiscard]] std::optional<double> fact(std::string_view name) const override;

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const document::ChoiceStrings& choice_strings() const { return *choices_; }
  /// Null for a name that no parameter has.
  [[nodiscard]] const Parameter* find(std::string_view name) const;
  [[nodiscard]] const std::set<std::string>& mentioned() const { return mentioned_; }

 private:
  Facts facts_;
  std::vector<Parameter> parameters_;
  std::vector<std::string> names_;
  std::shared_ptr<document::ChoiceStrings> choices_ = std::make_shared<document::ChoiceStrings>();
  std::set<std::string> mentioned_;
};

/// The scope of a node of a study file.
[[nodiscard]] StudyScope& scope_of(const Node& node);

}  // namespace steptune::study
