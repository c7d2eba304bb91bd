/* Turns a picture (PGM or PPM, 8 bits) about its centre, from plain C.
 *
 *   warp IN OUT [DEGREES]   turns IN clockwise (30 degrees by default) and writes OUT
 *   warp                    draws a picture, writes it as drawn.ppm, turns it by 90 degrees into turned.ppm, and
 *                           checks every pixel
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <gridwave/gridwave.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct picture {
  int64_t height, width, channels; /* 1: grey, 3: red, green, blue */
  uint8_t* pixels;                 /* (height, width, channels) */
} picture;

static int fail(const char* what, const char* about) {
  fprintf(stderr, "warp: %s: %s\n", about, what);
  return 0;
}

static int allocate(picture* p) {
  p->pixels = malloc((size_t)(p->height * p->width * p->channels));
  return p->pixels != NULL;
}

/* A number of the header, after blanks and comments; one character behind it is taken too. -1 if there is none. */
static long header_number(FILE* file) {
  int c = fgetc(file);
  long value = -1;
  while (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '#') {
    if (c == '#')
      while (c != '\n' && c != EOF) c = fgetc(file);
    c = fgetc(file);
  }
  for (; c >= '0' && c <= '9'; c = fgetc(file)) {
    value = (value < 0 ? 0 : value) * 10 + (c - '0');
    if (value > 1000000) return -1;
  }
  return value;
}

static int read_picture(const char* path, picture* p) {
  FILE* file = fopen(path, "rb");
  char kind[2];
  int done;
  if (file == NULL) return fail("cannot be read", path);
  if (fread(kind, 1, 2, file) != 2 || kind[0] != 'P' || (kind[1] != '5' && kind[1] != '6')) {
    fclose(file);
    return fail("is neither a binary PGM (P5) nor a binary PPM (P6)", path);
  }
  p->channels = kind[1] == '5' ? 1 : 3;
  p->width = header_number(file);
  p->height = header_number(file);
  if (p->width < 1 || p->height < 1 || header_number(file) != 255) {
    fclose(file);
    return fail("has a header without a width, a height and 255", path);
  }
  done = allocate(p);
  if (done) {
    const size_t size = (size_t)(p->height * p->width * p->channels);
    done = fread(p->pixels, 1, size, file) == size;
  }
  fclose(file);
  return done ? 1 : fail("is too short", path);
}

static int write_picture(const char* path, const picture* p) {
  const size_t size = (size_t)(p->height * p->width * p->channels);
  FILE* file = fopen(path, "wb");
  int done;
  if (file == NULL) return fail("cannot be written", path);
  done = fprintf(file, "P%c\n%ld %ld\n255\n", p->channels == 1 ? '5' : '6', (long)p->width, (long)p->height) > 0 &&
         fwrite(p->pixels, 1, size, file) == size;
  done = fclose(file) == 0 && done;
  return done ? 1 : fail("cannot be written", path);
}

/* A batch of one picture, channels last. */
static gw_tensor image_tensor(const picture* p) {
  gw_tensor t = {p->pixels, GW_UINT8, 4, {1, p->height, p->width, p->channels}, {0, 0, p->channels, 1}};
  t.stride[1] = p->width * p->channels;
  t.stride[0] = p->height * t.stride[1];
  return t;
}

/* out has the shape of in. Where it reaches outside, it is black. */
static int turn(const picture* in, picture* out, double cosine, double sine) {
  /* Coordinates run from -1 to 1 along both axes, so the ratio of the sides comes in. */
  const double ratio = (double)in->height / (double)in->width;
  float map[6] = {(float)cosine, (float)(sine * ratio), 0.0f, (float)(-sine / ratio), (float)cosine, 0.0f};
  const size_t points = (size_t)(in->height * in->width);
  float* coordinates = malloc(points * 2 * sizeof(float));
  const gw_tensor theta = {map, GW_FLOAT32, 3, {1, 2, 3}, {6, 3, 1}};
  const gw_tensor grid = {coordinates, GW_FLOAT32, 4, {1, in->height, in->width, 2},
                          {(int64_t)points * 2, in->width * 2, 2, 1}};
  const gw_tensor x = image_tensor(in), result = image_tensor(out);
  const gw_grid_sample_spec spec = {.mode = GW_BILINEAR, .padding = GW_ZEROS, .layout = GW_NHWC};
  gw_status status;
  if (coordinates == NULL) return fail("out of memory", "turn");
  status = gw_affine_grid(&theta, spec.align_corners, 1, &grid);
  if (status == GW_OK) status = gw_grid_sample(&spec, &x, &grid, &result);
  free(coordinates);
  return status == GW_OK ? 1 : fail(gw_last_error(), gw_status_name(status));
}

static int quarter_turn(void) {
  enum { side = 64 };
  picture drawn = {side, side, 3, NULL}, in = {0, 0, 0, NULL}, out = {side, side, 3, NULL};
  int right = allocate(&drawn) && allocate(&out);
  int64_t i, j, c;
  for (i = 0; right && i < side; ++i)
    for (j = 0; j < side; ++j) {
      uint8_t* pixel = drawn.pixels + (i * side + j) * 3;
      pixel[0] = (uint8_t)(4 * i);
      pixel[1] = (uint8_t)(4 * j);
      pixel[2] = (uint8_t)((i / 8 + j / 8) % 2 * 255);
    }
  right = right && write_picture("drawn.ppm", &drawn) && read_picture("drawn.ppm", &in) && turn(&in, &out, 0.0, 1.0) &&
          write_picture("turned.ppm", &out);
  for (i = 0; right && i < side; ++i)
    for (j = 0; right && j < side; ++j)
      for (c = 0; right && c < 3; ++c)  /* clockwise: what was on the left is on top */
        if (out.pixels[(i * side + j) * 3 + c] != drawn.pixels[((side - 1 - j) * side + i) * 3 + c])
          right = fail("a pixel is wrong", "turned.ppm");
  free(drawn.pixels);
  free(in.pixels);
  free(out.pixels);
  if (right) printf("gridwave %s on %s: %d x %d pixels turned, all of them right\n", gw_version(), gw_isa(), side, side);
  return right;
}

int main(int count, char** arguments) {
  const double pi = 3.14159265358979323846;
  picture in = {0, 0, 0, NULL}, out;
  double angle = 30.0;
  int done;
  if (count == 1) return quarter_turn() ? EXIT_SUCCESS : EXIT_FAILURE;
  if (count == 4) {
    char* end;
    angle = strtod(arguments[3], &end);
    if (end == arguments[3] || *end != '\0') count = 0;
  }
  if (count != 3 && count != 4) {
    fprintf(stderr, "usage: warp [IN.ppm OUT.ppm [DEGREES]]\n");
    return 2;
  }
  done = read_picture(arguments[1], &in);
  out = in;
  out.pixels = NULL;
  done = done && allocate(&out) && turn(&in, &out, cos(angle * pi / 180), sin(angle * pi / 180)) &&
         write_picture(arguments[2], &out);
  free(in.pixels);
  free(out.pixels);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
