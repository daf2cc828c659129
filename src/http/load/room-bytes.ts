const mib = 1024 * 1024;

/**
 * The memory of a page: 512 KiB of content that is decrypted before the page begins, and the token being sent, as
 * objects and as text.
 */
export const pageRoomBytes = 6 * mib;

/** The memory of a detokenize request: values of 8 MiB, as objects and as text. */
export const detokenizeRoomBytes = 24 * mib;
