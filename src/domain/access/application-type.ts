/** The three kinds of application. Contract, section 10. */
export const applicationTypes = ['private', 'public', 'management'] as const;

export type ApplicationType = (typeof applicationTypes)[number];
