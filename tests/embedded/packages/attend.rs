// A call, and a mistake by its name.
mod two_keys;
use gyre_sys::*;
use std::ffi::CStr;
use two_keys::{attend, DIM};

fn main() {
    let (status, _, is_mean) = attend(DIM);
    assert_eq!(status, GYRE_EMBEDDED_OK);
    assert!(is_mean);

    let (status, mistake, _) = attend(DIM / 2);
    assert_eq!(status, GYRE_EMBEDDED_BAD_SHAPE);
    assert_eq!(unsafe { CStr::from_ptr(mistake.argument) }.to_str(), Ok("head_dim"));
    println!("as expected");
}
