/** A part of a page that a test cannot run as written, and the commands that the test runs instead. */
export type Adaptation = { readonly says: RegExp; readonly runs: string; readonly because: string };

/**
 * All adaptations, in the order in which they are tried. The file `reader.sh` defines the functions in `runs`. If no
 * block needs an adaptation, the test fails.
 */
export const adaptations: readonly Adaptation[] = [
  {
    says: /\bnpm ci\b/g,
    runs: 'use_installed_modules',
    because: 'the modules are here already, the network may not be',
  },
  { says: /^npm run check$/gm, runs: ':', because: 'it takes more than a minute, and .ci/run runs it' },
  { says: /\bnpm (?:test|run test:long)$/gm, runs: ':', because: 'this very test would run itself without end' },
  {
    says: /^npm run test:cluster$/gm,
    runs: 'npx vitest list --filesOnly --config vitest.cluster.config.ts',
    because: 'the servers may not be here; the tests must be',
  },
  {
    says: /^npm run test:browser$/gm,
    runs: 'npx vitest list --filesOnly --project browser',
    because: 'Chromium may not be here; the tests must be',
  },
  {
    says: /^npm run test:kubernetes$/gm,
    runs: 'npx vitest list --filesOnly --config vitest.kubernetes.config.ts',
    because: 'helm and Prometheus may not be here; the tests must be',
  },
  {
    says: /^(?:set -o pipefail\n)?node scripts\/move-from-basis-theory\.mjs [^|\n]*(?:\|\n.*)?$/gm,
    runs: 'node --check scripts/move-from-basis-theory.mjs',
    because: 'there is no account; test/cli/bulk/move-from-basis-theory.test.ts moves tokens from a stand-in',
  },
  {
    says: /^npm run test:node-24\b.*$/gm,
    runs: 'bash -n scripts/test-node-24.sh',
    because: 'it takes minutes, and .ci/run runs it',
  },
  {
    says: /^STRONGROOM_TEST_EVENTSTORE_URL='[^']+' npx vitest run --no-file-parallelism/gm,
    runs: 'npx vitest list --filesOnly',
    because: 'the same, of a real EventStoreDB',
  },
  {
    says: /^(?:eval "\$\()?npm run --silent servers -- (?:up\)"|down --clean)$/gm,
    runs: 'bash -n scripts/servers.sh',
    because: 'a test installs no servers; the script must be there and be well-formed',
  },
  {
    says: /^(?:docker (?:.*\\\n)*|curl .* https:\/\/localhost:8081).*$/gm,
    runs: ':',
    because: 'Docker may not be here; test/deployment looks at what it would run',
  },
  {
    says: /^(node dist\/bin\/strongroom\.js cluster prepare) --config cluster\.json \\\n.*$/gm,
    runs: '$1 --help',
    because: 'a test prepares no stores of the tester; the command must be there',
  },
  {
    says: /^mongo(?:dump|restore) .*$/gm,
    runs: ':',
    because: "MongoDB's tools may not be here",
  },
  {
    says: /^(node dist\/bin\/strongroom\.js (?:backup|restore)) (?:.*\\\n)?.* --config cluster\.json$/gm,
    runs: '$1 --help',
    because: 'a test copies no stores of the tester; the command must be there',
  },
  {
    says: /^(?:helm|kubectl) (?:.*\\\n)*.*$/gm,
    runs: ':',
    because: 'Kubernetes is not here; test/kubernetes renders and checks the chart',
  },
  {
    says: /^((?:sudo -u strongroom strongroom|node dist\/bin\/strongroom\.js) serve|npm start)\b/gm,
    runs: 'in_background $1',
    because: 'the next block comes when it is ready',
  },
  {
    says: /^node dist\/bin\/strongroom\.js restore --accept-older-log .*$/gm,
    runs: '! $&',
    because: 'no older log was put back, so it must be refused',
  },
  { says: /&& npm start$/gm, runs: '&& in_background npm start', because: 'the same' },
  {
    says: /^sudo scripts\/install\.sh/gm,
    runs: 'date +%N >dist/build-of-this-block && sudo scripts/install.sh --root "$PLACE/root"',
    because: 'the machine may have a Strongroom of its own, and each block installs another build',
  },
  {
    says: /^sudo systemctl (?:enable --now|restart) strongroom$/gm,
    runs: 'in_background as_unit',
    because: 'systemd may not run here; what the unit runs does, as its user',
  },
  {
    says: /\bsudo -u strongroom strongroom\b/g,
    runs: 'as_strongroom "$PLACE/root/usr/local/bin/strongroom"',
    because: 'it is installed there; ports are given',
  },
  {
    says: /^sudo install\b(.*) -o "\$USER"/gm,
    runs: 'install$1 -o "$USER"',
    because: 'who runs everything is that user',
  },
  {
    says: /(?<=\s)\/(etc|var\/lib)\/strongroom\b/g,
    runs: '"$PLACE"/root/$1/strongroom',
    because: 'a directory that goes away',
  },
  { says: /127\.0\.0\.1:8080\b/g, runs: '127.0.0.1:<port>', because: 'port 8080 may be taken' },
  {
    says: /^node examples\/card-form\/shop\.mjs$/gm,
    runs: 'beside env STRONGROOM_ADDRESS=http://127.0.0.1:<port> SHOP_PORT=<shop port> $&',
    because: 'it runs until it is stopped, and the ports may be taken',
  },
  { says: /127\.0\.0\.1:3000\b/g, runs: '127.0.0.1:<shop port>', because: 'and this one' },
  { says: /127\.0\.0\.1:9464\b/g, runs: '127.0.0.1:<admin port>', because: 'so may this one' },
  { says: /--host 10\.0\.0\.5\b/g, runs: '--host 127.0.0.2', because: "this machine has not the reader's address" },
];

type Ports = { readonly port: number; readonly adminPort: number; readonly shopPort: number };

export function adapted(text: string, ports: Ports): string {
  return adaptations
    .reduce((now, { says, runs }) => now.replace(says, runs), text)
    .replaceAll('<port>', String(ports.port))
    .replaceAll('<admin port>', String(ports.adminPort))
    .replaceAll('<shop port>', String(ports.shopPort));
}
