#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unit tests of the page with node's runner, and the rules for its packages. Exit code 77: the packages are not there.
cd "$1" || exit 1
[ -d node_modules/esbuild ] || { echo "SKIPPED: web/node_modules is missing: npm could not be reached during the build"; exit 77; }
node check_packages.mjs && node test/run.mjs
