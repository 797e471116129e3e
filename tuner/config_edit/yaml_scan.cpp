// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <yaml.h>

#include "common/json.hpp"
#include "common/text.hpp"
#include "tuner/config_edit/config_file.hpp"

namespace steptune {
namespace {

struct YamlEvent {
  yaml_event_t event{};
  YamlEvent() = default;
  YamlEvent(const YamlEvent&) = delete;
  YamlEvent& operator=(const YamlEvent&) = delete;
  ~YamlEvent() { yaml_event_delete(&event); }
};

/// Converts libyaml's character positions into bytes.
class ByteOffsets {
 public:
  explicit ByteOffsets(std::string_view text) : text_(text) {}
  /// Returns the byte of a character. Fast if calls are in ascending order.
  std::size_t of(std::size_t character) {
    while (character_ < character && byte_ < text_.size()) {
      ++byte_;
      while (byte_ < text_.size() && (static_cast<unsigned char>(text_[byte_]) & 0xC0U) == 0x80U)
        ++byte_;
      ++character_;
    }
    return byte_;
  }

 private:
  std::string_view text_;
  std::size_t character_ = 0;
  std::size_t byte_ = 0;
};

/// Returns a plain scalar with its type in the core schema, YAML 1.2.2 chapter 10.3.2.
Json typed(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return {};
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const std::string_view digits = std::string_view(text).substr(text.front() == '+' ? 1 : 0);
  std::int64_t integer = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), integer);
  if (fault == std::errc() && end == digits.data() + digits.size()) return integer;
  if (const auto number = parse_finite(text)) return *number;
  return text;
}

class YamlScanner {
 public:
  YamlScanner(std::string_view text, const std::string& where)
      : text_(text), where_(where), offsets_(text) {}

  Result<std::vector<ConfigScalar>> scan() {
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) {
      return fail(ErrorKind::internal, "libyaml ran out of memory", where_);
    }
    const std::unique_ptr<yaml_parser_t, void (*)(yaml_parser_t*)> owner(&parser,
                                                                         yaml_parser_delete);
    // libyaml aborts on a null pointer, which an empty view may have.
    const char* const data = text_.empty() ? "" : text_.data();
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(data),  // NOLINT
                                 text_.size());
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    for (bool more = true; more;) {
      YamlEvent parsed;
      if (yaml_parser_parse(&parser, &parsed.event) == 0) return fault(parser);
      if (auto taken = take(parsed.event); !taken) return tl::unexpected(taken.error());
      more = parsed.event.type != YAML_STREAM_END_EVENT;
    }
    return std::move(scalars_);
  }

 private:
  struct Level {
    bool list = false;
    std::size_t index = 0;
    std::optional<std::string> key;  ///< key of the next value
    bool is_in_key = false;          ///< within a collection that is a key
  };

  tl::unexpected<Error> fault(const yaml_parser_t& parser) const {
    return fail(ErrorKind::usage,
                fmt::format("is not YAML: {}", parser.problem != nullptr ? parser.problem : ""),
                fmt::format("{}:{}:{}", where_, parser.problem_mark.line + 1,
                            parser.problem_mark.column + 1));
  }

  Result<void> take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_MAPPING_START_EVENT:
      case YAML_SEQUENCE_START_EVENT:
        // A collection used as a key has no name. `?` takes its place in the paths of the values
        // below it.
        if (is_key()) {
          levels_.back().key = "?";
          levels_.back().is_in_key = true;
        }
        if (levels_.size() == std::size_t{k_max_nesting}) {
          return fail(ErrorKind::usage, fmt::format("is nested deeper than {}", k_max_nesting),
                      where_);
        }
        levels_.push_back({event.type == YAML_SEQUENCE_START_EVENT, 0, {}, false});
        break;
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        levels_.pop_back();
        if (levels_.empty() || !std::exchange(levels_.back().is_in_key, false)) next();
        break;
      case YAML_ALIAS_EVENT:
        if (is_key()) {
          levels_.back().key = "*";
        } else {
          add(event, nullptr, "it is an alias: change the anchor that it stands for");
        }
        break;
      case YAML_SCALAR_EVENT:
        take_scalar(event);
        break;
      default:
        break;
    }
    return {};
  }

  [[nodiscard]] bool is_key() const {
    return !levels_.empty() && !levels_.back().list && !levels_.back().key;
  }

  void take_scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);  // NOLINT
    if (is_key()) {
      levels_.back().key = std::move(text);
      return;
    }
    std::string why;
    if (scalar.anchor != nullptr) {
      why = "it has an anchor: other places would change with it";
    } else if (scalar.tag != nullptr) {
      why = "it has a tag";
    } else if (scalar.style == YAML_LITERAL_SCALAR_STYLE ||
               scalar.style == YAML_FOLDED_SCALAR_STYLE) {
      why = "it is a block of text";
    }
    const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    add(event, plain ? typed(text) : Json(std::move(text)), std::move(why));
  }

  void add(const yaml_event_t& event, Json value, std::string why) {
    ConfigScalar found;
    for (const Level& level : levels_)
      found.path.push_back(level.list ? std::to_string(level.index) : level.key.value_or(""));
    found.begin = offsets_.of(event.start_mark.index);
    found.end = offsets_.of(event.end_mark.index);
    found.line = static_cast<int>(event.start_mark.line) + 1;
    found.value = std::move(value);
    found.why_fixed = std::move(why);
    scalars_.push_back(std::move(found));
    next();
  }

  void next() {
    if (levels_.empty()) return;
    ++levels_.back().index;
    levels_.back().key.reset();
  }

  std::string_view text_;
  std::string where_;
  ByteOffsets offsets_;
  std::vector<Level> levels_;
  std::vector<ConfigScalar> scalars_;
};

}  // namespace

Result<std::vector<ConfigScalar>> scan_yaml(std::string_view text, const std::string& where) {
  if (text.size() > k_max_document_bytes)
    return fail(ErrorKind::usage, "is larger than 16 MiB", where);
  return YamlScanner(text, where).scan();
}

}  // namespace steptune
