const mib = 1024 * 1024;

/** A page: contents of 512 KiB that are open before it begins, and the token that is being sent, as objects and as text. */
export const pageRoomBytes = 6 * mib;

/** Detokenize: values of 8 MiB, as objects and as text. */
export const detokenizeRoomBytes = 24 * mib;
