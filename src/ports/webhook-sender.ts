/** The outcome of a request to a webhook URL. */
export type SendOutcome =
  | { readonly kind: 'responded'; readonly status: number }
  /** `problem` says in our own words why there was no response. */
  | { readonly kind: 'failed'; readonly problem: string };

/** Sends requests to URLs that a tenant chose. Threat: a URL may point into the vault's own network. */
export interface WebhookSender {
  /** Returns what is wrong with a URL, or null if nothing is wrong. Does not resolve the host name. */
  problemOf(url: URL): string | null;
  /**
   * Posts a body. Checks each address that the host name resolves to when it connects. Follows no redirects, reads no
   * response body, and times out after a few seconds. Never throws.
   */
  post(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<SendOutcome>;
  /** Aborts requests in progress, which then count as failed, and sends no more. */
  close(): void;
}
