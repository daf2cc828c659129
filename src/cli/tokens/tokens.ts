import type { Command } from 'commander';
import { parseJsonBody } from '../../http/body/parse-json-body.js';
import { applicationKey } from '../application-key.js';
import { addTokensExport } from '../bulk/tokens-export.js';
import { addTokensImport } from '../bulk/tokens-import.js';
import { Failure } from '../failure.js';
import { configOf } from '../options.js';
import { print } from '../print.js';
import { readInput } from '../read-input.js';
import { runVerb } from '../run-verb.js';
import { type TokenVerbOptions, tokenVerb } from '../token-command.js';
import { addTokensSearch } from './tokens-search.js';

/** `strongroom tokens get`, `create`, `delete`, `search`, `import` and `export`, each as the application whose key is named. */
export function addTokens(program: Command): void {
  const tokens = program.command('tokens').description('work with tokens as one of the applications');

  tokenVerb(tokens, 'get <id>')
    .description('show a token as the application may see it')
    .addHelpText('after', '\nExample:\n  strongroom tokens get 4b0e... --api-key-file support.key')
    .action(async (id: string, options: TokenVerbOptions) => {
      const config = configOf(options);
      const key = await applicationKey(options.apiKeyFile, config.settings.data);
      const token = await runVerb(config, 'tokens-get', { key, id });
      print(token, options, () => JSON.stringify(token, null, 2));
    });

  tokenVerb(tokens, 'create')
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
    .action(async (options: TokenVerbOptions & { readonly file: string }) => {
      const config = configOf(options);
      if (options.file === '-' && options.apiKeyFile === '-') {
        throw new Failure('only one of --file and --api-key-file can be read from standard input.', 2);
      }
      const key = await applicationKey(options.apiKeyFile, config.settings.data);
      const body = parseJsonBody(await readInput(options.file, 'the request'));
      if (!body.ok)
        throw new Failure(`the request${body.path === undefined ? '' : ` at ${body.path}`} ${body.message}`);
      const token = await runVerb(config, 'tokens-create', { key, request: body.value });
      print(token, options, () => JSON.stringify(token, null, 2));
    });

  tokenVerb(tokens, 'delete <id>')
    .description('delete a token for good; its data is erased when the command returns')
    .addHelpText('after', '\nExample:\n  strongroom tokens delete 4b0e... --api-key-file eraser.key')
    .action(async (id: string, options: TokenVerbOptions) => {
      const config = configOf(options);
      const key = await applicationKey(options.apiKeyFile, config.settings.data);
      const value = await runVerb(config, 'tokens-delete', { key, id });
      print(value, options, () => 'deleted');
    });

  addTokensSearch(tokens);
  addTokensImport(tokens);
  addTokensExport(tokens);
}
