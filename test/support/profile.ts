import type { TestContext } from 'vitest';

/** The profile that `startTestService` uses. */
export const profile = process.env['STRONGROOM_TEST_PROFILE'] === 'cluster' ? 'cluster' : 'embedded';

/**
 * Marks a test for a feature that only the embedded profile has. In the other profile, the report shows the test as
 * skipped, with this reason.
 */
export function embeddedOnly({ skip }: Pick<TestContext, 'skip'>, reason: string): void {
  skip(profile !== 'embedded', `embedded only: ${reason}`);
}
