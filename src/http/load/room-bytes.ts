const mib = 1024 * 1024;

/**
 * The memory that a page of tokens needs. It covers 512 KiB of content, which is decrypted before the first byte of the
 * page is sent, and the token that is being sent. Both exist in memory as objects and as text.
 */
export const pageRoomBytes = 6 * mib;

/** The memory that a detokenize request needs for 8 MiB of values, which exist in memory as objects and as text. */
export const detokenizeRoomBytes = 24 * mib;
