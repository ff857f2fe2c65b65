/*
 * The module nbtext._compiled: loops in C, to CPython's stable ABI of 3.11.
 *
 * It is optional. Without it (no C compiler when nbtext was installed) the results are
 * the same, only slower: what it does is specified by the Python modules whose names its
 * files have, and property tests hold it to them, bit by bit. What is called from Python
 * with what, and what it returns, is said in nbtext/_compiled.pyi.
 */

#include "module.h"

#include "model.h"

/* What nbtext.tokens.compiled expects: changed wherever calls or results change. */
enum { INTERFACE = 43 };

PyObject *
counted_none(void)
{
    Py_IncRef(Py_None);
    return Py_None;
}

static PyMethodDef methods[] = {
    {"find", find, METH_VARARGS, NULL},
    {"add_means_left_out", add_means_left_out, METH_VARARGS, NULL},
    {"small_files", small_files, METH_VARARGS, NULL},
    {"sum_terms", sum_terms, METH_O, NULL},
    {"add_by_class", add_by_class, METH_VARARGS, NULL},
    {"correct", correct, METH_VARARGS, NULL},
    {"sum_entries", sum_entries, METH_VARARGS, NULL},
    {"checksums", checksums, METH_VARARGS, NULL},
    {"newton", newton, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* Add an object to a module under a name, and give up the reference to it. */
static int
add(PyObject *module, const char *name, PyObject *object)
{
    int failed = PyModule_AddObjectRef(module, name, object);
    Py_XDECREF(object);
    return failed;
}

static int
fill_module(PyObject *module)
{
    fill_crc_tables();
    PyObject *constants = Py_BuildValue(
        "(iKKKKi)", INTERFACE, (unsigned long long)BASE, (unsigned long long)SPREAD,
        (unsigned long long)PAIR, (unsigned long long)MIX, KEY_BITS);
    if (add(module, "CONSTANTS", constants))
        return -1;
    PyType_Spec *const specs[] = {&reader_spec, &stored_spec};
    for (size_t n = 0; n < sizeof specs / sizeof *specs; n++) {
        PyObject *type = PyType_FromModuleAndSpec(module, specs[n], NULL);
        if (add(module, strrchr(specs[n]->name, '.') + 1, type))
            return -1;
    }
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill_module},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "nbtext._compiled",
    .m_doc = "The loops of nbtext in C; see `nbtext.tokens.compiled`.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC
PyInit__compiled(void)
{
    return PyModuleDef_Init(&definition);
}
