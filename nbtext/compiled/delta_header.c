/* The header of a lesson's table; twin of nbtext/store/writing.py and header.py. */

#include "lesson.h"

static void
begin_array(Output *output, const char *name, size_t length)
{
    pack_name(output, name);
    pack_array(output, length);
}

static void
pack_specification(Output *output, const char *prefix, Slice view, const char *name,
                   char sign, int width, uint64_t length)
{
    const Slice names[] = {slice_of(prefix), view, slice_of(length_of(view) ? "." : ""),
                           slice_of(name)};
    pack_array(output, 3);
    pack_joined(output, names, sizeof names / sizeof *names);
    const uint8_t type[] = {(uint8_t)sign, (uint8_t)('0' + width)};
    pack_text(output, slice(type, type + sizeof type));
    pack_integer(output, (int64_t)length);
}

static void
pack_arrays(Output *output, const OutArrays *arrays)
{
    begin_array(output, "arrays", arrays->n + 1);
    for (size_t n = 0; n < arrays->n; n++) {
        const OutArray *one = arrays->arrays + n;
        pack_specification(output, one->prefix, one->view, one->name, one->sign,
                           one->width, one->values.length);
    }
    pack_specification(output, "", slice(NULL, NULL), "checksums", 'u', 4, blocks_of(arrays));
}

static int64_t
sum_of(const Keys *values)
{
    uint64_t sum = 0;
    for (size_t n = 0; n < values->length; n++)
        sum += values->values[n];
    return (int64_t)sum;
}

static void
pack_counts(Output *output, const Lesson *lesson)
{
    size_t n_views = lesson->model->first.n_views;
    begin_array(output, "documents", 1);
    pack_integer(output, (int64_t)lesson->n_mails);
    begin_array(output, "totals", n_views);
    for (size_t view = 0; view < n_views; view++) {
        pack_array(output, 1);
        pack_array(output, 2);
        pack_integer(output, sum_of(&lesson->views[view].occurrences));
        pack_integer(output, sum_of(&lesson->views[view].documents));
    }
    begin_array(output, "terms", n_views);
    for (size_t view = 0; view < n_views; view++)
        pack_integer(output, (int64_t)lesson->views[view].keys.length);
}

static void
pack_calibration(Output *output, const Lesson *lesson)
{
    Slice label = lesson->model->first.classes[lesson->class];
    uint64_t bins[MOST_MAILS];
    size_t n_mails = lesson->n_mails, n_bins = 0;
    for (size_t n = 0; n < n_mails; n++)
        bins[n] = (uint64_t)(lesson->mails[n].bin + FARTHEST_BIN);
    insert_keys(bins, n_mails);
    for (size_t n = 0; n < n_mails; n++)
        n_bins += n == 0 || bins[n] != bins[n - 1];
    begin_array(output, "calibrations", 1);
    pack_map(output, 6);
    pack_name(output, "scoring");
    put_bytes(output, lesson->model->last.packed_scores);
    begin_array(output, "prior", 3);
    pack_double(output, MEAN_PRIOR.slope);
    pack_double(output, MEAN_PRIOR.precision);
    pack_double(output, MEAN_PRIOR.offset);
    begin_array(output, "counts", n_bins);
    for (size_t n = 0, first = 0; n < n_mails; first = n) {
        while (n < n_mails && bins[n] == bins[first])
            n++;
        pack_array(output, 3);
        pack_integer(output, (int64_t)bins[first] - FARTHEST_BIN);
        pack_text(output, label);
        pack_integer(output, (int64_t)(n - first));
    }
    begin_array(output, "losses", 0);
    pack_name(output, "documents");
    pack_map(output, 1);
    pack_text(output, label);
    pack_integer(output, (int64_t)lesson->n_mails);
    begin_array(output, "fit", 3);
    pack_double(output, lesson->fit.slope);
    pack_double(output, lesson->fit.offset);
    pack_integer(output, lesson->n_held_out);
}

static void
pack_history(Output *output, const Lesson *lesson, size_t n_records)
{
    const Model *model = lesson->model;
    pack_name(output, "history");
    pack_map(output, 8);
    pack_name(output, "trained");
    pack_name(output, "");
    pack_name(output, "taught");
    pack_integer(output, (int64_t)lesson->n_mails);
    pack_name(output, "learnt");
    pack_map(output, 1);
    pack_text(output, model->first.classes[lesson->class]);
    pack_text(output, lesson->written);
    pack_name(output, "offset");
    pack_integer(output, (int64_t)model->size);
    begin_array(output, "new_terms", model->first.n_views);
    for (size_t view = 0; view < model->first.n_views; view++)
        pack_integer(output, lesson->new_terms[view]);
    pack_name(output, "records");
    pack_integer(output, (int64_t)n_records);
    pack_name(output, "keep");
    pack_integer(output, model->last.keep);
    pack_name(output, "run");
    pack_integer(output, (int64_t)model->size);
}

void
pack_header(Output *output, const Lesson *lesson, const OutArrays *arrays)
{
    const Header *last = &lesson->model->last;
    Hash hash;
    put_byte(output, 0xDE, 1);
    put_big_endian(output, length_of(last->packed_policy) ? 15 : 14, 2);
    pack_name(output, "format");
    pack_name(output, "nbtext count table");
    pack_name(output, "version");
    pack_integer(output, FORMAT_VERSION);
    pack_name(output, "writer");
    pack_text(output, lesson->writer);
    pack_name(output, "written");
    pack_text(output, lesson->written);
    pack_name(output, "settings");
    put_bytes(output, last->settings);
    pack_name(output, "scoring");
    put_bytes(output, last->packed_scoring);
    begin_array(output, "classes", 1);
    pack_text(output, lesson->model->first.classes[lesson->class]);
    pack_counts(output, lesson);
    pack_calibration(output, lesson);
    pack_history(output, lesson, arrays->n_records);
    if (length_of(last->packed_policy)) {
        pack_name(output, "policy");
        put_bytes(output, last->packed_policy);
    }
    pack_arrays(output, arrays);
    pack_name(output, "header_checksum");
    put_byte(output, 0xC4, 1);
    put_byte(output, 8, 1);
    start_hash(&hash, 8);
    if (!output->has_failed)
        add_to_hash(&hash, slice(output->bytes, output->bytes + output->length));
    uint8_t *checksum = claim(output, 8);
    if (checksum)
        end_hash(&hash, checksum);
}
