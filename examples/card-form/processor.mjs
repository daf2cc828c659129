/**
 * Stands in for the API of a payment processor. A real one is another company's server: send the card to it over TLS,
 * and never log it.
 *
 * @param {{ card: any, amount: number }} payment
 */
export async function charge({ card, amount }) {
  if (!/^\d{12,19}$/.test(card.number) || card.cvc === undefined) return { approved: false, amount };
  return { approved: true, amount, card: `•••• ${card.number.slice(-4)}` };
}
