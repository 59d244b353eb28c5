import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createKeyring, type Keyring, KeyringError } from './index.ts';
import { LocalKeyring } from './local-keyring.ts';
import { type RandomBytes, systemRandom } from './seal/envelope.ts';
import { RootKeyRing } from './seal/root-key.ts';
import { Secret } from './secret.ts';
import { SecretCache } from './secret-cache.ts';

const binding = { organizationId: 'organization-1', ownerId: 'owner-1', kind: 'vote-message' };
const plaintext = Uint8Array.from({ length: 40 }, (_, index) => index);
const isWiped = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);

let folder: string;
let keyring: Keyring;
let organizationKey: Uint8Array;
let blob: Uint8Array;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-keyring-'));
  keyring = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, create: true });
  organizationKey = await keyring.createOrganizationKey(binding.organizationId);
  blob = await keyring.seal(organizationKey, binding, plaintext);
});

afterAll(async () => {
  await keyring.close();
  await rm(folder, { recursive: true });
});

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const outcome = await promise.then(
    () => 'opened',
    (error: unknown) => error,
  );
  if (outcome instanceof KeyringError) return outcome.code;
  throw new Error(`expected a KeyringError, not: ${String(outcome)}`);
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[bit >>> 3] = (copy[bit >>> 3] as number) ^ (1 << (bit & 7));
  return copy;
}

describe('seal and open', () => {
  test('what was sealed opens', async () => {
    const ids = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((id) => Buffer.byteLength(id) <= 256);
    await fc.assert(
      fc.asyncProperty(
        ids,
        ids,
        fc.constantFrom('activity-parameters', 'vote-message', 'outbox-message'),
        fc.uint8Array({ maxLength: 300 }),
        async (organizationId, ownerId, kind, bytes) => {
          const bound = { organizationId, ownerId, kind };
          const key = await keyring.createOrganizationKey(organizationId);
          const sealed = await keyring.seal(key, bound, bytes);
          expect(sealed.length).toBe(122 + bytes.length);
          expect(Buffer.from(await keyring.open(key, bound, sealed)).equals(bytes)).toBe(true);
        },
      ),
    );
  });

  test('a large secret is sealed up to the limit', async () => {
    const large = randomBytes(4 * 1024 * 1024);
    const opened = await keyring.open(organizationKey, binding, await keyring.seal(organizationKey, binding, large));
    expect(Buffer.from(opened).equals(large)).toBe(true);
    const tooLarge = keyring.seal(organizationKey, binding, new Uint8Array(large.length + 1));
    expect(await refusalOf(tooLarge)).toBe('INVALID_INPUT');
  });

  test('the same secret is sealed differently each time', async () => {
    const again = await keyring.seal(organizationKey, binding, plaintext);
    for (const [start, end] of [
      [18, 34],
      [34, 46],
      [46, 94],
      [94, 106],
      [106, again.length],
    ] as const) {
      expect(Buffer.from(again.subarray(start, end)).equals(blob.subarray(start, end))).toBe(false);
    }
    const otherKey = await keyring.createOrganizationKey(binding.organizationId);
    expect(Buffer.from(otherKey).equals(organizationKey)).toBe(false);
  });

  test.each([
    ['organization', { ...binding, organizationId: 'organization-2' }],
    ['owner', { ...binding, ownerId: 'owner-2' }],
    ['kind', { ...binding, kind: 'outbox-message' }],
  ])('a blob does not open for another binding: %s', async (_name, other) => {
    expect(await refusalOf(keyring.open(organizationKey, other, blob))).toBe('NOT_OPENED');
  });

  test('a blob does not open with the key of another organization, nor with another key of its own', async () => {
    const foreign = await keyring.createOrganizationKey('organization-2');
    expect(await refusalOf(keyring.open(foreign, binding, blob))).toBe('NOT_OPENED');
    expect(await refusalOf(keyring.seal(foreign, binding, plaintext))).toBe('NOT_OPENED');
    const foreignBinding = { ...binding, organizationId: 'organization-2' };
    expect(await refusalOf(keyring.open(foreign, foreignBinding, blob))).toBe('NOT_OPENED');
    const other = await keyring.createOrganizationKey(binding.organizationId);
    expect(await refusalOf(keyring.open(other, binding, blob))).toBe('NOT_OPENED');
  });

  test('every flipped bit of the blob is noticed', async () => {
    for (let bit = 0; bit < blob.length * 8; bit++) {
      expect(await refusalOf(keyring.open(organizationKey, binding, flipped(blob, bit)))).toBe('NOT_OPENED');
    }
  });

  test('every flipped bit of the organization key is noticed, also while the right one is cached', async () => {
    await keyring.open(organizationKey, binding, blob);
    for (let bit = 0; bit < organizationKey.length * 8; bit++) {
      const inRootKeyId = bit >= 2 * 8 && bit < 18 * 8;
      const code = await refusalOf(keyring.open(flipped(organizationKey, bit), binding, blob));
      expect(code).toBe(inRootKeyId ? 'UNKNOWN_ROOT_KEY' : 'NOT_OPENED');
    }
  });

  test('every changed character of the binding is noticed', async () => {
    const field = fc.constantFrom('organizationId', 'ownerId');
    await fc.assert(
      fc.asyncProperty(field, fc.nat(), fc.integer({ min: 0, max: 6 }), async (name, position, bit) => {
        const bytes = Buffer.from(binding[name as keyof typeof binding]);
        const changed = Buffer.from(flipped(bytes, (position % bytes.length) * 8 + bit)).toString('latin1');
        expect(await refusalOf(keyring.open(organizationKey, { ...binding, [name]: changed }, blob))).toBe(
          'NOT_OPENED',
        );
      }),
    );
  });

  test('truncated and extended blobs do not open', async () => {
    for (let length = 0; length < blob.length; length++) {
      expect(await refusalOf(keyring.open(organizationKey, binding, blob.subarray(0, length)))).toBe('NOT_OPENED');
    }
    expect(await refusalOf(keyring.open(organizationKey, binding, Buffer.concat([blob, Uint8Array.of(0)])))).toBe(
      'NOT_OPENED',
    );
    expect(await refusalOf(keyring.open(organizationKey, binding, organizationKey))).toBe('NOT_OPENED');
    expect(await refusalOf(keyring.open(blob, binding, blob))).toBe('NOT_OPENED');
  });

  test('random bytes give a KeyringError and nothing else', async () => {
    const header = fc.constantFrom<number[]>([], [1, 1], [2, 1]);
    const bytes = fc
      .tuple(header, fc.uint8Array({ maxLength: 200 }), fc.boolean())
      .map(([start, rest, exact]) =>
        exact ? Uint8Array.from([...start, ...rest, ...blob]).subarray(0, 94) : Uint8Array.from([...start, ...rest]),
      );
    await fc.assert(
      fc.asyncProperty(bytes, bytes, async (first, second) => {
        await refusalOf(keyring.open(first, binding, second));
        await refusalOf(keyring.open(organizationKey, binding, second));
        await refusalOf(keyring.open(first, binding, blob));
        await refusalOf(keyring.seal(first, binding, second));
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['no organization', { ...binding, organizationId: '' }],
    ['no owner', { ownerId: undefined, organizationId: 'a', kind: 'b' }],
    ['a kind that is not text', { ...binding, kind: 1 }],
    ['a lone surrogate', { ...binding, ownerId: '\ud800' }],
    ['a long owner', { ...binding, ownerId: 'é'.repeat(129) }],
    ['nothing', null],
    ['text', 'organization-1'],
  ])('a malformed binding is refused: %s', async (_name, malformed) => {
    const bound = malformed as unknown as typeof binding;
    expect(await refusalOf(keyring.seal(organizationKey, bound, plaintext))).toBe('INVALID_INPUT');
    expect(await refusalOf(keyring.open(organizationKey, bound, blob))).toBe('INVALID_INPUT');
  });

  test.each([[null], ['text'], [[1, 2]], [new ArrayBuffer(94)], [undefined]])('%o is not bytes', async (input) => {
    const bytes = input as unknown as Uint8Array;
    expect(await refusalOf(keyring.seal(bytes, binding, plaintext))).toBe('INVALID_INPUT');
    expect(await refusalOf(keyring.seal(organizationKey, binding, bytes))).toBe('INVALID_INPUT');
    expect(await refusalOf(keyring.open(bytes, binding, blob))).toBe('INVALID_INPUT');
    expect(await refusalOf(keyring.open(organizationKey, binding, bytes))).toBe('INVALID_INPUT');
  });

  test.each([[''], [null], [undefined], [7], ['\udc00'], ['x'.repeat(257)]])(
    '%o is not an organization',
    async (input) => {
      expect(await refusalOf(keyring.createOrganizationKey(input as unknown as string))).toBe('INVALID_INPUT');
    },
  );

  test('Buffers that share a pool, as drivers return them, are taken as the bytes they show', async () => {
    const key = Buffer.from(organizationKey);
    const pooled = Buffer.from(blob);
    expect(Buffer.from(await keyring.open(key, binding, pooled)).equals(plaintext)).toBe(true);
    const sealed = await keyring.seal(key, binding, Buffer.from(plaintext));
    const running = keyring.open(key, binding, sealed);
    key.fill(0);
    expect(Buffer.from(await running).equals(plaintext)).toBe(true);
    expect(await refusalOf(keyring.open(key, binding, sealed))).toBe('NOT_OPENED');
  });
});

describe('wiping', () => {
  async function watched(): Promise<{ local: LocalKeyring; handed: Uint8Array[]; ring: RootKeyRing }> {
    const handed: Uint8Array[] = [];
    const random: RandomBytes = (length) => {
      const bytes = systemRandom(length);
      handed.push(bytes);
      return bytes;
    };
    const ring = await RootKeyRing.open(`file:${join(folder, 'root.key')}`, false, random);
    return { local: new LocalKeyring(ring, random), handed, ring };
  }

  test('a new organization key and a data key are wiped before the call returns', async () => {
    const { local, handed } = await watched();
    const key = await local.createOrganizationKey('a');
    expect(handed.map((bytes) => [bytes.length, isWiped(bytes)])).toEqual([
      [16, false],
      [12, false],
      [32, true],
    ]);
    handed.length = 0;
    await local.seal(key, { ...binding, organizationId: 'a' }, plaintext);
    const expected = [
      [16, false],
      [12, false],
      [12, false],
      [32, true],
    ];
    expect(handed.map((bytes) => [bytes.length, isWiped(bytes)])).toEqual(expected);
    await local.close();
  });

  test('the data key that opens a blob is wiped, also when the secret does not open', async () => {
    const lent: Uint8Array[] = [];
    const use = Secret.prototype.use;
    const spy = vi.spyOn(Secret.prototype, 'use').mockImplementation(function (this: Secret, fn) {
      return use.call(this, (bytes) => {
        expect(isWiped(bytes)).toBe(false);
        lent.push(bytes);
        return fn(bytes);
      }) as ReturnType<typeof fn>;
    });
    try {
      await keyring.open(organizationKey, binding, blob);
      await refusalOf(keyring.open(organizationKey, binding, flipped(blob, (blob.length - 1) * 8)));
    } finally {
      spy.mockRestore();
    }
    expect(lent.map((bytes) => [bytes.length, isWiped(bytes)])).toEqual([
      [32, true],
      [32, true],
    ]);
  });

  test('close wipes root keys and opened organization keys and refuses later calls', async () => {
    const { local, ring } = await watched();
    const put = vi.spyOn(SecretCache.prototype, 'put');
    await local.open(organizationKey, binding, blob);
    const opened = put.mock.results[0]?.value as { key: Uint8Array };
    put.mockRestore();
    const root = ring.get(ring.activeId).key;
    expect([isWiped(opened.key), isWiped(root)]).toEqual([false, false]);

    const running = local.open(organizationKey, binding, blob);
    await local.close();
    expect(await refusalOf(running)).toBe('INVALID_INPUT');
    expect([isWiped(opened.key), isWiped(root)]).toEqual([true, true]);
    expect(local.hasRootKey(keyring.rootKeyId)).toBe(false);
    expect(await refusalOf(local.createOrganizationKey('a'))).toBe('INVALID_INPUT');
    expect(await refusalOf(local.seal(organizationKey, binding, plaintext))).toBe('INVALID_INPUT');
    expect(await refusalOf(local.open(organizationKey, binding, blob))).toBe('INVALID_INPUT');
    await local.close();
  });

  test('many organizations at once never share or lose a key in the cache', async () => {
    const organizations = await Promise.all(
      Array.from({ length: 600 }, async (_, index) => {
        const bound = { ...binding, organizationId: `organization-${index}` };
        return { bound, key: await keyring.createOrganizationKey(bound.organizationId) };
      }),
    );
    const sealed = await Promise.all(organizations.map(({ bound, key }) => keyring.seal(key, bound, plaintext)));
    await using fresh = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}` });
    await Promise.all(
      organizations.map(async ({ bound, key }, index) => {
        const opened = await fresh.open(key, bound, sealed[index] as Uint8Array);
        expect(Buffer.from(opened).equals(plaintext)).toBe(true);
      }),
    );
  });
});
