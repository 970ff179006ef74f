// A program without Rust's standard library, as a firmware is.
#![no_std]
#![no_main]
mod two_keys;
use core::ffi::{c_char, c_int};
use gyre_sys::GYRE_EMBEDDED_OK;

#[link(name = "c")]
unsafe extern "C" {
    fn puts(text: *const c_char) -> c_int;
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { abort() }
}

/// Named by a core library that unwinds, as this machine's is; nothing calls it.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
pub extern "C" fn main() -> c_int {
    let (status, _, is_mean) = two_keys::attend(two_keys::DIM);
    let right = status == GYRE_EMBEDDED_OK && is_mean;
    unsafe { puts(if right { c"as expected" } else { c"wrong" }.as_ptr()) };
    c_int::from(!right)
}
