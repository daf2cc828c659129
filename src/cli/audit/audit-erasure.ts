import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { erasureStatement, isSignedErasure } from '../../audit/erasure-statement.js';
import { applicationKey } from '../application-key.js';
import { Failure } from '../failure.js';
import { unreadable } from '../file-fault.js';
import { jsonOrNull } from '../files/json-or-null.js';
import { configOf } from '../options.js';
import { print } from '../print.js';
import { runCommand } from '../run-command.js';
import { type TokenCommandOptions, tokenCommand } from '../token-command.js';
import { readPublicKey } from './read-public-key.js';

type Options = TokenCommandOptions & { readonly check?: string; readonly publicKey?: string };

/** Adds the command `strongroom audit erasure`. */
export function addAuditErasure(audit: Command): void {
  tokenCommand(audit, 'erasure [id]', 'print one line of JSON')
    .description(
      'print a signed statement of when a token was deleted and its keys were destroyed, and that no trace of it is left',
    )
    .option('--check <file>', 'check the signature of such a statement instead; needs --public-key, but no vault')
    .option('--public-key <file>', 'the output of `strongroom audit public-key`')
    .addHelpText(
      'after',
      `
The command first checks every key that the token's events name, and the rows,
search terms, fingerprints, due times, claims and timers. If it finds a trace of
the token, it reports the trace, signs nothing, and exits with code 3.

Examples:
  strongroom audit erasure 4b0e... --api-key-file management.key > erased.json
  strongroom audit erasure --check erased.json --public-key audit.pub`,
    )
    .action(async (id: string | undefined, { check, publicKey, ...options }: Options) => {
      if ((id === undefined) === (check === undefined)) {
        throw new Failure('specify either the id of a token or --check FILE.', 2);
      }
      if (check !== undefined) return checkStatement(check, publicKey, options);
      const config = configOf(options);
      const key = await applicationKey(options, config);
      const answer = await runCommand(config, 'audit-erasure', { key, id });
      if (answer.statement === null) throw new Failure(answer.problem ?? '', 3);
      const { statement } = answer;
      print(statement, options, () => JSON.stringify(statement, null, 2));
    });
}

async function checkStatement(
  file: string,
  publicKey: string | undefined,
  options: TokenCommandOptions,
): Promise<void> {
  if (publicKey === undefined) throw new Failure('--check also needs the public key: --public-key FILE.', 2);
  const key = await readPublicKey(publicKey);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, error);
  });
  const statement = erasureStatement.safeParse(jsonOrNull(text));
  if (!statement.success) throw new Failure(`${file} is not a statement from \`strongroom audit erasure\`.`);
  if (!isSignedErasure(statement.data, key)) {
    throw new Failure('the statement is not signed by this key, or was changed.', 3);
  }
  const { lives, keys } = statement.data;
  const result = `signed by this key: ended ${lives.at(-1)?.ended_at}, keys destroyed ${keys.last_destroyed_at}`;
  print({ ok: true }, options, () => result);
}
