#!/bin/sh
# PostgreSQL runs this once, on an empty volume. Each service gets its own database, and a user that can open only this one.
set -eu
for service in gateway emission status_poller reception approvals query; do
  password=$(printenv "$(echo "$service" | tr '[:lower:]' '[:upper:]')_PASSWORD")
  psql --username "$POSTGRES_USER" --dbname postgres -v ON_ERROR_STOP=1 <<SQL
CREATE ROLE ecf_$service LOGIN PASSWORD '$password';
CREATE DATABASE ecf_$service OWNER ecf_$service;
REVOKE CONNECT ON DATABASE ecf_$service FROM PUBLIC;
SQL
done
