import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { isLoopback } from '../../compose/config/schemas.js';
import { controlSocketPath, serviceMayListen } from '../../compose/embedded/control-socket.js';
import { dataDirectoryOf } from '../../compose/open-profile.js';
import { counted } from '../../domain/text.js';
import { Failure } from '../failure.js';
import { untilSignal } from '../files/until-signal.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print, writeError } from '../print.js';
import { readSecret } from '../read-input.js';
import { type RunOperation, runCommand, runOperations } from '../run-command.js';
import { fileReceiver, httpReceiver, type Receiver, streamRecords } from './run-stream.js';

type Options = {
  readonly toFile?: string;
  readonly toUrl?: string;
  readonly checkpoint: string;
  readonly headerFile?: string;
  readonly allowPlaintextHttp?: boolean;
  readonly once?: boolean;
  readonly json?: boolean;
};

/** Adds the command `strongroom audit stream`. */
export function addAuditStream(audit: Command): void {
  withSettings(audit.command('stream'), storeSettings)
    .description('send the access log to a file or an HTTP address, and continue as it grows')
    .option('--to-file <file>', 'append the records to this file as lines of JSON')
    .option('--to-url <url>', 'post the records to this address as lines of JSON')
    .requiredOption('--checkpoint <file>', 'file that records what was received; the first run creates it')
    .option('--header-file <file>', 'file with HTTP headers, one "Name: value" per line (- for standard input)')
    .option('--allow-plaintext-http', 'allow http:// to another machine, although others on the network can read it')
    .option('--once', 'exit once all existing records have been delivered')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Each record is received at least once. A record that is received twice has the
same record_id. Records contain no data, masks, metadata or token ids.

Examples:
  strongroom audit stream --to-file /var/log/strongroom.jsonl \\
    --checkpoint /var/lib/strongroom/siem.checkpoint
  strongroom audit stream --to-url https://siem.example/ingest \\
    --header-file siem.headers --checkpoint /var/lib/strongroom/siem.checkpoint`,
    )
    .action(async ({ checkpoint, once = false, ...options }: Options) => {
      if (options.toFile !== undefined && resolve(options.toFile) === resolve(checkpoint)) {
        throw new Failure('--to-file and --checkpoint must name two different files.', 2);
      }
      const ending = new AbortController();
      const receive = await receiverOf(options, ending.signal);
      const config = configOf(options);
      const interrupt = untilSignal(() => ending.abort());
      const stream = (run: RunOperation) =>
        streamRecords({
          run,
          receive,
          checkpointFile: checkpoint,
          once,
          signal: ending.signal,
          sleep: (ms) => wait(ms, undefined, { signal: ending.signal }).catch(() => undefined),
          notice: (text) => writeError(`${text}\n`),
        });
      try {
        const dataDir = dataDirectoryOf(config);
        const { records } = await (once || dataDir === null
          ? runOperations(config, stream)
          : stream(async (name, input) => {
              // Threat: an operator starts a stream while no service is running. If the stream opened the data itself,
              // no service could start until the stream ended, because the data would be locked.
              const socketPath = controlSocketPath(dataDir);
              if (socketPath === null || !(await serviceMayListen(socketPath))) {
                throw new Failure('no service is running on this data. Start one with `strongroom serve`.');
              }
              return runCommand(config, name, input);
            }));
        print({ type: 'summary', records }, options, () => `${counted(records, 'record')} sent`);
      } finally {
        interrupt.end();
      }
    });
}

type Target = Pick<Options, 'toFile' | 'toUrl' | 'headerFile' | 'allowPlaintextHttp'>;

async function receiverOf(
  { toFile, toUrl, headerFile, allowPlaintextHttp = false }: Target,
  signal: AbortSignal,
): Promise<Receiver> {
  if ((toFile === undefined) === (toUrl === undefined)) throw new Failure('specify either --to-file or --to-url.', 2);
  if (toFile !== undefined) {
    if (headerFile !== undefined) throw new Failure('--header-file is for --to-url.', 2);
    return fileReceiver(toFile);
  }
  const url = URL.canParse(toUrl ?? '') ? new URL(toUrl ?? '') : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Failure('--to-url must be an https:// or http:// address.', 2);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Failure(
      '--to-url must not contain a user or password: other users can see arguments. Use --header-file.',
      2,
    );
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowPlaintextHttp) {
    throw new Failure('--to-url must be https://, except on this machine, or with --allow-plaintext-http.', 2);
  }
  const headers = headerFile === undefined ? new Headers() : await headersOf(headerFile);
  headers.set('content-type', 'application/x-ndjson');
  return httpReceiver(url, headers, signal);
}

/**
 * Reads HTTP headers from a file. An error message about a line contains only the line's number. Threat: an attacker
 * who can read logged messages learns a secret from a message that quotes the line.
 */
async function headersOf(file: string): Promise<Headers> {
  const headers = new Headers();
  const lines = (await readSecret(file, 'the headers')).split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const [, name = '', value = ''] = /^([^:\s]+):(.*)$/.exec(line) ?? [];
    try {
      headers.append(name, value.trim());
    } catch {
      throw new Failure(`line ${index + 1} of ${file} is not a header. Write each as "Name: value".`, 2);
    }
  }
  return headers;
}
