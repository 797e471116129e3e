// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/config_edit/config_file.hpp"
#include "tuner/config_edit/text_edit.hpp"

namespace steptune {

/// Files that a configuration names relative to its own folder, so that a copy elsewhere would not
/// find them. Either the key says so (`_BASE_: ../base.yaml`), or the value has a dot or slash and
/// exists relative to `folder` but not to `working_directory`.
struct FileReferences {
  std::vector<TextEdit> edits;  ///< edits that make the paths absolute, in order
  /// A reference that cannot be edited, such as `!include x.yaml`; may be empty.
  std::string fixed;
};
[[nodiscard]] FileReferences file_references(ConfigFormat format,
                                             const std::vector<ConfigScalar>& scalars,
                                             std::string_view text,
                                             const std::filesystem::path& folder,
                                             const std::filesystem::path& working_directory);

}  // namespace steptune
