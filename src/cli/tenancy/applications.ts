import { type Command, Option } from 'commander';
import { applicationTypes } from '../../domain/access/application-type.js';
import type { Json } from '../../domain/json.js';
import { parseJsonBody } from '../../http/body/parse-json-body.js';
import { Failure } from '../failure.js';
import { storeSettings, withSettings } from '../options.js';
import { print, printNewKey } from '../print.js';
import { readInput } from '../read-input.js';
import { table } from '../table.js';
import { applicationTargetOf, withAddress } from '../target.js';

type Options = {
  readonly name: string;
  readonly type: string;
  readonly tenant?: string;
  readonly permissions?: string;
  readonly rules?: string;
  readonly apiKeyFile?: string;
  readonly json?: boolean;
};

/** Adds the commands `strongroom applications create` and `applications list`. */
export function addApplications(program: Command): void {
  const applications = program
    .command('applications')
    .description('create and list applications, which have the API keys');
  applicationsCommand(applications, 'create')
    .description('create an application and print its key, which is shown only once')
    .requiredOption('--name <name>', 'name of the application')
    .addOption(
      new Option('--type <type>', 'the type, which determines the permissions it may have')
        .choices(applicationTypes)
        .makeOptionMandatory(),
    )
    .option('--tenant <id>', 'its tenant; can be omitted if there is only one')
    .option('--permissions <list>', 'permissions, separated by commas')
    .option('--rules <file>', 'a JSON file with an array of access rules (- for standard input)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  strongroom applications create --name checkout --type public \\
    --permissions token:create
  strongroom applications create --name support --type private \\
    --rules support-rules.json
  strongroom applications create --name till --type public \\
    --permissions token:create --address https://vault.example.com \\
    --api-key-file management.key

where support-rules.json contains an array of access rules:
  [{"container":"/pci/","transform":"mask","permissions":["token:read"]}]`,
    )
    .action(async (options: Options) => {
      const { name, type, permissions, rules } = options;
      if ((permissions === undefined) === (rules === undefined)) {
        throw new Failure('specify either --permissions or --rules.', 2);
      }
      if (rules === '-' && options.apiKeyFile === '-') {
        throw new Failure('only one of --rules and --api-key-file can be read from standard input.', 2);
      }
      const target = await applicationTargetOf(options);
      const access =
        rules === undefined ? { permissions: listOf(permissions ?? '') } : { rules: await rulesFrom(rules) };
      await printNewKey(
        options,
        () => target.createApplication({ name, type, ...access }),
        ({ id, key }) => `application ${id}\nkey, shown only once: ${key}`,
        ({ id }) =>
          `application ${id} was created, but its key could not be printed. Use a management key to give the ` +
          `application another key (\`POST /applications/${id}/keys\`) or to delete the application ` +
          `(\`DELETE /applications/${id}\`).`,
      );
    });
  applicationsCommand(applications, 'list')
    .description("list a tenant's applications, newest first, without their keys")
    .option('--tenant <id>', 'the tenant; can be omitted if there is only one')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom applications list --json')
    .action(async (options: { readonly tenant?: string; readonly json?: boolean }) => {
      const value = await (await applicationTargetOf(options)).listApplications();
      const rows = value.applications.map(({ id, type, name }) => [String(id), String(type), String(name)]);
      const lines = () => table(['id', 'type', 'name'], rows).join('\n');
      print(value, options, () =>
        rows.length > 0 ? lines() : 'no applications yet; create one with `strongroom applications create`',
      );
    });
}

/** Adds a command with the options that `create` and `list` share. */
function applicationsCommand(applications: Command, name: string): Command {
  return withAddress(withSettings(applications.command(name), storeSettings)).option(
    '--api-key-file <file>',
    'with an address: file with the API key of a management application (- for standard input; default: ' +
      'STRONGROOM_API_KEY_FILE or STRONGROOM_API_KEY)',
  );
}

function listOf(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

async function rulesFrom(file: string): Promise<Json> {
  const rules = parseJsonBody(await readInput(file, 'the access rules'));
  if (rules.ok) return rules.value;
  const where = rules.path === undefined ? '' : ` at ${rules.path}`;
  throw new Failure(
    `${file === '-' ? 'standard input' : file}${where} ${rules.message}. It must contain an array of access rules.`,
  );
}
