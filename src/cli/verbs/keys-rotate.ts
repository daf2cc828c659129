import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { KeyRotationState } from '../../compose/vault/key-rotation-work.js';
import { showProgress } from '../bulk/progress.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { runOperations } from '../run-verb.js';

const pollMs = 100;

type Options = { readonly all?: boolean; readonly json?: boolean };

/** `strongroom keys rotate`. */
export function addKeysRotate(keys: Command): void {
  withSettings(keys.command('rotate'), [...storeSettings, 'next_root_key_file'])
    .description('replace the root key and what is under it, so that copies of the keys from before open nothing')
    .option('--all', 'the root key and the keys of all tenants: one of the two alone would void no copy')
    .option('--json', 'print progress and the result as lines of JSON')
    .addHelpText(
      'after',
      `
The service goes on meanwhile. Cut off at any moment it goes on when it is run again.

Example:
  strongroom keys rotate --all --data /var/lib/strongroom --root-key-file /etc/strongroom/root.key`,
    )
    .action(async ({ all = false, json = false, ...options }: Options) => {
      if (!all) throw new Failure('say --all: the root key and the keys of all tenants are rotated together.', 2);
      const ended = await rotate(options, json);
      process.stdout.write(`${json ? JSON.stringify({ type: 'summary', ...ended }) : resultText(ended)}\n`);
    });
}

async function rotate(options: object, json: boolean): Promise<KeyRotationState> {
  const config = configOf({ ...options });
  return runOperations(config, async (run) => {
    let state = await run('keys-rotate', {});
    const progress = () => {
      const { done, total } = state.state === 'running' ? state : { done: 0, total: 0 };
      return { items: done, done, total, fields: { done, total } };
    };
    const display = showProgress(progress, { json, noun: 'keys' });
    try {
      while (state.state === 'running') {
        await wait(pollMs);
        state = await run('keys-rotation', {});
      }
    } finally {
      display.end();
    }
    return state;
  });
}

function resultText(ended: KeyRotationState): string {
  if (ended.state === 'rotated') {
    return (
      `all keys are under the new root key in ${ended.root_key_file}. Keep a copy of it where the data is not, and destroy ` +
      'every copy of the old one: then no copy of the keys from before opens anything.'
    );
  }
  if (ended.state === 'cleared') {
    return `a rotation that was cut off is finished: the root key in ${ended.root_key_file} is the new one. To rotate once more, run this again.`;
  }
  return 'the service was started anew and does not rotate keys. Run this again: it goes on.';
}
