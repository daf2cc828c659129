/**
 * Stands in for the API of a payment processor. A real processor is another company's server. Send cards to it only
 * over TLS, and never log a card.
 *
 * @param {{ card: any, amount: number, idempotencyKey: string }} payment
 */
export async function charge({ card, amount, idempotencyKey }) {
  const charged = charges.get(idempotencyKey);
  if (charged !== undefined) return charged;
  if (!/^\d{12,19}$/.test(card.number) || card.cvc === undefined) return { approved: false, amount };
  const result = { approved: true, amount, card: `•••• ${card.number.slice(-4)}` };
  charges.set(idempotencyKey, result);
  return result;
}

/** The approved payments, by idempotency key. */
const charges = new Map();
