import type { Visitor } from '../access/visitor.js';

/** The author of a change: the operator at the command line, or an application. */
export type Actor =
  | { readonly kind: 'operator' }
  | {
      readonly kind: 'application';
      readonly applicationId: string;
      /** The id of the API key. Null if the request uses no API key (see `Caller`). */
      readonly keyId: string | null;
      /** The source address of the author's request, used only for the access log. */
      readonly sourceAddress?: string;
      /** The person and reason stated in the request, used only for the access log. */
      readonly visitor?: Visitor;
    };

/** Returns the author's id as recorded in events and documents. */
export function actorId(actor: Actor): string {
  return actor.kind === 'operator' ? 'operator' : actor.applicationId;
}
