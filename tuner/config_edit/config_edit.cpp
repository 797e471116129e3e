// SPDX-License-Identifier: Apache-2.0
#include "tuner/config_edit/config_edit.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/json.hpp"
#include "common/text.hpp"
#include "tuner/config_edit/truth_word.hpp"

namespace steptune {
namespace {

using Scalars = std::vector<ConfigScalar>;
using Candidates = std::vector<const ConfigScalar*>;

/// Makes `Batch-Size` and `batch_size` equal.
std::string folded(std::string_view name) {
  std::string result = lower_case(name);
  std::ranges::replace(result, '-', '_');
  return result;
}

template <typename Fits>
Candidates matching(const Scalars& scalars, Fits fits) {
  Candidates found;
  for (const ConfigScalar& scalar : scalars) {
    if (fits(scalar)) found.push_back(&scalar);
  }
  return found;
}

Candidates named(const Scalars& scalars, const std::string& parameter) {
  auto found = matching(scalars, [&](const ConfigScalar& scalar) {
    return !scalar.path.empty() && scalar.path.back() == parameter;
  });
  if (!found.empty()) return found;
  return matching(scalars, [&](const ConfigScalar& scalar) {
    return !scalar.path.empty() && folded(scalar.path.back()) == folded(parameter);
  });
}

std::string list_of(const Candidates& candidates) {
  std::string list;
  for (std::size_t i = 0; i < candidates.size() && i < k_shown_elements; ++i) {
    list += fmt::format("{}{} (line {})", i == 0 ? "" : ", ",
                        printable_line(candidates[i]->key(), 80), candidates[i]->line);
  }
  if (candidates.size() > k_shown_elements) list += ", ...";
  return list;
}

/// Returns "; did you mean train.num_workers (line 4)?".
std::string nearest_key(const Scalars& scalars, const std::string& name) {
  std::vector<std::string> names;
  for (const ConfigScalar& scalar : scalars) {
    names.push_back(scalar.key());
    if (!scalar.path.empty()) names.push_back(scalar.path.back());
  }
  auto nearest = nearest_name(name, names);
  // If no key is spelt like the name, suggest keys that contain it: `workers` probably means
  // `num_workers`.
  const auto meant = matching(scalars, [&](const ConfigScalar& scalar) {
    if (scalar.path.empty()) return false;
    const std::string& last = scalar.path.back();
    return nearest ? last == *nearest || scalar.key() == *nearest
                   : folded(last).find(folded(name)) != std::string::npos;
  });
  return meant.empty() ? "" : fmt::format("; did you mean {}?", list_of(meant));
}

std::string missing_key(const Scalars& scalars, const std::string& key) {
  const bool has_keys_below = std::ranges::any_of(
      scalars, [&](const ConfigScalar& scalar) { return scalar.key().starts_with(key + "."); });
  return has_keys_below
             ? fmt::format("{} contains other keys, not a value", printable_line(key, 80))
             : fmt::format("no key {}{}", printable_line(key, 80), nearest_key(scalars, key));
}

/// Returns the only element of `found`, the places found for `name`.
Result<const ConfigScalar*> only_place(const Candidates& found, const Scalars& scalars,
                                       const std::string& name) {
  if (found.size() > 1) {
    return fail(ErrorKind::usage, fmt::format("ambiguous: {}", list_of(found)));
  }
  if (found.empty()) return fail(ErrorKind::usage, missing_key(scalars, name));
  if (found[0]->why_fixed.empty()) return found[0];
  return fail(ErrorKind::usage,
              fmt::format("{} (line {}) cannot be changed, {}", printable_line(found[0]->key(), 80),
                          found[0]->line, found[0]->why_fixed));
}

Candidates by_key(const Scalars& scalars, const std::string& key) {
  return matching(scalars, [&](const ConfigScalar& scalar) { return scalar.key() == key; });
}

/// The places of all parameters, and the errors of parameters without a place.
class Places {
 public:
  Places(const Scalars& scalars, const ConfigKeys& keys) : scalars_(scalars), keys_(keys) {}

  const ConfigScalar* of(const std::string& parameter) {
    const auto mapped = keys_.find(parameter);
    if (mapped != keys_.end() && mapped->second.empty()) return nullptr;
    const std::string& name = mapped == keys_.end() ? parameter : mapped->second;
    const Candidates found =
        mapped == keys_.end() ? named(scalars_, parameter) : by_key(scalars_, name);
    const auto place = only_place(found, scalars_, name);
    if (place) return *place;
    faults_.push_back(fmt::format("{}: {}", parameter, place.error().message));
    example_ = fmt::format("{}={}", parameter, found.empty() ? "KEY.OF.FILE" : found[0]->key());
    return nullptr;
  }

  [[nodiscard]] Result<void> checked(const std::string& where) const {
    if (faults_.empty()) return {};
    return fail(ErrorKind::usage,
                fmt::format("has no clear place for {} of the parameters:\n  {}", faults_.size(),
                            fmt::join(faults_, "\n  ")),
                where,
                fmt::format("name the key with --map {}; '--map PARAMETER=' leaves a parameter out",
                            printable_line(example_, 120)));
  }

 private:
  const Scalars& scalars_;
  const ConfigKeys& keys_;
  std::vector<std::string> faults_;
  std::string example_;
};

bool is_quoted(std::string_view text) {
  return text.starts_with('"') || text.starts_with('\'');
}

/// Returns a boolean or number as text if the file's present value is in quotes: `"yes"`, `"8"`.
Value as_text_like(const std::string& present, const Value& value) {
  const auto* truth = std::get_if<bool>(&value);
  if (truth != nullptr) {
    return truth_of(present) ? Value(truth_word_like(present, *truth)) : value;
  }
  return parse_finite(present) ? Value(to_text(value)) : value;
}

/// Converts the value to the type that the file's value has now. A study written for a command line
/// may have the choices `"true"` and `"false"`. If a file contained the text "false", Python would
/// treat it as true.
Value as_kind_of(const ConfigScalar& scalar, std::string_view present_text, const Value& value) {
  const Json& present = scalar.value;
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr && present.is_string() && is_quoted(present_text)) {
    return as_text_like(present.get<std::string>(), value);
  }
  if (text == nullptr || present.is_string()) return value;
  const auto read = parse_json(*text, "");
  if (!read) return value;
  const bool same_kind =
      (present.is_boolean() && read->is_boolean()) || (present.is_number() && read->is_number());
  return same_kind ? value_from_json(*read, "").value_or(value) : value;
}

std::string_view text_of(const ConfigScalar& scalar, std::string_view text) {
  return text.substr(scalar.begin, scalar.end - scalar.begin);
}

ConfigChange change_of(ConfigFormat format, std::string_view text, const std::string& parameter,
                       const ConfigScalar& scalar, const Value& recommended) {
  const std::string_view present = text_of(scalar, text);
  const Value value = as_kind_of(scalar, present, recommended);
  ConfigChange change{parameter, scalar.key(), scalar.line, scalar.value, value, {}};
  std::string written = config_scalar_text(format, value, present);
  // A key without a value, such as `workers:`, needs a blank before its new value.
  const bool needs_blank = present.empty() && scalar.begin > 0 && text[scalar.begin - 1] != ' ';
  change.edit = {scalar.begin, scalar.end, (needs_blank ? " " : "") + std::move(written)};
  return change;
}

/// True if an INI file already has exactly this text. INI has no types: a reader may take `16` as a
/// text.
bool is_verbatim(ConfigFormat format, std::string_view text, const ConfigScalar& scalar,
                 const Value& value) {
  const auto* wanted = std::get_if<std::string>(&value);
  if (format != ConfigFormat::ini || wanted == nullptr || wanted->empty()) return false;
  return !is_quoted(*wanted) && text_of(scalar, text) == *wanted;
}

/// True if the edited `text` has the new values, and all other values are unchanged.
bool says(ConfigFormat format, std::string_view text, const Scalars& before, const Scalars& after,
          const std::vector<ConfigChange>& changes) {
  if (before.size() != after.size()) return false;
  std::size_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].path != after[i].path) return false;
    const bool is_changed =
        changed < changes.size() && changes[changed].edit.begin == before[i].begin;
    const Json expected = is_changed ? to_json(changes[changed].after) : before[i].value;
    const bool is_said = after[i].value == expected &&
                         after[i].value.is_string() == expected.is_string() &&
                         after[i].value.is_boolean() == expected.is_boolean();
    const bool is_text = is_changed && is_verbatim(format, text, after[i], changes[changed].after);
    if (!is_said && !is_text) return false;
    if (is_changed) ++changed;
  }
  return changed == changes.size();
}

/// Fails if two parameters have the same place, even if one of them needs no change.
Result<void> check_own_places(std::vector<std::pair<const ConfigScalar*, std::string>> parameters,
                              const std::string& where) {
  std::ranges::sort(parameters, {},
                    [](const auto& of) { return std::pair(of.first->begin, of.second); });
  const auto twice = std::ranges::adjacent_find(
      parameters, [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice == parameters.end()) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} and {} would both go to {}", twice->second, std::next(twice)->second,
                          twice->first->key()),
              where, "give each its own key with --map");
}

Result<void> check_names(const Configuration& configuration, const ConfigKeys& keys) {
  std::vector<std::string> names;
  for (const auto& [name, value] : configuration.values())
    names.push_back(name);
  for (const auto& [name, key] : keys) {
    if (configuration.contains(name)) continue;
    return fail(ErrorKind::usage,
                fmt::format("the configuration has no parameter \"{}\"{}", printable_line(name),
                            did_you_mean(name, names)),
                "--map", fmt::format("its parameters: {}", fmt::join(names, ", ")));
  }
  return {};
}

}  // namespace

Result<const ConfigScalar*> config_place(const std::vector<ConfigScalar>& scalars,
                                         const std::string& key) {
  return only_place(by_key(scalars, key), scalars, key);
}

Result<std::vector<ConfigChange>> config_changes(ConfigFormat format, std::string_view text,
                                                 const Configuration& configuration,
                                                 const ConfigKeys& keys, const std::string& where) {
  if (auto checked = check_names(configuration, keys); !checked) {
    return tl::unexpected(checked.error());
  }
  const auto scalars = scan_config(format, text, where);
  if (!scalars) return tl::unexpected(scalars.error());
  Places places(*scalars, keys);
  std::vector<ConfigChange> changes;
  std::vector<std::pair<const ConfigScalar*, std::string>> parameters;
  for (const auto& [name, value] : configuration.values()) {
    const ConfigScalar* place = places.of(name);
    if (place == nullptr) continue;
    parameters.emplace_back(place, name);
    const Json wanted = to_json(as_kind_of(*place, text_of(*place, text), value));
    if (place->value == wanted || is_verbatim(format, text, *place, value)) continue;
    changes.push_back(change_of(format, text, name, *place, value));
  }
  if (auto checked = places.checked(where); !checked) return tl::unexpected(checked.error());
  if (auto checked = check_own_places(std::move(parameters), where); !checked) {
    return tl::unexpected(checked.error());
  }
  std::ranges::sort(changes, {}, [](const ConfigChange& change) { return change.edit.begin; });
  const std::string edited = edited_text(text, edits_of(changes));
  const auto after = scan_config(format, edited, where);
  if (!after || !says(format, edited, *scalars, *after, changes)) {
    return fail(ErrorKind::usage, "cannot be changed without changing other values", where,
                "change it by hand: 'steptune best' shows the values");
  }
  return changes;
}

std::vector<TextEdit> edits_of(const std::vector<ConfigChange>& changes) {
  std::vector<TextEdit> edits;
  for (const ConfigChange& change : changes)
    edits.push_back(change.edit);
  return edits;
}

}  // namespace steptune
