import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WEBHOOK_FAILURE_REASONS } from './result.ts';
import { type VerifyWebhookOptions, verifyWebhook } from './verify-webhook.ts';

// The seed is SHA-256 of "vector webhook key".
const NOW_MS = 1767225600000;
const EVENT_ID = '00000000-0000-4000-8000-000000000005';
const BODY = '{"type":"balances:confirmed"}';
const KEY = {
  keyId: 'whk-1',
  publicKey: '4c6d3478d662f0c6bdcfedf83f6489d8ee01a4423e8fe7c8590721a96a6b3092',
} as const;
const JWK = {
  kid: 'whk-1',
  kty: 'OKP',
  crv: 'Ed25519',
  alg: 'EdDSA',
  use: 'sig',
  x: 'TG00eNZi8Ma9z-34P2SJ2O4BpEI-j-fIWQchqWprMJI',
};
const SIGNATURE =
  'ff71b624c086a443f2dd732f19bc794c8fe1130ba611c3d38955c47ff4671219' +
  '7f8583504c49fdf15ee5849c54664ebace726eea13efb77f9cd28e05c1de4b04';
const VALUES = {
  timestamp: String(NOW_MS),
  'event-id': EVENT_ID,
  'signature-key-id': 'whk-1',
  'signature-algorithm': 'ed25519',
  'signature-version': 'v1',
  signature: SIGNATURE,
};
type HeaderName = keyof typeof VALUES;
const NAMES = Object.keys(VALUES) as HeaderName[];

const headersOf = (change: Partial<Record<HeaderName, string>> = {}, prefix = 'x-service-'): Record<string, string> =>
  Object.fromEntries(Object.entries({ ...VALUES, ...change }).map(([name, value]) => [prefix + name, value]));
const HEADERS = headersOf();
const VECTOR = { headers: HEADERS, body: BODY, keys: [KEY], nowMs: NOW_MS } satisfies VerifyWebhookOptions;
const VERIFIED = { ok: true, eventId: EVENT_ID, keyId: 'whk-1', timestampMs: NOW_MS };

/** With whatever a caller without types could give. */
const verify = (change: Record<string, unknown> = {}) =>
  verifyWebhook({ ...VECTOR, ...change } as unknown as VerifyWebhookOptions);
const reasonOf = async (change: Record<string, unknown>) => {
  const result = await verify(change);
  return result.ok ? 'ok' : result.reason;
};

const throwing = (): never => {
  throw new Error('not for you');
};
/** Every use of it throws. */
const hostile = new Proxy(
  {},
  Object.fromEntries(
    ['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf'].map((trap) => [trap, throwing]),
  ),
);

/** A delivery of our own, for what the vector does not cover. */
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const ownKey = {
  keyId: 'own',
  publicKey: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex'),
};
function signed(eventId: string, body: string | Uint8Array, timestamp = String(NOW_MS)) {
  const message = Buffer.concat([Buffer.from(`v1.ed25519.own.${timestamp}.${eventId}.`), Buffer.from(body)]);
  const signature = sign(null, message, privateKey).toString('hex');
  const headers = headersOf({ timestamp, 'event-id': eventId, 'signature-key-id': 'own', signature });
  return { headers, body, keys: [ownKey] };
}

describe('the vector', () => {
  test('verifies', async () => {
    expect(await verifyWebhook(VECTOR)).toEqual(VERIFIED);
  });

  test('is that of its seed and message', () => {
    const seed = createHash('sha256').update('vector webhook key').digest('hex');
    const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex');
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
    expect(spki.subarray(-32).toString('hex')).toBe(KEY.publicKey);
    const message = `v1.ed25519.whk-1.${NOW_MS}.${EVENT_ID}.${BODY}`;
    expect(sign(null, Buffer.from(message), key).toString('hex')).toBe(SIGNATURE);
  });

  test.each([
    [-300_000, 'ok'],
    [300_000, 'ok'],
    [-300_001, 'stale_timestamp'],
    [300_001, 'stale_timestamp'],
  ])('%i ms from its time: %s', async (distanceMs, expected) => {
    expect(await reasonOf({ nowMs: NOW_MS + distanceMs, maxAgeMs: 300_000 })).toBe(expected);
    expect(await reasonOf({ nowMs: NOW_MS + distanceMs })).toBe(expected);
  });

  test('a narrower or wider window is kept to', async () => {
    expect(await reasonOf({ maxAgeMs: 0 })).toBe('ok');
    expect(await reasonOf({ maxAgeMs: 0, nowMs: NOW_MS + 1 })).toBe('stale_timestamp');
    expect(await reasonOf({ maxAgeMs: Number.MAX_SAFE_INTEGER, nowMs: 0 })).toBe('ok');
  });

  test('without a time it is compared with the clock, which is past it', async () => {
    expect(await reasonOf({ nowMs: undefined })).toBe('stale_timestamp');
    expect(await reasonOf({ ...signed('id', BODY, String(Date.now())), nowMs: undefined })).toBe('ok');
  });
});

describe('what is accepted', () => {
  const upper = Object.fromEntries(Object.entries(HEADERS).map(([name, value]) => [name.toUpperCase(), value]));
  test.each<[string, unknown]>([
    ['Headers', new Headers(HEADERS)],
    ['pairs', Object.entries(HEADERS)],
    ['a Map', new Map(Object.entries(HEADERS))],
    ['names in capitals', upper],
    ['pairs in capitals', Object.entries(upper)],
    [
      'lists of values, of which the first counts',
      Object.fromEntries(Object.entries(HEADERS).map(([name, value]) => [name, [value, 'more']])),
    ],
    ['pairs that come twice, of which the first counts', [...Object.entries(HEADERS), ['x-service-signature', '00']]],
    ['a record without a prototype', Object.assign(Object.create(null), HEADERS)],
    ['others beside them', { host: 'a', cookie: ['b'], nothing: undefined, ...HEADERS }],
    ['the second family', headersOf({}, 'X-Turnkey-')],
    ['both families', { ...headersOf({ signature: '00' }, 'x-turnkey-'), ...HEADERS }],
  ])('headers as %s', async (_name, headers) => {
    expect(await verify({ headers })).toEqual(VERIFIED);
  });

  const bytes = new TextEncoder().encode(BODY);
  const padded = Buffer.concat([Buffer.from('xx'), bytes, Buffer.from('xx')]);
  test.each<[string, unknown]>([
    ['Uint8Array', bytes],
    ['Buffer', Buffer.from(BODY)],
    ['ArrayBuffer', bytes.slice().buffer],
    ['part of a buffer', new Uint8Array(padded.buffer, padded.byteOffset + 2, bytes.length)],
    ['DataView', new DataView(bytes.slice().buffer)],
    ['shared memory', Object.assign(new Uint8Array(new SharedArrayBuffer(bytes.length)), bytes)],
  ])('the body as %s', async (_name, body) => {
    expect(await verify({ body })).toEqual(VERIFIED);
  });

  test('a body that is no UTF-8, and an empty one', async () => {
    const delivery = signed('id', Uint8Array.of(0, 255, 254, 46));
    expect(await reasonOf(delivery)).toBe('ok');
    expect(await reasonOf({ ...delivery, body: Buffer.from(delivery.body).toString() })).toBe('invalid_signature');
    expect(await reasonOf(signed('id', ''))).toBe('ok');
  });

  test.each<[string, unknown]>([
    ['with its algorithm', [{ ...KEY, algorithm: 'ed25519' }]],
    ['in capitals', [{ ...KEY, publicKey: KEY.publicKey.toUpperCase() }]],
    ['among others', [null, 7, ownKey, { kid: 'other' }, KEY]],
    ['of a key set', [JWK]],
    ['in a key set', { keys: [{ kid: 'other', kty: 'RSA' }, JWK] }],
    ['of a key set with the least members', [{ kid: JWK.kid, kty: JWK.kty, crv: JWK.crv, x: `${JWK.x}=` }]],
  ])('a key %s', async (_name, keys) => {
    expect(await verify({ keys })).toEqual(VERIFIED);
  });

  test('type and organization are told as the headers of the same family say', async () => {
    const more = { 'event-type': 'ACTIVITY_UPDATES', 'organization-id': 'org' };
    const told = { ...VERIFIED, eventType: 'ACTIVITY_UPDATES', organizationId: 'org' };
    for (const prefix of ['x-service-', 'x-turnkey-']) {
      expect(await verify({ headers: headersOf(more as object, prefix) })).toEqual(told);
    }
    expect(await verify({ headers: { ...HEADERS, ...headersOf(more as object, 'x-turnkey-') } })).toEqual(VERIFIED);
  });
});

/** One failure per check, in the order of the checks. */
const DAMAGES: readonly [reason: string, change: Record<string, unknown>, headerName?: string][] = [
  ['invalid_max_timestamp_age', { maxAgeMs: -1 }],
  ['invalid_now', { nowMs: Number.NaN }],
  ...NAMES.map((name): [string, Record<string, unknown>, string] => [
    'missing_header',
    { [name]: '' },
    `x-service-${name}`,
  ]),
  ['invalid_timestamp', { timestamp: `${NOW_MS}.0` }],
  ['stale_timestamp', { timestamp: String(NOW_MS - 300_001) }],
  ['unsupported_signature_version', { 'signature-version': 'v2' }],
  ['unsupported_signature_algorithm', { 'signature-algorithm': 'Ed25519' }],
  ['missing_key', { keys: [] }],
  ['invalid_verification_key_algorithm', { keys: [{ ...KEY, algorithm: 'p256', publicKey: '' }] }],
  ['invalid_verification_key', { keys: [{ ...KEY, publicKey: KEY.publicKey.slice(2) }] }],
  ['invalid_event_id', { 'event-id': 'a.b' }],
  ['invalid_body', { body: { type: 'balances:confirmed' } }],
  ['invalid_signature', { signature: SIGNATURE.replace('f', 'e') }],
];

const damaged = (...changes: readonly Record<string, unknown>[]): Record<string, unknown> => {
  const merged = Object.assign({}, ...changes) as Record<string, unknown>;
  const isHeader = ([name]: readonly [string, unknown]): boolean => name in VALUES;
  const entries = Object.entries(merged);
  return {
    ...Object.fromEntries(entries.filter((entry) => !isHeader(entry))),
    headers: headersOf(Object.fromEntries(entries.filter(isHeader)) as object),
  };
};

describe('what is refused', () => {
  test.each(DAMAGES)('%s by %o', async (reason, change, headerName) => {
    expect(await verify(damaged(change))).toEqual({ ok: false, reason, ...(headerName && { headerName }) });
  });

  test('of two reasons the one that is checked first is told', async () => {
    for (const [index, [reason, change, headerName]] of DAMAGES.entries()) {
      for (const [, later] of DAMAGES.slice(index + 1)) {
        // The earlier one wins also where both change the same.
        const result = await verify(damaged(later, change));
        expect(result).toEqual({ ok: false, reason, ...(headerName && { headerName }) });
      }
    }
  });

  test('all reasons are listed, and their order is that of the checks', () => {
    const seen = [...new Set(DAMAGES.map(([reason]) => reason))];
    const others = ['invalid_headers', 'key_set_unavailable', 'invalid_keys', 'verification_unavailable'];
    expect(WEBHOOK_FAILURE_REASONS.filter((reason) => !others.includes(reason))).toEqual(seen);
    expect(new Set(WEBHOOK_FAILURE_REASONS)).toEqual(new Set([...seen, ...others]));
  });

  test.each<[string, Record<string, unknown>]>([
    ['invalid_max_timestamp_age', { maxAgeMs: Number.POSITIVE_INFINITY }],
    ['invalid_max_timestamp_age', { maxAgeMs: '300000' }],
    ['invalid_max_timestamp_age', { maxAgeMs: null }],
    ['invalid_now', { nowMs: Number.NEGATIVE_INFINITY }],
    ['invalid_now', { nowMs: BigInt(NOW_MS) }],
    ['invalid_now', { nowMs: new Date(NOW_MS) }],
    ['invalid_headers', { headers: undefined }],
    ['invalid_headers', { headers: 'x-service-timestamp: 1' }],
    ['invalid_headers', { headers: Object.entries(HEADERS).flat() }],
    ['invalid_headers', { headers: [['x-service-timestamp'], 7] }],
    ['invalid_headers', { headers: [[7, 'a']] }],
    ['invalid_headers', { headers: endlessPairs() }],
    [
      'invalid_headers',
      { headers: Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`h${index}`, ''])) },
    ],
    ['missing_header', { headers: {} }],
    ['missing_header', { headers: { ...HEADERS, 'x-service-event-id': 5 } }],
    ['missing_header', { headers: { ...HEADERS, 'x-service-event-id': [] } }],
    ['missing_header', { headers: { ...HEADERS, 'x-service-event-id': [[EVENT_ID]] } }],
    ['invalid_timestamp', { headers: headersOf({ timestamp: ` ${NOW_MS}` }) }],
    ['invalid_timestamp', { headers: headersOf({ timestamp: `${NOW_MS}\n` }) }],
    ['invalid_timestamp', { headers: headersOf({ timestamp: `-${NOW_MS}` }) }],
    ['invalid_timestamp', { headers: headersOf({ timestamp: '1.7672256e12' }) }],
    ['invalid_timestamp', { headers: headersOf({ timestamp: '0x19b76da6800' }) }],
    ['invalid_timestamp', { headers: headersOf({ timestamp: '١٧٦٧٢٢٥٦٠٠٠٠٠' }) }],
    ['invalid_timestamp', { headers: headersOf({ timestamp: String(2 ** 53) }) }],
    ['invalid_timestamp', { headers: headersOf({ timestamp: '9'.repeat(400) }) }],
    ['invalid_signature', { headers: headersOf({ timestamp: `0${NOW_MS}` }) }],
    ['unsupported_signature_version', { headers: headersOf({ 'signature-version': 'V1' }) }],
    ['unsupported_signature_version', { headers: headersOf({ 'signature-version': 'v1, v1' }) }],
    ['invalid_keys', { keys: undefined }],
    ['invalid_keys', { keys: KEY }],
    ['invalid_keys', { keys: new Map([['whk-1', KEY.publicKey]]) }],
    ['invalid_keys', { keys: { keys: 'whk-1' } }],
    ['invalid_keys', { keys: Array.from({ length: 10_001 }) }],
    ['missing_key', { keys: [{ ...KEY, keyId: 'WHK-1' }] }],
    ['missing_key', { keys: [null, undefined, 7, 'whk-1', []] }],
    ['invalid_verification_key', { keys: [{ keyId: 'whk-1' }] }],
    ['invalid_verification_key', { keys: [{ ...KEY, publicKey: 'zz'.repeat(32) }, KEY] }],
    ['invalid_verification_key', { keys: [{ ...KEY, publicKey: Array.from(KEY.publicKey) }] }],
    ['invalid_verification_key', { keys: [{ ...JWK, x: `${JWK.x}AA` }] }],
    ['invalid_verification_key', { keys: [{ ...JWK, x: '+'.repeat(43) }] }],
    ['invalid_verification_key', { keys: [{ ...JWK, x: undefined }] }],
    ['invalid_verification_key_algorithm', { keys: [{ ...KEY, algorithm: null }] }],
    ['invalid_verification_key_algorithm', { keys: [{ ...JWK, kty: 'EC' }] }],
    ['invalid_verification_key_algorithm', { keys: [{ ...JWK, crv: 'X25519' }] }],
    ['invalid_verification_key_algorithm', { keys: [{ ...JWK, alg: 'ES256' }] }],
    ['invalid_verification_key_algorithm', { keys: [{ ...JWK, use: 'enc' }] }],
    ['invalid_body', { body: undefined }],
    ['invalid_body', { body: Array.from(Buffer.from(BODY)) }],
    ['invalid_body', { body: new String(BODY) }],
    ['invalid_body', { body: new SharedArrayBuffer(8) }],
    ['invalid_body', { body: { [Symbol.toStringTag]: 'ArrayBuffer', byteLength: 1e9, length: 1e9 } }],
    ['invalid_signature', { headers: headersOf({ signature: SIGNATURE.toUpperCase() }) }],
    ['invalid_signature', { headers: headersOf({ signature: `${SIGNATURE}00` }) }],
    ['invalid_signature', { headers: headersOf({ signature: `${SIGNATURE}\n` }) }],
    ['invalid_signature', { headers: headersOf({ signature: `0x${SIGNATURE.slice(2)}` }) }],
    ['invalid_signature', { keys: [{ ...KEY, publicKey: ownKey.publicKey }] }],
    ['invalid_signature', { body: '{ "type": "balances:confirmed" }' }],
    ['invalid_signature', { body: `\ufeff${BODY}` }],
  ])('%s by %o', async (reason, change) => {
    expect(await reasonOf(change)).toBe(reason);
  });

  test('without any headers the name of the first family is told, with some of the second one that', async () => {
    expect(await verify({ headers: {} })).toMatchObject({ headerName: 'x-service-timestamp' });
    const { 'x-turnkey-signature': _, ...second } = headersOf({}, 'x-turnkey-');
    expect(await verify({ headers: second })).toMatchObject({ headerName: 'x-turnkey-signature' });
  });

  test('headers of the two families do not make one delivery', async () => {
    const second = headersOf({}, 'x-turnkey-');
    expect(await reasonOf({ headers: second })).toBe('ok');
    for (const name of NAMES) {
      const headers = { ...second, [`x-service-${name}`]: VALUES[name] };
      expect(await reasonOf({ headers })).toBe('missing_header');
    }
  });

  test('the beginning of a body cannot pass for the end of an event id', async () => {
    const delivery = signed('id', 'a.{"amount":1}');
    expect(await reasonOf(delivery)).toBe('ok');
    const headers = { ...delivery.headers, 'x-service-event-id': 'id.a' };
    expect(await reasonOf({ ...delivery, headers, body: '{"amount":1}' })).toBe('invalid_event_id');
  });

  test('other forms of a signature do not verify', async () => {
    // S + L, which the same equation holds for.
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const littleEndian = (bytes: Buffer): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
    const raised = Buffer.from(
      (littleEndian(Buffer.from(SIGNATURE.slice(64), 'hex')) + order).toString(16).padStart(64, '0'),
      'hex',
    );
    const signature = SIGNATURE.slice(0, 64) + raised.reverse().toString('hex');
    expect(signature).toHaveLength(128);
    expect(await reasonOf({ headers: headersOf({ signature }) })).toBe('invalid_signature');
    // A key of small order, by which R = A = identity and S = 0 would be a signature of everything.
    const neutral = `01${'00'.repeat(31)}`;
    const forged = headersOf({ signature: neutral + '00'.repeat(32) });
    expect(await reasonOf({ headers: forged, keys: [{ ...KEY, publicKey: neutral }] })).toBe('invalid_signature');
  });
});

describe('no changed bit', () => {
  const flips = (text: string): string[] =>
    Array.from({ length: text.length * 8 }, (_, bit) => {
      const bytes = Buffer.from(text, 'latin1');
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      return bytes.toString('latin1');
    });

  test.each(NAMES)('of the header %s verifies', async (name) => {
    // The window is wide, so that the signature alone has to notice another time.
    const wide = { maxAgeMs: Number.MAX_SAFE_INTEGER };
    expect(await reasonOf(wide)).toBe('ok');
    for (const value of flips(VALUES[name])) {
      expect(await reasonOf({ ...wide, headers: headersOf({ [name]: value }) })).not.toBe('ok');
    }
  });

  test('of the body verifies', async () => {
    for (const body of flips(BODY))
      expect(await reasonOf({ body: Buffer.from(body, 'latin1') })).toBe('invalid_signature');
    for (const body of ['', BODY.slice(1), BODY.slice(0, -1), `${BODY} `, `\0${BODY}`]) {
      expect(await reasonOf({ body })).toBe('invalid_signature');
    }
  });

  test('of the key verifies', async () => {
    for (let bit = 0; bit < 256; bit += 1) {
      const bytes = Buffer.from(KEY.publicKey, 'hex');
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(await reasonOf({ keys: [{ ...KEY, publicKey: bytes.toString('hex') }] })).toBe('invalid_signature');
    }
  });
});

describe('it never throws', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'delivery'],
    ['a hostile object', hostile],
    ['a revoked proxy', revoked()],
  ])('given %s', async (_name, options) => {
    const { ok } = await verifyWebhook(options as VerifyWebhookOptions);
    expect(ok).toBe(false);
  });

  test.each(['headers', 'body', 'keys', 'maxAgeMs', 'nowMs'])('with a hostile %s', async (name) => {
    const expected = {
      headers: 'invalid_headers',
      body: 'invalid_body',
      keys: 'invalid_keys',
      maxAgeMs: 'invalid_max_timestamp_age',
      nowMs: 'invalid_now',
    }[name];
    for (const value of [hostile, revoked(), Symbol('nothing')])
      expect(await reasonOf({ [name]: value })).toBe(expected);
    const getter = Object.defineProperty({ ...VECTOR }, name, { get: throwing, enumerable: true });
    expect(await verifyWebhook(getter)).toEqual({ ok: false, reason: expected });
  });

  test('with hostile parts', async () => {
    const headers = Object.defineProperty({ ...HEADERS }, 'x-service-signature', { get: throwing, enumerable: true });
    expect(await verify({ headers })).toMatchObject({ reason: 'missing_header', headerName: 'x-service-signature' });
    const unrelated = Object.defineProperty({ ...HEADERS }, 'cookie', { get: throwing, enumerable: true });
    expect(await reasonOf({ headers: unrelated })).toBe('ok');
    expect(await reasonOf({ headers: [[hostile, 'a']] })).toBe('invalid_headers');
    expect(await reasonOf({ headers: [...Object.entries(HEADERS), hostile] })).toBe('invalid_headers');
    expect(await reasonOf({ headers: { [Symbol.iterator]: throwing } })).toBe('invalid_headers');
    expect(await reasonOf({ keys: [hostile, revoked(), KEY] })).toBe('ok');
    expect(await reasonOf({ keys: [{ ...KEY, publicKey: hostile }] })).toBe('invalid_verification_key');
    expect(await reasonOf({ keys: { keys: hostile } })).toBe('invalid_keys');
  });

  test('given anything at all', async () => {
    const value = fc.anything({ withNullPrototype: true, withTypedArray: true, withMap: true, withBigInt: true });
    const names = fc.constantFrom(...NAMES.flatMap((name) => [`x-service-${name}`, `X-Turnkey-${name}`]));
    const headers = fc.oneof(
      value,
      fc.dictionary(names, fc.oneof(fc.string({ unit: 'binary' }), value)),
      fc.array(fc.tuple(names, fc.oneof(fc.string(), value))),
      fc.record(
        Object.fromEntries(
          NAMES.map((name) => [`x-service-${name}`, fc.oneof(fc.constant(VALUES[name]), fc.string())]),
        ),
      ),
    );
    const keys = fc.oneof(
      value,
      fc.array(fc.oneof(value, fc.record({ keyId: fc.constant('whk-1'), publicKey: value }))),
    );
    const options = fc.record(
      { headers, body: fc.oneof(value, fc.constant(BODY)), keys, maxAgeMs: fc.oneof(value, fc.double()), nowMs: value },
      { requiredKeys: [] },
    );
    let verified = 0;
    const check = async (given: unknown) => {
      const result = await verifyWebhook(given as VerifyWebhookOptions);
      if (result.ok) verified += 1;
      // What does verify can only be the delivery of the vector.
      if (result.ok) expect(result).toEqual(VERIFIED);
      else expect(WEBHOOK_FAILURE_REASONS).toContain(result.reason);
    };
    const property = fc.asyncProperty(
      options,
      fc.shuffledSubarray(['headers', 'body', 'keys', 'nowMs']),
      async (given, kept) => {
        await check(given);
        const whole = {
          ...VECTOR,
          ...given,
          ...Object.fromEntries(kept.map((name) => [name, VECTOR[name as keyof typeof VECTOR]])),
        };
        await check(whole);
      },
    );
    await fc.assert(property, { seed: 6, numRuns: 1000 });
    expect(verified).toBeGreaterThan(0);
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function* endlessPairs(): Generator<[string, string]> {
  for (;;) yield ['host', 'a'];
}
