// SPDX-License-Identifier: Apache-2.0
// How the gradient of a volume is cut: blocks of channels, bands of planes, and the points that take part in each.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/kernels.hpp"
#include "memory.hpp"
#include "threads/pool.hpp"

namespace gw {

// How a call is cut: by shapes alone, so that bits do not depend on the number of threads. A piece is a block of channels
// of one volume, and of it a band of planes small enough to stay in a second-level cache with its grad_x; where there are
// few pieces otherwise, bands are made to have some. Points are listed by band.
struct VolumeCut {
  int64_t channels, blocks, units, bands, planes;  // channels of a block; planes of a band

  VolumeCut(const VolumeJob& job, bool direct, bool planar) {
    constexpr int64_t fewest_planes = 4, fewest_values = 1 << 16, band_bytes = 2 << 20;
    const int64_t enough = planar ? 4 : 8;
    const bool wide = job.x_type == GW_FLOAT64;
    const int64_t most = direct ? 64 : wide ? 8 : 16;
    channels = job.channels <= 4 ? 4 : job.channels <= 8 ? 8 : std::min(most, (job.channels + 3) / 4 * 4);
    if (planar && job.channels <= 4) channels = job.channels;
    blocks = (job.channels + channels - 1) / channels;
    units = job.batches * blocks;
    bands = 1;
    if (job.points() * job.channels * job.batches >= fewest_values && job.points() < INT32_MAX) {
      const int64_t most_bands = std::clamp<int64_t>(job.size[2] / fewest_planes, 1, 4096);
      const double bytes = 2.0 * (double)job.voxels() * (double)channels * (wide ? 8 : 4);
      const auto small = (int64_t)std::min(bytes / (double)band_bytes, 4096.0);
      bands = std::clamp(std::max((enough + units - 1) / std::max<int64_t>(units, 1), small), int64_t{1}, most_bands);
    }
    planes = (job.size[2] + bands - 1) / bands;
    bands = (job.size[2] + planes - 1) / planes;
  }
  VolumeBackwardPiece piece(const VolumeBackwardJob& job, int64_t unit, int64_t band) const {
    VolumeBackwardPiece p = {};
    p.n = unit / blocks;
    p.c0 = unit % blocks * channels;
    p.c1 = std::min(p.c0 + channels, job.channels);
    p.width = (p.c1 - p.c0 + 3) / 4 * 4;
    if (p.width > 8 && p.width < 16) p.width = 16;
    p.z0 = band * planes;
    p.z1 = std::min(p.z0 + planes, job.size[2]);
    p.points = job.points();
    return p;
  }
};

// The points of each band, in their own order.
struct BandLists {
  Scratch<int32_t> points;
  std::vector<int64_t> start;  // of each band

  BandLists(const VolumeJob& job, int64_t n, const VolumeCut& cut) {
    constexpr int64_t chunk = 4096;
    const int64_t all = job.points(), chunks = (all + chunk - 1) / chunk, bands = cut.bands;
    const Scratch<BandRange> ranges = scratch<BandRange>((size_t)all);
    std::vector<int64_t> counts((size_t)(chunks * bands));
    std::vector<uint16_t> band_of((size_t)job.size[2]);
    for (int64_t z = 0; z < job.size[2]; ++z) band_of[(size_t)z] = (uint16_t)(z / cut.planes);
    const auto count = [&](int64_t c) { return std::min(chunk, all - c * chunk); };
    Outcome outcome = parallel_for(chunks, 4.0 * (double)all, [&](int64_t c, int) {
      BandRange* const r = ranges.get() + c * chunk;
      for (int64_t i = 0; i < count(c); i += tile_points)
        kernels().volume.band_ranges[job.x_type == GW_FLOAT64](job, n, c * chunk + i,
                                                                (int32_t)std::min<int64_t>(tile_points, count(c) - i),
                                                                band_of.data(), r + i);
      int64_t* const to = counts.data() + c * bands;
      for (int64_t i = 0, end; i < count(c); i = end) {
        for (end = i + 1; end < count(c) && r[end] == r[i]; ++end) {
        }
        for (int b = r[i].first; b <= r[i].last; ++b) to[b] += end - i;
      }
    });
    int64_t total = 0;
    for (int64_t b = 0; b < bands; ++b) {
      start.push_back(total);
      for (int64_t c = 0; c < chunks; ++c) {
        const int64_t here = counts[(size_t)(c * bands + b)];
        counts[(size_t)(c * bands + b)] = total;
        total += here;
      }
    }
    start.push_back(total);
    points = scratch<int32_t>((size_t)(total + 2 * tile_points));
    std::memset(points.get() + total, 0, 2 * tile_points * sizeof(int32_t));  // may be read ahead
    interrupted = outcome == Outcome::interrupted;
    if (interrupted) return;
    outcome = parallel_for(chunks, 2.0 * (double)all, [&](int64_t c, int) {
      const BandRange* const r = ranges.get() + c * chunk;
      int64_t* const at = counts.data() + c * bands;
      for (int64_t i = 0, end; i < count(c); i = end) {
        for (end = i + 1; end < count(c) && r[end] == r[i]; ++end) {
        }
        for (int b = r[i].first; b <= r[i].last; ++b) {
          int32_t* const to = points.get() + at[b];
          for (int64_t k = i; k < end; ++k) to[k - i] = (int32_t)(c * chunk + k);
          at[b] += end - i;
        }
      }
    });
    interrupted = outcome == Outcome::interrupted;
  }
  bool interrupted = false;
};

}  // namespace gw
