import type { Command } from 'commander';
import { generateRootKey } from '../../compose/root-key/generate-root-key.js';
import { Failure } from '../failure.js';

/** `strongroom keys generate-root`. */
export function addKeys(program: Command): void {
  program
    .command('keys')
    .description('make keys')
    .command('generate-root <file>')
    .description('make a root key in a new file that only you can read')
    .addHelpText('after', '\nExample:\n  strongroom keys generate-root /etc/strongroom/root.key')
    .action((file: string) => {
      const generated = generateRootKey(file);
      if (!generated.ok) throw new Failure(generated.message);
      process.stdout.write(`made ${file}. Keep a copy where the data is not: without it nothing can be opened.\n`);
    });
}
