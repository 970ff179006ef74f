// One query of two equal keys, without what needs Rust's standard library: the result is the mean of their values.
use gyre_sys::*;

pub const DIM: usize = 64;

/// The status of the call, what is wrong with its arguments, and whether the result is the mean. `head_dim`: DIM, or a mistake.
pub fn attend(head_dim: usize) -> (gyre_embedded_status, gyre_embedded_mistake, bool) {
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
        head_dim: head_dim as i32,
        causal: 1,
        q: q.as_ptr().cast(),
        k: k.as_ptr().cast(),
        v: v.as_ptr().cast(),
        out: out.as_mut_ptr().cast(),
        workspace: workspace.as_mut_ptr().cast(),
        workspace_size: workspace.len(),
        ..Default::default()
    };
    let (status, mistake) = unsafe { (gyre_embedded_attention(&args), gyre_embedded_attention_mistake(&args)) };
    (status, mistake, out.iter().all(|value| *value > 1.99999 && *value < 2.00001))
}
