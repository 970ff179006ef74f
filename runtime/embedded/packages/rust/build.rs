//! Links the library for the processor: GYRE_PROCESSOR, else the one that the target names.
use std::{env, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-env-changed=GYRE_PROCESSOR");
    let target = env::var("TARGET").unwrap();
    if target.starts_with("thumb") && !target.ends_with("eabihf") {
        panic!("gyre-sys: {target} passes floats in integer registers, the library does not: take a target that ends with eabihf");
    }
    let usual = match target.as_str() {
        "thumbv7em-none-eabihf" => "cortex-m4",
        "thumbv8m.main-none-eabihf" => "cortex-m33",
        "aarch64-unknown-none" => "aarch64-none",
        "riscv32imafc-unknown-none-elf" => "riscv32-none",
        "riscv64gc-unknown-none-elf" => "riscv64-none",
        other if other.contains("-none") => "a processor that the target does not name",
        _ => "host",
    };
    let processor = env::var("GYRE_PROCESSOR").unwrap_or(usual.to_string());
    let libraries = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("lib");
    let folder = libraries.join(&processor);
    if !folder.join("libgyre_embedded.a").exists() {
        let made: Vec<_> = std::fs::read_dir(&libraries)
            .map(|all| all.flatten().map(|entry| entry.file_name().into_string().unwrap()).collect())
            .unwrap_or_default();
        panic!("gyre-sys: no library for {processor}, set GYRE_PROCESSOR to one of: {}", made.join(", "));
    }
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=gyre_embedded");
}
