import type { TestContext } from 'vitest';

/** The profile of the services that `startTestService` starts. */
export const profile = process.env['STRONGROOM_TEST_PROFILE'] === 'cluster' ? 'cluster' : 'embedded';

/**
 * Marks a test of something that only the embedded profile has. The report of the other profile shows the test as
 * skipped, with the reason.
 */
export function embeddedOnly({ skip }: Pick<TestContext, 'skip'>, reason: string): void {
  skip(profile !== 'embedded', `embedded only: ${reason}`);
}
