// SPDX-License-Identifier: Apache-2.0
// 16-bit floats to float and back, a run at a time.
#include "cpu/kernels.hpp"
#include "gridwave/gridwave.h"
#include "simd/storage.hpp"

namespace gw {
namespace GW_ISA {

template <class S>
static void widen_run(const S* from, float* to, int64_t count) {
  int64_t i = 0;
  for (; i + simd<float>::lanes <= count; i += simd<float>::lanes)
    simd<float>::store(to + i, storage<S>::load_vector(from + i));
  for (; i < count; ++i) to[i] = storage<S>::load(from + i);
}

template <class S>
static void narrow_run(const float* from, S* to, int64_t count) {
  int64_t i = 0;
  for (; i + simd<float>::lanes <= count; i += simd<float>::lanes)
    storage<S>::store_vector(to + i, simd<float>::load(from + i));
  for (; i < count; ++i) storage<S>::store(to + i, from[i]);
}

static void widen_any(int32_t type, const void* from, float* to, int64_t count) {
  if (type == GW_FLOAT16) widen_run(static_cast<const float16*>(from), to, count);
  else widen_run(static_cast<const bfloat16*>(from), to, count);
}

static void narrow_any(int32_t type, const float* from, void* to, int64_t count) {
  if (type == GW_FLOAT16) narrow_run(from, static_cast<float16*>(to), count);
  else narrow_run(from, static_cast<bfloat16*>(to), count);
}

void add_conversions(Kernels& k) {
  k.widen = widen_any;
  k.narrow = narrow_any;
}

}  // namespace GW_ISA
}  // namespace gw
