"""The C source that makes a shared object of kernels: it tells its kernels to whoever loads it (bench/tune/README.md)."""

EXPORTED = "gyre_loadable_kernels"  # the only symbol that the shared object exports

# What loops that an autoscheduler made parallel call; here one thread is what is measured, so they run in order.
SERIAL_LOOPS = """
int halide_do_par_for(void *context, int (*body)(void *, int, uint8_t *), int first, int count, uint8_t *closure) {
    for (int i = first; i < first + count; i++) {
        const int failed = body(context, i, closure);
        if (failed) return failed;
    }
    return 0;
}
"""


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def library_source(name, kernels):
    """kernels: rows of (recipe, symbol, attributes). The library is called `name`."""
    declarations = "".join(
        f"int {symbol}_argv(void **);\nconst struct halide_filter_metadata_t *{symbol}_metadata(void);\n"
        for _, symbol, _ in kernels
    )
    rows = "".join(
        f"    {{{', '.join(map(quoted, (f'{recipe.name}__{recipe.target}', recipe.operation, recipe.variant, recipe.target)))},\n"
        f'     {quoted(attributes)}, "candidate", {symbol}_argv, 0, {symbol}_metadata}},\n'
        for recipe, symbol, attributes in kernels
    )
    return f"""#include <gyre/kernels.h>
{declarations}{SERIAL_LOOPS}
static const gyre_kernel kernels[] = {{
{rows}}};
const gyre_kernel_library {EXPORTED} = {{sizeof(gyre_kernel_library), GYRE_KERNEL_INTERFACE, {quoted(name)}, kernels,
                                                   sizeof kernels / sizeof kernels[0]}};
"""
