/**
 * Returns the `error` option for the schema of a required field. The error of a missing field is `is required`. The
 * error of any other invalid value is `mustBe`.
 */
export function required(mustBe: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (input === undefined ? 'is required' : mustBe);
}
