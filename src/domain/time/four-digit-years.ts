/** First and last millisecond (since the epoch) whose year in UTC has four digits. */
export const fourDigitYears = {
  earliestMs: -62_167_219_200_000, // 0000-01-01T00:00:00.000Z
  latestMs: 253_402_300_799_999, // 9999-12-31T23:59:59.999Z
} as const;
