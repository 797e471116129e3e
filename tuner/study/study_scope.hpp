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
#include "common/document/type.hpp"
#include "search/space/search_space.hpp"

namespace steptune::study {

using document::Node;

/// Reads an expression over `names` and `facts`. Adds a fault and returns nullopt if it does not
/// compile.
[[nodiscard]] std::optional<document::Formula> read_formula(const Node& node,
                                                            const std::vector<std::string>& names,
                                                            const Facts& facts);

/// Parameters and facts of a study while its file is read. Remembers which names the file mentions
/// outside the search space, and on which of these a trial depends.
class StudyScope final : public document::Scope {
 public:
  explicit StudyScope(Facts facts) : facts_(std::move(facts)) {}

  /// Adds a parameter. Callers also add faulty parameters. Otherwise one mistake would make every
  /// mention of the parameter a fault. `strings`: texts for the labels of its choices.
  void add(Parameter parameter, std::map<std::string, std::string> strings);

  /// Adds a configuration file, by the placeholder for its path.
  void add_file(std::string name) { files_.insert(std::move(name)); }

  [[nodiscard]] std::optional<document::Formula> formula(const Node& node) override;
  [[nodiscard]] std::optional<document::StringTemplate> string_template(const Node& node) override;
  /// Reads a template that may also mention configuration files.
  [[nodiscard]] std::optional<document::StringTemplate> template_with_files(const Node& node);
  [[nodiscard]] std::optional<double> fact(std::string_view name) const override;

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const document::ChoiceStrings& choice_strings() const { return *choices_; }
  /// Returns null if no parameter has this name.
  [[nodiscard]] const Parameter* find(std::string_view name) const;
  /// Returns the names that the file mentions outside the search space.
  [[nodiscard]] const std::set<std::string>& mentioned() const { return mentioned_; }
  /// Returns the mentioned names on which a trial depends. Leaves out names that only the
  /// sections `planned_run`, `measure` and `search` mention.
  [[nodiscard]] const std::set<std::string>& used() const { return used_; }

 private:
  void mention(const Node& node, std::string name);
  [[nodiscard]] std::optional<document::StringTemplate> read_template(
      const Node& node, const std::set<std::string>& files);

  Facts facts_;
  std::vector<Parameter> parameters_;
  std::vector<std::string> names_;
  std::set<std::string> files_;
  std::shared_ptr<document::ChoiceStrings> choices_ = std::make_shared<document::ChoiceStrings>();
  std::set<std::string> mentioned_;
  std::set<std::string> used_;
};

/// Type of a template that may mention configuration files.
[[nodiscard]] document::Type<document::StringTemplate> template_with_files();

/// Returns the scope of a node of a study file.
[[nodiscard]] StudyScope& scope_of(const Node& node);

}  // namespace steptune::study
