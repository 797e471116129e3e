// SPDX-License-Identifier: Apache-2.0
#include "trial_runner/reports/steptune_line.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/text.hpp"

namespace steptune {
namespace {

constexpr std::string_view k_mark = "[steptune]";
constexpr std::string_view k_hook_begin = R"({"v":1,"hook":{)";
/// Largest rank: far more than the processes of any cluster.
constexpr double k_max_rank = 1e6;

std::optional<Rejection> too_long(std::string_view document) {
  if (document.size() <= k_max_report_line_bytes) return std::nullopt;
  return Rejection{
      fmt::format("{} bytes; at most {} are read", document.size(), k_max_report_line_bytes)};
}

/// Fills a report while parsing, without building the document in memory. Stops at the first fault.
class DocumentReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit DocumentReader(std::string_view document) : document_(document) {}

  bool null() override { return not_a_number("null"); }
  bool boolean(bool /*value*/) override { return not_a_number("true or false"); }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return number(value);
  }
  bool string(string_t& value) override {
    if (in_not_finite_) {
      if (!name_fits(value)) return false;
      report_.not_finite.insert(std::move(value));
      return true;
    }
    if (depth_ == 1 && key_ == "phase") return set_phase(std::move(value));
    return not_a_number("a string");
  }
  bool binary(binary_t& /*value*/) override { return not_a_number("binary"); }

  bool start_object(std::size_t /*elements*/) override {
    const bool is_parts = depth_ == 1 && key_ == "parts" && !in_not_finite_;
    if (depth_ > 0 && !is_parts) return refuse(fmt::format("\"{}\" is an object", shown_key()));
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    part_keys_.clear();
    return true;
  }
  bool start_array(std::size_t /*elements*/) override {
    if (depth_ == 1 && key_ == "not_finite" && !in_not_finite_) {
      in_not_finite_ = true;
      return true;
    }
    return depth_ == 0 ? refuse("the document is a list, not an object") : not_a_number("a list");
  }
  bool end_array() override {
    in_not_finite_ = false;
    return true;
  }
  bool key(string_t& name) override {
    std::string& current = depth_ == 2 ? part_ : key_;
    current = name;
    if (!name_fits(name)) return false;
    std::set<std::string>& seen = depth_ == 2 ? part_keys_ : keys_;
    if (!seen.insert(name).second) {
      return refuse(fmt::format("the key \"{}\" appears twice", shown_key()));
    }
    // `finish` limits the metrics. The protocol's own keys do not count.
    if (part_keys_.size() > k_max_metrics) {
      return refuse(fmt::format("more than {} parts", k_max_metrics));
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& exception) override {
    const bool exceeds_double =
        dynamic_cast<const nlohmann::json::out_of_range*>(&exception) != nullptr;
    if (exceeds_double || not_finite_at(position)) {
      return refuse(fmt::format("\"{}\" is not a finite number", shown_key()));
    }
    return refuse(fmt::format("not valid JSON at byte {}", position));
  }

  [[nodiscard]] tl::expected<Report, Rejection> finish(bool parsed) {
    if (parsed && !rejection_ && keys_.empty()) {
      refuse("not an object with keys");
    }
    if (parsed && !rejection_ && !versioned_) refuse("no \"v\": 1");
    if (parsed && !rejection_) take_phase_seconds();
    for (const std::string& name : report_.not_finite)
      report_.metrics.erase(name);
    if (parsed && !rejection_ &&
        report_.metrics.size() + report_.not_finite.size() > k_max_metrics) {
      refuse(fmt::format("more than {} metrics", k_max_metrics));
    }
    if (!parsed && !rejection_) refuse("not valid JSON");
    if (rejection_) return tl::unexpected(*rejection_);
    return std::move(report_);
  }

 private:
  /// True if the parser stopped at `NaN`, `Infinity`, `-Infinity`, `nan` or `inf`, which many
  /// languages write although JSON forbids them. The parser stops at the first impossible letter:
  /// in `nan` and `-Infinity` that is the second character.
  [[nodiscard]] bool not_finite_at(std::size_t position) const {
    const std::size_t begin =
        std::min(document_.size(), position - std::min<std::size_t>(position, 2));
    const std::string_view near = document_.substr(begin, 4);
    return near.find("Na") != near.npos || near.find("na") != near.npos ||
           near.find("In") != near.npos || near.find("in") != near.npos;
  }
  bool refuse(std::string detail) {
    if (!rejection_) rejection_ = std::move(detail);
    return false;
  }
  bool name_fits(const std::string& name) {
    if (!name.empty() && name.size() <= k_max_metric_name_bytes) return true;
    return refuse(fmt::format("a metric name has {} bytes; 1 to {} are allowed", name.size(),
                              k_max_metric_name_bytes));
  }
  [[nodiscard]] std::string shown_key() const {
    return printable_line(depth_ == 2 ? key_ + "/" + part_ : key_, 60);
  }
  bool not_a_number(std::string_view what) {
    if (depth_ == 0) return refuse("not an object");
    if (depth_ == 1 && key_ == "phase") return refuse_phase(what);
    if (key_ == "v") return refuse("\"v\" is not 1");
    return refuse(fmt::format("\"{}\" is {}, not a number", shown_key(), what));
  }
  bool number(double value) {
    if (depth_ == 0) return refuse("not an object");
    if (in_not_finite_) return refuse("\"not_finite\" lists names only");
    if (depth_ == 2) return set_counter(report_.parts[part_], value);
    if (key_ == "v") {
      versioned_ = value == 1.0;
      return versioned_ || refuse(fmt::format("\"v\" is {}", value));
    }
    if (key_ == "step") return set_counter(report_.step.emplace(), value);
    if (key_ == "samples") return set_counter(report_.samples.emplace(), value);
    if (key_ == "clock") return set_counter(report_.clock_s.emplace(), value);
    if (key_ == "global_rank") return set_rank(value);
    if (key_ == "parts" || key_ == "not_finite") {
      return refuse(fmt::format("\"{}\" is a number", key_));
    }
    if (key_ == "phase") return refuse_phase("a number");
    report_.metrics[key_] = value;
    return true;
  }
  bool set_rank(double value) {
    if (value >= 0.0 && value <= k_max_rank && value == std::floor(value)) {
      report_.global_rank = static_cast<int>(value);
      return true;
    }
    return refuse(fmt::format("\"global_rank\" is {}; a whole number from 0 to {:g} is allowed",
                              value, k_max_rank));
  }
  bool set_phase(std::string name) {
    if (name.empty() || name.size() > k_max_metric_name_bytes) {
      return refuse(fmt::format("the name of the phase has {} bytes; 1 to {} are allowed",
                                name.size(), k_max_metric_name_bytes));
    }
    report_.phase = PhaseReport{std::move(name), std::nullopt};
    return true;
  }
  bool refuse_phase(std::string_view what) {
    return refuse(fmt::format("\"phase\" is {}, not a name such as \"evaluation\"", what));
  }
  /// Moves the metric `seconds` into the phase; the line may have it before or after the phase.
  /// Without a phase, `seconds` remains a metric.
  void take_phase_seconds() {
    const auto seconds = report_.metrics.find("seconds");
    if (!report_.phase || seconds == report_.metrics.end()) return;
    if (!(seconds->second >= 0.0 && seconds->second <= k_max_phase_s)) {
      refuse(fmt::format("the phase \"{}\" took {} seconds; 0 to {:g} are allowed",
                         printable_line(report_.phase->name, 60), seconds->second, k_max_phase_s));
      return;
    }
    report_.phase->seconds = seconds->second;
    report_.metrics.erase(seconds);
  }
  bool set_counter(double& counter, double value) {
    if (value >= 0.0 && value <= k_max_count) {
      counter = value;
      return true;
    }
    return refuse(
        fmt::format("\"{}\" is {}; 0 to {:g} is allowed", shown_key(), value, k_max_count));
  }

  std::string_view document_;
  Report report_;
  std::optional<Rejection> rejection_;
  std::set<std::string> keys_;
  std::set<std::string> part_keys_;
  std::string key_;
  std::string part_;
  int depth_ = 0;
  bool in_not_finite_ = false;
  bool versioned_ = false;
};

}  // namespace

std::size_t find_steptune_document(std::string_view line) {
  const std::size_t mark = line.find(k_mark);
  if (mark == std::string_view::npos) return std::string_view::npos;
  const std::size_t document = line.find_first_not_of(' ', mark + k_mark.size());
  if (document == std::string_view::npos || line[document] != '{') return std::string_view::npos;
  return document;
}

bool is_hook_document(std::string_view document) {
  return document.starts_with(k_hook_begin);
}

tl::expected<std::string, Rejection> parse_hook_document(std::string_view document) {
  if (auto rejection = too_long(document)) return tl::unexpected(*std::move(rejection));
  const std::string_view event = document.substr(k_hook_begin.size() - 1);  // with its brace
  if (!event.ends_with('}') || !nlohmann::json::accept(event.substr(0, event.size() - 1))) {
    return tl::unexpected(Rejection{"\"hook\" is not one JSON object, alone after \"v\""});
  }
  return std::string(event.substr(0, event.size() - 1));
}

tl::expected<Report, Rejection> parse_steptune_document(std::string_view document) {
  if (auto rejection = too_long(document)) return tl::unexpected(*std::move(rejection));
  DocumentReader reader(document);
  const bool parsed = nlohmann::json::sax_parse(document, &reader);
  return reader.finish(parsed);
}

}  // namespace steptune
