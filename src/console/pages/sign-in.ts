import { z } from 'zod';
import type { Caller } from '../../domain/access/caller.js';
import { isVisible, mayContainCardNumber } from '../../domain/access/visitor.js';
import type { FieldErrors } from '../../domain/field-errors.js';
import { apiKeyHash } from '../../domain/tenancy/api-key.js';
import type { Service } from '../../http/service.js';
import { cookieNames, cookieOptions } from '../cookies.js';
import type { ConsolePage, Visit } from '../page.js';
import { ConsoleProblem } from '../problem.js';
import { recordSignIn } from '../record-acts.js';
import { isCrossSite, takeReturn } from '../return-address.js';
import { closeSession, openSession, redeemOperatorCode } from '../sessions.js';
import { firstErrors } from '../typed-form.js';

const nameMax = 100;
const secretMax = 200;

/**
 * Matches an API key or an operator code. Threat: a person types a key or code into the name field by mistake. Pages
 * and the access log show the name, so other people read the key or code.
 */
const keyOrCode = /sr_(?:private|public|management)_|^(?:[0-9A-Z]{4}-){4}[0-9A-Z]{4}$/i;

const secret = z.string().trim().max(secretMax, { error: 'is too long' }).default('');
const nameMissing = { error: 'Enter your name. The access log shows it.' };
const form = z.object({
  name: z
    .string(nameMissing)
    .trim()
    .normalize()
    .min(1, nameMissing)
    .max(nameMax, { error: `Use at most ${nameMax} characters.` })
    .regex(/^\P{C}*$/u, { error: 'Use letters, digits, spaces and punctuation only.' })
    .refine(isVisible, { error: 'Use at least one visible character.' })
    .refine((name) => !keyOrCode.test(name), { error: 'This is a key or a code, not a name.' })
    .refine((name) => !mayContainCardNumber(name), {
      error: 'This could be a card number, not a name. Use fewer than twelve digits in a row.',
    }),
  private_key: secret,
  management_key: secret,
  operator_code: secret,
});

/** Signs a person in with the API keys of one or two applications, with an operator's code, or with both. */
export const signInPage: ConsolePage = {
  routes: [
    {
      method: 'GET',
      path: '/sign-in',
      session: 'none',
      async handle(visit) {
        // Threat: a link of another site leads here. The browser sends no cookies, so the form would replace the form
        // token of the person's other tabs, and would itself be rejected if the person is signed in. If the browser
        // does send the session, for example after a reload, the session may be valid and must not end.
        const { request } = visit;
        const isSent = request.cookies[cookieNames.session] !== undefined;
        if (isCrossSite(request) && !isSent) throw new ConsoleProblem('session_ended');
        return show(visit, {}, '');
      },
    },
    { method: 'POST', path: '/sign-in', session: 'none', handle: signIn },
  ],
};

/**
 * Shows the form. The form never repeats a key or code. Threat: an attacker finds a repeated key or code in a cache or
 * in the browser's history.
 */
function show(visit: Visit, errors: FieldErrors, name: string, status = 200) {
  return visit.page(
    'sign-in',
    { errors: firstErrors(errors, fields), name, provider: visit.identity?.issuer ?? null },
    { title: 'Sign in', status },
  );
}

type KeyType = 'private' | 'management';

const fields = ['name', 'private_key', 'management_key', 'operator_code', 'form'];

async function signIn(visit: Visit) {
  const { service, vault, request, reply } = visit;
  const read = visit.form(form);
  if (!read.ok) return show(visit, read.errors, nameIn(request.body), 400);
  const { name, private_key: privateKey, management_key: managementKey, operator_code: code } = read.value;
  if (privateKey === '' && managementKey === '' && code === '') {
    return show(visit, { form: ['Enter at least one key or code.'] }, name, 400);
  }
  const ofPrivate = privateKey === '' ? null : await callerOfKey(service, privateKey, 'private');
  const ofManagement = managementKey === '' ? null : await callerOfKey(service, managementKey, 'management');
  const errors: Record<string, string[]> = {};
  if (privateKey !== '' && ofPrivate === null) errors['private_key'] = [keyError(privateKey, 'private')];
  if (managementKey !== '' && ofManagement === null) errors['management_key'] = [keyError(managementKey, 'management')];
  if (ofPrivate !== null && ofManagement !== null && ofPrivate.caller.tenantId !== ofManagement.caller.tenantId) {
    errors['form'] = ['The two keys belong to different tenants. Sign in with one of them.'];
  }
  let isOperator = false;
  // The code is redeemed only if the form has no errors. A mistyped key therefore does not use up the code.
  if (code !== '' && Object.keys(errors).length === 0) {
    isOperator = await redeemOperatorCode(vault, code);
    if (!isOperator) errors['operator_code'] = ['The code is wrong, was already used, or is older than five minutes.'];
  }
  if (Object.keys(errors).length > 0) {
    // Throws 429 if too many sign-ins from this address have failed.
    await service.limits.authFailure(request.ip);
    return show(visit, errors, name, 401);
  }
  const credentials = {
    privateKeyHash: ofPrivate?.keyHash ?? null,
    managementKeyHash: ofManagement?.keyHash ?? null,
    isOperator,
    membership: null,
  };
  const earlier = request.cookies[cookieNames.session];
  if (earlier !== undefined) await closeSession(vault, earlier);
  const person = { name, issuer: null };
  const token = await openSession(vault, credentials, person);
  const opened = { private: ofPrivate?.caller ?? null, management: ofManagement?.caller ?? null, isOperator };
  await recordSignIn(visit, { ...opened, ...person });
  // The cookie has no `maxAge`, so the browser deletes the cookie when the person closes the browser.
  reply.setCookie(cookieNames.session, token, cookieOptions);
  return visit.redirect(takeReturn(request, reply));
}

/**
 * Returns the caller for an API key. Returns null if the key is not valid, or if its application has a different type.
 */
async function callerOfKey(
  { authenticate }: Pick<Service, 'authenticate'>,
  key: string,
  type: KeyType,
): Promise<{ readonly caller: Caller; readonly keyHash: string } | null> {
  const caller = await authenticate(key);
  return caller?.applicationType === type ? { caller, keyHash: apiKeyHash(key) } : null;
}

const otherFields = {
  private: { prefix: 'sr_management_', error: 'This is a management key. Enter it in the field “Management key”.' },
  management: { prefix: 'sr_private_', error: 'This is a private key. Enter it in the field “Private key”.' },
} as const;

/** Returns the error for a key that is not valid in the field for this type. */
function keyError(key: string, type: KeyType): string {
  const { prefix, error } = otherFields[type];
  return key.startsWith(prefix) ? error : `No ${type} application has this key.`;
}

/** Returns the name in a rejected form, to show it again. Returns '' if it could be a key, a code or a card number. */
function nameIn(body: unknown): string {
  const { name } = (body ?? {}) as { readonly name?: unknown };
  if (typeof name !== 'string' || keyOrCode.test(name.trim()) || mayContainCardNumber(name)) return '';
  return name.slice(0, nameMax);
}
