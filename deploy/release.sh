#!/bin/sh
# Makes a release from a clean checkout: ./deploy/release.sh 0.2.0
# Sets the version, dates its section of the changelog, commits and tags. Writes the wheel, the source package, the image
# (if Docker or Podman is running), a software bill of materials and checksums to dist/. Nothing is published.
set -eu
cd "$(dirname "$0")/.."

fail() {
    echo "$1" >&2
    exit 1
}

version=${1:-}
printf '%s\n' "$version" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+' || fail "Name the version, for example: ./deploy/release.sh 0.2.0"
[ -z "$(git status --porcelain)" ] || fail "The checkout has uncommitted changes. Commit or remove them first."
! git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || fail "The tag v$version exists already."
grep -Fqx "## $version (not released yet)" CHANGELOG.md ||
    fail "CHANGELOG.md has no section “$version (not released yet)”. Name the version as there."
[ -x .venv/bin/hatchling ] || fail "Run ./run setup first: it installs the tools that build the packages."

today=$(date -u +%F)
replace() { # replace FILE EXPRESSION, on every sed
    sed "$2" "$1" >"$1.new" && cat "$1.new" >"$1" && rm "$1.new"
}
replace pyproject.toml "s/^version = .*/version = \"$version\"/"
replace portal/__init__.py "s/^__version__ = \"[^\"]*\"/__version__ = \"$version\"/"
replace CITATION.cff "s/^version: .*/version: $version/"
replace CHANGELOG.md "s/^## $version (not released yet)$/## $version ($today)/"
git commit --quiet --all --message "Version $version"
git tag --annotate "v$version" --message "Agon $version"

rm -rf dist
.venv/bin/hatchling build --directory dist
awk -v wanted="## $version " 'index($0, wanted) == 1 { found = 1; print; next } found && /^## / { exit } found' \
    CHANGELOG.md >"dist/changes-$version.md"
.venv/bin/uv tool run --from 'cyclonedx-bom>=7.1,<8' cyclonedx-py requirements requirements-production.txt \
    --output-reproducible --output-file "dist/agon-$version.cdx.json"
builder=
for program in docker podman; do
    if [ -z "$builder" ] && "$program" info >/dev/null 2>&1; then builder=$program; fi
done
if [ -n "$builder" ]; then
    "$builder" build --build-arg "AGON_REVISION=$(git rev-parse HEAD)" --tag "agon:$version" .
    "$builder" save "agon:$version" | gzip -n >"dist/agon-$version-image.tar.gz"
else
    echo "The image was left out: neither Docker nor Podman is running."
fi
(cd dist && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)

echo "Version $version is committed and tagged, and its files are in dist/. To publish it:"
echo "  git push origin HEAD v$version"
