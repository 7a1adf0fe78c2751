/* SPDX-License-Identifier: MIT */
/*
 * tensorboard.c: TFRecord framing and the few protocol-buffer fields of a scalar event.
 *
 * A record is its length (u64), the masked CRC-32C of those 8 bytes, the event, the masked CRC-32C
 * of the event; all little-endian.
 */
#include "tensorboard.h"

struct tensorboard {
    int fd;
};

/* Castagnoli, reflected polynomial 0x82f63b78. */
static uint32_t crc32c(const unsigned char *bytes, size_t n)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return ~crc;
}

static uint32_t masked_crc(const void *bytes, size_t n)
{
    uint32_t crc = crc32c(bytes, n);
    return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

static void add_little_endian(struct strbuf *out, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        strbuf_add_bytes(out, &(unsigned char){(unsigned char)(x >> 8 * i)}, 1);
}

static void add_varint(struct strbuf *out, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        strbuf_add_bytes(out, &(unsigned char){(unsigned char)(x | 0x80)}, 1);
    strbuf_add_bytes(out, &(unsigned char){(unsigned char)x}, 1);
}

static void add_wall_time(struct strbuf *out)
{
    uint64_t bits;
    memcpy(&bits, &(double){clock_wall()}, sizeof(bits));
    add_varint(out, 1 << 3 | 1);
    add_little_endian(out, bits, 8);
}

static void add_bytes_field(struct strbuf *out, int field, const void *bytes, size_t n)
{
    add_varint(out, (uint64_t)field << 3 | 2);
    add_varint(out, n);
    strbuf_add_bytes(out, bytes, n);
}

static void write_record(struct tensorboard *t, const struct strbuf *event)
{
    struct strbuf record = STRBUF_NEW;
    add_little_endian(&record, event->n, 8);
    add_little_endian(&record, masked_crc(record.text, 8), 4);
    strbuf_add_bytes(&record, event->text, event->n);
    add_little_endian(&record, masked_crc(event->text, event->n), 4);
    fd_write(t->fd, record.text, record.n, NULL);
    strbuf_release(&record);
}

peat_status tensorboard_open(struct tensorboard **t, const char *dir, struct arena *a,
                             struct error *err)
{
    char host[256] = "unknown";
    gethostname(host, sizeof(host) - 1);
    const char *path = arena_printf(a, "%s/events.out.tfevents.%.0f.%s.%ld", dir, clock_wall(),
                                    host, (long)getpid());
    *t = ARENA_NEW(a, struct tensorboard);
    peat_status status = file_open(path, O_WRONLY | O_CREAT | O_TRUNC, FILE_OWN, &(*t)->fd, err);
    if (status != PEAT_OK)
        return status;
    struct strbuf event = STRBUF_NEW;
    add_wall_time(&event);
    add_bytes_field(&event, 3, "brain.Event:2", 13);
    write_record(*t, &event);
    strbuf_release(&event);
    return PEAT_OK;
}

/* Event{1: wall time, 2: step, 5: Summary{1: Value{1: tag, 2: simple_value}}} */
void tensorboard_add(struct tensorboard *t, int64_t step, const char *tag, double value)
{
    if (!t || !isfinite(value))
        return;
    float simple = (float)value;
    uint32_t bits;
    memcpy(&bits, &simple, sizeof(bits));
    struct strbuf event = STRBUF_NEW, summary = STRBUF_NEW, scalar = STRBUF_NEW;
    add_bytes_field(&scalar, 1, tag, strlen(tag));
    add_varint(&scalar, 2 << 3 | 5);
    add_little_endian(&scalar, bits, 4);
    add_bytes_field(&summary, 1, scalar.text, scalar.n);
    add_wall_time(&event);
    add_varint(&event, 2 << 3);
    add_varint(&event, (uint64_t)step);
    add_bytes_field(&event, 5, summary.text, summary.n);
    write_record(t, &event);
    strbuf_release(&scalar);
    strbuf_release(&summary);
    strbuf_release(&event);
}

void tensorboard_close(struct tensorboard *t)
{
    if (t && t->fd >= 0)
        close(t->fd);
}
