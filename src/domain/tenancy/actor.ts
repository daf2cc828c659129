/** The author of a change: the operator at the command line, or an application with one of its keys. */
export type Actor =
  | { readonly kind: 'operator' }
  | {
      readonly kind: 'application';
      readonly applicationId: string;
      readonly keyId: string;
      /** The address of its request, for the access log only. */
      readonly sourceAddress?: string;
    };

/** Returns the id of the author, as events and documents contain it. */
export function actorId(actor: Actor): string {
  return actor.kind === 'operator' ? 'operator' : actor.applicationId;
}
