import { type Checked, errorsOf, invalid, valid } from '../../field-errors.js';

const digitsMin = 6;

/** `givenId` is null for a generated id: a random one may hold six digits by chance, and nobody could mend that. */
export type OpenFields = {
  readonly givenId: string | null;
  readonly containers: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | null;
};

/**
 * Refuses an id, a container, a metadata value or a metadata key that contains one of the token's own values of six or
 * more digits, however it is grouped. Threat: these fields are shown to callers that may not see the data, and outlive
 * erasure as keyed hashes. `ownValues` come from the type's rule. Contract, section 3.
 */
export function checkOwnValue(ownValues: readonly string[], fields: OpenFields): Checked<null> {
  const values = ownValues.map(lettersAndDigits).filter((value) => value.length >= digitsMin);
  if (values.length === 0) return valid(null);
  const refuse = (path: string, text: string): Checked<null> => {
    const bare = lettersAndDigits(text);
    if (!values.some((value) => bare.includes(value))) return valid(null);
    return invalid(path, "must not contain the token's own value");
  };
  const errors = errorsOf([
    ...(fields.givenId === null ? [] : [refuse('id', fields.givenId)]),
    ...fields.containers.map((container, i) => refuse(`containers[${i}]`, container)),
    ...Object.entries(fields.metadata ?? {}).map(([key, value]) => refuseEntry(key, value, refuse)),
  ]);
  return errors === null ? valid(null) : { ok: false, errors };
}

/** The path of an error must not repeat a key that is itself the secret. */
function refuseEntry(key: string, value: string, refuse: (path: string, text: string) => Checked<null>): Checked<null> {
  const inKey = refuse('metadata', key);
  return inKey.ok ? refuse(`metadata.${key}`, value) : inKey;
}

/** Compatibility forms such as full-width digits are folded, so that they hide nothing. */
function lettersAndDigits(text: string): string {
  return text.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '');
}
