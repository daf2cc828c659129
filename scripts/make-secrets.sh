#!/usr/bin/env bash
# Creates the files that docker-compose.yml reads: ./secrets with the root key, certificates, passwords and addresses,
# ./volumes for the data of the stores, and .env with the user that runs all containers. Only the owner can access these
# files.
#
#   scripts/make-secrets.sh [DIRECTORY]             default: the directory of docker-compose.yml
#   scripts/make-secrets.sh --renew [DIRECTORY]     replaces only the certificates; needs ca.key in ./secrets
#
# It never replaces the root key or a password, because you could then no longer access your data.
set -euo pipefail
umask 077
renew=''
if [ "${1:-}" = --renew ]; then renew=yes; shift; fi
place=$(realpath -m "${1:-$(dirname "$0")/..}")
secrets=$place/secrets
days=825
# Much longer than the certificates, so that they can be renewed while the authority is valid.
authority_days=3650

fail() { printf '%s\n' "$*" >&2; exit 1; }
[ -d "$place" ] || fail "there is no directory $place."
command -v openssl >/dev/null || fail 'openssl is not on the PATH. Install it and try again.'
if [ -n "$renew" ]; then
  [ -f "$secrets/ca.key" ] || fail "$secrets/ca.key does not exist; nothing was changed. Put your copy of it there, and try again."
else
  [ ! -e "$secrets" ] || fail "$secrets exists already; nothing was changed. To start over, with other keys and no data, remove it together with $place/volumes. To renew the certificates, use --renew."
fi

# The files are created in a temporary directory and are moved into place at the end. An interrupted run therefore
# leaves nothing that looks complete.
work=$(mktemp -d "$place/.secrets.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

password() { openssl rand -hex 24; }

# A renewal keeps the authority's key and name. Old and new certificates are therefore valid under both ca.pem files.
if [ -n "$renew" ]; then
  cp "$secrets/ca.key" ca.key
else
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ca.key 2>/dev/null
fi
openssl req -x509 -new -key ca.key -days "$authority_days" -subj '/CN=Strongroom stores' \
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign -out ca.pem 2>/dev/null

# certificate NAME COMMON_NAME HOST...: creates NAME.key and NAME.pem. The certificate is signed with ca.key.
certificate() {
  local name=$1 common_name=$2 hosts='DNS:localhost,IP:127.0.0.1' host
  shift 2
  for host in "$@"; do hosts+=,DNS:$host; done
  # The key is an RSA key, because EventStoreDB requires one.
  openssl req -new -newkey rsa:2048 -nodes -subj "/CN=$common_name" -keyout "$name.key" -out "$name.csr" 2>/dev/null
  openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$days" -out "$name.pem" \
    -extfile <(printf '%s\n' 'basicConstraints=critical,CA:FALSE' "subjectAltName=$hosts" \
      'keyUsage=critical,digitalSignature,keyEncipherment' 'extendedKeyUsage=serverAuth,clientAuth') 2>/dev/null
  rm "$name.csr"
}
# EventStoreDB requires this common name.
certificate eventstoredb eventstoredb-node eventstoredb
certificate mongodb mongodb mongodb
certificate redis redis redis
certificate api strongroom api-1 api-2
cat mongodb.key >>mongodb.pem
rm mongodb.key ca.srl
mkdir eventstoredb-ca
cp ca.pem eventstoredb-ca/ca.pem

if [ -n "$renew" ]; then
  rm ca.key
  find . -exec chown --reference="$secrets/root.key" {} +
  # If this is interrupted, a key may not belong to its certificate. Another run repairs that.
  find . -type f -printf '%P\n' | while read -r file; do mv -f "$file" "$secrets/$file"; done
  echo "renewed the certificates in $secrets. Recreate the containers, and move ca.key off this machine again."
  exit 0
fi

openssl rand -hex 32 >root.key

eventstore_password=$(password)
printf 'KURRENTDB_DEFAULT_ADMIN_PASSWORD=%s\nKURRENTDB_DEFAULT_OPS_PASSWORD=%s\n' \
  "$eventstore_password" "$(password)" >eventstoredb.env
printf 'esdb://admin:%s@eventstoredb:2113?tlsCAFile=/run/secrets/ca\n' "$eventstore_password" >eventstore-admin.url
printf 'esdb://strongroom:%s@eventstoredb:2113?tlsCAFile=/run/secrets/ca\n' "$(password)" >eventstore.url

openssl rand -base64 756 >mongodb.keyfile
password | tr -d '\n' >mongodb-admin.password
mongodb='mongodb:27017/?replicaSet=rs0&authSource=admin&tls=true&tlsCAFile=/run/secrets/ca'
printf 'mongodb://admin:%s@mongodb:27017/?authSource=admin&tls=true&tlsCAFile=/run/secrets/ca\n' "$(cat mongodb-admin.password)" >mongodb-admin.url
printf 'mongodb://strongroom-rows:%s@%s\n' "$(password)" "$mongodb" >mongodb.url
printf 'mongodb://strongroom-keys:%s@%s\n' "$(password)" "$mongodb" >mongodb-keys.url

redis_password=$(password)
printf 'rediss://strongroom:%s@redis:6379\n' "$redis_password" >redis.url
cat >redis.conf <<CONF
port 0
tls-port 6379
tls-cert-file /run/secrets/redis_cert
tls-key-file /run/secrets/redis_key
tls-ca-cert-file /run/secrets/ca
tls-auth-clients no
dir /data
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
# Protected mode would reject all other containers, because the default user has no password.
protected-mode no
user default on nopass resetkeys resetchannels -@all +ping
user strongroom on >$redis_password ~strongroom:* resetchannels +@all -@admin -@dangerous +info
CONF

# Containers must not run as root. If root runs this script, the containers run as a user that has no name.
user=$(id -u):$(id -g)
if [ "$(id -u)" = 0 ]; then user=10001:10001; fi
mkdir -p "$place/volumes"/{eventstoredb,mongodb,redis,prometheus}
if [ "$(id -u)" = 0 ]; then chown -R "$user" "$work" "$place/volumes"; fi
printf 'CONTAINER_USER=%s\n' "$user" >"$place/.env"
trap - EXIT
mv "$work" "$secrets"
echo "created $secrets. Keep copies of root.key and of the other files, separately from all copies of the data."
