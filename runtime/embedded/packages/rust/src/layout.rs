//! Stops a compilation whose structs differ from those of `gyre/embedded.h`, which asserts the same numbers.
use crate::*;
use core::mem::{offset_of, size_of};

const POINTER: usize = size_of::<*const ()>();

/// Bytes of so many members of 32 bits, and after them so many of a pointer's size.
const fn bytes(words: usize, pointers: usize) -> usize {
    (4 * words).div_ceil(POINTER) * POINTER + pointers * POINTER
}

macro_rules! check {
    ($name:ident, $words:expr, $first_pointer:ident, $pointers:expr, $last:ident) => {
        const _: () = assert!(size_of::<$name>() == bytes($words, $pointers));
        const _: () = assert!(offset_of!($name, $first_pointer) == bytes($words, 0));
        const _: () = assert!(offset_of!($name, $last) == bytes($words, $pointers - 1));
    };
}

check!(gyre_embedded_mistake, 0, argument, 2, problem);
check!(gyre_embedded_part, 0, out, 2, lse);
check!(gyre_embedded_rotary_kernel, 3, call, 1, call);
check!(gyre_embedded_rotary_args, 7, kernel, 4, angles);
check!(gyre_embedded_attention_kernel, 6, workspace, 2, call);
check!(gyre_embedded_attention_args, 15, kernel, 13, workspace_size);
