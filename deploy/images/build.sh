#!/usr/bin/env bash
# Builds the images with docker, podman or buildah, whichever is there, and writes the bill of materials of each to dist/images/:
#
#   deploy/images/build.sh [IMAGE...] [-- OPTION...]      without a name, every image; options go to the engine
#
#   ENGINE     docker, podman or buildah
#   PREFIX     default ecf, so ecf/gateway:VERSION
#   PLATFORM   linux/amd64 or linux/arm64; default: that of this machine
#   BASE       another base image with Node 24 on Debian
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/images/engine.sh
[ -n "$ENGINE" ] || { echo "Install docker, podman or buildah: none of them works here." >&2; exit 1; }

names=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do names+=("$1"); shift; done
[ "${1:-}" = -- ] && shift
all=$(sed -n 's/^FROM runtime AS //p' deploy/images/Dockerfile)
[ ${#names[@]} -gt 0 ] || mapfile -t names <<< "$all"
for name in "${names[@]}"; do
  grep -qx -- "$name" <<< "$all" || { echo "$name is not an image. Images: ${all//$'\n'/ }" >&2; exit 2; }
done

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
base=${BASE:-$(sed -n 's/^ARG BASE=//p' deploy/images/Dockerfile)}
labels=org.opencontainers.image
arguments=(--label "$labels.version=$version" --label "$labels.revision=$revision" --label "$labels.base.name=$base")
[ -z "${BASE:-}" ] || arguments+=(--build-arg "BASE=$BASE")
[ -z "${PLATFORM:-}" ] || arguments+=(--platform "$PLATFORM")
case $ENGINE in
  docker) build=(docker build) read=(docker run --rm --entrypoint cat) ;;
  podman) build=(podman build --format docker) read=(podman run --rm --entrypoint cat) ;;
  # The format of docker keeps health checks.
  buildah) build=(buildah build --format docker --layers --ignorefile deploy/images/Dockerfile.dockerignore) ;;
esac

# The file of an image on standard output.
read_file() {
  if [ "$ENGINE" != buildah ]; then "${read[@]}" "$1" "$2"; return; fi
  local container; container=$(buildah from --pull-never "$1")
  cat "$(buildah mount "$container")$2"
  buildah rm "$container" >/dev/null
}

mkdir -p dist/images
for name in "${names[@]}"; do
  tag=${PREFIX:-ecf}/$name:$version
  "${build[@]}" -f deploy/images/Dockerfile --target "$name" -t "$tag" "${arguments[@]}" "$@" .
  read_file "$tag" /app/sbom.cdx.json > "dist/images/$name.cdx.json"
  echo "$tag, dist/images/$name.cdx.json"
done
