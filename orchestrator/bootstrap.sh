# The set-up, in POSIX sh with nothing but git's own dependencies at hand.
# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=sh disable=SC2154 # root, dot, python, lock come from ./tenon
#
# Finds out what is missing, says it, asks, and gets it in steps that can each be repeated:
# an interrupted set-up goes on where it stopped. Debian 12 and 13 are known; on any other
# system it only says what to provide.

minimum_rust=1.90
targets='aarch64-unknown-none aarch64-unknown-none-softfloat'
cross_libc=/usr/aarch64-linux-gnu/lib/libc.a
bundle=/etc/ssl/certs/ca-certificates.crt
log=$dot/log/bootstrap.log
silence=10 # seconds without a line, at most
quiet='' yes='' offline=''

say() { [ -n "$quiet" ] || printf '%s\n' "$*" >&2; }
stop() { printf 'tenon: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# at_least VERSION MINIMUM: compares the first two numbers.
at_least() {
    printf '%s %s\n' "$1" "$2" | {
        IFS='. ' read -r major minor rest
        rest=${rest##* }
        [ "$major" -gt "${rest%%.*}" ] ||
            { [ "$major" -eq "${rest%%.*}" ] && [ "$minor" -ge "${rest##*.}" ]; }
    }
}

# ---- what is there ------------------------------------------------------------------

python_serves() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    for candidate in python3 /usr/bin/python3; do
        if python_serves "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

rust_version() { "$1" --version 2>/dev/null | cut -d' ' -f2; }

# The parts of each target that rustup would bring.
target_missing() {
    for target in $targets; do
        [ -d "$1/lib/rustlib/$target/lib" ] || return 0
    done
    return 1
}

# A linker for the targets: the toolchain's own, or LLVM's.
links() {
    for linker in "$1"/lib/rustlib/*/bin/rust-lld; do
        [ ! -x "$linker" ] || return 0
    done
    have rust-lld || have ld.lld
}

# Sets rust to: ready, targets (rustup must add them), toolchain (rustup must bring a newer
# one), or packages (no Rust that serves, and no rustup).
find_rust() {
    PATH=$PATH:${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}/bin
    version=$(rust_version rustc || true)
    if have cargo && at_least "${version:-0.0}" $minimum_rust; then
        sysroot=$(rustc --print sysroot)
        if ! target_missing "$sysroot"; then
            rust=ready
        elif have rustup && [ "$(cat "$dot/without-targets" 2>/dev/null)" != "$version" ]; then
            rust=targets
        elif [ -d "$sysroot/lib/rustlib/src/rust/library" ] && links "$sysroot"; then
            rust=ready # core is built with the image: -Zbuild-std
        elif have rustup; then
            rust=targets
        else
            rust=packages
        fi
    elif have rustup; then
        rust=toolchain
    else
        rust=packages
    fi
}

find_packages() {
    packages=''
    find_python >/dev/null || packages="$packages python3 python3-venv"
    have qemu-system-aarch64 || packages="$packages qemu-system-arm"
    have cc || packages="$packages gcc libc6-dev"
    have make || packages="$packages make"
    have aarch64-linux-gnu-gcc || packages="$packages gcc-aarch64-linux-gnu"
    [ -e $cross_libc ] || packages="$packages libc6-dev-arm64-cross"
    [ -d /usr/lib/picolibc/aarch64-linux-gnu ] || packages="$packages picolibc-aarch64-linux-gnu"
    [ -e "${SSL_CERT_FILE:-$bundle}" ] || packages="$packages ca-certificates"
    [ "$rust" != packages ] || packages="$packages rustc-web cargo-web rust-web-src lld"
    packages=${packages# }
}

environment_missing() {
    [ ! -x "$python" ] || [ "$(cat "$dot/venv/.lock" 2>/dev/null)" != "$(cksum <"$lock")" ]
}

known_system() {
    [ -r /etc/os-release ] || return 1
    # In a subshell: os-release sets whatever variables it likes.
    case $(. /etc/os-release && printf '%s-%s' "${ID:-}" "${VERSION_ID:-}") in
        debian-12 | debian-13) have apt-get ;;
        *) return 1 ;;
    esac
}

# ---- the plan -----------------------------------------------------------------------

# COUNT and MEGABYTES that apt would fetch for the packages; empty if it cannot tell yet.
apt_size() {
    # shellcheck disable=SC2086 # a list of names
    apt-get install --print-uris -qq -y --no-install-recommends $packages 2>/dev/null |
        awk '{ n++; s += $3 } END { if (n) printf "%d %d", n, s / 1e6 + 1 }'
}

show_plan() {
    say 'TenonOS needs a few things first:'
    if [ -n "$packages" ]; then
        size=$(apt_size)
        say "  Debian packages, as root: $packages"
        if [ -n "$size" ]; then
            say "    ${size% *} packages with what they depend on, ${size#* } MB to fetch"
        fi
    fi
    ! environment_missing || say "  a private Python environment: 160 MB to fetch, 540 MB in $dot/venv"
    case $rust in
        targets) say "  rustup's targets $targets: 30 MB, in rustup's own folder" ;;
        toolchain) say "  rustup's stable toolchain with $targets: 250 MB, in rustup's own folder" ;;
    esac
    say "Later, when a command first needs them, in $dot: Rust crates (20 MB), and for systems"
    say "with Linux Debian's arm64 kernel, busybox and kernel headers (50 MB). The log: $log"
}

stop_unknown() {
    say 'This is neither Debian 12 nor Debian 13, so nothing is installed here. Please provide:'
    find_python >/dev/null || say '  Python 3.11 or newer, with its venv and ensurepip modules'
    have qemu-system-aarch64 || say '  qemu-system-aarch64, 7.2 or newer'
    have cc || say '  a C compiler named cc, for the linking of build scripts'
    have aarch64-linux-gnu-gcc || say '  aarch64-linux-gnu-gcc, for applications in C'
    have make || say '  make, for the module of Linux'
    [ -e $cross_libc ] || say "  $cross_libc, for programs of Linux"
    [ -d /usr/lib/picolibc/aarch64-linux-gnu ] || say '  picolibc in /usr/lib/picolibc/aarch64-linux-gnu, for applications in C'
    [ "$rust" = ready ] || say "  Rust $minimum_rust or newer with the targets $targets (or rustup, which brings them)"
    stop 'something is missing on this system; the list is above'
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

agree() {
    if [ -z "$yes" ] && [ -t 0 ]; then
        printf 'Go ahead? [Y/n] ' >&2
        read -r answer || answer=n
        case $answer in '' | y | Y | yes) ;; *) stop 'nothing was changed' ;; esac
    fi
}

# ---- the steps ----------------------------------------------------------------------

# A process and all it started; where there is no /proc, the process alone.
end() {
    for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        end "$child"
    done
    kill "$1" 2>/dev/null || true
}

# Off a terminal: a line for every ten seconds of a step.
tell_progress() {
    while sleep $silence; do
        say "[$count] $1: $(($(date +%s) - started)) s so far; $log grows; Ctrl-C ends it"
    done
}

# step TEXT COMMAND...: runs it with its output in the log, shows that time goes by.
step() {
    text=$1
    shift
    count=$((${count:-0} + 1))
    started=$(date +%s)
    printf '== %s\n' "$text" >>"$log"
    "$@" >>"$log" 2>&1 &
    worker=$!
    trap 'end $worker; [ -z "${teller:-}" ] || end "$teller"; printf "\n" >&2; stop "interrupted; the next start goes on from here"' INT TERM
    if [ -t 2 ] && [ -z "$quiet" ]; then
        while kill -0 $worker 2>/dev/null; do
            printf '\r[%s] %s … %ss ' "$count" "$text" $(($(date +%s) - started)) >&2
            sleep 1
        done
        printf '\r' >&2
    else
        tell_progress "$text" &
        teller=$!
    fi
    failed=''
    wait $worker || failed=1
    if [ -n "${teller:-}" ]; then
        end "$teller"
        wait "$teller" 2>/dev/null || true
        teller=''
    fi
    if [ -n "$failed" ]; then
        tail -n 12 "$log" >&2
        stop "$text failed (all of it in $log); the next start tries again"
    fi
    trap - INT TERM
    say "[$count] $text: done in $(($(date +%s) - started)) s"
}

install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    as_root dpkg --configure -a # what an interrupted run left
    as_root apt-get -q -o Acquire::Retries=5 -o DPkg::Lock::Timeout=120 update
    # --no-remove: never trade a package of the user's for one of ours.
    # shellcheck disable=SC2086 # a list of names
    as_root apt-get -q -y -o Acquire::Retries=5 -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 \
        install --no-install-recommends --no-remove $packages
}

make_environment() {
    "$python" -c 'import pip' 2>/dev/null || {
        rm -rf "$dot/venv"
        "$(find_python)" -m venv "$dot/venv"
    }
    # pip trusts what the system trusts, a company's own authority included.
    [ -n "${PIP_CERT:-}" ] || [ ! -e "${SSL_CERT_FILE:-$bundle}" ] ||
        export PIP_CERT="${SSL_CERT_FILE:-$bundle}"
    # The lock names everything, so pip resolves nothing, and no later release matters.
    "$python" -m pip install --no-input --disable-pip-version-check --progress-bar off --retries 10 \
        --only-binary :all: --require-hashes --no-deps --cache-dir "$dot/cache/pip" -r "$lock"
    # A new file in place of the old one, which may be a hard link into another clone.
    cksum <"$lock" >"$dot/venv/.lock.new"
    mv "$dot/venv/.lock.new" "$dot/venv/.lock"
    rm -rf "$dot/cache/pip"
}

# Automatic installation may be switched off, so nothing is left to it. A release may lack
# the bare-metal targets (1.99.1 does): then core's source serves, as with Debian's Rust.
add_targets() {
    export RUSTUP_MAX_RETRIES=10
    # shellcheck disable=SC2086 # a list of names
    rustup target add "$@" $targets || {
        rustup component add "$@" rust-src
        rust_version rustc >"$dot/without-targets"
    }
}

add_toolchain() {
    export RUSTUP_MAX_RETRIES=10
    rustup toolchain install stable --no-self-update --profile minimal \
        --component rustfmt --component clippy
    add_targets --toolchain stable
}

bootstrap() {
    for argument in "$@"; do
        case $argument in
            --yes) yes=1 ;;
            --offline) offline=1 ;;
            -q | --quiet) quiet=1 ;;
            --) break ;;
        esac
    done
    mkdir -p "$dot/log"
    # One set-up at a time; a second one waits and then finds everything there.
    exec 9>"$dot/lock"
    if have flock && ! flock --nonblock 9; then
        say 'another set-up of this clone is under way; waiting for it'
        flock 9
    fi
    find_rust
    find_packages
    if [ -n "$packages" ] || [ "$rust" != ready ] || environment_missing; then
        if ! known_system && { [ -n "$packages" ] || [ "$rust" = packages ]; }; then
            stop_unknown
        fi
        show_plan
        [ -z "$offline" ] || stop 'the set-up must fetch what is listed above; start once without --offline'
        if [ -n "$packages" ] && [ "$(id -u)" != 0 ] && ! have sudo; then
            stop "root is needed for one step; as root: apt-get install --no-install-recommends $packages"
        fi
        agree
        # A password must be asked for before the output goes to the log.
        [ -z "$packages" ] || as_root true
        [ -z "$packages" ] || step 'Debian packages' install_packages
        ! environment_missing || step 'Python environment' make_environment
        case $rust in
            targets) step "Rust's bare-metal targets" add_targets ;;
            toolchain) step "Rust's stable toolchain" add_toolchain ;;
        esac
        find_rust
        [ "$rust" != packages ] || stop "Debian's Rust is ${version:-missing}, $minimum_rust is needed: add" \
            "the release's security suite to the package sources, or install rustup"
    fi
    exec 9>&-
}
