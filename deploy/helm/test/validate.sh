#!/usr/bin/env bash
# Writes the resources of the chart for each file of values, checks them with helm lint and kubeconform, and sends them to a real API
# server of Kubernetes as a dry run, which installs nothing.
#   deploy/helm/test/validate.sh FOLDER      for what it writes
# It uses helm, kubeconform, go (for the descriptions of resources), kube-apiserver, etcd and kubectl from the PATH. A step whose programs
# are missing is skipped, and the output names it. STRIMZI_CRDS names a folder with the custom resource definitions of Strimzi.
set -euo pipefail
work=$(mkdir -p "${1:?name a folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/../../.."
chart=deploy/helm/ecf-gateway
examples=deploy/helm/examples
values=(small production gateway-api external-services without-monitoring-crds)
kubernetes=1.31.4

# True if all programs are there; otherwise says what is skipped.
has() {
  local step=$1 program
  shift
  for program in "$@"; do
    command -v "$program" > /dev/null || { echo "skipped: $step (needs $program)"; return 1; }
  done
}

# The folder of a Go module.
module() {
  go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p'
}

has 'all checks' helm || exit 0
for name in "${values[@]}"; do
  helm lint --strict "$chart" --values "$examples/$name.yaml" > "$work/lint.log" || { cat "$work/lint.log"; exit 1; }
  helm template ecf "$chart" --values "$examples/$name.yaml" --kube-version "$kubernetes" > "$work/$name.yaml"
  echo "linted and written: $name.yaml"
done

has 'kubeconform and the dry run' go || exit 0
operator=$(module github.com/prometheus-operator/prometheus-operator@v0.79.2)/example/prometheus-operator-crd
gateways=$(module sigs.k8s.io/gateway-api@v1.2.1)/config/crd/standard
postgres=$(module github.com/cloudnative-pg/cloudnative-pg@v1.25.0)/config/crd/bases
definitions=(
  "$operator"/monitoring.coreos.com_{servicemonitors,prometheusrules}.yaml
  "$gateways/gateway.networking.k8s.io_httproutes.yaml"
  "$postgres"/postgresql.cnpg.io_{clusters,databases}.yaml
)
resources=("${values[@]/%/.yaml}")
cp "$examples/postgres.cloudnative-pg.yaml" "$work" && resources+=(postgres.cloudnative-pg.yaml)
if [ -n "${STRIMZI_CRDS:-}" ]; then
  definitions+=("$STRIMZI_CRDS"/*)
  cp "$examples/kafka.strimzi.yaml" "$work" && resources+=(kafka.strimzi.yaml)
else
  echo 'skipped: kafka.strimzi.yaml (needs STRIMZI_CRDS)'
fi
cd "$work"

if has kubeconform kubeconform; then
  source=$(module "k8s.io/kubernetes@v$kubernetes")
  node "$OLDPWD/deploy/helm/test/schemas.mjs" schemas "$source/api/openapi-spec/swagger.json" "${definitions[@]}"
  kubeconform -summary -schema-location 'schemas/{{.ResourceKind}}{{.KindSuffix}}.json' "${resources[@]}"
fi

has 'the dry run' kube-apiserver etcd kubectl openssl || exit 0
openssl genrsa -out account.key 2048 2> /dev/null
echo 'secret,admin,admin,system:masters' > tokens.csv
rm -rf etcd
etcd --data-dir etcd --listen-client-urls http://127.0.0.1:23790 --advertise-client-urls http://127.0.0.1:23790 \
  --listen-peer-urls http://127.0.0.1:23800 > etcd.log 2>&1 &
stored=$!
trap 'kill "$stored"' EXIT
kube-apiserver --etcd-servers=http://127.0.0.1:23790 --secure-port=16443 --bind-address=127.0.0.1 --cert-dir=certificates \
  --service-account-key-file=account.key --service-account-signing-key-file=account.key \
  --service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range=10.96.0.0/16 \
  --authorization-mode=AlwaysAllow --token-auth-file=tokens.csv --disable-admission-plugins=ServiceAccount > apiserver.log 2>&1 &
served=$!
trap 'kill -KILL "$served"; kill "$stored"' EXIT
server() {
  kubectl --server=https://127.0.0.1:16443 --token=secret --insecure-skip-tls-verify "$@"
}
until server get --raw /readyz > /dev/null 2>&1; do
  kill -0 "$served" || { tail -5 apiserver.log; exit 1; }
  sleep 1
done
for definition in "${definitions[@]}"; do
  server apply --server-side --filename "$definition" > /dev/null
done
server wait --for condition=established crd --all --timeout 60s > /dev/null
for resource in "${resources[@]}"; do
  server apply --dry-run=server --validate=strict --filename "$resource" > "$resource.log"
  echo "accepted by the API server: $(wc -l < "$resource.log") resources of $resource"
done
# One installation gets the values of each file in turn: no change is refused. Its Jobs would wait for a node.
cd "$OLDPWD"
for name in "${values[@]}"; do
  helm upgrade --install ecf "$chart" --values "$examples/$name.yaml" --no-hooks \
    --kube-apiserver https://127.0.0.1:16443 --kube-token secret --kube-insecure-skip-tls-verify > "$work/upgrade.log"
  echo "upgraded to $name.yaml"
done
