// A program without Rust's standard library, as a firmware is: two equal keys, whose result is the mean of their values.
#![no_std]
#![no_main]
use core::ffi::{c_char, c_int};
use gyre_sys::*;

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
    const DIM: usize = 64;
    let q = [0.5f32; DIM];
    let k = [[0.25f32; DIM]; 2];
    let v = [[1.0f32; DIM], [3.0f32; DIM]];
    let mut out = [0.0f32; DIM];
    let mut workspace = [0u8; GYRE_ATTENTION_F32_D64_WORKSPACE];
    let args = gyre_embedded_attention_args {
        kernel: &raw const gyre_attention_f32_d64,
        tokens: 1,
        keys: 2,
        num_heads: 1,
        num_kv_heads: 1,
        head_dim: DIM as i32,
        q: q.as_ptr().cast(),
        k: k.as_ptr().cast(),
        v: v.as_ptr().cast(),
        out: out.as_mut_ptr().cast(),
        workspace: workspace.as_mut_ptr().cast(),
        workspace_size: workspace.len(),
        ..Default::default()
    };
    let status = unsafe { gyre_embedded_attention(&args) };
    let right = status == GYRE_EMBEDDED_OK && out.iter().all(|value| *value > 1.99999 && *value < 2.00001);
    unsafe { puts(if right { c"as expected" } else { c"wrong" }.as_ptr()) };
    c_int::from(!right)
}
