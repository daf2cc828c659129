const mib = 1024 * 1024;

/**
 * The memory for a page of tokens. It covers 512 KiB of content, which is decrypted before the first byte of the page
 * is sent, and the token that is being sent. Both are in memory as objects and as text.
 */
export const pageRoomBytes = 6 * mib;

/** The memory for a detokenize request with 8 MiB of values, which are in memory as objects and as text. */
export const detokenizeRoomBytes = 24 * mib;
