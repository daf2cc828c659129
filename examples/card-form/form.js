// Sends the card from the browser to the vault, and only the id of the token to the shop.
const form = document.querySelector('form');
const output = form.querySelector('output');

async function post(url, body, headers = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  const problems = Object.values(answer.errors ?? {}).flat();
  if (!response.ok) throw new Error(problems.join(', ') || answer.detail || answer.error);
  return answer;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { number, month, year, cvc } = form.elements;
  const data = {
    number: number.value.replaceAll(' ', ''),
    expiration_month: Number(month.value),
    expiration_year: Number(year.value),
    cvc: cvc.value,
  };
  try {
    const { vault, key } = form.dataset;
    const { id } = await post(`${vault}/tokens`, { type: 'card', data }, { 'service-api-key': key });
    const { approved, card } = await post('/pay', { token: id });
    output.textContent = approved ? `Paid with ${card}` : 'The card was declined';
  } catch (error) {
    output.textContent = error.message;
  }
});
