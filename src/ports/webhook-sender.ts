/** The outcome of a request to a webhook's address. */
export type SendOutcome =
  | { readonly kind: 'responded'; readonly status: number }
  /** `problem` says why there was no response, in words of ours. */
  | { readonly kind: 'failed'; readonly problem: string };

/** Sends requests to addresses that a tenant chose. Threat: they may lead into the vault's own network. */
export interface WebhookSender {
  /** Returns what is wrong with an address, before any name is looked up; null if nothing is wrong. */
  problemOf(url: URL): string | null;
  /**
   * Posts a body. When it connects, it checks each address that the name resolves to. Follows no redirect, reads no
   * response body, and gives up after a few seconds. Never throws.
   */
  post(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<SendOutcome>;
  /** Ends running requests as failures, and sends no more. */
  close(): void;
}
