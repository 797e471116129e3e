// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/document/section.hpp"
#include "tuner/study/study_spec.hpp"

namespace steptune::study {

/// A study file's keys, all of them: what is read, stored, hashed, described to editors and listed
/// in the reference follows from here.
[[nodiscard]] const document::Section<StudySpec>& study_format();

/// The study as a study file with every default and fact written out and paths made absolute.
/// Reading it again gives the same study, document and fingerprint.
[[nodiscard]] Json canonical_document(const StudySpec& study);

/// SHA-256, in hexadecimal, of what decides the meaning of a trial's measurement, in a form that
/// does not change when the study's folder is moved.
[[nodiscard]] std::string fingerprint_of(const StudySpec& study);

}  // namespace steptune::study
