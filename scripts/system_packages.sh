#!/bin/sh
# Install what the native core is built with, where that is possible without asking; otherwise say what to do, and go on:
# acausal also works without its native core, only slower.
missing=""
[ -e /usr/include/idas/idas.h ] || [ -e /usr/local/include/idas/idas.h ] || missing="$missing libsundials-dev"
[ -e /usr/include/suitesparse/klu.h ] || [ -e /usr/local/include/suitesparse/klu.h ] || missing="$missing libsuitesparse-dev"
command -v c++ >/dev/null 2>&1 || missing="$missing g++"
core="$missing"
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || missing="$missing chromium" # for the studio's tests
[ -z "$missing" ] && exit 0

if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then as_root=""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then as_root="sudo -n"
    else as_root="none"
    fi
    if [ "$as_root" != none ]; then
        echo "Installing system packages:$missing"
        install="$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends"
        { $install $missing || { $as_root apt-get update -qq && $install $missing; }; } >/dev/null 2>&1 && exit 0
    fi
fi
[ -z "$core" ] && echo "The browser tests of the studio need chromium, which could not be installed from here; they are skipped." && exit 0
echo "The native core needs:$core. They could not be installed from here."
echo "Debian and Ubuntu: sudo apt-get install$missing; then: make clean setup. Going on with the portable solver."
exit 0
