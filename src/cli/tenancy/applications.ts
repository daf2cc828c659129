import { type Command, Option } from 'commander';
import { applicationTypes } from '../../domain/access/application-type.js';
import type { Json } from '../../domain/json.js';
import { Failure } from '../failure.js';
import { configOf, storeSettings, withSettings } from '../options.js';
import { print } from '../print.js';
import { readInput } from '../read-input.js';
import { runVerb } from '../run-verb.js';
import { table } from '../table.js';

type Options = {
  readonly name: string;
  readonly type: string;
  readonly tenant?: string;
  readonly permissions?: string;
  readonly rules?: string;
  readonly json?: boolean;
};

/** `strongroom applications create` and `applications list`. */
export function addApplications(program: Command): void {
  const applications = program
    .command('applications')
    .description('create and list applications, which hold the API keys');
  withSettings(applications.command('create'), storeSettings)
    .description('create an application and print its key, which is shown only once')
    .requiredOption('--name <name>', 'name of the application')
    .addOption(
      new Option('--type <type>', 'the type, which decides what permissions it may hold')
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

where support-rules.json holds an array of access rules:
  [{"container":"/pci/","transform":"mask","permissions":["token:read"]}]`,
    )
    .action(async (options: Options) => {
      const { name, type, tenant, permissions, rules } = options;
      if ((permissions === undefined) === (rules === undefined)) {
        throw new Failure('give either --permissions or --rules.', 2);
      }
      const access =
        rules === undefined ? { permissions: listOf(permissions ?? '') } : { rules: await rulesFrom(rules) };
      const config = configOf(options);
      const value = await runVerb(config, 'applications-create', { tenantId: tenant ?? null, name, type, ...access });
      const { id, key } = value;
      print(value, options, () => `application ${id}\nkey, shown only once: ${key}`);
    });
  withSettings(applications.command('list'), storeSettings)
    .description('list the applications of a tenant, the newest first; never their keys')
    .option('--tenant <id>', 'the tenant; can be omitted if there is only one')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  strongroom applications list --json')
    .action(async (options: { readonly tenant?: string; readonly json?: boolean }) => {
      const input = { tenantId: options.tenant ?? null };
      const value = await runVerb(configOf(options), 'applications-list', input);
      const rows = value.applications.map(({ id, type, name }) => [String(id), String(type), String(name)]);
      const lines = () => table(['id', 'type', 'name'], rows).join('\n');
      print(value, options, () =>
        rows.length > 0 ? lines() : 'no applications yet; create one with `strongroom applications create`',
      );
    });
}

function listOf(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

async function rulesFrom(file: string): Promise<Json> {
  try {
    return JSON.parse(await readInput(file, 'the access rules')) as Json;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`${file} is not valid JSON. It must hold an array of access rules.`);
  }
}
