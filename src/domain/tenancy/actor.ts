/** Who wants a change: the operator at the command line, or an application by one of its keys. */
export type Actor =
  | { readonly kind: 'operator' }
  | {
      readonly kind: 'application';
      readonly applicationId: string;
      readonly keyId: string;
      /** Where its request came from; for the access log alone. */
      readonly sourceAddress?: string;
    };

/** What events and documents say of who did it. */
export function actorId(actor: Actor): string {
  return actor.kind === 'operator' ? 'operator' : actor.applicationId;
}
