// A stand-in for EventStoreDB, for tests only:
//
//   node main.mjs DIRECTORY [PORT] [--forgetful] [--cluster INDEX] [--tls-cert FILE --tls-key FILE --admin-password
//   PASSWORD]
//
// It implements the parts of the protocol that Strongroom uses. Its responses match those that we observed on real
// servers. Its events survive kill -9, but it is not a database, and is never offered to users.
//
// --forgetful: rejects a retried append. A real server acknowledges the retry. A test with this option shows what the
// adapter does without that help.
// --cluster: runs one of several processes that share DIRECTORY. The file `cluster.json` in DIRECTORY names the leader.
// All other processes reject appends and reads, even those that do not require the leader.
// --admin-password: enables users and permissions. This requires TLS, because the client does not send a password
// without TLS.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { clusterMember, soleMember } from './cluster-member.mjs';
import { createEventStore } from './event-store.mjs';
import { openJournal } from './journal.mjs';
import { serve } from './serve.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    forgetful: { type: 'boolean', default: false },
    cluster: { type: 'string' },
    'tls-cert': { type: 'string' },
    'tls-key': { type: 'string' },
    'admin-password': { type: 'string' },
  },
});
const [directory, port = '0'] = positionals;
if (directory === undefined) throw new Error('usage: node main.mjs DIRECTORY [PORT] [OPTIONS]');

const options = { knowsRepeats: !values.forgetful };
const member =
  values.cluster === undefined
    ? soleMember(await createEventStore(await openJournal(directory), options))
    : clusterMember(directory, Number(values.cluster), options);
const { 'tls-cert': cert, 'tls-key': key, 'admin-password': adminPassword } = values;
const secure =
  cert === undefined || key === undefined ? null : { cert: readFileSync(cert), key: readFileSync(key), adminPassword };
const { url } = await serve(member, Number(port), secure);
console.log(`EventStoreDB STAND-IN, for tests only: ${url}`);
process.once('SIGTERM', () => process.exit(0));
