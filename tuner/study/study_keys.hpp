// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

/// Every key and name that a study file may contain, by the object it stands in.
/// `configs/study.schema.json` says the same for editors; a test keeps the two in step.
namespace steptune::study::keys {

using Name = std::string_view;

inline constexpr std::array k_study = {Name("$schema"),
                                       Name("name"),
                                       Name("command"),
                                       Name("env"),
                                       Name("working_directory"),
                                       Name("facts"),
                                       Name("parameters"),
                                       Name("constraints"),
                                       Name("baseline"),
                                       Name("planned_run"),
                                       Name("objectives"),
                                       Name("guards"),
                                       Name("search"),
                                       Name("try"),
                                       Name("budget"),
                                       Name("measure"),
                                       Name("reports"),
                                       Name("runner"),
                                       Name("limits")};
inline constexpr std::array k_facts = {Name("cpus"), Name("gpus"), Name("memory_gb")};
inline constexpr std::array k_command_part = {Name("when"), Name("args")};

inline constexpr std::array k_range_parameter = {Name("type"),  Name("low"),   Name("high"),
                                                 Name("step"),  Name("scale"), Name("when"),
                                                 Name("memory")};
inline constexpr std::array k_bool_parameter = {Name("type"), Name("when"), Name("memory")};
inline constexpr std::array k_categorical_parameter = {Name("type"), Name("choices"), Name("when")};
inline constexpr std::array k_ordinal_parameter = {Name("type"), Name("choices"), Name("when"),
                                                   Name("memory")};
inline constexpr std::array k_planned_run = {Name("samples"), Name("batch_size")};
inline constexpr std::array k_objective = {Name("metric"), Name("direction")};
inline constexpr std::array k_guard = {
    Name("metric"), Name("after_samples"),         Name("max"),
    Name("min"),    Name("max_ratio_to_baseline"), Name("min_ratio_to_baseline")};
inline constexpr std::array k_search = {
    Name("searcher"), Name("scheduler"), Name("seed"),      Name("initial_points"),
    Name("eta"),      Name("min_steps"), Name("max_steps"), Name("learn_from")};
inline constexpr std::array k_budget = {Name("trials"), Name("time"), Name("cost"), Name("stop"),
                                        Name("consecutive_failures")};
inline constexpr std::array k_measure = {Name("target_half_width"), Name("max_trial"),
                                         Name("min_window"), Name("min_window_steps"),
                                         Name("confirm_pairs")};
inline constexpr std::array k_reports = {Name("preset"), Name("metrics")};
inline constexpr std::array k_metric_definition = {Name("name"), Name("regex")};
inline constexpr std::array k_local_runner = {
    Name("type"),           Name("price_per_hour"), Name("instances"), Name("parallel"),
    Name("cpus_per_trial"), Name("gpus_per_trial"), Name("pin")};
inline constexpr std::array k_replay_runner = {
    Name("type"),   Name("price_per_hour"),   Name("instances"),          Name("parallel"),
    Name("table"),  Name("objective_column"), Name("seconds_per_sample"), Name("startup"),
    Name("noise"),  Name("instance_type"),    Name("instance_count"),     Name("instance_groups"),
    Name("prices"), Name("price_table")};
inline constexpr std::array k_sagemaker_runner = {Name("type"),
                                                  Name("region"),
                                                  Name("role"),
                                                  Name("image"),
                                                  Name("algorithm"),
                                                  Name("input_mode"),
                                                  Name("channels"),
                                                  Name("output"),
                                                  Name("checkpoints"),
                                                  Name("code"),
                                                  Name("subnets"),
                                                  Name("security_groups"),
                                                  Name("tags"),
                                                  Name("volume_gb"),
                                                  Name("network_isolation"),
                                                  Name("encrypt_traffic"),
                                                  Name("spot"),
                                                  Name("spot_share"),
                                                  Name("max_wait"),
                                                  Name("keep_alive"),
                                                  Name("poll"),
                                                  Name("instance_type"),
                                                  Name("instance_count"),
                                                  Name("instance_groups"),
                                                  Name("parallel"),
                                                  Name("prices"),
                                                  Name("price_table")};
inline constexpr std::array k_channel = {
    Name("s3"),          Name("input_mode"),       Name("content_type"), Name("instance_groups"),
    Name("file_system"), Name("file_system_type"), Name("path")};
inline constexpr std::array k_instance_group = {Name("name"), Name("instance_type"),
                                                Name("instance_count")};
inline constexpr std::array k_instance_price = {Name("usd_per_hour"), Name("vcpus"),
                                                Name("memory_gib"), Name("gpus")};
inline constexpr std::array k_limits = {Name("wall"), Name("idle"), Name("grace"), Name("memory")};

}  // namespace steptune::study::keys

namespace steptune::study::names {

using Name = std::string_view;

/// In the order of `ParameterKind`, `Scale`, `MemoryEffect` (less `unknown`) and `Direction`.
inline constexpr std::array k_parameter_types = {Name("int"), Name("float"), Name("bool"),
                                                 Name("categorical"), Name("ordinal")};
inline constexpr std::array k_scales = {Name("linear"), Name("log"), Name("log2")};
inline constexpr std::array k_memory_effects = {Name("increases"), Name("decreases")};
inline constexpr std::array k_directions = {Name("minimize"), Name("maximize")};
inline constexpr std::array k_searchers = {Name("random"), Name("sobol"), Name("grid"),
                                           Name("bayes")};
inline constexpr std::array k_schedulers = {Name("none"), Name("asha"), Name("racing"),
                                            Name("median")};
inline constexpr std::array k_stops = {Name("payback")};
inline constexpr std::array k_presets = {Name("tqdm"), Name("keras"), Name("hf-trainer"),
                                         Name("lightning"), Name("key=value")};
inline constexpr std::array k_runners = {Name("local"), Name("replay"), Name("sagemaker")};
inline constexpr std::array k_input_modes = {Name("File"), Name("FastFile"), Name("Pipe")};
inline constexpr std::array k_file_systems = {Name("EFS"), Name("FSxLustre")};

}  // namespace steptune::study::names
