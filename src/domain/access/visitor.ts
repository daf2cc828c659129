/** The person at the console who makes a request (docs/contract.md, "Access log"). Requests to the API have none. */
export type Visitor = {
  /** The name that the person typed, or that the identity provider stated. */
  readonly name: string;
  /** The identity provider that states the name, as its issuer URL. Null if the person typed the name. */
  readonly issuer: string | null;
  /** Why the person does this. Null if the page did not ask. */
  readonly reason: string | null;
};

/** Returns the fields that name the person at the console; none if there was no person. */
export function visitorFields(visitor: Visitor | null): Readonly<Record<string, string>> {
  if (visitor === null) return {};
  const { name, issuer, reason } = visitor;
  return {
    person: name,
    ...(issuer === null ? {} : { person_issuer: issuer }),
    ...(reason === null ? {} : { reason }),
  };
}
