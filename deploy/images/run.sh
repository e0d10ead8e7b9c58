#!/usr/bin/env bash
# Runs an image with the settings of the environment, on the network of this machine, until a signal ends it:
#
#   deploy/images/run.sh IMAGE
#   SERVICE_RUNNER=deploy/images/run.sh npm run distributed      with S3_ENDPOINT: the containers share no folder
#
# The root is read-only. /tmp and /data end with the container.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/engine.sh"
[ -n "$ENGINE" ] || { echo "Install docker, podman or buildah: none of them works here." >&2; exit 1; }
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$here/../../package.json")
image=${PREFIX:-ecf}/$1:$version

# What belongs to this shell and to this machine is not a setting.
of_shell='PATH|HOME|PWD|OLDPWD|SHLVL|_|USER|LOGNAME|SHELL|TERM|LANG|LC_.*|HOSTNAME|TMPDIR|DEBIAN_FRONTEND|ENGINE|PREFIX|STORAGE_DRIVER|BUILDAH_.*|NODE_.*|npm_.*|JEST_.*|.*_CA_.*|SSL_.*'
export DATA_DIR=/data
unset ACCESS_LOG_FILE
settings=()
for name in $(compgen -e | grep -vxE "$of_shell"); do settings+=("$name"); done

if [ "$ENGINE" != buildah ]; then
  options=(--rm --read-only --cap-drop ALL --security-opt no-new-privileges --network host --tmpfs /tmp --volume /data)
  for name in "${settings[@]}"; do options+=(-e "$name"); done
  exec "$ENGINE" run "${options[@]}" "$image"
fi

# buildah has no read-only root: the same with the mounts of the kernel. A run does not write to the container, so all runs share it.
container=ecf-run-$1
id=$(buildah inspect --type image --format '{{.FromImageID}}' "$image")
if [ "$(buildah inspect --format '{{.FromImageID}}' "$container" 2>/dev/null)" != "$id" ]; then
  buildah rm "$container" >/dev/null 2>&1 || true
  buildah from --pull-never --name "$container" "$image" >/dev/null
fi
root=$(buildah mount "$container")
mapfile -t command < <(buildah inspect --type image --format '{{range .OCIv1.Config.Cmd}}{{println .}}{{end}}' "$image" | sed '/^$/d')
mapfile -t environment < <(buildah inspect --type image --format '{{range .OCIv1.Config.Env}}{{println .}}{{end}}' "$image" | sed '/^$/d')
for name in "${settings[@]}"; do environment+=("$name=${!name}"); done
unshare --mount sh -euc '
  root=$1; shift
  mount --bind "$root" "$root"
  mount -o remount,bind,ro "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
  mount -t tmpfs -o mode=1777 tmpfs "$root/data"
  cd "$root"
  exec chroot --userspec=1000:1000 --groups=1000 "$root" env -i --chdir=/app "$@"
' sh "$root" "${environment[@]}" "${command[@]}" &
program=$!
trap 'kill -TERM $program 2>/dev/null' TERM INT HUP
status=0
wait $program || status=$?
# A signal ends the first wait; the program then ends in order.
while kill -0 $program 2>/dev/null; do status=0; wait $program || status=$?; done
exit $status
