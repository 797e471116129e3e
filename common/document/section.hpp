// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/document/key_table.hpp"
#include "common/document/type.hpp"

namespace steptune::document {

/// Condition under which a key is part of the study's fingerprint. The fingerprint is a hash of all
/// keys whose values change the results of trials. It also covers the machine's facts that those
/// values use. A stored study continues only if its fingerprint is unchanged.
enum class InFingerprint {
  always,
  unless_default,           ///< for keys added later, so that older studies keep their fingerprint
  where_cost_is_objective,  ///< for keys that decide only prices
  never,
};

/// Declaration of a key, except its value.
struct KeyTraits {
  std::string name;
  std::string doc;  ///< one or two sentences of Markdown, for the reference and editors
  bool required = false;
  /// True if the stored document and the fingerprint leave the key out while it has its default.
  /// The reference then shows `default_words` as the default, or "none" if `default_words` is
  /// empty.
  bool omitted_at_default = false;
  InFingerprint in_fingerprint = InFingerprint::always;
  std::string default_words;  ///< the default in words if it is no plain value: "the region's"
  std::string anchor;         ///< heading of the reference with details
  /// True if only Steptune writes the key. The reference leaves it out; the schema has it.
  bool written_by_steptune = false;
};

/// A key of a section that is read into a T. Its default is the value in `T{}`.
template <typename T>
class Key {
 public:
  using Read = std::function<void(const Node&, T&)>;
  /// Returns nullopt if the key is left out.
  using Write = std::function<std::optional<Json>(const T&, const Writing&)>;
  using Schema = std::function<Json(Json& definitions)>;
  using Show = std::function<std::string(const Json&)>;

  /// Makes a key with special functions for reading and writing. Most keys are made by `key`.
  Key(std::string name, Read read, Write write, Schema schema, Show show = shown)
      : read_(std::move(read)),
        write_(std::move(write)),
        schema_(std::move(schema)),
        show_(std::move(show)) {
    traits_.name = std::move(name);
  }

  Key& doc(std::string sentence) { return set(traits_.doc, std::move(sentence)); }
  Key& required() { return set(traits_.required, true); }
  Key& omitted_at_default() { return set(traits_.omitted_at_default, true); }
  Key& default_words(std::string words) { return set(traits_.default_words, std::move(words)); }
  Key& anchor(std::string heading) { return set(traits_.anchor, std::move(heading)); }
  Key& written_by_steptune() { return set(traits_.written_by_steptune, true); }
  /// Replaces the schema of the key's type, if more is known about this key.
  Key& with_schema(Schema schema) { return set(schema_, std::move(schema)); }
  Key& in_fingerprint(InFingerprint when) { return set(traits_.in_fingerprint, when); }

  [[nodiscard]] const KeyTraits& traits() const { return traits_; }
  void read(const Node& node, T& out) const { read_(node, out); }
  [[nodiscard]] std::optional<Json> write(const T& value, const Writing& writing) const;
  [[nodiscard]] Json schema(Json& definitions) const;
  [[nodiscard]] KeyRow row() const;

  /// Returns the same key for an object that has a T as a member.
  template <typename Outer>
  [[nodiscard]] Key<Outer> of(T Outer::*member) const {
    Key<Outer> key(
        traits_.name, [*this, member](const Node& node, Outer& out) { read(node, out.*member); },
        [write = write_, member](const Outer& value, const Writing& writing) {
          return write(value.*member, writing);
        },
        schema_, show_);
    key.traits_ = traits_;
    return key;
  }

 private:
  template <typename>
  friend class Key;

  template <typename Member>
  Key& set(Member& member, Member value) {
    member = std::move(value);
    return *this;
  }
  [[nodiscard]] std::optional<Json> default_value() const { return write_(T{}, Writing{}); }

  KeyTraits traits_;
  Read read_;
  Write write_;
  Schema schema_;
  Show show_;
};

/// Returns the key `name` for `member` (an M or std::optional<M>), read and written as `type`.
template <typename T, typename M, typename V>
[[nodiscard]] Key<T> key(std::string name, M T::*member, Type<V> type);

/// Describes an object of a document that is read into a T. Lists the object's keys in the order in
/// which they are written. This list determines how the object is read and written, its part of the
/// fingerprint, its schema, and its table in the reference.
template <typename T>
class Section {
 public:
  /// `name` names the definition in the schema. `expected` describes the object in faults: "an
  /// object such as {"trials": 40}".
  Section(std::string name, std::string description, std::string expected)
      : name_(std::move(name)),
        description_(std::move(description)),
        expected_(std::move(expected)) {}

  Section& add(Key<T> key) {
    keys_.push_back(std::move(key));
    return *this;
  }
  /// Adds a check between keys, which `read` runs after all keys and which may add faults.
  Section& check(std::function<void(const ObjectNode&, T&)> check) {
    checks_.push_back(std::move(check));
    return *this;
  }
  /// Adds `members` to the definition in the schema.
  Section& also_in_schema(const Json& members) {
    more_schema_.update(members);
    return *this;
  }

  /// Stores each valid value in `out` and adds a fault for each invalid one.
  void read(const Node& node, T& out) const;
  /// Reads in steps, for sections in which some keys must be known before others are read. `open`
  /// adds faults for unknown keys. `read_key`, `read_keys` and `read_others` then read keys by
  /// name, without the checks that `check` added.
  [[nodiscard]] ObjectNode open(const Node& node) const;
  void read_key(const ObjectNode& object, std::string_view name, T& out) const;
  void read_keys(const ObjectNode& object, const std::vector<std::string_view>& names,
                 T& out) const {
    for (const std::string_view name : names)
      read_key(object, name, out);
  }
  /// Reads all keys except `names`.
  void read_others(const ObjectNode& object, const std::vector<std::string_view>& names,
                   T& out) const;

  [[nodiscard]] Json write(const T& value, const Writing& writing) const;
  /// Returns the object's definition. Adds other definitions that it uses to `definitions`.
  [[nodiscard]] Json definition(Json& definitions) const;
  /// Returns a reference to the definition, which is added to `definitions`.
  [[nodiscard]] Json schema(Json& definitions) const;
  [[nodiscard]] KeyTable table() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void read_present(const ObjectNode& object, const Key<T>& key, T& out) const;

  std::string name_;
  std::string description_;
  std::string expected_;
  std::vector<Key<T>> keys_;
  std::vector<std::function<void(const ObjectNode&, T&)>> checks_;
  Json more_schema_ = Json::object();
};

/// Returns the type of a key whose value is an object. `section` must outlive it.
template <typename T>
[[nodiscard]] Type<T> object(const Section<T>& section) {
  return {
      [&section](const Node& node) {
        T value{};
        section.read(node, value);
        return std::optional(std::move(value));
      },
      [&section](const T& value, const Writing& writing) { return section.write(value, writing); },
      [&section](Json& definitions) { return section.schema(definitions); }};
}

template <typename To, typename From>
[[nodiscard]] To converted(const From& value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else {
    return static_cast<To>(value);
  }
}

template <typename M>
struct ValueOf {
  using type = M;
};
template <typename M>
struct ValueOf<std::optional<M>> {
  using type = M;
};

template <typename T, typename M, typename V>
Key<T> key(std::string name, M T::*member, Type<V> type) {
  using Held = typename ValueOf<M>::type;
  return {
      std::move(name),
      [member, read = type.read](const Node& node, T& out) {
        if (const auto value = read(node)) out.*member = converted<Held>(*value);
      },
      [member, write = type.write](const T& value, const Writing& writing) -> std::optional<Json> {
        if constexpr (std::is_same_v<M, Held>) {
          return write(converted<V>(value.*member), writing);
        } else {
          if (!(value.*member)) return std::nullopt;
          return write(converted<V>(*(value.*member)), writing);
        }
      },
      type.schema, type.show};
}

template <typename T>
std::optional<Json> Key<T>::write(const T& value, const Writing& writing) const {
  const InFingerprint when = traits_.in_fingerprint;
  if (writing.fingerprint &&
      (when == InFingerprint::never ||
       (when == InFingerprint::where_cost_is_objective && !writing.cost_is_objective))) {
    return std::nullopt;
  }
  auto json = write_(value, writing);
  const bool leave_out =
      traits_.omitted_at_default || (writing.fingerprint && when == InFingerprint::unless_default);
  if (json && leave_out && json == default_value()) return std::nullopt;
  return json;
}

template <typename T>
Json Key<T>::schema(Json& definitions) const {
  return key_schema(traits_, schema_(definitions), default_value());
}

template <typename T>
KeyRow Key<T>::row() const {
  return key_row(traits_, default_value(), show_);
}

template <typename T>
ObjectNode Section<T>::open(const Node& node) const {
  std::vector<std::string_view> names;
  for (const Key<T>& key : keys_)
    names.push_back(key.traits().name);
  return ObjectNode(node, expected_, names);
}

template <typename T>
void Section<T>::read_present(const ObjectNode& object, const Key<T>& key, T& out) const {
  const auto& [name, required] = std::tie(key.traits().name, key.traits().required);
  if (const auto node = required ? object.require(name) : object.find(name)) key.read(*node, out);
}

template <typename T>
void Section<T>::read_key(const ObjectNode& object, std::string_view name, T& out) const {
  for (const Key<T>& key : keys_) {
    if (key.traits().name == name) read_present(object, key, out);
  }
}

template <typename T>
void Section<T>::read_others(const ObjectNode& object, const std::vector<std::string_view>& names,
                             T& out) const {
  for (const Key<T>& key : keys_) {
    const bool listed = std::find(names.begin(), names.end(), key.traits().name) != names.end();
    if (!listed) read_present(object, key, out);
  }
}

template <typename T>
void Section<T>::read(const Node& node, T& out) const {
  const ObjectNode object = open(node);
  for (const Key<T>& key : keys_)
    read_present(object, key, out);
  for (const auto& check : checks_)
    check(object, out);
}

template <typename T>
Json Section<T>::write(const T& value, const Writing& writing) const {
  Json json = Json::object();
  for (const Key<T>& key : keys_) {
    if (auto written = key.write(value, writing)) json[key.traits().name] = *std::move(written);
  }
  return json;
}

template <typename T>
Json Section<T>::definition(Json& definitions) const {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Key<T>& key : keys_) {
    properties[key.traits().name] = key.schema(definitions);
    if (key.traits().required) required.push_back(key.traits().name);
  }
  Json definition = {{"type", "object"}, {"additionalProperties", false}};
  if (!description_.empty()) definition["description"] = description_;
  if (!required.empty()) definition["required"] = std::move(required);
  definition.update(more_schema_);
  definition["properties"] = std::move(properties);
  return definition;
}

template <typename T>
Json Section<T>::schema(Json& definitions) const {
  if (!definitions.contains(name_)) {
    Json own = definition(definitions);
    definitions[name_] = std::move(own);
  }
  return {{"$ref", "#/$defs/" + name_}};
}

template <typename T>
KeyTable Section<T>::table() const {
  KeyTable table{name_, {}};
  for (const Key<T>& key : keys_) {
    if (!key.traits().written_by_steptune) table.rows.push_back(key.row());
  }
  return table;
}

}  // namespace steptune::document
