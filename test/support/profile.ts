import type { TestContext } from 'vitest';

/** The profile under test, which `startTestService` uses. */
export const profile = process.env['STRONGROOM_TEST_PROFILE'] === 'cluster' ? 'cluster' : 'embedded';

/**
 * Skips a test of a feature that only the embedded profile has, if a different profile is under test. The report shows
 * the reason.
 */
export function embeddedOnly({ skip }: Pick<TestContext, 'skip'>, reason: string): void {
  skip(profile !== 'embedded', `embedded only: ${reason}`);
}
