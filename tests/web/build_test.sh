#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where there is no npm, the page is left out with a reason; who insists on it gets an error.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/web"
for file in build install build.mjs package.json package-lock.json; do cp "$1/$file" "$folder/web"; done
for program in sh dirname mkdir cat cmp flock; do ln -s "$(command -v $program)" "$folder/bin/$program"; done
build() { PATH=$folder/bin "$folder/web/build" "$1" "$folder/assets.cpp" 2>"$folder/errors"; }

build auto
grep -q 'the page is left out: node and npm are missing' "$folder/errors"
grep -q "return {}" "$folder/assets.cpp"
build off
[ ! -s "$folder/errors" ]
if build on; then
    echo "a page that is missing was no error" >&2
    exit 1
fi
grep -q "the page can't be built" "$folder/errors"

# An npm that reaches nothing.
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/npm"
cp "$folder/bin/npm" "$folder/bin/node"
chmod +x "$folder/bin/npm" "$folder/bin/node"
build auto
grep -q 'npm could not install' "$folder/errors"
grep -q "return {}" "$folder/assets.cpp"
