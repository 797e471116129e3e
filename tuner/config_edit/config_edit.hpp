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

/// A change of one value of a configuration file.
struct ConfigChange {
  std::string parameter;
  std::string key;  ///< `train.loader.batch_size`
  int line = 1;
  Json before;
  Value after;
  TextEdit edit;
};

/// Key in the file of each parameter, by the parameter's name. A parameter with an empty key is not
/// written.
using ConfigKeys = std::map<std::string, std::string>;

/// Returns the scalar that `key` names, to change its value. Errors of kind `usage`: there is no
/// such key (the error names the nearest), there are several, or the text cannot be replaced
/// separately.
[[nodiscard]] Result<const ConfigScalar*> config_place(const std::vector<ConfigScalar>& scalars,
                                                       const std::string& key);

/// Returns the changes that make the text of a configuration file match `configuration`, in order
/// of the text. Values that match already need no change. A parameter belongs to the key that
/// `keys` names. If `keys` lacks the parameter, it belongs to the only key of its name at any
/// depth. `batch-size` counts as `batch_size` if no key is called `batch_size`. Only the bytes of
/// the values change; the function checks that all other values still read the same. One error of
/// kind `usage` lists all parameters without a key or with several keys, and the candidates.
[[nodiscard]] Result<std::vector<ConfigChange>> config_changes(ConfigFormat format,
                                                               std::string_view text,
                                                               const Configuration& configuration,
                                                               const ConfigKeys& keys,
                                                               const std::string& where);

/// Returns the edits of all changes, in order.
[[nodiscard]] std::vector<TextEdit> edits_of(const std::vector<ConfigChange>& changes);

}  // namespace steptune
