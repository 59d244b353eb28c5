import { createPublicKey, verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireBuilt } from '../test/fixtures/built.ts';
import { codeOf, type Deployment, deploy, flipped } from '../test/fixtures/client.ts';
import { fromHex, fromText, labelled, toHex } from '../test/fixtures/labels.ts';
import { generatePrivateKey, publicKeyOf } from './bundle/p256.ts';
import {
  createKeyring,
  INSTALLATION_ID,
  type Keyring,
  KeyringError,
  type SealedServiceKey,
  type ServiceRole,
  WEBHOOKS_LENGTH_MAX,
  WEBHOOKS_MAX,
  type WebhookToSign,
} from './index.ts';
import { encodeServiceKey } from './material.ts';
import { sealSecret, systemRandom, unwrapOrganizationKey } from './seal/envelope.ts';
import { decodeOrganizationKey } from './seal/layout.ts';
import { RootKeyRing } from './seal/root-key.ts';
import { ServiceKeys } from './service-keys.ts';

// What deliveries are signed with: a keyring of this process and one of its own, with the same keys.

const ROLE = 'webhook-signer';
/** Vector 13 of the facts about signatures. */
const VECTOR = {
  keyId: 'whk-1',
  publicKey: '4c6d3478d662f0c6bdcfedf83f6489d8ee01a4423e8fe7c8590721a96a6b3092',
  webhook: {
    timestampMs: 1767225600000,
    eventId: '00000000-0000-4000-8000-000000000005',
    body: '{"type":"balances:confirmed"}',
  },
  signature:
    'ff71b624c086a443f2dd732f19bc794c8fe1130ba611c3d38955c47ff46712197f8583504c49fdf15ee5849c54664ebace726eea13efb77f9cd28e05c1de4b04',
};
const SEED = labelled('vector webhook key');
const WEBHOOK: WebhookToSign = VECTOR.webhook;

interface Pair {
  readonly keyId: string;
  readonly publicKey: string;
}

let folder: string;
let inline: Keyring;
let remote: Keyring;
let deployment: Deployment;
/** The vector's key, and two that the keyring made. */
let vectorKey: SealedServiceKey;
let pairs: Pair[];
let keys: SealedServiceKey[];

const MODES: [string, () => Keyring][] = [
  ['inline', () => inline],
  ['in a process of its own', () => remote],
];

const openRing = (): Promise<Keyring> => createKeyring({ rootKey: `file:${join(folder, 'root.key')}` });

/** A service key as the keyring would have sealed it: no call takes one that exists. */
async function sealServiceKey(role: ServiceRole, keyId: string, key: Uint8Array): Promise<SealedServiceKey> {
  const ring = await RootKeyRing.open(`file:${join(folder, 'root.key')}`, false, systemRandom);
  const wrapped = decodeOrganizationKey(deployment.installationKey);
  const organizationKey = unwrapOrganizationKey(ring.get(ring.activeId), INSTALLATION_ID, wrapped);
  const binding = { organizationId: INSTALLATION_ID, ownerId: keyId, kind: 'service-key' };
  return { role, keyId, sealed: sealSecret(organizationKey, binding, encodeServiceKey(role, key), systemRandom) };
}

/** With node:crypto or with another implementation, and a message that is put together here. */
function isSignature({ keyId, publicKey }: Pair, { timestampMs, eventId, body }: WebhookToSign, hex: string): boolean {
  const message = fromText(['v1', 'ed25519', keyId, String(timestampMs), eventId, body].join('.'));
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey, 'hex').toString('base64url') };
  const valid = verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), fromHex(hex));
  expect(ed25519.verify(fromHex(hex), message, fromHex(publicKey))).toBe(valid);
  return valid;
}

beforeAll(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-webhooks-'));
  inline = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, create: true });
  remote = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, mode: 'process', threads: 2 });
  deployment = await deploy(inline);
  vectorKey = await sealServiceKey(ROLE, VECTOR.keyId, SEED);
  const made = [await inline.createServiceKey(deployment.installationKey, ROLE)];
  made.push(await remote.createServiceKey(deployment.installationKey, ROLE));
  pairs = [{ keyId: VECTOR.keyId, publicKey: VECTOR.publicKey }, ...made];
  const own = made.map(({ keyId, sealed }) => ({ role: ROLE, keyId, sealed }) as const);
  keys = [...deployment.keys.filter(({ role }) => role !== ROLE), own[0]!, vectorKey, own[1]!];
  for (const keyring of [inline, remote]) await keyring.loadServiceKeys(deployment.installationKey, keys);
});

afterAll(async () => {
  await inline.close();
  await remote.close();
  await rm(folder, { recursive: true });
});

describe.each(MODES)('webhooks %s', (_mode, keyringOf) => {
  test('vector 13', async () => {
    expect(await keyringOf().signWebhooks(VECTOR.keyId, [VECTOR.webhook])).toEqual([VECTOR.signature]);
  });

  test('are signed in their order, each by the key that is asked for, of several that are loaded', async () => {
    const webhooks = Array.from({ length: 70 }, (_, index) => ({ ...WEBHOOK, timestampMs: index, body: `${index}` }));
    for (const pair of pairs) {
      const signatures = await keyringOf().signWebhooks(pair.keyId, webhooks);
      expect(signatures).toHaveLength(70);
      for (const [index, webhook] of webhooks.entries()) {
        expect(signatures[index]).toMatch(/^[0-9a-f]{128}$/);
        expect(isSignature(pair, webhook, signatures[index]!)).toBe(true);
      }
      const others = pairs.filter((other) => other !== pair);
      for (const other of others) expect(isSignature(other, webhooks[0]!, signatures[0]!)).toBe(false);
      expect(isSignature(pair, webhooks[1]!, signatures[0]!)).toBe(false);
    }
  });

  test('of any time and with any text, also beside members that are not signed', async () => {
    const webhook = fc.record({
      timestampMs: fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, -0, Number.MAX_SAFE_INTEGER)),
      eventId: fc.uuid(),
      body: fc.string({ unit: 'grapheme', maxLength: 300 }),
      // Could not even be sent.
      other: fc.constant(() => {}),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(2), fc.array(webhook, { minLength: 1, maxLength: 4 }), async (index, list) => {
        const pair = pairs[index]!;
        const signatures = await keyringOf().signWebhooks(pair.keyId, list);
        expect(signatures.map((signature, place) => isSignature(pair, list[place]!, signature))).toEqual(
          list.map(() => true),
        );
      }),
      { numRuns: 30 },
    );
  });

  test('of one and the same message have one signature, and of another one another', async () => {
    const sign = async (change: object) => (await keyringOf().signWebhooks('whk-1', [{ ...WEBHOOK, ...change }]))[0];
    const changes = [{ timestampMs: 1 }, { eventId: WEBHOOK.eventId.replace('5', '6') }, { body: '' }];
    expect(new Set(await Promise.all([{}, {}, ...changes].map(sign))).size).toBe(4);
  });

  test('by a key of another role, or of none that is loaded, are unavailable', async () => {
    const others = keys.filter(({ role }) => role !== ROLE).map(({ keyId }) => keyId);
    expect(others).toHaveLength(6);
    const notLoaded = deployment.keys.find(({ role }) => role === ROLE)!.keyId;
    for (const keyId of [...others, notLoaded, '00'.repeat(16), 'WHK-1', 'whk-1 ', '__proto__', 'constructor']) {
      const refusal = keyringOf().signWebhooks(keyId, [WEBHOOK]);
      await expect(refusal).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining(ROLE) });
    }
  });

  test('that are none are refused, and with one of them all of the list', async () => {
    const wrong: unknown[] = [
      ...[-1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '1767225600000', 1n, null, undefined].map(
        (timestampMs) => ({ ...WEBHOOK, timestampMs }),
      ),
      ...[
        '',
        '1',
        `${WEBHOOK.eventId}.1`,
        `${WEBHOOK.eventId}\n`,
        WEBHOOK.eventId.slice(1),
        WEBHOOK.eventId.replaceAll('-', '.'),
        WEBHOOK.eventId.replace('4', 'A'),
        [WEBHOOK.eventId],
        7,
        undefined,
      ].map((eventId) => ({ ...WEBHOOK, eventId })),
      ...['\ud800', `€${'x'.repeat(1000)}\udc00`, fromText('{}'), {}, ['x'], 7, null, undefined].map((body) => ({
        ...WEBHOOK,
        body,
      })),
      null,
      'text',
      undefined,
      [WEBHOOK],
    ];
    for (const each of wrong) {
      const list = [WEBHOOK, each as WebhookToSign];
      expect(await codeOf(keyringOf().signWebhooks(VECTOR.keyId, list))).toBe('INVALID_INPUT');
    }
    const lists: unknown[] = [[], new Array(2), WEBHOOK, 'text', null, undefined, { length: 1, 0: WEBHOOK }];
    for (const list of lists) {
      expect(await codeOf(keyringOf().signWebhooks(VECTOR.keyId, list as WebhookToSign[]))).toBe('INVALID_INPUT');
    }
    for (const keyId of ['', 7, null, undefined, ['whk-1'], '\ud800', 'x'.repeat(257)]) {
      expect(await codeOf(keyringOf().signWebhooks(keyId as string, [WEBHOOK]))).toBe('INVALID_INPUT');
    }
  });

  test('are as many and as long as the bounds say, and no more', async () => {
    const many = Array.from({ length: WEBHOOKS_MAX }, () => WEBHOOK);
    const signatures = await keyringOf().signWebhooks(VECTOR.keyId, many);
    expect(signatures).toEqual(many.map(() => VECTOR.signature));
    expect(await codeOf(keyringOf().signWebhooks(VECTOR.keyId, [...many, WEBHOOK]))).toBe('INVALID_INPUT');

    // One such character, and every one takes two bytes on the way to the process.
    const long = { ...WEBHOOK, body: `€${'x'.repeat(WEBHOOKS_LENGTH_MAX - 1)}` };
    const [signature] = await keyringOf().signWebhooks(VECTOR.keyId, [long]);
    const message = Buffer.from(`v1.ed25519.whk-1.${long.timestampMs}.${long.eventId}.${long.body}`);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(VECTOR.publicKey, 'hex').toString('base64url') };
    expect(verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), fromHex(signature!))).toBe(true);
    for (const list of [[{ ...long, body: `${long.body}x` }], [long, { ...WEBHOOK, body: 'x' }]]) {
      await expect(keyringOf().signWebhooks(VECTOR.keyId, list)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: `bodies are longer than ${WEBHOOKS_LENGTH_MAX} characters`,
      });
    }
  });

  test('are signed as they were when the call was made', async () => {
    const webhook = { ...WEBHOOK };
    const list = [webhook];
    const running = keyringOf().signWebhooks(VECTOR.keyId, list);
    webhook.body = 'another';
    list.push(WEBHOOK);
    expect(await running).toEqual([VECTOR.signature]);
  });
});

describe('keys for webhooks', () => {
  const load = (keyring: Keyring, list: SealedServiceKey[]): Promise<void> =>
    keyring.loadServiceKeys(deployment.installationKey, list);

  test('are told as the 32 bytes of the public key', async () => {
    for (const keyring of [inline, remote]) {
      const made = await keyring.createServiceKey(deployment.installationKey, ROLE);
      expect(made.encoding).toBe('raw');
      expect(made.publicKey).toMatch(/^[0-9a-f]{64}$/);
      await using other = await openRing();
      await load(other, [{ role: ROLE, ...made }]);
      const [signature] = await other.signWebhooks(made.keyId, [WEBHOOK]);
      expect(isSignature(made, WEBHOOK, signature!)).toBe(true);
    }
  });

  test('come and go with the list that is loaded, and a list without any is loaded as before', async () => {
    await using keyring = await openRing();
    const sign = ({ keyId }: { readonly keyId: string }) => keyring.signWebhooks(keyId, [WEBHOOK]);
    expect(await codeOf(sign(vectorKey))).toBe('UNAVAILABLE');
    await load(keyring, keys);
    for (const pair of pairs) await sign(pair);
    const [first, second] = keys.filter(({ role }) => role === ROLE) as [SealedServiceKey, SealedServiceKey];
    await load(keyring, [second]);
    await sign(second);
    expect(await codeOf(sign(first))).toBe('UNAVAILABLE');
    const old = keys.filter(({ role }) => role !== ROLE);
    await load(keyring, old);
    expect(await codeOf(sign(second))).toBe('UNAVAILABLE');
    expect(await keyring.signIdToken({ sub: 'x' })).toBeTypeOf('string');
    await load(keyring, keys);
    // A list that is refused changes nothing.
    expect(await codeOf(load(keyring, [first, { ...second, sealed: flipped(second.sealed, 8 * 120) }]))).toBe(
      'NOT_OPENED',
    );
    await sign(second);
  });

  test('may be many', async () => {
    await using keyring = await openRing();
    const many = await Promise.all(
      Array.from({ length: 100 }, async () => ({
        role: ROLE as ServiceRole,
        ...(await keyring.createServiceKey(deployment.installationKey, ROLE)),
      })),
    );
    await load(keyring, [...keys, ...many]);
    for (const each of many) {
      const [signature] = await keyring.signWebhooks(each.keyId, [WEBHOOK]);
      expect(isSignature(each, WEBHOOK, signature!)).toBe(true);
    }
  });

  test('taken away while a list is signed sign no more of it', async () => {
    const webhooks = Array.from({ length: WEBHOOKS_MAX }, () => WEBHOOK);
    const keyring = await openRing();
    await load(keyring, keys);
    const running = codeOf(keyring.signWebhooks(VECTOR.keyId, webhooks));
    await load(keyring, []);
    expect(await running).toBe('UNAVAILABLE');
    await load(keyring, keys);
    const closing = codeOf(keyring.signWebhooks(VECTOR.keyId, webhooks));
    await keyring.close();
    expect(await closing).toBe('INVALID_INPUT');
  });

  test.each([
    ['inline', 'inline'],
    ['in a process', 'process'],
  ] as const)('are gone when the keyring is closed, %s', async (_name, mode) => {
    const keyring = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, mode, threads: 1 });
    await load(keyring, [vectorKey]);
    expect(await keyring.signWebhooks(VECTOR.keyId, [WEBHOOK])).toEqual([VECTOR.signature]);
    await keyring.close();
    for (const list of [[WEBHOOK], []]) {
      await expect(keyring.signWebhooks(VECTOR.keyId, list)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: 'the keyring is closed',
      });
    }
  });

  test('sign nothing else, and keys of another role sign no webhook', async () => {
    await using keyring = await openRing();
    const scalar = generatePrivateKey();
    const otp = await sealServiceKey('otp', 'otp-1', scalar);
    await load(keyring, [otp, vectorKey]);
    await keyring.signVerificationToken({
      id: 'i',
      verificationType: 't',
      contact: 'c',
      organizationId: 'o',
      expiresAtMs: 1,
    });
    expect(await keyring.signWebhooks(VECTOR.keyId, [WEBHOOK])).toEqual([VECTOR.signature]);
    // Each as what it is not: under its own id and under that of a key which has the role.
    expect(await codeOf(load(keyring, [{ ...otp, role: ROLE }]))).toBe('INVALID_KEY');
    expect(await codeOf(load(keyring, [{ ...vectorKey, role: 'otp' }]))).toBe('INVALID_KEY');
    expect(await codeOf(load(keyring, [{ ...otp, role: ROLE, keyId: VECTOR.keyId }]))).toBe('NOT_OPENED');
    expect(await codeOf(load(keyring, [{ ...vectorKey, role: 'otp', keyId: 'otp-1' }]))).toBe('NOT_OPENED');
    for (const role of ['bundle-signer', 'session-signer', 'oauth-secret', 'on-ramp-secret', 'oidc-issuer'] as const) {
      expect(await codeOf(load(keyring, [{ ...vectorKey, role }]))).toBe('INVALID_KEY');
    }
    expect(await codeOf(keyring.signWebhooks('otp-1', [WEBHOOK]))).toBe('UNAVAILABLE');
    // A holder's calls do not open it either.
    const { installationKey } = deployment;
    const holder = { organizationKey: installationKey, organizationId: INSTALLATION_ID, ownerId: VECTOR.keyId };
    const signing = { kind: 'private-key', sealed: vectorKey.sealed, curve: 'CURVE_ED25519' } as const;
    expect(await codeOf(keyring.sign(holder, signing, 'eddsa', [new Uint8Array(1)]))).toBe('NOT_OPENED');
    expect(await codeOf(keyring.exportPrivateKey(holder, vectorKey.sealed, publicKeyOf(scalar)))).toBe('NOT_OPENED');
    const binding = { organizationId: INSTALLATION_ID, ownerId: VECTOR.keyId, kind: 'service-key' };
    expect(await codeOf(keyring.open(installationKey, binding, vectorKey.sealed))).toBe('INVALID_INPUT');
  });

  test('are not the bytes of a key of another role, though these are a key of both curves', () => {
    const key = generatePrivateKey();
    const other = generatePrivateKey();
    const pair = (role: ServiceRole, first: Uint8Array) => [
      { role, keyId: 'one', key: first },
      { role: ROLE as ServiceRole, keyId: 'two', key },
    ];
    const refused = expect.objectContaining({ code: 'INVALID_KEY', message: 'one key cannot have two roles' });
    for (const role of ['otp', 'bundle-signer', 'on-ramp-secret', 'oauth-secret'] as const) {
      expect(() => new ServiceKeys().load(pair(role, other))).not.toThrow();
      expect(() => new ServiceKeys().load(pair(role, key))).toThrow(refused);
      expect(() => new ServiceKeys().load(pair(role, key).reverse())).toThrow(refused);
    }
    expect(() => new ServiceKeys().load(pair(ROLE, key))).not.toThrow();
  });

  test('are any 32 bytes, which keys of the other curve are not', () => {
    const zero = new Uint8Array(32);
    const loaded = new ServiceKeys();
    loaded.load([{ role: ROLE, keyId: 'zero', key: zero }]);
    const der = loaded.webhookSigner('zero').export({ format: 'der', type: 'pkcs8' });
    expect(toHex(der.subarray(-32))).toBe('00'.repeat(32));
    expect(() => loaded.load([{ role: 'otp', keyId: 'zero', key: zero }])).toThrow(KeyringError);
    // Nothing was replaced; and nothing is left when they are cleared.
    expect(loaded.webhookSigner('zero').asymmetricKeyType).toBe('ed25519');
    loaded.clear();
    expect(() => loaded.webhookSigner('zero')).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
  });
});
