/* The header of a lesson's table; twin of nbtext/store/writing.py and header.py. */

#include "lesson.h"

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
    pack_name(output, "arrays");
    pack_array(output, arrays->n + 1);
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
    pack_name(output, "documents");
    pack_array(output, 1);
    pack_integer(output, (int64_t)lesson->n_mails);
    pack_name(output, "totals");
    pack_array(output, n_views);
    for (size_t view = 0; view < n_views; view++) {
        pack_array(output, 1);
        pack_array(output, 2);
        pack_integer(output, sum_of(&lesson->views[view].occurrences));
        pack_integer(output, sum_of(&lesson->views[view].documents));
    }
    pack_name(output, "terms");
    pack_array(output, n_views);
    for (size_t view = 0; view < n_views; view++)
        pack_integer(output, (int64_t)lesson->views[view].keys.length);
}

/* The bins of the mails, sorted, each once with how many mails fell there. */
static size_t
bins_of(const Lesson *lesson, int *bins, int64_t *counts)
{
    size_t n_bins = 0;
    for (size_t n = 0; n < lesson->n_mails; n++) {
        int bin = lesson->mails[n].bin;
        size_t place = 0, last;
        while (place < n_bins && bins[place] < bin)
            place++;
        if (place < n_bins && bins[place] == bin) {
            counts[place]++;
            continue;
        }
        for (last = n_bins++; last > place; last--) {
            bins[last] = bins[last - 1];
            counts[last] = counts[last - 1];
        }
        bins[place] = bin;
        counts[place] = 1;
    }
    return n_bins;
}

static void
pack_calibration(Output *output, const Lesson *lesson)
{
    Slice label = lesson->model->first.classes[lesson->class];
    int bins[MOST_MAILS];
    int64_t counts[MOST_MAILS];
    size_t n_bins = bins_of(lesson, bins, counts);
    pack_name(output, "calibrations");
    pack_array(output, 1);
    pack_map(output, 6);
    pack_name(output, "scoring");
    put_bytes(output, lesson->model->last.packed_scores);
    pack_name(output, "prior");
    pack_array(output, 3);
    pack_double(output, MEAN_PRIOR.slope);
    pack_double(output, MEAN_PRIOR.precision);
    pack_double(output, MEAN_PRIOR.offset);
    pack_name(output, "counts");
    pack_array(output, n_bins);
    for (size_t n = 0; n < n_bins; n++) {
        pack_array(output, 3);
        pack_integer(output, bins[n]);
        pack_text(output, label);
        pack_integer(output, counts[n]);
    }
    pack_name(output, "losses");
    pack_array(output, 0);
    pack_name(output, "documents");
    pack_map(output, 1);
    pack_text(output, label);
    pack_integer(output, (int64_t)lesson->n_mails);
    pack_name(output, "fit");
    pack_array(output, 3);
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
    pack_name(output, "new_terms");
    pack_array(output, model->first.n_views);
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
    put_big_endian(output, last->has_policy ? 15 : 14, 2);
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
    pack_name(output, "classes");
    pack_array(output, 1);
    pack_text(output, lesson->model->first.classes[lesson->class]);
    pack_counts(output, lesson);
    pack_calibration(output, lesson);
    pack_history(output, lesson, arrays->n_records);
    if (last->has_policy) {
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
