// SPDX-License-Identifier: Apache-2.0
#include "tuner/study/sections.hpp"

namespace steptune::study {

const Section<CampaignSpec>& campaign_section() {
  static const auto k_section =
      Section<CampaignSpec>("campaign", "The campaign whose edit a study judges.",
                            "an object such as {\"name\": \"faster-loader\"}")
          .add(
              key("name", &CampaignSpec::name, study_name()).required().doc("name of the campaign"))
          .add(key("commits", &CampaignSpec::commits, document::list_of(document::string(), 2))
                   .omitted_at_default()
                   .default_words("none")
                   .doc("commits of the champion and of the edit"))
          .add(key("build", &CampaignSpec::build, document::string())
                   .omitted_at_default()
                   .default_words("none")
                   .doc("shell command that built each commit"))
          .add(key("measures_gain", &CampaignSpec::measures_gain, document::boolean())
                   .omitted_at_default()
                   .default_words("`false`")
                   .doc("the study compares the champion with the first version"));
  return k_section;
}

}  // namespace steptune::study
