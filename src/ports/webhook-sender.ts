/** The outcome of a request to a webhook URL. */
export type SendOutcome =
  | { readonly kind: 'responded'; readonly status: number }
  /** `problem` states why there was no response. It contains only text from our own code. */
  | { readonly kind: 'failed'; readonly problem: string };

/**
 * Sends requests to URLs that a tenant chose. Threat: a tenant chooses a URL that points into the vault's own network.
 */
export interface WebhookSender {
  /**
   * Returns a message that describes what is wrong with a URL, or null if nothing is wrong. Does not resolve the host
   * name.
   */
  problemOf(url: URL): string | null;
  /**
   * Posts a body. When the method connects, it checks each address that the host name resolves to. Follows no
   * redirects, reads no response body, and times out after a few seconds. Never throws.
   */
  post(url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<SendOutcome>;
  /**
   * Posts a test for a tenant, like `post`. Fails at once if too many tests of the tenant are waiting for a response.
   * Threat: a tenant sends many tests to a slow receiver, and their connections use up the process's file descriptors.
   */
  postTest(tenantId: string, url: URL, headers: Readonly<Record<string, string>>, body: string): Promise<SendOutcome>;
  /** Aborts the requests that are in progress and sends no more. An aborted request counts as failed. */
  close(): void;
}
