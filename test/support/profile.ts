import type { TestContext } from 'vitest';

/** The profile of the services that `startTestService` starts. */
export const profile = process.env['STRONGROOM_TEST_PROFILE'] === 'cluster' ? 'cluster' : 'embedded';

/**
 * Marks a test of a feature that only the embedded profile has. In the report of the other profile, the test appears as
 * skipped, with the reason.
 */
export function embeddedOnly({ skip }: Pick<TestContext, 'skip'>, reason: string): void {
  skip(profile !== 'embedded', `embedded only: ${reason}`);
}
