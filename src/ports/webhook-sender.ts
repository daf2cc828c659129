/** The outcome of a request to a webhook's address. */
export type SendOutcome =
  | { readonly kind: 'responded'; readonly status: number }
  /** `problem`: why there was no response, in words of ours. */
  | { readonly kind: 'failed'; readonly problem: string };

/** Sends requests to addresses that a tenant chose. Threat: they may lead into the network of the vault. */
export interface WebhookSender {
  /** Returns what is wrong with an address, before any name is looked up; null if nothing is. */
  problemOf(url: URL): string | null;
  /**
   * Posts a body. Checks each address that a name resolves to when it connects, follows no redirect, reads no body of
   * a response, and gives up after some seconds. Never throws.
   */
  post(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<SendOutcome>;
  /** Ends what is under way as a failure, and sends nothing more. */
  close(): void;
}
