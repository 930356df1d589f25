//! Says what the plugin interface has that this is built for.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(inline_counts)");
    println!("cargo::rerun-if-env-changed=TENON_PLUGIN_API");
    let interface = std::env::var("TENON_PLUGIN_API").unwrap_or_default();
    // From 3 on, counters are added to by other calls.
    if matches!(interface.as_str(), "" | "1" | "2") {
        println!("cargo::rustc-cfg=inline_counts");
    }
}
