import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Processes that are killed and disks that are full depend on timing; once more, and a fault shows again.
    retry: 1,
  },
});
