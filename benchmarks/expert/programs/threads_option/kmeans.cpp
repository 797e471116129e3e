// SPDX-License-Identifier: Apache-2.0
// Mini-batch k-means over random points.
// usage: kmeans [--threads N (8)] [--iterations N (100000)] [--clusters N (64)]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <omp.h>

namespace {

constexpr int k_dimensions = 32;
constexpr int k_points = 4096;

int usage(const char* name) {
  std::fprintf(stderr,
               "usage: %s [--threads N (8)] [--iterations N (100000)] [--clusters N (64)]\n", name);
  return 2;
}

float squared_distance(const float* a, const float* b) {
  float sum = 0;
  for (int d = 0; d < k_dimensions; ++d) {
    const float difference = a[d] - b[d];
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 8;
  int iterations = 100000;
  int clusters = 64;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return usage(argv[0]);
    const int value = static_cast<int>(std::strtol(argv[i + 1], nullptr, 10));
    if (value < 1) return usage(argv[0]);
    if (std::strcmp(argv[i], "--threads") == 0) {
      threads = value;
    } else if (std::strcmp(argv[i], "--iterations") == 0) {
      iterations = value;
    } else if (std::strcmp(argv[i], "--clusters") == 0) {
      clusters = value;
    } else {
      return usage(argv[0]);
    }
  }
  omp_set_num_threads(threads);

  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> points(static_cast<std::size_t>(k_points) * k_dimensions);
  for (float& value : points)
    value = normal(random);
  std::vector<float> centres(points.begin(), points.begin() + clusters * k_dimensions);
  std::vector<int> nearest(k_points);

  // Each mini-batch is a block of 256 points.
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    double loss = 0;
    for (int block = 0; block < k_points; block += 256) {
#pragma omp parallel for reduction(+ : loss) schedule(static)
      for (int p = block; p < block + 256; ++p) {
        float best = 1e30F;
        for (int c = 0; c < clusters; ++c) {
          const float distance =
              squared_distance(&points[p * k_dimensions], &centres[c * k_dimensions]);
          if (distance < best) {
            best = distance;
            nearest[p] = c;
          }
        }
        loss += best;
      }
      for (int p = block; p < block + 256; ++p) {
        float* centre = &centres[nearest[p] * k_dimensions];
        for (int d = 0; d < k_dimensions; ++d) {
          centre[d] += 0.01F * (points[p * k_dimensions + d] - centre[d]);
        }
      }
    }
    if (iteration % 10 == 0) {
      std::printf("iteration %d  loss %.5f\n", iteration, loss / k_points);
      std::fflush(stdout);
    }
  }
  return 0;
}
