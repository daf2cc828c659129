// The shop of docs/tutorial/first-hour.md. It serves a card form, and charges cards without storing a number.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createClient, StrongroomError } from '../../clients/typescript/dist/client.js';
import { charge } from './processor.mjs';

const address = process.env.STRONGROOM_ADDRESS ?? 'http://127.0.0.1:8080';
const port = Number(process.env.SHOP_PORT ?? 3000);

/** Prints why the shop cannot start, and exits. */
function stop(reason) {
  console.error(reason);
  process.exit(1);
}

/** @param {string} file The output of `applications create --json`. */
function keyIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).key;
  } catch (error) {
    return stop(`${file}: ${error.message}. Create the two applications first, and start the shop in the same folder.`);
  }
}
// The browser gets the form's key, which can only create tokens. The shop's key stays on the server.
const formKey = keyIn('data/card-form.json');
const vault = createClient({ address, apiKey: keyIn('data/shop.json') });

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Pay</title>
<script src="/form.js" defer></script>
<form data-vault="${address}" data-key="${formKey}">
  <p><label>Card number <input name="number" inputmode="numeric" autocomplete="cc-number" value="5555 5555 5555 4444"></label></p>
  <p><label>Month <input name="month" size="2" value="12"></label> <label>Year <input name="year" size="4" value="2030"></label></p>
  <p><label>Code <input name="cvc" size="4" value="123"></label></p>
  <p><button>Pay 19.99</button> <output></output></p>
</form>
`;
// The page can run only its own script, and can send requests only to the shop and the vault.
const policy = `default-src 'none'; script-src 'self'; connect-src 'self' ${address}; form-action 'none'`;

/** Charges the card behind a token. The card number is in the shop's memory only while the request runs. */
async function pay(id) {
  const { data } = await vault.getToken({ path: { id } });
  // A repeated request for the same payment must not charge the card twice. The processor therefore gets the same
  // idempotency key each time.
  const result = await charge({ card: data, amount: 1999, idempotencyKey: `payment of ${id}` });
  // The card's verification code must not be stored after the authorization. Even if the purge fails, the charge
  // remains valid, and the vault purges the code after an hour.
  await vault.purgeCvc({ path: { id } }).catch((error) => console.error(`the code was not purged: ${error.code}`));
  return result;
}

const server = createServer(async (request, response) => {
  const send = (status, type, body) => {
    response.writeHead(status, { 'content-type': type, 'content-security-policy': policy });
    response.end(body);
  };
  const file = { 'GET /': page, 'GET /form.js': readFileSync(new URL('form.js', import.meta.url)) };
  const name = `${request.method} ${request.url}`;
  if (name in file) return send(200, name === 'GET /' ? 'text/html' : 'text/javascript', file[name]);
  if (name !== 'POST /pay') return send(404, 'text/plain', 'not found');
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { token } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return send(200, 'application/json', JSON.stringify(await pay(token)));
  } catch (error) {
    if (error instanceof StrongroomError && error.code === 'token_not_found')
      return send(404, 'application/json', '{"error":"unknown card"}');
    // An error of the vault contains no card data. The message of any other error may quote the request.
    console.error(
      error instanceof StrongroomError ? `the vault at ${address}: ${error.message}` : 'the payment failed',
    );
    return send(502, 'application/json', '{"error":"try again"}');
  }
});
server.on('error', (error) =>
  stop(error.code === 'EADDRINUSE' ? `Port ${port} is in use. Set SHOP_PORT to another port.` : error.message),
);
server.listen(port, '127.0.0.1', () => console.log(`The shop listens on http://127.0.0.1:${port}`));
