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

/// What the expressions and templates of a document may mention: the parameters of a study, and
/// facts about the machine. Compiles them, so that what is read need not be compiled again.
class Scope {
 public:
  virtual ~Scope() = default;

  /// Nothing after adding a fault: not a string, a syntax error, an unknown name.
  [[nodiscard]] virtual std::optional<Formula> formula(const Node& node) = 0;
  /// Nothing after adding a fault: not a string, a placeholder that is malformed or of no
  /// parameter.
  [[nodiscard]] virtual std::optional<StringTemplate> string_template(const Node& node) = 0;
  /// A fact by name (`cpus`), if it is known.
  [[nodiscard]] virtual std::optional<double> fact(std::string_view name) const = 0;
};

/// One reading of a document: what all its nodes share.
struct Reading {
  Faults faults;
  std::filesystem::path folder;  ///< relative paths of the document are taken from it
  /// Must be set before the first expression or template is read.
  std::shared_ptr<Scope> scope;
};

}  // namespace steptune::document
