// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/document/section.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// Returns all keys of a study file. Reading, stored document, fingerprint, schema and reference
/// follow from them.
[[nodiscard]] const document::Section<StudySpec>& study_format();

/// Returns the format of study files as a JSON Schema (2020-12), for editors.
[[nodiscard]] Json study_schema();

/// Returns the study as a study file with defaults, facts and absolute paths. Leaves out keys that
/// are `omitted_at_default`. Reading this document gives the same study, document and fingerprint.
[[nodiscard]] Json canonical_document(const StudySpec& study);

/// Returns the SHA-256, in hexadecimal, of everything that decides the meaning of a trial's
/// measurement. The hash does not change if the study's folder is moved.
[[nodiscard]] std::string fingerprint_of(const StudySpec& study);

}  // namespace steptune::study
