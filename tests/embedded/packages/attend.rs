// Two equal keys: the result is the mean of their values. And a mistake by its name.
use gyre_sys::*;
use std::ffi::CStr;

fn main() {
    const DIM: usize = 64;
    let q = [0.5f32; DIM];
    let k = [[0.25f32; DIM]; 2];
    let v = [[1.0f32; DIM], [3.0f32; DIM]];
    let mut out = [0.0f32; DIM];
    let mut workspace = [0u8; GYRE_ATTENTION_F32_D64_WORKSPACE];
    let mut args = gyre_embedded_attention_args {
        kernel: &raw const gyre_attention_f32_d64,
        tokens: 1,
        keys: 2,
        num_heads: 1,
        num_kv_heads: 1,
        head_dim: DIM as i32,
        causal: 1,
        q: q.as_ptr().cast(),
        k: k.as_ptr().cast(),
        v: v.as_ptr().cast(),
        out: out.as_mut_ptr().cast(),
        workspace: workspace.as_mut_ptr().cast(),
        workspace_size: workspace.len(),
        ..Default::default()
    };
    assert_eq!(unsafe { gyre_embedded_attention(&args) }, GYRE_EMBEDDED_OK);
    assert!(out.iter().all(|value| (value - 2.0).abs() < 1e-6), "{out:?}");

    args.head_dim = 32;
    assert_eq!(unsafe { gyre_embedded_attention(&args) }, GYRE_EMBEDDED_BAD_SHAPE);
    let mistake = unsafe { gyre_embedded_attention_mistake(&args) };
    assert_eq!(unsafe { CStr::from_ptr(mistake.argument) }.to_str(), Ok("head_dim"));
    println!("as expected");
}
