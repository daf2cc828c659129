import type { Config } from '../../compose/config/config.js';
import { StoreProblem } from '../../ports/store-problem.js';
import { StoreUnavailable } from '../../ports/store-unavailable.js';
import { type Finding, ok, problem } from '../../queries/findings/finding.js';

/**
 * Reports the permissions that the vault's users in EventStoreDB and MongoDB have but do not need, and those that they
 * lack in MongoDB.
 */
export async function rightsInStores(config: Config): Promise<readonly Finding[]> {
  if (config.settings.profile !== 'cluster') return [];
  try {
    // We load this module on demand, because the database clients take a long time to load.
    const { compareRights } = await import('../../compose/cluster/rights.js');
    const { excess, lacking } = await compareRights(config);
    const { eventstore, mongodb } = excess;
    if (eventstore.length + mongodb.length + lacking.length === 0) {
      return [
        ok(
          'permissions',
          config.settings.insecure_stores
            ? 'insecure_stores is set: the stores may have no users'
            : "the vault's users have the permissions that it needs, and no more",
        ),
      ];
    }
    return [
      ...(lacking.length === 0 ? [] : [lacks(lacking)]),
      ...(eventstore.length === 0 ? [] : [unneeded('EventStoreDB', 'eventstore.url', eventstore)]),
      ...(mongodb.length === 0 ? [] : [unneeded('MongoDB', 'mongodb.url or mongodb.keys_url', mongodb)]),
    ];
  } catch (error) {
    if (!(error instanceof StoreProblem || error instanceof StoreUnavailable)) throw error;
    return [
      problem('permissions', 'the permissions of the users could not be checked', 'See the finding about the stores.'),
    ];
  }
}

function unneeded(store: string, setting: string, permissions: readonly string[]): Finding {
  return problem(
    'permissions',
    `the user of ${setting} could do more in ${store} than the vault needs: ${permissions.join('; ')}`,
    'Give the vault its own user: `strongroom cluster prepare` creates it.',
  );
}

const listedMax = 5;

function lacks(permissions: readonly string[]): Finding {
  const others = permissions.length - listedMax;
  const listed = [...permissions.slice(0, listedMax), ...(others > 0 ? [`and ${others} more`] : [])].join('; ');
  return problem(
    'permissions',
    `the user of mongodb.url or mongodb.keys_url lacks permissions in MongoDB: ${listed}`,
    '`strongroom cluster prepare` gives both what they need.',
  );
}
