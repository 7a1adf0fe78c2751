/* SPDX-License-Identifier: MIT */
/* heatmap_png.c: a heat map as pixels, by libpng where it was there at build time. */
#include "plot/heatmap.h"

#ifdef PEAT_PNG

#include <png.h>
#include <stdlib.h>
#include <string.h>

/* Sheets stand side by side with white between them. */
struct canvas {
    int64_t scale, across, down, gap, width, height;
    unsigned char *rgb;
};

static struct canvas lay_out(const struct heatmap *h)
{
    enum { SIDE = 512, GAP = 8 };
    int64_t across = 1;
    while (across * across < h->sheets)
        across++;
    int64_t down = (h->sheets + across - 1) / across;
    int64_t columns = across * h->columns, rows = down * h->rows;
    int64_t longest = columns > rows ? columns : rows;
    struct canvas c = {.scale = longest < SIDE ? (SIDE + longest - 1) / longest : 1,
                       .across = across,
                       .down = down,
                       .gap = h->sheets > 1 ? GAP : 0};
    c.width = c.scale * columns + c.gap * (across - 1);
    c.height = c.scale * rows + c.gap * (down - 1);
    return c;
}

static void paint(const struct heatmap *h, struct canvas *c)
{
    double low, high;
    heatmap_range(h, &low, &high);
    memset(c->rgb, 255, (size_t)(3 * c->width * c->height));
    for (int64_t i = 0; i < h->sheets * h->rows * h->columns; i++) {
        int64_t sheet = i / (h->rows * h->columns), row = i / h->columns % h->rows;
        int64_t column = i % h->columns;
        int64_t y = sheet / c->across * (h->rows * c->scale + c->gap) + row * c->scale;
        int64_t x = sheet % c->across * (h->columns * c->scale + c->gap) + column * c->scale;
        unsigned char rgb[3];
        heatmap_colour((double)h->value[i], low, high, rgb);
        for (int64_t dy = 0; dy < c->scale; dy++)
            for (int64_t dx = 0; dx < c->scale; dx++)
                memcpy(c->rgb + 3 * ((y + dy) * c->width + x + dx), rgb, 3);
    }
}

static peat_status encode(const struct canvas *c, struct strbuf *out, struct error *err)
{
    png_image image;
    memset(&image, 0, sizeof(image));
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)c->width;
    image.height = (png_uint_32)c->height;
    image.format = PNG_FORMAT_RGB;
    png_alloc_size_t n = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *bytes = malloc(n);
    peat_status status = PEAT_OK;
    if (!bytes)
        status = error_set(err, PEAT_NOMEM, "out of memory for a picture");
    else if (png_image_write_to_memory(&image, bytes, &n, 0, c->rgb, 0, NULL))
        strbuf_add_bytes(out, bytes, n);
    else
        status = error_set(err, PEAT_FAILED, "libpng failed: %s", image.message);
    free(bytes);
    return status;
}

peat_status heatmap_png(const struct heatmap *h, struct strbuf *out, struct error *err)
{
    struct canvas c = lay_out(h);
    c.rgb = malloc((size_t)(3 * c.width * c.height));
    if (!c.rgb)
        return error_set(err, PEAT_NOMEM, "out of memory for a picture of %lld x %lld",
                         (long long)c.width, (long long)c.height);
    paint(h, &c);
    peat_status status = encode(&c, out, err);
    free(c.rgb);
    return status;
}

#else

peat_status heatmap_png(const struct heatmap *h, struct strbuf *out, struct error *err)
{
    (void)h;
    (void)out;
    return error_set(err, PEAT_FAILED,
                     "this program was built without libpng: install it (Debian: apt-get install "
                     "libpng-dev) and build again, or take --format svg");
}

#endif
