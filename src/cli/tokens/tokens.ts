import type { Command } from 'commander';
import { parseJsonBody } from '../../http/body/parse-json-body.js';
import { Failure } from '../failure.js';
import { print } from '../print.js';
import { readInput } from '../read-input.js';
import { tokenTargetOf, withAddress } from '../target.js';
import { type TokenCommandOptions, tokenCommand } from '../token-command.js';
import { addTokensExport } from './tokens-export.js';
import { addTokensImport } from './tokens-import.js';
import { addTokensSearch } from './tokens-search.js';

/**
 * Adds the commands `strongroom tokens get`, `create`, `delete`, `search`, `import` and `export`. Each command runs as
 * the API key's application.
 */
export function addTokens(program: Command): void {
  const tokens = program.command('tokens').description('work with tokens as an application');

  withAddress(tokenCommand(tokens, 'get <id>'))
    .description('show a token as the application may see it')
    .addHelpText(
      'after',
      `
Examples:
  strongroom tokens get 4b0e... --api-key-file support.key
  strongroom tokens get 4b0e... --address https://vault.example.com \\
    --api-key-file support.key`,
    )
    .action(async (id: string, options: TokenCommandOptions) => {
      const token = await (await tokenTargetOf(options)).getToken(id);
      print(token, options, () => JSON.stringify(token, null, 2));
    });

  withAddress(tokenCommand(tokens, 'create'))
    .description('create a token from a JSON request')
    .option('--file <file>', 'the request, as for POST /tokens (- for standard input)', '-')
    .addHelpText(
      'after',
      `
Examples:
  echo '{"type":"card","data":{"number":"4242424242424242"}}' |
    strongroom tokens create --json
  strongroom tokens create --file request.json --api-key-file checkout.key`,
    )
    .action(async (options: TokenCommandOptions & { readonly file: string }) => {
      if (options.file === '-' && options.apiKeyFile === '-') {
        throw new Failure('only one of --file and --api-key-file can be read from standard input.', 2);
      }
      const target = await tokenTargetOf(options);
      const body = parseJsonBody(await readInput(options.file, 'the request'));
      if (!body.ok)
        throw new Failure(`the request${body.path === undefined ? '' : ` at ${body.path}`} ${body.message}`);
      const token = await target.createToken(body.value);
      print(token, options, () => JSON.stringify(token, null, 2));
    });

  withAddress(tokenCommand(tokens, 'delete <id>'))
    .description('delete a token for good; its data is erased when the command returns')
    .addHelpText('after', '\nExample:\n  strongroom tokens delete 4b0e... --api-key-file eraser.key')
    .action(async (id: string, options: TokenCommandOptions) => {
      const value = await (await tokenTargetOf(options)).deleteToken(id);
      print(value, options, () => 'deleted');
    });

  addTokensSearch(tokens);
  addTokensImport(tokens);
  addTokensExport(tokens);
}
