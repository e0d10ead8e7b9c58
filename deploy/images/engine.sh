# Sets ENGINE to docker, podman or buildah: the first that works here, unless it is set. Without any, ENGINE stays empty.
if [ -z "${ENGINE:-}" ]; then
  if docker info >/dev/null 2>&1; then ENGINE=docker
  elif podman info >/dev/null 2>&1; then ENGINE=podman
  elif buildah --version >/dev/null 2>&1; then ENGINE=buildah
  else ENGINE=
  fi
fi
