// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "common/document/fault.hpp"
#include "common/document/formula.hpp"
#include "common/document/string_template.hpp"

namespace steptune::document {

class Node;

/// Names that expressions and templates of a document may mention: a study's parameters and facts
/// about the machine. Compiles expressions and templates while the document is read.
class Scope {
 public:
  virtual ~Scope() = default;

  /// Compiles an expression. Adds a fault and returns nullopt for a value that is no string, a
  /// syntax error or an unknown name.
  [[nodiscard]] virtual std::optional<Formula> formula(const Node& node) = 0;
  /// Parses a template. Adds a fault and returns nullopt if the value is not a string, or if a
  /// placeholder is malformed or names no parameter.
  [[nodiscard]] virtual std::optional<StringTemplate> string_template(const Node& node) = 0;
  /// Returns a fact about the machine by name (`cpus`), if it is known.
  [[nodiscard]] virtual std::optional<double> fact(std::string_view name) const = 0;
};

/// State that all nodes of one document share while it is read.
struct Reading {
  Faults faults;
  std::filesystem::path folder;  ///< folder to which relative paths in the document refer
  /// Must be set before the first expression or template is read.
  std::shared_ptr<Scope> scope;
};

}  // namespace steptune::document
