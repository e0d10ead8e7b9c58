#!/bin/sh
# Makes the certificate authority of this deployment and a certificate for each server, valid for ten years:
# files/ca.pem for the services, tls/ and kafka/broker.pem for the servers. tls/ca.key is needed only for further certificates.
set -eu
cd "$(dirname "$0")"
if [ -e tls/ca.key ]; then
  echo "tls/ca.key exists. Remove it to replace all certificates." >&2
  exit 1
fi
case $(id -u) in
  0 | 1000) ;;
  *) echo "Run this as root: the broker runs as user 1000, and its key must belong to that user." >&2; exit 1 ;;
esac
umask 077
new="openssl req -x509 -newkey rsa:2048 -nodes -days 3650"
$new -subj "/CN=ecf authority" -keyout tls/ca.key -out files/ca.pem 2>/dev/null
for server in kafka postgres redis s3; do
  $new -subj "/CN=$server" -addext "subjectAltName=DNS:$server,DNS:localhost" -addext basicConstraints=critical,CA:FALSE \
    -CA files/ca.pem -CAkey tls/ca.key -keyout "tls/$server.key" -out "tls/$server.crt" 2>/dev/null
done
cat tls/kafka.key tls/kafka.crt > kafka/broker.pem
chmod 644 files/ca.pem tls/*.crt
chown 1000 kafka/broker.pem
