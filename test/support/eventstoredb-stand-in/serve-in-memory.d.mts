export function serveInMemory(): Promise<{ readonly url: string; close(): void }>;
