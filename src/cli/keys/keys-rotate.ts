import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { changeSettings } from '../../compose/root-key/next-root-key.js';
import type { KeyRotationState } from '../../compose/vault/key-rotation-work.js';
import { waitText } from '../../ports/store-unavailable.js';
import { Failure } from '../failure.js';
import { showProgress } from '../files/progress.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { runOperations } from '../run-command.js';

const pollMs = 100;

type Options = { readonly all?: boolean; readonly json?: boolean };

/** Adds the command `strongroom keys rotate`. */
export function addKeysRotate(keys: Command): void {
  withSettings(keys.command('rotate'), [...storeSettings, 'next_root_key_file'])
    .description('replace the root key and all wrapping keys, so that older copies of the keys become useless')
    .option(
      '--all',
      'rotate the root key and all wrapping keys; required: older copies become useless only once both are replaced',
    )
    .option('--json', 'print progress and the result as lines of JSON')
    .addHelpText(
      'after',
      `
The service keeps running. If the rotation is interrupted, run the
command again to continue it.

Example:
  strongroom keys rotate --all --data /var/lib/strongroom \\
    --root-key-file /etc/strongroom/root.key`,
    )
    .action(async ({ all = false, json = false, ...options }: Options) => {
      if (!all) throw new Failure('add --all: the root key and all wrapping keys are rotated together.', 2);
      const ended = await rotate(options, json);
      process.stdout.write(`${json ? JSON.stringify({ type: 'summary', ...ended }) : resultText(ended)}\n`);
    });
}

async function rotate(options: object, json: boolean): Promise<KeyRotationState> {
  const config = configOf({ ...options });
  return runOperations(config, async (run) => {
    let state = await run('keys-rotate', {});
    const progress = () => {
      const { done, total, waits_for: waitsFor } = state.state === 'running' ? state : { done: 0, total: 0 };
      const isRewrapped = total > 0 && done >= total;
      const phase = waitsFor ? waitText(waitsFor) : isRewrapped ? 'taking the new root key into use' : null;
      return { items: done, done, total, phase, fields: { done, total } };
    };
    const display = showProgress(progress, { json, noun: 'key' });
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
  const change = 'setting' in ended && ended.setting === 'next_root_key_file' ? ` ${changeSettings}` : '';
  if (ended.state === 'rotated') {
    return (
      `all keys are under the new root key in ${ended.root_key_file}.${change} Keep a copy of it separately from the ` +
      'data, and destroy every copy of the old one. After that, older copies of the keys cannot decrypt anything.'
    );
  }
  if (ended.state === 'cleared' && change !== '') {
    return `the rotation has finished: all keys are under the root key in ${ended.root_key_file}.${change}`;
  }
  if (ended.state === 'cleared') {
    return (
      `finished a rotation that was interrupted: the root key in ${ended.root_key_file} is the new one. To rotate ` +
      'again, run this command again.'
    );
  }
  return 'the service was restarted and no longer rotates keys. Run this command again to continue.';
}
