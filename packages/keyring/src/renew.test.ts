import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { codeOf } from '../test/fixtures/client.ts';
import { createKeyring, type Keyring } from './index.ts';

const ORGANIZATION = 'organization-1';
const HEAD = 94;
const binding = { organizationId: ORGANIZATION, ownerId: 'owner-1', kind: 'vote-message' };
const plaintext = Uint8Array.of(1, 2, 3);

let folder: string;
let keyring: Keyring;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'custos-renew-'));
  keyring = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, create: true });
});

afterEach(async () => {
  await keyring.close();
  await rm(folder, { recursive: true });
});

const headOf = (blob: Uint8Array, ownerId = binding.ownerId) => ({
  ownerId,
  kind: binding.kind,
  sealed: blob.slice(0, HEAD),
});

test('an organization moves to another key, and its secrets stay as they are behind their data keys', async () => {
  const old = await keyring.createOrganizationKey(ORGANIZATION);
  const blob = await keyring.seal(old, binding, plaintext);
  const both = await keyring.renewOrganizationKey(ORGANIZATION, old);
  expect(both).toHaveLength(188);
  expect(await keyring.renewOrganizationKey(ORGANIZATION, both)).toEqual(both);
  // Both open what was there; what is sealed with both is under the new one alone.
  expect([...(await keyring.open(both, binding, blob))]).toEqual([...plaintext]);
  const fresh = await keyring.seal(both, binding, plaintext);
  expect(await codeOf(keyring.open(old, binding, fresh))).toBe('NOT_OPENED');

  const [head, same] = await keyring.rewrapDataKeys(both, ORGANIZATION, [headOf(blob), headOf(fresh)]);
  expect(same).toEqual(fresh.slice(0, HEAD));
  const moved = Buffer.concat([head ?? new Uint8Array(0), blob.subarray(HEAD)]);
  const only = both.slice(0, HEAD);
  for (const each of [moved, fresh]) expect([...(await keyring.open(only, binding, each))]).toEqual([...plaintext]);
  expect(await codeOf(keyring.open(only, binding, blob))).toBe('NOT_OPENED');
  expect(await codeOf(keyring.open(old, binding, moved))).toBe('NOT_OPENED');
});

test('a new root key wraps both keys, and without theirs neither opens', async () => {
  const both = await keyring.renewOrganizationKey(ORGANIZATION, await keyring.createOrganizationKey(ORGANIZATION));
  const blob = await keyring.seal(both, binding, plaintext);
  const root = keyring.rootKeyId;
  const added = await keyring.addRootKey();
  const rewrapped = await keyring.rewrapOrganizationKey(ORGANIZATION, both);
  for (const start of [2, 96]) expect(Buffer.from(rewrapped.slice(start, start + 16)).toString('hex')).toBe(added);
  expect(await keyring.rewrapOrganizationKey(ORGANIZATION, rewrapped)).toEqual(rewrapped);
  // Half of it is not enough.
  const mixed = Buffer.concat([rewrapped.subarray(0, HEAD), both.subarray(HEAD)]);
  expect(await keyring.rewrapOrganizationKey(ORGANIZATION, mixed)).not.toEqual(mixed);
  await keyring.removeRootKey(root);
  expect([...(await keyring.open(rewrapped, binding, blob))]).toEqual([...plaintext]);
  for (const wrapped of [both, mixed])
    expect(await codeOf(keyring.open(wrapped, binding, blob))).toBe('UNKNOWN_ROOT_KEY');
});

test('what belongs to somebody else, or is damaged, is not wrapped again', async () => {
  const old = await keyring.createOrganizationKey(ORGANIZATION);
  const blob = await keyring.seal(old, binding, plaintext);
  const both = await keyring.renewOrganizationKey(ORGANIZATION, old);
  const flipped = blob.slice();
  flipped[60] = (flipped[60] ?? 0) ^ 1;
  const heads = [
    headOf(blob, 'owner-2'),
    { ...headOf(blob), kind: 'outbox-message' },
    headOf(flipped),
    { ...headOf(blob), sealed: blob },
    { ...headOf(blob), sealed: new Uint8Array(HEAD) },
  ];
  expect(await keyring.rewrapDataKeys(both, ORGANIZATION, heads)).toEqual(heads.map(() => null));
  expect(await codeOf(keyring.renewOrganizationKey('organization-2', old))).toBe('NOT_OPENED');
  expect(await codeOf(keyring.rewrapDataKeys(both, 'organization-2', [headOf(blob)]))).toBe('NOT_OPENED');
  for (const length of [93, 95, 187, 189, 282])
    expect(await codeOf(keyring.open(Buffer.concat([both, both]).subarray(0, length), binding, blob))).toBe(
      'NOT_OPENED',
    );
});
