//! Bindings to gyre_embedded: rotary and reverse-rotary attention with a cache, without std, heap or libm. `gyre/embedded.h` documents
//! every call and member.
#![no_std]
#![allow(non_camel_case_types)]

use core::ffi::{c_char, c_int, c_void};

mod kernels;
mod layout;
pub use kernels::*;

pub type gyre_embedded_status = i32;
pub const GYRE_EMBEDDED_OK: gyre_embedded_status = 0;
pub const GYRE_EMBEDDED_BAD_ARGUMENT: gyre_embedded_status = 1;
pub const GYRE_EMBEDDED_BAD_SHAPE: gyre_embedded_status = 2;
pub const GYRE_EMBEDDED_WORKSPACE_TOO_SMALL: gyre_embedded_status = 5;
pub const GYRE_EMBEDDED_INTERNAL: gyre_embedded_status = 7;

pub type gyre_embedded_dtype = i32;
pub const GYRE_EMBEDDED_F32: gyre_embedded_dtype = 0;
pub const GYRE_EMBEDDED_F16: gyre_embedded_dtype = 1;
pub const GYRE_EMBEDDED_I8: gyre_embedded_dtype = 2;
pub const GYRE_EMBEDDED_Q15: gyre_embedded_dtype = 3;

pub type gyre_embedded_pairing = i32;
pub const GYRE_EMBEDDED_HALF: gyre_embedded_pairing = 0;
pub const GYRE_EMBEDDED_INTERLEAVED: gyre_embedded_pairing = 1;

/// Both are null if nothing is wrong.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct gyre_embedded_mistake {
    pub argument: *const c_char,
    pub problem: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gyre_embedded_part {
    pub out: *const f32,
    pub lse: *const f32,
}

#[repr(C)]
pub struct gyre_embedded_rotary_kernel {
    pub x_dtype: gyre_embedded_dtype,
    pub out_dtype: gyre_embedded_dtype,
    pub pairing: gyre_embedded_pairing,
    pub call: unsafe extern "C" fn(*mut *mut c_void) -> c_int,
}

#[repr(C)]
pub struct gyre_embedded_attention_kernel {
    pub dtype: gyre_embedded_dtype,
    pub cache_dtype: gyre_embedded_dtype,
    pub head_dim: i32,
    pub task_rows: i32,
    pub key_block: i32,
    pub softcap: i32,
    pub workspace: usize,
    pub call: unsafe extern "C" fn(*mut *mut c_void) -> c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gyre_embedded_rotary_args {
    pub size: u32,
    pub tokens: i32,
    pub heads: i32,
    pub head_dim: i32,
    pub rotary_dim: i32,
    pub rotary_offset: i32,
    pub reverse: i32,
    pub kernel: *const gyre_embedded_rotary_kernel,
    pub x: *const c_void,
    pub out: *mut c_void,
    pub angles: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gyre_embedded_attention_args {
    pub size: u32,
    pub tokens: i32,
    pub keys: i32,
    pub num_heads: i32,
    pub num_kv_heads: i32,
    pub head_dim: i32,
    pub scale: f32,
    pub causal: i32,
    pub window: i32,
    pub rotary_dim: i32,
    pub rotary_v_dim: i32,
    pub pairing: gyre_embedded_pairing,
    pub value_pairing: gyre_embedded_pairing,
    pub softcap: f32,
    pub head_scales: i32,
    pub kernel: *const gyre_embedded_attention_kernel,
    pub row_kernel: *const gyre_embedded_attention_kernel,
    pub q: *const c_void,
    pub k: *const c_void,
    pub v: *const c_void,
    pub k_scales: *const f32,
    pub v_scales: *const f32,
    pub out: *mut c_void,
    pub lse: *mut f32,
    pub q_angles: *const f32,
    pub out_angles: *const f32,
    pub workspace: *mut c_void,
    pub workspace_size: usize,
}

impl Default for gyre_embedded_rotary_args {
    /// As `gyre_embedded_rotary_defaults()`.
    fn default() -> Self {
        let mut args: Self = unsafe { core::mem::zeroed() };
        args.size = core::mem::size_of::<Self>() as u32;
        args
    }
}

impl Default for gyre_embedded_attention_args {
    /// As `gyre_embedded_attention_defaults()`.
    fn default() -> Self {
        let mut args: Self = unsafe { core::mem::zeroed() };
        args.size = core::mem::size_of::<Self>() as u32;
        args
    }
}

extern "C" {
    pub fn gyre_embedded_frequencies(theta: f64, rotary_dim: i32, frequencies: *mut u64) -> gyre_embedded_status;
    pub fn gyre_embedded_frequency(radians: f64) -> u64;
    pub fn gyre_embedded_angles(
        frequencies: *const u64, pairs: i32, first: i32, rows: i32, scale: f32, table: *mut f32,
    ) -> gyre_embedded_status;
    pub fn gyre_embedded_angles_q15(
        frequencies: *const u64, pairs: i32, first: i32, rows: i32, table: *mut i16,
    ) -> gyre_embedded_status;
    pub fn gyre_embedded_rotary(args: *const gyre_embedded_rotary_args) -> gyre_embedded_status;
    pub fn gyre_embedded_rotary_unchecked(args: *const gyre_embedded_rotary_args) -> gyre_embedded_status;
    pub fn gyre_embedded_rotary_mistake(args: *const gyre_embedded_rotary_args) -> gyre_embedded_mistake;
    pub fn gyre_embedded_quantize(
        x: *const f32, rows: i32, dim: i32, out: *mut i8, scales: *mut f32,
    ) -> gyre_embedded_status;
    pub fn gyre_embedded_quantize_by_head(
        x: *const f32, tokens: i32, heads: i32, dim: i32, scales: *const f32, out: *mut i8,
    ) -> gyre_embedded_status;
    pub fn gyre_embedded_attention_workspace_size(kernel: *const gyre_embedded_attention_kernel) -> usize;
    pub fn gyre_embedded_attention(args: *const gyre_embedded_attention_args) -> gyre_embedded_status;
    pub fn gyre_embedded_attention_unchecked(args: *const gyre_embedded_attention_args) -> gyre_embedded_status;
    pub fn gyre_embedded_attention_merge(
        parts: *const gyre_embedded_part, count: i32, tokens: i32, num_heads: i32, head_dim: i32, out: *mut f32, lse: *mut f32,
    ) -> gyre_embedded_status;
    pub fn gyre_embedded_attention_mistake(args: *const gyre_embedded_attention_args) -> gyre_embedded_mistake;
}
