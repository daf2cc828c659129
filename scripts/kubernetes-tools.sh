#!/usr/bin/env bash
# Installs the programs and schemas for test/kubernetes: helm, the schemas of Kubernetes and the Prometheus operator
# (from their Go modules), and Prometheus (from the distribution). Prints their paths as variables:
#
#   eval "$(scripts/kubernetes-tools.sh)"
#
# Programs that are already installed are reused. The first run takes two to three minutes. The script fails if anything
# is unavailable.
set -euo pipefail
helm_version=v3.22.0
kubernetes_version=v1.34.2
operator_version=v0.85.0
programs=${STRONGROOM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/strongroom}/programs
mkdir -p "$programs"

say() { printf '%s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || fail 'go is not on the PATH. helm is built with it: install Go 1.26 or later.'
cd "$programs"

helm=$programs/helm-$helm_version
if [ ! -x "$helm" ]; then
  say "building helm $helm_version"
  CGO_ENABLED=0 GOBIN=$programs/building-$$ go install -trimpath "helm.sh/helm/v3/cmd/helm@$helm_version" \
    >"$programs/helm.log" 2>&1 || fail "helm could not be built: see $programs/helm.log"
  mv "$programs/building-$$/helm" "$helm"
  rmdir "$programs/building-$$"
fi

# module PATH VERSION FILE: prints the folder of the Go module. FILE must exist in this folder.
module() {
  local folder
  folder=$(go mod download -json "$1@$2" 2>"$programs/module.log" |
    node -e 'console.log(JSON.parse(require("node:fs").readFileSync(0, "utf8")).Dir ?? "")') || true
  [ -f "$folder/$3" ] || fail "the Go module $1@$2 could not be had: see $programs/module.log"
  echo "$folder"
}
kubernetes=$(module k8s.io/kubernetes "$kubernetes_version" api/openapi-spec/swagger.json)
operator=$(module github.com/prometheus-operator/prometheus-operator "$operator_version" \
  example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml)

prometheus=$programs/prometheus/usr/bin
if [ ! -x "$prometheus/promtool" ]; then
  say 'unpacking prometheus'
  { apt-get update && apt-get download prometheus && dpkg-deb --extract prometheus_*.deb "$programs/prometheus"; } \
    >"$programs/prometheus.log" 2>&1 || fail "prometheus could not be had: see $programs/prometheus.log"
  rm -f prometheus_*.deb
fi

echo "export STRONGROOM_TEST_HELM='$helm'"
echo "export STRONGROOM_TEST_KUBERNETES='$kubernetes'"
echo "export STRONGROOM_TEST_KUBERNETES_VERSION='${kubernetes_version#v}'"
echo "export STRONGROOM_TEST_PROMETHEUS_OPERATOR='$operator'"
echo "export STRONGROOM_TEST_PROMETHEUS='$prometheus'"
