const mib = 1024 * 1024;

/**
 * The memory for a page of tokens. It is enough for the first 512 KiB of tokens, which are decrypted before the first
 * byte of the page is sent, and for one more token that is being sent. Each token is in memory both as an object and as
 * text.
 */
export const pageRoomBytes = 6 * mib;

/** The memory for a detokenize request with 8 MiB of values. The values are in memory both as objects and as text. */
export const detokenizeRoomBytes = 24 * mib;
