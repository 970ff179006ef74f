/** What calls return, why they failed, and the version that is linked. */
#ifndef GYRE_STATUS_H
#define GYRE_STATUS_H

#if defined(_WIN32)
#define GYRE_API
#else
#define GYRE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GYRE_VERSION_MAJOR 0
#define GYRE_VERSION_MINOR 1
#define GYRE_VERSION_PATCH 0

typedef enum gyre_status {
    GYRE_OK = 0,
    GYRE_BAD_ARGUMENT = 1,        /* a null pointer, a value out of range, a contradiction */
    GYRE_BAD_SHAPE = 2,           /* a rank, an extent or a stride */
    GYRE_BAD_TYPE = 3,            /* an element type not accepted here, or two that must agree and do not */
    GYRE_UNSUPPORTED = 4,         /* valid, but no linked kernel that this machine can run does it */
    GYRE_WORKSPACE_TOO_SMALL = 5, /* the caller's buffer is smaller than gyre_*_workspace_size() says */
    GYRE_OUT_OF_MEMORY = 6,
    GYRE_INTERNAL = 7 /* a kernel reported a failure: a defect of the library */
} gyre_status;

/** The name of a status, such as "bad shape"; never NULL. */
GYRE_API const char *gyre_status_string(gyre_status status);

/** What the last failing call on this thread found wrong, in one line; "" if none failed. Valid until the next one. */
GYRE_API const char *gyre_last_error(void);

/** "major.minor.patch" of the library that is linked. */
GYRE_API const char *gyre_version(void);

#ifdef __cplusplus
}
#endif
#endif
