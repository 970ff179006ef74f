/** @file
 *  What calls return, why they failed, and the version that is linked. */
#ifndef GYRE_STATUS_H
#define GYRE_STATUS_H

/** Marks what the shared library exports. */
#if defined(_WIN32)
#define GYRE_API
#else
#define GYRE_API __attribute__((visibility("default")))
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Declares an enumeration of 32 bits. C leaves the width of an enum to the compiler and its options (-fshort-enums), which may be
 *  others for a program than for the library. */
#ifdef __cplusplus
#define GYRE_ENUM(name) enum name : int32_t
#else
#define GYRE_ENUM(name)                                                                                                \
    typedef int32_t name;                                                                                              \
    enum name
#endif

/** Stops compilation where a struct is laid out differently than in the library: its size, and where its last member begins, in
 *  bytes, with pointers of 64 bits and on 32-bit ARM. */
#if UINTPTR_MAX > 0xffffffffu
#define GYRE_LAYOUT(type, last, size_64, last_64, size_32, last_32)                                                    \
    typedef char type##_has_another_layout[sizeof(type) == (size_64) && offsetof(type, last) == (last_64) ? 1 : -1]
#elif defined(__arm__)
#define GYRE_LAYOUT(type, last, size_64, last_64, size_32, last_32)                                                    \
    typedef char type##_has_another_layout[sizeof(type) == (size_32) && offsetof(type, last) == (last_32) ? 1 : -1]
#else
#define GYRE_LAYOUT(type, last, size_64, last_64, size_32, last_32)                                                    \
    typedef char type##_has_another_layout[1] /* of a processor that the library is not made for */
#endif

/** As GYRE_LAYOUT, of a struct that says its size and may grow. It also stops compilation where the struct ends in padding: a member
 *  of a later version would lie there, and the library would read what an older caller's padding holds. */
#define GYRE_GROWING_LAYOUT(type, last, size_64, last_64, size_32, last_32)                                            \
    GYRE_LAYOUT(type, last, size_64, last_64, size_32, last_32);                                                       \
    typedef char type##_ends_in_padding[offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type) ? 1 : -1]

/** The version of this header is major.minor.patch; gyre_version() is that of the library. */
#define GYRE_VERSION_MAJOR 0
#define GYRE_VERSION_MINOR 1 /**< See GYRE_VERSION_MAJOR. */
#define GYRE_VERSION_PATCH 0 /**< See GYRE_VERSION_MAJOR. */

/** What a call returns. */
GYRE_ENUM(gyre_status) {
    GYRE_OK = 0,                  /**< done */
    GYRE_BAD_ARGUMENT = 1,        /**< a null pointer, a value out of range, a contradiction */
    GYRE_BAD_SHAPE = 2,           /**< a rank, an extent or a stride */
    GYRE_BAD_TYPE = 3,            /**< an element type not accepted here, or two that must agree and do not */
    GYRE_UNSUPPORTED = 4,         /**< valid, but no linked kernel that this machine can run does it */
    GYRE_WORKSPACE_TOO_SMALL = 5, /**< the caller's buffer is smaller than gyre_*_workspace_size() says */
    GYRE_OUT_OF_MEMORY = 6,       /**< the system gave no memory; outputs are as they were */
    GYRE_INTERNAL = 7             /**< a kernel reported a failure: a defect of the library */
};

/** The name of a status, such as "bad shape"; never NULL. */
GYRE_API const char *gyre_status_string(gyre_status status);

/** What the last failing call on this thread found wrong, in one line; "" if none failed. Valid until the next one. */
GYRE_API const char *gyre_last_error(void);

/** The argument that the last failing call on this thread found wrong, by the name that its structure or its function gives it,
 *  with the members and the index that lead there: "k", "rope.theta", "forward.lse", "cu_seqlens_q[2]", "page_table[0, 5]"; or
 *  the environment variable "GYRE_TARGET". gyre_last_error() then begins with this name and ": ". NULL where no argument is to
 *  blame, say because memory is lacking, and where no call has failed. Valid until the next failing call. */
GYRE_API const char *gyre_last_error_argument(void);

/** "major.minor.patch" of the library that is linked. */
GYRE_API const char *gyre_version(void);

#ifdef __cplusplus
}
#endif
#endif
