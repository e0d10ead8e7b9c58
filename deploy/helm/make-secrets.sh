#!/usr/bin/env bash
# Writes the Secrets ecf-<service> of all services, and postgres-<service> with their users and passwords for the operator CloudNativePG,
# from a file with the lines of `ecf keys services` and `ecf keys sealing`:
#   deploy/helm/make-secrets.sh KEYS DATABASE_SERVER > secrets.yaml
# DATABASE_SERVER is host:port. The first run draws ADMIN_TOKEN and adds it to KEYS, so that each run writes the same Secrets. From the
# environment, where they are set: S3_ACCESS_KEY, S3_SECRET_KEY, REDIS_URL, STATUS_KEY, and DATABASE_OPTIONS, the end of DATABASE_URL
# from its question mark on.
set -euo pipefail
keys=$1 server=$2

value() {
  sed -n "s/^$1=//p" "$keys"
}

# A key of a Secret, unless its value is empty.
entry() {
  if [ -n "$2" ]; then printf "  %s: '%s'\n" "$1" "$2"; fi
}

grep -q '^ADMIN_TOKEN=' "$keys" || echo "ADMIN_TOKEN=$(openssl rand -base64 32)" >> "$keys"

for service in gateway emission status-poller reception approvals query; do
  user=${service//-/_}
  name=$(echo "$user" | tr '[:lower:]' '[:upper:]')
  password=$(value "${name}_PASSWORD")
  printf -- '---\napiVersion: v1\nkind: Secret\nmetadata: { name: ecf-%s }\nstringData:\n' "$service"
  entry SERVICE_PRIVATE_KEY "$(value "${name}_PRIVATE_KEY")"
  entry SEALING_KEYS "$(value "${name}_SEALING_KEYS")"
  entry DATABASE_URL "postgresql://ecf_$user:$password@$server/ecf_$user${DATABASE_OPTIONS:-}"
  entry KAFKA_SASL_PASSWORD "$password"
  entry REDIS_URL "${REDIS_URL:-}"
  if [ "$service" = gateway ]; then entry ADMIN_TOKEN "$(value ADMIN_TOKEN)"; fi
  case $service in emission | query) entry STATUS_KEY "${STATUS_KEY:-}" ;; esac
  case $service in
    emission | reception | approvals | query)
      entry S3_ACCESS_KEY "${S3_ACCESS_KEY:-}"
      entry S3_SECRET_KEY "${S3_SECRET_KEY:-}"
      ;;
  esac
  printf -- '---\napiVersion: v1\nkind: Secret\nmetadata: { name: postgres-%s }\ntype: kubernetes.io/basic-auth\nstringData:\n' "$service"
  entry username "ecf_$user"
  entry password "$password"
done
