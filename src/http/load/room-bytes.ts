const mib = 1024 * 1024;

/**
 * The memory for a page of tokens. It covers the token that is being sent, and 512 KiB of tokens that are decrypted
 * before the first byte of the page is sent. Both are in memory as objects and as text.
 */
export const pageRoomBytes = 6 * mib;

/** The memory for a detokenize request with 8 MiB of values, which are in memory as objects and as text. */
export const detokenizeRoomBytes = 24 * mib;
