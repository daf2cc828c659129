/** The three application types. See docs/contract.md, "Application types". */
export const applicationTypes = ['private', 'public', 'management'] as const;

export type ApplicationType = (typeof applicationTypes)[number];
