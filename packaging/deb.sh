#!/bin/sh
# Makes Debian packages of a tarball: sh deb.sh TARBALL VERSION
# They are written to the directory deb beside the tarball. DEBFULLNAME and DEBEMAIL say who makes them; without them, the author
# of the last commit does.
set -eu

tarball=$1 version=$2
out=$(dirname "$tarball")/deb
tree=$out/weir-$version
who="${DEBFULLNAME:-$(git log -1 --format=%an)} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"

command -v dh >/dev/null || { echo "deb: debhelper is not installed (Debian package debhelper)" >&2; exit 1; }
rm -rf "$out"
mkdir -p "$out"
tar -xzf "$tarball" -C "$out"
when=$(date -R -r "$tree/CHANGES.md")
cp -r "$tree/packaging/debian" "$tree/debian"
sed -i "s/@MAINTAINER@/$who/" "$tree/debian/control"
cat > "$tree/debian/changelog" <<END
weir ($version) unstable; urgency=medium

  * CHANGES.md in the sources lists what is new.

 -- $who  $when
END
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: weir\n\n'
    printf 'Files: *\n%s\nLicense: Expat\n' "$(sed -n 's/^Copyright (c)/Copyright:/p' "$tree/LICENSE")"
    sed -n '5,$s/^$/./; 5,$s/^/ /p' "$tree/LICENSE"
} > "$tree/debian/copyright"
chmod +x "$tree/debian/rules"
(cd "$tree" && dpkg-buildpackage -us -uc -b ${DEB_JOBS:+-j"$DEB_JOBS"})
if command -v lintian >/dev/null; then lintian --fail-on error,warning --tag-display-limit 0 "$out"/*.changes; fi
ls "$out"/*.deb
