import { problemText } from '../ports/store-problem.js';
import { fullDiskText, rebuiltElsewhere, type StoreUnavailable } from '../ports/store-unavailable.js';

/**
 * For each server, the end of the message that reports the server as unavailable. This part names the settings that
 * contain the server's address.
 */
const addresses: Readonly<Record<string, string>> = {
  eventstoredb: 'eventstore.url names it',
  mongodb: 'mongodb.url and mongodb.keys_url name it',
};

/** Returns a message with advice for the operator about an unavailable store. */
export function storeUnavailableText({ store, reason, found }: StoreUnavailable): string {
  if (found !== null) return problemText(found);
  if (reason === rebuiltElsewhere) {
    return 'another process continues the rebuild. `strongroom projections status` shows its progress.';
  }
  if (reason === 'full') return `${fullDiskText(store)}, then try again.`;
  const text = `${store} is unavailable (${reason.replaceAll('_', ' ')}). Try again in a moment`;
  const address = addresses[store];
  if (address === undefined) return `${text}.`;
  return (
    `${text}; if that does not help, check that it runs, and that ${address}, with the ` +
    'right user and certificates.'
  );
}

/** Returns a message about a store that was unavailable while a command ran. The command itself did not fail for it. */
export function storeWasUnavailableText({ store, reason, found }: StoreUnavailable): string {
  if (found !== null) return problemText(found);
  if (reason === rebuiltElsewhere) return 'another process continued the rebuild for a while.';
  return `${store} was unavailable for a while (${reason.replaceAll('_', ' ')}). The command continued after that.`;
}
