const mib = 1024 * 1024;

/**
 * A page: contents of 512 KiB that are opened before the page begins, and the token being sent, as objects and as
 * text.
 */
export const pageRoomBytes = 6 * mib;

/** Detokenize: values of 8 MiB, as objects and as text. */
export const detokenizeRoomBytes = 24 * mib;
