// SPDX-License-Identifier: Apache-2.0
// Random edits of sound study files. The result is either a study that renders and reads back the
// same, or an error that names the place. Seeded: a failure repeats, and prints its document.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/rng.hpp"
#include "tests/fuzz/study_promises.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace steptune {
namespace {

const char* const k_replay_text = R"x({
  "name": "replayed",
  "facts": {"cpus": 4},
  "parameters": {
    "lr": {"type": "float", "low": 1e-5, "high": 0.1, "scale": "log"},
    "amp": {"type": "bool"},
    "dropout": {"type": "float", "low": 0, "high": 0.5, "step": 0.1, "when": "amp"},
    "malloc": {"type": "categorical", "choices": {"system": "", "tcmalloc": "/usr/lib/x.so"}},
    "micro": {"type": "ordinal", "choices": [1, 2, 4], "memory": "increases"}
  },
  "constraints": ["not amp or micro < 4"],
  "baseline": {"lr": 0.01, "amp": false, "malloc": "system", "micro": 1},
  "planned_run": {"samples": 1e6, "batch_size": "micro * 8"},
  "objectives": ["time", {"metric": "accuracy", "direction": "maximize"}],
  "try": [{"lr": 0.1, "amp": true, "dropout": 0.5, "malloc": "tcmalloc", "micro": 2}],
  "measure": {"target_half_width": 0.05, "max_trial": "90s"},
  "reports": {"preset": "tqdm", "metrics": [{"name": "loss", "regex": "loss=([0-9]+)"}]},
  "runner": {"type": "replay", "price_per_hour": 2, "startup": "5s", "noise": 0.1,
             "seconds_per_sample": "lr + amp + dropout + micro + (malloc == 'system')"},
  "limits": {"wall": "1h", "memory": "8GiB"}
})x";

/// Collects every value of a document, so that an edit can change any of them with the same chance.
void collect(Json& json, std::vector<Json*>& values) {
  values.push_back(&json);
  if (!json.is_structured()) return;
  for (auto& child : json)
    collect(child, values);
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t number) : rng_(2026, "study-fuzz", number) {}

  void edit_document(Json& document) {
    for (std::uint64_t edits = 1 + rng_.below(3); edits > 0; --edits)
      edit_value(document);
  }

  /// Changes, cuts or doubles bytes, which mostly makes the text invalid JSON.
  void edit_text(std::string& text) {
    for (std::uint64_t edits = 1 + rng_.below(4); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = rng_.below(text.size());
      const std::size_t length = 1 + rng_.below(8);
      switch (rng_.below(4)) {
        case 0:
          text[at] = static_cast<char>(rng_.below(256));
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, text.substr(rng_.below(text.size()), length));
          break;
        default:
          text.insert(at, 1, std::string_view("{}[]\",:\\/*0eE-.")[rng_.below(16)]);
      }
    }
  }

 private:
  Json odd_value() {
    static const Json k_values = *parse_json(R"x([
      null, true, false, 0, -1, 1, 1e308, -1e308, 5e-324, 0.5, 9223372036854775807,
      18446744073709551615, "", " ", "cpus", "2 * cpus", "1/0", "0/0", "workers", "workers > 0",
      "{workers}", "{", "{{", "{}", "--x", "time", "cost", "local", "replay", "int", "float", "bool",
      "categorical", "ordinal", "log2", "log", "30m", "1e9h", "-5s", "((((", "'", "a\u0001b",
      "a\u0000b", "workers == 'fp32'", "batch_size ? workers : 1", "(a*)*b(c)", "\ud83d\ude00",
      [], {}, [1, 2], ["a", "b"], {"when": "amp", "args": ["--amp"]}, {"type": "bool"},
      {"type": "int", "low": 1, "high": 3}])x",
                                             "odd values");
    const std::uint64_t choice = rng_.below(k_values.size() + 3);
    if (choice == k_values.size()) return std::string(5000, 'x');
    if (choice == k_values.size() + 1) return std::string(300, '(');
    if (choice == k_values.size() + 2) return std::string(200, '!');
    return k_values[choice];
  }

  void edit_value(Json& document) {
    std::vector<Json*> values;
    collect(document, values);
    Json& value = *values[rng_.below(values.size())];
    const Json other = *values[rng_.below(values.size())];
    switch (rng_.below(6)) {
      case 0:
        value = odd_value();
        break;
      case 1:
        value = other;
        break;
      case 2:
        if (value.is_structured() && !value.empty()) erase_from(value);
        break;
      case 3:
        insert_into(value, odd_value());
        break;
      case 4:
        if (value.is_string()) {
          std::string text = value.get<std::string>();
          edit_text(text);
          value = text;
        }
        break;
      default:
        if (value.is_number()) value = value.get<double>() * (rng_.uniform() < 0.5 ? -1.0 : 1e3);
    }
  }

  void erase_from(Json& value) {
    auto at = value.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(value.size())));
    value.erase(at);
  }

  void insert_into(Json& value, const Json& inserted) {
    if (value.is_array()) {
      value.insert(value.begin() + static_cast<std::ptrdiff_t>(rng_.below(value.size() + 1)),
                   inserted);
    } else if (value.is_object()) {
      static const std::vector<std::string> k_keys = {
          "when",  "step", "scale", "choices",  "low",    "memory", "x",
          "a/b~c", "",     "PATH",  "trials",   "preset", "table",  "pin",
          "min",   "type", "name",  "\xC3\xA9", "\x1b[0m"};
      value[k_keys[rng_.below(k_keys.size())]] = inserted;
    }
  }

  Rng rng_;
};

/// `scripts/fuzz study` checks the same promises with many more edits.
constexpr std::uint64_t k_edits = k_sanitized ? 300 : 1'000;

TEST(StudyFuzz, EditedDocumentsAreStudiesOrPlacedErrors) {
  const std::vector<Json> seeds = {testing::study_document(), *parse_json(k_replay_text, "replay")};
  for (const Json& seed : seeds)
    ASSERT_TRUE(testing::read(seed)) << testing::read(seed).error().text();
  int studies = 0;
  int errors = 0;
  for (std::uint64_t number = 0; number < k_edits; ++number) {
    Json document = seeds[number % seeds.size()];
    Mutator(number).edit_document(document);
    SCOPED_TRACE(dump_json(document));
    ++(fuzz::keeps_promises_of_a_study(document) ? studies : errors);
  }
  RecordProperty("studies", studies);
  RecordProperty("errors", errors);
  EXPECT_GT(studies, 10);
  EXPECT_GT(errors, 10);
}

TEST(StudyFuzz, EditedTextsAreScannedAndReadWithoutHarm) {
  int parsed = 0;
  for (std::uint64_t number = 0; number < k_edits; ++number) {
    std::string text = number % 2 == 0 ? testing::k_study_text : k_replay_text;
    Mutator(number).edit_text(text);
    SCOPED_TRACE(text);
    fuzz::run_study(text);
    if (parse_json(text, "/studies/study.json")) ++parsed;
  }
  EXPECT_GT(parsed, 10);
}

}  // namespace
}  // namespace steptune
