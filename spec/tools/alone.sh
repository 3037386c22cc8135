#!/bin/sh
# alone.sh PACKAGE COMMAND... - runs COMMAND where the libraries and headers that only later packages use are absent, and where no
# weir is installed: a mount namespace, in which empty folders and /dev/null cover them. Programs of the system that are linked with
# such a library (Debian's node) keep it.
set -eu

if [ "${1:-}" != --inside ]; then
    user=$([ "$(id -u)" = 0 ] || echo -r)
    # shellcheck disable=SC2086
    if unshare -m $user true 2>/dev/null; then exec unshare -m $user sh "$0" --inside "$@"; fi
    echo "alone.sh: no mount namespace here: the libraries of other packages stay" >&2
    shift
    exec "$@"
fi
package=$2
shift 2
arch=$(cc -print-multiarch)
stash=$(mktemp -d)
trap 'rm -rf "$stash"' EXIT
mkdir "$stash/bin"

absent=
libraries='lib(ssl|crypto|curl[^/]*)\.so'
case $package in
weir | weir-sim)
    absent="/usr/include/openssl /usr/include/$arch/openssl /usr/include/curl /usr/include/$arch/curl /usr/lib/$arch/lua/5.4/luv.so
        $(find /usr/lib/"$arch" -maxdepth 1 | grep -E "/$libraries" || true)"
    ;;
esac
case $package in
weir-flux) ;;
*) absent="$absent $(find /usr/lib /usr/local/lib -name 'libflux-*.so*' -o -name 'flux-*.pc')" ;;
esac

for program in node chromium; do
    path=$(command -v $program) || continue
    if ldd "$path" 2>/dev/null | grep -Eq "^.($libraries)"; then
        cp -L $(ldd "$path" | sed -En "s|^.$libraries.* => ([^ ]*) .*|\2|p") "$stash"
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$stash" "$path" >"$stash/bin/$program"
        chmod +x "$stash/bin/$program"
    fi
done
for path in $absent /usr/share/lua/5.4/weir /usr/local/share/lua/5.4/weir; do
    if [ -d "$path" ]; then mount -t tmpfs none "$path"; elif [ -f "$path" ]; then mount --bind /dev/null "$path"; fi
done
PATH=$stash/bin:$PATH "$@"
