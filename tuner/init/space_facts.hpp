// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "search/space/expression.hpp"
#include "tuner/init/guess_input.hpp"

namespace steptune {

/// Numbers that the laws of a ready-made space mention, for one program.
struct SpaceFacts {
  Facts numbers;                              ///< facts of the space that are known
  std::map<std::string, std::string> from;    ///< source of each known fact, for people
  std::map<std::string, std::string> wanted;  ///< how to give each fact that is unknown
  Configuration today;                        ///< value of each knob in the unchanged program
  /// Words that the command gets, because facts with `is_set` are not set yet.
  std::vector<std::string> words;
};

/// Returns the value of an expression over knobs and facts; NaN if it mentions an unknown name.
[[nodiscard]] double value_today(const std::string& expression, const Configuration& today,
                                 const Facts& facts);

/// Returns an error if the user gives a fact that the space does not have. `space` may be null.
[[nodiscard]] Result<void> check_facts(const Facts& given, const ReadySpace* space);

/// Finds the facts of `input.space` in the command, its files, the model's files and the program's
/// defaults. `input.given_facts` have precedence.
[[nodiscard]] SpaceFacts space_facts(const GuessInput& input);

}  // namespace steptune
