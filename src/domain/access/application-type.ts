/** The three kinds of application. See docs/contract.md, "Application types". */
export const applicationTypes = ['private', 'public', 'management'] as const;

export type ApplicationType = (typeof applicationTypes)[number];
