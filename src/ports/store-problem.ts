/** Stores that cannot be used as they are, or as they are set up. The message says what to do. */
export abstract class StoreProblem extends Error {}
