import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { csvLine } from '#src/audit/csv-line.js';
import { recordColumns } from '#src/cli/audit/audit-records-operation.js';
import { exportRecords } from '#src/cli/audit/run-record-export.js';
import { fileReceiver, httpReceiver, type Receiver, streamRecords } from '#src/cli/audit/run-stream.js';
import type { RunOperation } from '#src/cli/run-command.js';
import { flushedPaths } from '../support/flushed-paths.js';
import { startTestService, type TestService } from '../support/test-service.js';
import { operate } from './operate.js';

let service: TestService;
let dir: string;

const run: RunOperation = (name, input) => operate(service.service, name, input);
const markers = ['planted-data', 'planted-mask', 'planted-meta', 'planted-id', 'planted-trace'];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'strongroom-stream-'));
  service = await startTestService();
  for (let count = 0; count < 3; count += 1) await work(count);
});

afterAll(async () => {
  await service.close();
  rmSync(dir, { recursive: true });
});

async function work(count: number): Promise<void> {
  const id = `planted-id-${count}`;
  const headers = { 'service-trace-id': `planted-trace-${count}` };
  const body = { type: 'token', id, data: 'planted-data', mask: 'planted-mask', metadata: { note: 'planted-meta' } };
  expect((await service.call('POST', '/tokens', body, { headers })).status).toBe(201);
  await service.call('GET', `/tokens/${id}`, undefined, { headers });
}

type Options = Partial<Parameters<typeof streamRecords>[0]> & {
  readonly receive: Receiver;
  readonly checkpointFile: string;
};

function stream(options: Options) {
  return streamRecords({
    run,
    once: true,
    signal: new AbortController().signal,
    sleep: () => Promise.resolve(),
    notice: () => undefined,
    ...options,
  });
}

const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n');
const idOf = (line: string): string => JSON.parse(line).record_id;

test('a stream to a file contains every record once, resumes at its checkpoint, and contains no token data', async () => {
  const [path, checkpointFile] = [join(dir, 'siem.jsonl'), join(dir, 'siem.checkpoint')];
  const first = await stream({ receive: fileReceiver(path), checkpointFile });
  expect(first.records).toBeGreaterThanOrEqual(6);
  expect(await stream({ receive: fileReceiver(path), checkpointFile })).toEqual({ records: 0 });
  await work(4);
  // The third record is about this stream.
  expect((await stream({ receive: fileReceiver(path), checkpointFile })).records).toBe(3);
  const ids = linesOf(path).map(idOf);
  expect(new Set(ids).size).toBe(ids.length);
  const text = readFileSync(path, 'utf8') + readFileSync(checkpointFile, 'utf8');
  for (const marker of markers) expect(text).not.toContain(marker);
  expect(Object.keys(JSON.parse(linesOf(path)[0] ?? ''))).toEqual([...recordColumns]);
  for (const file of [path, checkpointFile]) expect(statSync(file).mode & 0o077).toBe(0);
});

test.runIf(process.platform === 'linux')(
  'the records in a file are on disk before the checkpoint that covers them',
  async () => {
    const [path, checkpointFile] = [join(dir, 'flushed.jsonl'), join(dir, 'flushed.checkpoint')];
    const flushed = await flushedPaths((name) => [name, existsSync(checkpointFile)]);
    await stream({ receive: fileReceiver(path), checkpointFile });
    expect(flushed.slice(0, 4)).toEqual([
      [path, false],
      [dir, false],
      [`${checkpointFile}.next`, false],
      [dir, true],
    ]);
    // A directory that this user cannot read or flush does not prevent later records.
    const before = flushed.length;
    await fileReceiver(path)(['{}\n']);
    expect(flushed.slice(before)).toEqual([[path, true]]);
  },
);

test('if the access log cannot record the stream, nothing is sent until it can', async () => {
  const [path, checkpointFile] = [join(dir, 'unrecorded.jsonl'), join(dir, 'unrecorded.checkpoint')];
  let failures = 0;
  const begins: boolean[] = [];
  const failing: RunOperation = async (name, input) => {
    if (name !== 'audit-chains') return run(name, input);
    const isBegin = (input as { begins: boolean }).begins;
    if (isBegin && failures === 0) {
      failures += 1;
      throw new Error('simulated');
    }
    begins.push(isBegin);
    return run(name, input);
  };
  const ending = new AbortController();
  const sleep = async () => {
    if (existsSync(path)) ending.abort();
  };
  await stream({
    run: failing,
    receive: fileReceiver(path),
    checkpointFile,
    once: false,
    signal: ending.signal,
    sleep,
  });
  expect(begins, 'the request that records is repeated').toContain(true);
  expect(linesOf(path).join()).toContain('access log read on the command line');
});

test('an incomplete line left by a stream that was killed is replaced with the complete line', async () => {
  const [path, checkpointFile] = [join(dir, 'torn.jsonl'), join(dir, 'torn.checkpoint')];
  writeFileSync(path, '{"whole":true}\n{"record_id":"half');
  const { records } = await stream({ receive: fileReceiver(path), checkpointFile });
  const lines = linesOf(path);
  expect(lines[0]).toBe('{"whole":true}');
  expect(lines.slice(1).map(idOf)).toHaveLength(records);
});

test('a file that contains anything but records, such as a root key or a database, is not changed', async () => {
  const [path, checkpointFile] = [join(dir, 'root.key'), join(dir, 'not-records.checkpoint')];
  // After other failures, a stream waits and retries. Here, that would not help.
  const sleep = () => Promise.reject(new Error('the stream waited'));
  for (const content of ['ab'.repeat(32), `${'ab'.repeat(32)}\n`, 'SQLite format 3\0 \n\0', '\0\0']) {
    writeFileSync(path, content);

    const sent = stream({ receive: fileReceiver(path), checkpointFile, once: false, sleep });
    await expect(sent).rejects.toThrow(`${path} does not contain records of the access log. Choose another file`);
    expect(readFileSync(path, 'utf8')).toBe(content);
  }
  expect(existsSync(checkpointFile)).toBe(false);
});

type Handler = (request: IncomingMessage, body: string, response: ServerResponse) => void;

async function withServer(handle: Handler, use: (url: URL) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => handle(request, body, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await use(new URL(`http://127.0.0.1:${port}/ingest`));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test('while a receiver is down or rejects records, the stream waits longer each time; then it sends everything, and nothing is lost', async () => {
  const received: string[] = [];
  const pauses: number[] = [];
  const notices: string[] = [];
  const ending = new AbortController();
  let requests = 0;
  await withServer(
    (request, body, response) => {
      requests += 1;
      expect(request.headers['authorization']).toBe('Bearer siem-secret');
      if (requests <= 4) {
        // The receiver does not acknowledge these records, so the stream must send them again.
        if (requests === 1) return void response.destroy();
        return void response.writeHead(requests === 2 ? 500 : 429).end('x'.repeat(1_000_000));
      }
      received.push(...body.trimEnd().split('\n'));
      response.end();
    },
    async (url) => {
      const sleep = async (ms: number) => {
        pauses.push(ms);
        if (received.length > 0) ending.abort();
      };
      const headers = new Headers({ authorization: 'Bearer siem-secret' });
      await stream({
        receive: httpReceiver(url, headers, ending.signal),
        checkpointFile: join(dir, 'http.checkpoint'),
        once: false,
        signal: ending.signal,
        sleep,
        notice: (text) => notices.push(text),
      });
    },
  );
  expect(pauses.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
  const all = join(dir, 'all.jsonl');
  await exportRecords(run, { format: 'jsonl', filter: { tenant: null, from: null, to: null }, out: all, json: false });
  // The last record is about the export itself.
  expect(new Set(received.map(idOf))).toEqual(new Set(linesOf(all).slice(0, -1).map(idOf)));
  expect(notices.join()).toContain('responded with 500');
  expect(notices.at(-1), 'the last notice says that the stream works again').toBe('sending again');
  expect(notices.join()).not.toContain('siem-secret');
  expect(notices.join()).not.toContain('ingest');
});

test('a redirect is not followed: its target never gets a record or a header', async () => {
  let followed = 0;
  await withServer(
    (_, __, response) => {
      followed += 1;
      response.end();
    },
    (target) =>
      withServer(
        (_, __, response) => void response.writeHead(307, { location: target.href }).end(),
        async (url) => {
          const receive = httpReceiver(url, new Headers(), new AbortController().signal);
          const sent = stream({ receive, checkpointFile: join(dir, 'redirect.checkpoint') });
          await expect(sent).rejects.toThrow(/responded with 307 \(redirects are not followed\)/);
        },
      ),
  );
  expect(followed).toBe(0);
});

test('a checkpoint that is damaged or belongs to another vault is an error and stays unchanged', async () => {
  const checkpointFile = join(dir, 'bad.checkpoint');
  const other = { strongroom_stream: 1, log_id: 'another', chains: {} };
  for (const text of ['', '{}', '{"strongroom_stream":1', JSON.stringify(other)]) {
    writeFileSync(checkpointFile, text);
    const sent: string[] = [];
    const receive = async (lines: readonly string[]) => void sent.push(...lines);
    await expect(stream({ receive, checkpointFile, once: false })).rejects.toThrow(/checkpoint/);
    expect(sent).toEqual([]);
    expect(readFileSync(checkpointFile, 'utf8')).toBe(text);
  }
});

test('exports as CSV and as JSON Lines have named columns, contain the same records, and contain no token data', async () => {
  const filter = { tenant: service.tenantId, from: null, to: null };
  const [csv, jsonl] = [join(dir, 'records.csv'), join(dir, 'records.jsonl')];
  const { records } = await exportRecords(run, { format: 'csv', filter, out: csv, json: false });
  await exportRecords(run, { format: 'jsonl', filter, out: jsonl, json: false });
  const rows = readFileSync(csv, 'utf8').split('\r\n');
  expect(rows[0]).toBe(recordColumns.join(','));
  expect(rows).toHaveLength(records + 2);
  // The second export also contains the record about itself.
  expect(linesOf(jsonl)).toHaveLength(records + 1);
  const first = JSON.parse(linesOf(jsonl)[0] ?? '');
  expect(rows[1]).toBe(recordColumns.map((column) => first[column] ?? '').join(','));
  for (const marker of markers) expect(rows.join() + readFileSync(jsonl, 'utf8')).not.toContain(marker);
  await expect(exportRecords(run, { format: 'csv', filter, out: csv, json: false })).rejects.toThrow(/already exists/);
  const unknown = { tenant: 'no-such-tenant', from: null, to: null };
  const out = join(dir, 'unknown.csv');
  await expect(exportRecords(run, { format: 'csv', filter: unknown, out, json: false })).rejects.toThrow(
    /there is no such tenant/,
  );
  expect(existsSync(out)).toBe(false);
  const none = { tenant: null, from: 1, to: 2 };
  expect(await exportRecords(run, { format: 'csv', filter: none, out: join(dir, 'none.csv'), json: false })).toEqual({
    records: 0,
  });
});

test.each([
  [['a', 'b c', null], 'a,b c,\r\n'],
  [['a,b', 'say "x"', 'line\r\nend'], '"a,b","say ""x""","line\r\nend"\r\n'],
  [['=1+1', '+1', '-1', '@SUM(A1)'], "'=1+1,'+1,'-1,'@SUM(A1)\r\n"],
  [['=HYPERLINK("http://x","y")'], `"'=HYPERLINK(""http://x"",""y"")"\r\n`],
  [['\t=1', '\r=1', '\uff1d1'], `'\t=1,"'\r=1",'\uff1d1\r\n`],
] as const)('%j is one line of CSV that a spreadsheet reads as text', (fields, line) => {
  expect(csvLine(fields)).toBe(line);
});

test('the stream names records that were dropped before they were sent, and continues after them', async () => {
  const [path, checkpointFile] = [join(dir, 'gap.jsonl'), join(dir, 'gap.checkpoint')];
  const notices: string[] = [];
  const send = () => stream({ receive: fileReceiver(path), checkpointFile, notice: (text) => void notices.push(text) });
  await send();
  expect(notices).toEqual([]);
  const before = linesOf(path).length;
  await work(100);
  service.clock.advance(62 * 86_400_000);
  expect(await service.vault.accessLog.dropMonths(service.clock.now(), service.clock.now())).toBeGreaterThan(0);
  await work(101);
  await send();
  expect(notices).toEqual([
    expect.stringMatching(/^batches \d+ to \d+ of \S+ were not sent: the vault no longer keeps them$/),
  ]);
  expect(linesOf(path).length).toBeGreaterThan(before);
  await send();
  expect(notices, 'once').toHaveLength(1);
});
