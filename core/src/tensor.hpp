// SPDX-License-Identifier: Apache-2.0
// Checks and copies of strided arrays.
#pragma once

#include <cstdint>

#include "gridwave/gridwave.h"

namespace gw {

int64_t type_size(int32_t dtype);
bool is_float(int32_t dtype);
int64_t element_count(const gw_tensor& t);

// Raises unless t describes an array: known dtype, rank in range, lengths >= 0, extents that fit in memory.
// `name` is what messages call it. Data may be null only where there are no elements, or if `plan`.
void check_tensor(const char* name, const gw_tensor& t, bool plan);

// Raises if writing `out` could change `in`.
void check_no_overlap(const char* out_name, const gw_tensor& out, const char* in_name, const gw_tensor& in);

// Raises if two elements of an output share memory (a stride of zero, say).
void check_writable(const char* name, const gw_tensor& t);

// t with its axes reordered: axis i of the result is axis order[i] of t.
gw_tensor permuted(const gw_tensor& t, const int (&order)[4]);

// The same shape and dtype, contiguous in row-major order, at `data`.
gw_tensor contiguous(const gw_tensor& t, void* data);

// Whether t lies in row-major order without gaps.
bool is_contiguous(const gw_tensor& t);

// Element by element; same shape and element size.
void copy_tensor(const gw_tensor& from, const gw_tensor& to);

}  // namespace gw
