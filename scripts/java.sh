#!/usr/bin/env bash
# A Java runtime for the tests on Spark: prints its folder (JAVA_HOME), and installs one where it may.
# It says on stderr why none can be had, and then exits with 3.
set -euo pipefail

unavailable() { echo "$*" >&2; exit 3; }
found() { local java; java=$(command -v java) && dirname "$(dirname "$(readlink -f "$java")")"; }
version() { "$1/bin/java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1; }

home=${JAVA_HOME:-$(found || true)}
if [ -z "$home" ] || [ "$(version "$home")" -lt 17 ]; then
    [ "$(id -u)" = 0 ] || unavailable "There is no Java 17 or newer; root could install it."
    if command -v apt-get >/dev/null; then
        install="apt-get install -y -qq openjdk-17-jre-headless"
    elif command -v dnf >/dev/null; then
        install="dnf install -y -q java-17-openjdk-headless"
    elif command -v apk >/dev/null; then
        install="apk add --quiet openjdk17-jre-headless"
    else
        unavailable "There is no Java 17 or newer, and no package manager that is known here."
    fi
    DEBIAN_FRONTEND=noninteractive timeout 300 $install >/dev/null 2>&1 || unavailable "$install failed."
    home=$(found) || unavailable "$install left no java on the path."
fi
echo "$home"
