const mib = 1024 * 1024;

/**
 * The memory that a page needs for 512 KiB of content, which is decrypted before the page begins, and for the token
 * being sent. Both exist as objects and as text.
 */
export const pageRoomBytes = 6 * mib;

/** The memory that a detokenize request needs for 8 MiB of values, as objects and as text. */
export const detokenizeRoomBytes = 24 * mib;
