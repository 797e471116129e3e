// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/configuration_column.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/text.hpp"
#include "tuner/report/format.hpp"

namespace steptune {
namespace {

/// Cut texts usually have three dots. If three dots would leave fewer than `k_least_kept`
/// characters of a name, a single dot marks the cut.
constexpr std::string_view k_cut_dots = "...";
constexpr std::string_view k_cut_dot = ".";
constexpr std::size_t k_least_kept = 3;
/// Least length of a value: one character at each end.
constexpr std::size_t k_least_value = 1 + k_cut_dots.size() + 1;

struct CutName {
  std::string_view head;
  std::string_view tail;

  /// True if `name` could have been cut to this form.
  [[nodiscard]] bool may_be(std::string_view name) const {
    return name.size() >= head.size() + tail.size() && name.starts_with(head) &&
           name.ends_with(tail);
  }
};

/// Returns all shorter forms of `name` that no other of `names` could be cut to, the widest first.
/// Keeps the beginning of the name, because it is the most useful part. If other names have the
/// same beginning, keeps both ends.
std::vector<std::string> cut_forms(std::string_view name, const std::vector<std::string>& names,
                                   std::string_view dots) {
  std::vector<std::string> forms;
  for (std::size_t kept = name.size(); kept > 0; --kept) {
    if (kept + dots.size() >= name.size()) continue;
    const std::size_t tail = kept / 2;
    const std::array cuts = {CutName{name.substr(0, kept), {}},
                             CutName{name.substr(0, kept - tail), name.substr(name.size() - tail)}};
    const auto unique_cut = std::ranges::find_if(cuts, [&](const CutName& cut) {
      return std::ranges::none_of(
          names, [&](const std::string& other) { return other != name && cut.may_be(other); });
    });
    if (unique_cut == cuts.end()) continue;
    forms.push_back(fmt::format("{}{}{}", unique_cut->head, dots, unique_cut->tail));
  }
  return forms;
}

/// Returns the width of a row without its names: its values, each at most `widest_value` wide, its
/// `=` and its blanks.
std::size_t width_beside_names(const Configuration& row, const std::vector<std::string>& names,
                               std::size_t widest_value) {
  std::size_t width = 0;
  for (const std::string& name : names) {
    const Value* value = row.find(name);
    if (value == nullptr) continue;
    const std::size_t of_value = display_width(printable_line(to_text(*value)));
    width += (width > 0 ? 2 : 1) + std::min(of_value, widest_value);
  }
  return width;
}

/// Rows with the same active parameters.
struct AlikeRows {
  std::vector<std::size_t> active;  ///< indices of the parameters
  std::size_t most_beside = 0;      ///< width of the widest row, without names
  std::size_t least_beside = 0;     ///< the same, with each value cut to `k_least_value`
};

std::vector<AlikeRows> alike_rows(const std::vector<Configuration>& rows,
                                  const std::vector<std::string>& names) {
  std::vector<AlikeRows> result;
  for (const Configuration& row : rows) {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (row.contains(names[i])) active.push_back(i);
    }
    auto alike = std::ranges::find(result, active, &AlikeRows::active);
    if (alike == result.end()) alike = result.insert(alike, AlikeRows{std::move(active), 0, 0});
    alike->most_beside = std::max(alike->most_beside, width_beside_names(row, names, k_any_length));
    alike->least_beside =
        std::max(alike->least_beside, width_beside_names(row, names, k_least_value));
  }
  return result;
}

/// Names of parameters that are cut step by step.
class CutNames {
 public:
  CutNames(const std::vector<std::string>& names, std::string_view dots) : shown_(names) {
    for (const std::string& name : names) {
      shorter_.push_back(cut_forms(name, names, dots));
      std::ranges::reverse(shorter_.back());
    }
  }

  [[nodiscard]] const std::vector<std::string>& shown() const { return shown_; }

  [[nodiscard]] bool fit(const std::vector<AlikeRows>& rows, std::size_t AlikeRows::*beside,
                         std::size_t width) const {
    return std::ranges::all_of(rows, [&](const AlikeRows& row) {
      std::size_t needed = row.*beside;
      for (const std::size_t i : row.active)
        needed += shown_[i].size();
      return needed <= width;
    });
  }

  /// Cuts the longest name by one step. Returns false if each cut would leave fewer than `least`
  /// characters.
  bool cut_longest(std::size_t least) {
    std::size_t longest = shown_.size();
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (shorter_[i].empty() || shorter_[i].back().size() < least) continue;
      if (longest == shown_.size() || shown_[i].size() >= shown_[longest].size()) longest = i;
    }
    if (longest == shown_.size()) return false;
    shown_[longest] = std::move(shorter_[longest].back());
    shorter_[longest].pop_back();
    return true;
  }

 private:
  std::vector<std::string> shown_;
  /// Shorter forms of each name that were not used yet, the widest last.
  std::vector<std::vector<std::string>> shorter_;
};

std::vector<std::string> names_that_fit(const std::vector<Configuration>& rows,
                                        const std::vector<std::string>& names, std::size_t width) {
  const std::vector<AlikeRows> alike = alike_rows(rows, names);
  CutNames dotted(names, k_cut_dots);
  while (!dotted.fit(alike, &AlikeRows::most_beside, width)) {
    if (!dotted.cut_longest(k_least_kept + k_cut_dots.size())) break;
  }
  if (dotted.fit(alike, &AlikeRows::most_beside, width)) return dotted.shown();
  CutNames abbreviated(names, k_cut_dot);
  while (!abbreviated.fit(alike, &AlikeRows::most_beside, width)) {
    if (!abbreviated.cut_longest(k_least_kept + k_cut_dot.size())) break;
  }
  // If even the shortest values do not fit, cut names down to one character.
  while (!abbreviated.fit(alike, &AlikeRows::least_beside, width)) {
    if (!abbreviated.cut_longest(1 + k_cut_dot.size())) break;
  }
  return abbreviated.shown();
}

/// Cuts the longest of `values` until they need `excess` fewer columns or all have their least
/// length.
void cut_values(std::vector<std::string>& values, std::size_t excess) {
  const std::vector<std::string> whole = values;
  while (excess > 0) {
    const auto longest = std::ranges::max_element(
        values, {}, [](const std::string& value) { return display_width(value); });
    const std::size_t width = longest == values.end() ? 0 : display_width(*longest);
    if (width <= k_least_value) return;
    *longest = elide_middle(whole[static_cast<std::size_t>(longest - values.begin())], width - 1);
    --excess;
  }
}

}  // namespace

ConfigurationColumn::ConfigurationColumn(const std::vector<Configuration>& rows,
                                         std::vector<std::string> names, std::size_t width)
    : names_(std::move(names)), shown_names_(names_that_fit(rows, names_, width)), width_(width) {}

std::string ConfigurationColumn::text(const Configuration& row) const {
  std::vector<std::string> names;
  std::vector<std::string> values;
  std::size_t needed = width_beside_names(row, names_, k_any_length);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const Value* value = row.find(names_[i]);
    if (value == nullptr) continue;
    names.push_back(shown_names_[i]);
    values.push_back(printable_line(to_text(*value)));
    needed += names.back().size();
  }
  if (needed > width_) cut_values(values, needed - width_);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i > 0 ? " " : "") + names[i] + "=" + values[i];
  return elide_middle(text, width_);
}

}  // namespace steptune
