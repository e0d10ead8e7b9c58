#!/bin/sh
# SERVICE_RUNNER of the test of two versions: runs a service of the checkout that the file $ECF_VERSIONS/<process> names.
root=$(cat "$ECF_VERSIONS/$2")
exec node --enable-source-maps --import "$root/packages/service/dist/telemetry.js" "$root/services/$1/dist/main.js"
