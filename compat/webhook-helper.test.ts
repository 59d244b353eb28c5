// The public helper in @turnkey/crypto and ours judge the same deliveries alike: with the same answer, and with the same
// reason where they refuse. The public one reads the vendor's headers alone; ours reads either family.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import {
  TurnkeyWebhookVerificationFailureReasons,
  type TurnkeyWebhookVerificationKey,
  verifyTurnkeyWebhookSignature,
} from '@turnkey/crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifyWebhook, WEBHOOK_FAILURE_REASONS } from '../packages/sdk/src/index.ts';

const NOW_MS = 1767225600000;
const MAX_AGE_MS = 300_000;
const EVENT_ID = '00000000-0000-4000-8000-000000000005';
const BODY = '{"type":"balances:confirmed","note":"\u2713"}';

/** A key that is the same in every run. */
function keyOf(label: string): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  const seed = createHash('sha256').update(label).digest();
  const key = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

const { privateKey, publicKey } = keyOf('vector webhook key');
const stranger = keyOf('somebody else');
const hexOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
const KEY: TurnkeyWebhookVerificationKey = { keyId: 'whk-1', publicKey: hexOf(publicKey) };

/** Suffixes of headers and what they hold. */
type Values = Record<string, string>;
interface Delivery {
  readonly values: Values;
  readonly body: string | Uint8Array;
  readonly keys: TurnkeyWebhookVerificationKey[];
  readonly maxAgeMs: number;
  readonly nowMs: number;
}

function signed(body: string | Uint8Array = BODY, timestamp = String(NOW_MS), eventId = EVENT_ID): Delivery {
  const message = Buffer.concat([Buffer.from(`v1.ed25519.whk-1.${timestamp}.${eventId}.`), Buffer.from(body)]);
  const values = {
    Timestamp: timestamp,
    'Event-Id': eventId,
    'Signature-Key-Id': 'whk-1',
    'Signature-Algorithm': 'ed25519',
    'Signature-Version': 'v1',
    Signature: sign(null, message, privateKey).toString('hex'),
  };
  return { values, body, keys: [KEY], maxAgeMs: MAX_AGE_MS, nowMs: NOW_MS };
}

const withPrefix = (prefix: string, values: Values): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
const lowered = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const theirs = ({ values, body, keys, maxAgeMs, nowMs }: Delivery) =>
  verifyTurnkeyWebhookSignature({
    headers: withPrefix('X-Turnkey-', values),
    body,
    verificationKeys: keys,
    maxTimestampAgeMs: maxAgeMs,
    nowMs,
  });

/** Ours in every way that the headers can come; the names of our own family are told as the vendor's. */
async function ours({ values, ...rest }: Delivery) {
  const service = withPrefix('X-Service-', values);
  const vendor = withPrefix('X-Turnkey-', values);
  const ways = [vendor, service, { ...vendor, ...service }, lowered({ ...vendor, ...service }), Object.entries(vendor)];
  const results = await Promise.all(ways.map((headers) => verifyWebhook({ headers, ...rest })));
  return results.map((result) =>
    'headerName' in result ? { ...result, headerName: result.headerName.replace('x-service-', 'x-turnkey-') } : result,
  );
}

async function expectAgreement(delivery: Delivery): Promise<string> {
  const result = theirs(delivery);
  for (const own of await ours(delivery)) expect(own).toEqual(result);
  return result.ok ? 'ok' : result.reason;
}

const change = (values: Values): Delivery => ({ ...signed(), values: { ...signed().values, ...values } });
const without = (name: string): Delivery => {
  const { [name]: _, ...values } = signed().values as Values;
  return { ...signed(), values };
};
const withKeys = (...keys: unknown[]): Delivery => ({ ...signed(), keys: keys as TurnkeyWebhookVerificationKey[] });
const names = Object.keys(signed().values);

describe('both helpers', () => {
  test.each<[string, string, Delivery]>([
    ['ok', 'a delivery', signed()],
    ['ok', 'bytes', signed(Buffer.from(BODY))],
    ['ok', 'bytes that are no text', signed(Uint8Array.of(0, 255, 46))],
    ['ok', 'an empty body', signed('')],
    ['ok', 'the oldest that is allowed', signed(BODY, String(NOW_MS - MAX_AGE_MS))],
    ['ok', 'the newest that is allowed', signed(BODY, String(NOW_MS + MAX_AGE_MS))],
    ['ok', 'a time with a zero before it', signed(BODY, `0${NOW_MS}`)],
    ['ok', 'no window at all', { ...signed(), maxAgeMs: 0 }],
    ['ok', 'an event id that is no UUID', signed(BODY, String(NOW_MS), 'evt_1')],
    ['ok', 'a key with its algorithm', withKeys({ ...KEY, algorithm: 'ed25519' })],
    ['ok', 'a key in capitals', withKeys({ ...KEY, publicKey: KEY.publicKey.toUpperCase() })],
    ['ok', 'a key among others', withKeys({ keyId: 'whk-0', publicKey: hexOf(stranger.publicKey) }, KEY)],
    ['invalid_max_timestamp_age', 'a negative window', { ...signed(), maxAgeMs: -1 }],
    ['invalid_max_timestamp_age', 'a window without end', { ...signed(), maxAgeMs: Number.POSITIVE_INFINITY }],
    ['invalid_now', 'no time', { ...signed(), nowMs: Number.NaN }],
    ...names.map((name): [string, string, Delivery] => ['missing_header', `no ${name}`, without(name)]),
    ...names.map((name): [string, string, Delivery] => ['missing_header', `an empty ${name}`, change({ [name]: '' })]),
    ['invalid_timestamp', 'a time in words', change({ Timestamp: 'now' })],
    ['invalid_timestamp', 'a time with a fraction', change({ Timestamp: `${NOW_MS}.0` })],
    ['invalid_timestamp', 'a time with a sign', change({ Timestamp: `+${NOW_MS}` })],
    ['invalid_timestamp', 'a time beyond what numbers hold', change({ Timestamp: String(2 ** 53) })],
    ['stale_timestamp', 'one that is too old', signed(BODY, String(NOW_MS - MAX_AGE_MS - 1))],
    ['stale_timestamp', 'one from too far ahead', signed(BODY, String(NOW_MS + MAX_AGE_MS + 1))],
    ['unsupported_signature_version', 'another version', change({ 'Signature-Version': 'v2' })],
    ['unsupported_signature_algorithm', 'another algorithm', change({ 'Signature-Algorithm': 'ES256' })],
    ['missing_key', 'an unknown key', change({ 'Signature-Key-Id': 'whk-2' })],
    ['missing_key', 'no keys', withKeys()],
    ['invalid_verification_key_algorithm', 'a key for something else', withKeys({ ...KEY, algorithm: 'p256' })],
    ['invalid_verification_key', 'a key that is too short', withKeys({ ...KEY, publicKey: KEY.publicKey.slice(2) })],
    ['invalid_verification_key', 'a key that is no hex', withKeys({ ...KEY, publicKey: 'zz'.repeat(32) })],
    ['invalid_signature', 'another key', withKeys({ ...KEY, publicKey: hexOf(stranger.publicKey) })],
    ['invalid_signature', 'another body', { ...signed(), body: BODY.replace('confirmed', 'finalized') }],
    ['invalid_signature', 'a body that was written again', { ...signed(), body: `${BODY}\n` }],
    ['invalid_signature', 'another time', change({ Timestamp: String(NOW_MS + 1) })],
    ['invalid_signature', 'another event', change({ 'Event-Id': EVENT_ID.replace('5', '6') })],
    ['invalid_signature', 'a signature that is too short', change({ Signature: signed().values.Signature!.slice(2) })],
    ['invalid_signature', 'a signature that is no hex', change({ Signature: 'zz'.repeat(64) })],
  ])('say %s to %s', async (reason, _name, delivery) => {
    expect(await expectAgreement(delivery)).toBe(reason);
  });

  test('have the same names for the same reasons', () => {
    const own: readonly string[] = WEBHOOK_FAILURE_REASONS;
    const shared = Object.values(TurnkeyWebhookVerificationFailureReasons);
    expect(own.filter((reason) => (shared as string[]).includes(reason))).toEqual(shared);
  });

  test('agree on damage of every kind', async () => {
    const seen = new Set<string>();
    const damage = fc.record({
      name: fc.constantFrom(...names),
      at: fc.nat(),
      // Digits of hex in lower case, and what no header of ours holds.
      character: fc.constantFrom(...'0123456789abcdefghxyz-_ ~'),
      kind: fc.constantFrom('replace', 'insert', 'remove'),
    });
    const property = fc.asyncProperty(damage, async ({ name, at, character, kind }) => {
      const value = signed().values[name]!;
      const index = at % value.length;
      const rest = value.slice(kind === 'insert' ? index : index + 1);
      const damaged = value.slice(0, index) + (kind === 'remove' ? '' : character) + rest;
      const reason = await expectAgreement(change({ [name]: damaged }));
      expect(reason === 'ok').toBe(damaged === value);
      seen.add(reason);
    });
    await fc.assert(property, { seed: 6, numRuns: 400 });
    expect([...seen]).toEqual(expect.arrayContaining(['ok', 'invalid_timestamp', 'missing_key', 'invalid_signature']));
  });
});

describe('ours alone refuses', () => {
  test.each<[string, string, Delivery]>([
    [
      'invalid_signature',
      'a signature in another spelling',
      change({ Signature: signed().values.Signature!.toUpperCase() }),
    ],
    [
      'invalid_event_id',
      'an event id with a dot, which may be the beginning of a body',
      signed(BODY, String(NOW_MS), 'a.b'),
    ],
  ])('%s: %s', async (reason, _name, delivery) => {
    expect(theirs(delivery).ok).toBe(true);
    for (const own of await ours(delivery)) expect(own).toEqual({ ok: false, reason });
  });
});
