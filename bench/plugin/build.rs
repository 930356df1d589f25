//! Sets a cfg for the version of QEMU's plugin interface.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(scoreboards)");
    println!("cargo::rerun-if-env-changed=TENON_PLUGIN_API");
    let interface = std::env::var("TENON_PLUGIN_API").unwrap_or_default();
    // Interface 2 replaced the calls that add to counters.
    if !matches!(interface.as_str(), "" | "1") {
        println!("cargo::rustc-cfg=scoreboards");
    }
}
