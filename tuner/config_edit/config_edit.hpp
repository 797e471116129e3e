// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/configuration.hpp"
#include "common/error.hpp"
#include "tuner/config_edit/config_file.hpp"
#include "tuner/config_edit/text_edit.hpp"

namespace steptune {

/// One value of a configuration file that is to change.
struct ConfigChange {
  std::string parameter;
  std::string key;  ///< `train.loader.batch_size`
  int line = 1;
  Json before;
  Value after;
  TextEdit edit;
};

/// Parameter -> key of the file; an empty key leaves the parameter out.
using ConfigKeys = std::map<std::string, std::string>;

/// The one of `scalars` that `key` names, for its value to be changed. An error of kind `usage`
/// says why there is none: no such key (with the nearest), several, or text that cannot be replaced
/// alone.
[[nodiscard]] Result<const ConfigScalar*> config_place(const std::vector<ConfigScalar>& scalars,
                                                       const std::string& key);

/// What must change in the text of a configuration file so that it says `configuration`, in order
/// of the text; nothing for values that are right already. A parameter belongs to the key that
/// `keys` names, else to the only one that is called like it, at any depth (`batch-size` is
/// `batch_size` where nothing is called `batch_size`). Nothing but the bytes of the values changes:
/// that all others read as before is checked. One error of kind `usage` tells all parameters that
/// have no place or several, with the candidates.
[[nodiscard]] Result<std::vector<ConfigChange>> config_changes(ConfigFormat format,
                                                               std::string_view text,
                                                               const Configuration& configuration,
                                                               const ConfigKeys& keys,
                                                               const std::string& where);

/// The edits of all changes, in order.
[[nodiscard]] std::vector<TextEdit> edits_of(const std::vector<ConfigChange>& changes);

}  // namespace steptune
