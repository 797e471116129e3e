// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "common/document/source_lines.hpp"
#include "common/rng.hpp"
#include "tests/fuzz/study_promises.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace steptune::fuzz {
namespace {

void require_sound(const StudySpec& study) {
  require(study.space.contains(study.baseline), "the baseline lies outside of the space");
  require(study.fingerprint.size() == 64U, "a fingerprint is not 64 digits");
  Rng rng(1, "study-fuzz-sample");
  for (int i = 0; i < 3; ++i) {
    const auto drawn = i == 0 ? std::optional(study.baseline) : study.space.sample(rng, 100);
    if (!drawn) continue;
    for (const std::string& argument : render_command(study, *drawn).argv) {
      require(argument.find('\0') == std::string::npos, "an argument holds NUL");
    }
    const auto samples = samples_per_step(study, *drawn);
    require(!samples || *samples > 0, "samples per step are not positive");
  }
  const auto again = study_from_json(study.document, study.file, {});
  require(again.has_value(), again ? "" : "its own document is refused: " + again.error().text());
  require(again->fingerprint == study.fingerprint,
          "its own document, read back, has another fingerprint");
}

void require_placed(const Error& error) {
  require(error.kind == ErrorKind::usage, "not an error of usage: " + error.text());
  require(error.text().find("/studies/study.json#") != std::string::npos,
          "an error without its place: " + error.text());
  for (const char c : error.text()) {
    require(static_cast<unsigned char>(c) >= 0x20 || c == '\n',
            "an error that drives the terminal: " + error.text());
  }
}

}  // namespace

bool keeps_promises_of_a_study(const Json& document) {
  const auto study = testing::read(document);
  if (study) {
    require_sound(*study);
  } else {
    require_placed(study.error());
  }
  return study.has_value();
}

void run_study(std::string_view input) {
  const auto document = parse_json(input, "/studies/study.json");
  const document::SourceLines lines(input);
  if (!document) return;
  require(lines.line_of("").has_value(), "a document without a first line");
  keeps_promises_of_a_study(*document);
}

}  // namespace steptune::fuzz
