import type { Command } from 'commander';
import { generateRootKey } from '../../compose/root-key/generate-root-key.js';
import { Failure } from '../failure.js';
import { expectName } from '../files/out-file.js';
import { print } from '../print.js';
import { addKeysRotate } from './keys-rotate.js';

/** Adds the command `strongroom keys` and its subcommands. */
export function addKeys(program: Command): void {
  const keys = program.command('keys').description('generate and rotate keys');
  addKeysRotate(keys);
  keys
    .command('generate-root <file>')
    .description('generate a root key in a new file that only you can read')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom keys generate-root /etc/strongroom/root.key')
    .action((file: string, options: { readonly json?: boolean }) => {
      expectName(file);
      const generated = generateRootKey(file);
      if (!generated.ok) throw new Failure(generated.message);
      const advice = 'Keep a copy of it separately from the data: without this key, no data can be read.';
      const text = `created ${file}. ${advice}`;
      print({ root_key_file: file }, options, () => text);
    });
}
