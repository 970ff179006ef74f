/* A plug-in of qemu-user: how often each block of a program ran. At the end it writes a line a block, in hexadecimal
 *     <address of its first instruction> <address of its last> <times that it was entered>
 * into the file named by out=… . Blocks are qemu's: straight code up to a branch or the end of a page.
 *
 * The few functions of qemu's plug-in interface that it needs are declared here, since Debian packages no header:
 * https://www.qemu.org/docs/master/devel/tcg-plugins.html. They are the same in all versions of the interface so far. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_info;
enum qemu_plugin_cb_flags { NO_REGISTERS };
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t id, struct qemu_plugin_tb *block));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*call)(unsigned cpu, void *data),
                                                 enum qemu_plugin_cb_flags flags, void *data);
extern void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t id, void *data), void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);

PUBLIC int qemu_plugin_version = QEMU_INTERFACE; /* 1 up to qemu 8, then 2 or more */

struct block {
    uint64_t first, last, entered;
    struct block *next;
};

static struct block *buckets[1 << 12];
static FILE *out;

static void enter(unsigned cpu, void *data) {
    (void)cpu;
    ((struct block *)data)->entered++;
}

/* Qemu translates a block again when its cache is full: such twins count together. */
static void translated(uint64_t id, struct qemu_plugin_tb *tb) {
    const size_t instructions = qemu_plugin_tb_n_insns(tb);
    const uint64_t first = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
    const uint64_t last = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, instructions - 1));
    struct block **bucket = &buckets[first / 4 % (sizeof buckets / sizeof *buckets)], *b = *bucket;
    (void)id;
    while (b && (b->first != first || b->last != last)) b = b->next;
    if (!b) {
        b = calloc(1, sizeof *b);
        if (!b) abort();
        b->first = first;
        b->last = last;
        b->next = *bucket;
        *bucket = b;
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, enter, NO_REGISTERS, b);
}

static void ended(uint64_t id, void *data) {
    (void)id;
    (void)data;
    for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++)
        for (const struct block *b = buckets[i]; b; b = b->next)
            if (b->entered) fprintf(out, "%" PRIx64 " %" PRIx64 " %" PRIx64 "\n", b->first, b->last, b->entered);
    fclose(out);
}

PUBLIC int qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info, int argc, char **argv);
PUBLIC int qemu_plugin_install(uint64_t id, const struct qemu_plugin_info *info, int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "out=", 4) == 0) out = fopen(argv[i] + 4, "w");
    if (!out) {
        fprintf(stderr, "block_counts: expected out=<a file that can be written>\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
