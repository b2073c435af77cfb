#!/usr/bin/env bash
# Install what the tests of reports need and the machine lacks: Debian's Chromium and its driver,
# selenium for the given python, and axe-core from npm, in build/axe/, which ships nowhere.
#
#     scripts/browser.sh .venv/bin/python
#
# Where something cannot be installed, the tests that need it are skipped with the reason.
set -uo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}

if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
    as_root=""
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    $as_root apt-get install -y --no-install-recommends chromium chromium-driver >/dev/null 2>&1 ||
        echo "chromium and chromedriver are not installed, and apt-get could not install them" >&2
fi
"$python" -c "import selenium" 2>/dev/null ||
    "$python" -m pip install --quiet --group browser ||
    echo "selenium could not be installed" >&2
if [ ! -f build/axe/axe.min.js ]; then
    mkdir -p build/axe
    { packed=$(npm pack --silent --pack-destination build/axe axe-core@4) &&
        tar -xzf "build/axe/$packed" -C build/axe --strip-components=1 package/axe.min.js; } ||
        echo "axe-core could not be fetched: npm pack axe-core" >&2
fi
exit 0
