/*
 * The terms of messages that are read together: the distinct keys of each, and how often
 * each of them occurs; twin of nbtext/tokens/batch_reading.py.
 */

#include "batch.h"

static bool
push(Keys *keys, uint64_t value)
{
    if (!make_room(keys, 1))
        return false;
    keys->values[keys->length++] = value;
    return true;
}

/* Add a message's keys, which are sorted by that. */
static bool
push_keys(BatchView *view, Keys *scratch, Keys *keys)
{
    size_t n = keys->length, before = view->keys.length, written = before;
    view->counts.length = (before + 1) / 2;
    if (n > INT32_MAX || !make_room(scratch, n) || !make_room(&view->keys, n)
        || !make_room(&view->counts, n / 2 + 1))
        return false;
    sort_keys(keys->values, scratch->values, n);
    int32_t *counts = (int32_t *)(void *)view->counts.values;
    for (size_t i = 0, first = 0; i < n; first = i) {
        uint64_t key = keys->values[i];
        do
            i++;
        while (i < n && keys->values[i] == key);
        view->keys.values[written] = key;
        counts[written++] = (int32_t)(i - first);
    }
    view->keys.length = written;
    view->counts.length = (written + 1) / 2;
    return true;
}

bool
push_message(Batch *batch, Mail *mail, bool is_read)
{
    uint64_t digest[2] = {0};
    for (size_t n = 0; n < mail->n_views; n++) {
        BatchView *view = batch->views + n;
        if (is_read && !push_keys(view, &batch->scratch, mail->keys + n))
            return false;
        if (!push(&view->starts, view->keys.length))
            return false;
    }
    if (is_read)
        memcpy(digest, mail->digest, DIGEST_SIZE);
    return push(&batch->digests, digest[0]) && push(&batch->digests, digest[1])
           && push(&batch->kinds, is_read ? 1 + (uint64_t)mail->is_typical : 0);
}

static PyObject *
view_of(PyObject *owner, BatchView *view)
{
    PyObject *keys = key_array_of(owner, &view->keys);
    PyObject *counts = keys ? key_array_of(owner, &view->counts) : NULL;
    PyObject *starts = counts ? key_array_of(owner, &view->starts) : NULL;
    PyObject *result = starts ? PyTuple_Pack(3, keys, counts, starts) : NULL;
    Py_XDECREF(keys);
    Py_XDECREF(counts);
    Py_XDECREF(starts);
    return result;
}

PyObject *
batch_of(PyObject *owner, Batch *batch, size_t n_views)
{
    PyObject *views = PyTuple_New((Py_ssize_t)n_views), *result = NULL;
    bool is_whole = views;
    for (size_t n = 0; is_whole && n < n_views; n++) {
        PyObject *view = view_of(owner, batch->views + n);
        is_whole = view && PyTuple_SetItem(views, (Py_ssize_t)n, view) == 0;
    }
    PyObject *digests = is_whole ? key_array_of(owner, &batch->digests) : NULL;
    PyObject *kinds = digests ? key_array_of(owner, &batch->kinds) : NULL;
    if (kinds)
        result = PyTuple_Pack(3, views, digests, kinds);
    Py_XDECREF(views);
    Py_XDECREF(digests);
    Py_XDECREF(kinds);
    return result;
}

void
release_batch(Batch *batch)
{
    for (size_t n = 0; n < MOST_VIEWS; n++) {
        release_keys(&batch->views[n].keys);
        release_keys(&batch->views[n].counts);
        release_keys(&batch->views[n].starts);
    }
    release_keys(&batch->digests);
    release_keys(&batch->kinds);
    release_keys(&batch->scratch);
}
