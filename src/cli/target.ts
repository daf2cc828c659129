import { type Command, InvalidArgumentError } from 'commander';
import { serviceAddress } from '../compose/config/client-settings.js';
import { flagMember, flagName } from '../compose/config/setting.js';
import type { Json, JsonObject } from '../domain/json.js';
import type { Page } from '../http/pagination.js';
import { apiKeyOf, applicationKey, askForKey } from './application-key.js';
import { type Client, createClient } from './client.js';
import { Failure } from './failure.js';
import type { Answers } from './operations.js';
import { configOf, storeSettings } from './options.js';
import { runCommand } from './run-command.js';

// A command on tokens or applications has one of two targets: a service at an address, or the data on this machine.
// Both targets return the same results.

export type TokenTarget = {
  getToken(id: string): Promise<Answers['tokens-get']>;
  createToken(request: Json): Promise<Answers['tokens-create']>;
  deleteToken(id: string): Promise<Answers['tokens-delete']>;
  searchTokens(search: Page & { readonly query: string }): Promise<Answers['tokens-search']>;
};

export type ApplicationTarget = {
  createApplication(fields: JsonObject): Promise<Answers['applications-create']>;
  listApplications(): Promise<Answers['applications-list']>;
};

const timeoutSecondsDefault = 60;
const timeoutSecondsMax = 3_600;

/** Adds the options for connecting to a service at an address. */
export function withAddress(command: Command): Command {
  return command
    .option('--address <url>', 'work on the service at this address, not on local data (default: STRONGROOM_ADDRESS)')
    .option(
      '--timeout-seconds <number>',
      `with an address: how long to wait for a response (default: ${timeoutSecondsDefault})`,
      timeoutSeconds,
    )
    .option(
      '--allow-plaintext-http',
      'with an address: send the API key and the data over a network without encryption',
    );
}

type Options = Readonly<Record<string, unknown>>;

/**
 * Returns the target of a command on tokens. The command runs as the API key's application. Throws Failure if the
 * target or the key is invalid.
 */
export async function tokenTargetOf(options: Options): Promise<TokenTarget> {
  const client = await clientOf(options);
  if (client !== null) return client;
  const config = configOf(options);
  const key = await applicationKey(options, config);
  return {
    getToken: (id) => runCommand(config, 'tokens-get', { key, id }),
    createToken: (request) => runCommand(config, 'tokens-create', { key, request }),
    deleteToken: (id) => runCommand(config, 'tokens-delete', { key, id }),
    searchTokens: (search) => runCommand(config, 'tokens-search', { key, ...search }),
  };
}

const pageSize = 100;

/**
 * Returns the target of a command on applications. On local data, the command runs as the operator. On a service at an
 * address, it runs as the API key's application. Throws Failure if the target or the key is invalid.
 */
export async function applicationTargetOf(options: Options): Promise<ApplicationTarget> {
  const { tenant, apiKeyFile } = options;
  const client = await clientOf(options);
  if (client === null) {
    if (apiKeyFile !== undefined) {
      throw new Failure('--api-key-file needs --address: on local data, this command acts as the operator.', 2);
    }
    const config = configOf(options);
    const tenantId = tenant ?? null;
    return {
      createApplication: (fields) => runCommand(config, 'applications-create', { tenantId, ...fields }),
      listApplications: () => runCommand(config, 'applications-list', { tenantId }),
    };
  }
  if (tenant !== undefined) throw new Failure('with an address, the API key determines the tenant; omit --tenant.', 2);
  return {
    async createApplication(fields) {
      const { id, tenant_id, name, type, key } = await client.createApplication(fields);
      return { id, tenant_id, name, type, key };
    },
    async listApplications() {
      const applications: JsonObject[] = [];
      for (let page = 1; ; page += 1) {
        const { pagination, data } = await client.listApplications({ page, size: pageSize });
        applications.push(...data);
        if (page >= pagination.total_pages) return { applications };
      }
    },
  };
}

/**
 * Returns a client for the service at the address in an option or a variable. Returns null if neither contains an
 * address. Throws Failure if the address or the key is invalid.
 */
async function clientOf(options: Options): Promise<Client | null> {
  const found = serviceAddress({ flags: options });
  if (!found.ok) throw new Failure(found.problem, 2);
  const { address } = found;
  if (address === null) {
    for (const name of ['timeout_seconds', 'allow_plaintext_http']) {
      if (options[flagMember(name)] !== undefined) throw new Failure(`${flagName(name)} needs --address.`, 2);
    }
    return null;
  }
  // Threat: an operator forgets that a variable contains an address, and runs a command that is meant for local data.
  // The command would then change the data at that address.
  for (const name of ['config', ...storeSettings]) {
    if (options[flagMember(name)] === undefined) continue;
    throw new Failure(`${flagName(name)} is for local data, but ${address.name} is set. Remove one of them.`, 2);
  }
  const given = await apiKeyOf(options);
  if (given === null) throw new Failure(askForKey, 2);
  return createClient({
    address: address.url,
    addressName: address.name,
    key: given.key,
    keyName: given.name,
    plaintext: options['allowPlaintextHttp'] === true ? 'allowed' : 'loopback only',
    timeoutSeconds: Number(options['timeoutSeconds'] ?? timeoutSecondsDefault),
  });
}

function timeoutSeconds(text: string): number {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= timeoutSecondsMax) return seconds;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${timeoutSecondsMax}.`);
}
