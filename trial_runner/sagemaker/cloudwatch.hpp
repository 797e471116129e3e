// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names and periods of CloudWatch data on training jobs. Source: SageMaker Developer Guide.
namespace steptune {

/// Group of the jobs' logs, and namespace of their machines' metrics.
inline constexpr const char* k_training_jobs = "/aws/sagemaker/TrainingJobs";
/// Seconds between two points of a metric.
inline constexpr double k_metric_period_s = 60.0;

}  // namespace steptune
