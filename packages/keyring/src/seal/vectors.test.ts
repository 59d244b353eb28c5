import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signCoinbaseToken } from '../bundle/coinbase-token.ts';
import { signWebhook } from '../bundle/webhook-signature.ts';
import { LocalKeyring } from '../local-keyring.ts';
import { decodeServiceKey } from '../material.ts';
import { ed25519PublicKey, importEd25519Key } from '../sign/ed25519.ts';
import {
  openSecret,
  type RandomBytes,
  sealSecret,
  systemRandom,
  unwrapOrganizationKey,
  wrapNewOrganizationKey,
} from './envelope.ts';
import * as layout from './layout.ts';
import { checkValue, encodeRing } from './ring-file.ts';
import { RootKeyRing } from './root-key.ts';

const vectors = new Map<string, string>();
for (const [, block] of readFileSync(new URL('../../SPEC.md', import.meta.url), 'utf8').matchAll(
  /```vectors\n(.*?)```/gs,
)) {
  for (const [, name, hex] of (block as string).matchAll(/^(\w+) = ([0-9a-f]+)$/gm))
    vectors.set(name as string, hex as string);
}

function vector(name: string): Uint8Array {
  const hex = vectors.get(name);
  if (hex === undefined) throw new Error(`SPEC.md has no vector ${name}`);
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const textOf = (name: string): string => Buffer.from(vector(name)).toString('utf8');

/** Hands out the named vectors, in this order. */
function scripted(...names: string[]): RandomBytes {
  return (length) => {
    const bytes = vector(names.shift() ?? 'nothing');
    expect(bytes.length).toBe(length);
    return bytes;
  };
}

const binding = {
  organizationId: textOf('organization_id'),
  ownerId: textOf('owner_id'),
  kind: textOf('kind'),
};
const rootKey = { id: vector('root_key_id'), key: vector('root_key') };

async function withRing<T>(files: Record<string, Uint8Array>, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'custos-vectors-'));
  try {
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes, { mode: 0o600 });
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('SPEC.md holds the vectors', () => {
  expect(vectors.size).toBe(55);
});

test('fields are prefixed with their length', () => {
  expect(hexOf(layout.encodeFields(['ab', '', Uint8Array.of(7)]))).toBe('0002616200000001' + '07');
  expect(hexOf(layout.encodeFields(['é']))).toBe('0002c3a9');
});

test('associated data', () => {
  const { organizationId } = binding;
  const organizationKeyId = vector('organization_key_id');
  const dataKeyId = vector('data_key_id');
  const organizationKeyData = layout.organizationKeyData(organizationId, rootKey.id, organizationKeyId);
  expect(hexOf(organizationKeyData)).toBe(vectors.get('organization_key_associated_data'));
  expect(hexOf(layout.dataKeyData(binding, organizationKeyId, dataKeyId))).toBe(
    vectors.get('data_key_associated_data'),
  );
  expect(hexOf(layout.secretData(binding, dataKeyId))).toBe(vectors.get('secret_associated_data'));
});

test('ring file', () => {
  const check = checkValue('file', rootKey.id, rootKey.key);
  expect(hexOf(check)).toBe(vectors.get('root_key_check'));
  const entries = [{ id: rootKey.id, material: rootKey.key, check }];
  expect(hexOf(encodeRing({ provider: 'file', activeId: rootKey.id, entries }))).toBe(vectors.get('ring_file'));
});

test('ring file that requires an integrity key', async () => {
  const entries = [{ id: rootKey.id, material: rootKey.key, check: checkValue('file', rootKey.id, rootKey.key) }];
  const requiresIntegrity = [vector('integrity_key_id')];
  const bytes = encodeRing({ provider: 'file', activeId: rootKey.id, entries, requiresIntegrity });
  expect(hexOf(bytes)).toBe(vectors.get('integrity_ring_file'));
  await withRing({ 'root.key': vector('integrity_ring_file') }, async (folder) => {
    const ring = await RootKeyRing.open(`file:${join(folder, 'root.key')}`, false, systemRandom);
    const id = vectors.get('root_key_id');
    expect(ring.state).toEqual({ active: id, ids: [id], requiresIntegrity: [vectors.get('integrity_key_id')] });
    ring.wipe();
  });
});

test('wrapped organization key', () => {
  const random = scripted('organization_key_id', 'organization_key_nonce', 'organization_key');
  const wrapped = wrapNewOrganizationKey(rootKey, binding.organizationId, random);
  expect(hexOf(wrapped)).toBe(vectors.get('wrapped_organization_key'));
  const opened = unwrapOrganizationKey(rootKey, binding.organizationId, layout.decodeOrganizationKey(wrapped));
  expect(hexOf(opened.id)).toBe(vectors.get('organization_key_id'));
  expect(hexOf(opened.key)).toBe(vectors.get('organization_key'));
});

test('sealed blob', () => {
  const organizationKey = { id: vector('organization_key_id'), key: vector('organization_key') };
  const random = scripted('data_key_id', 'data_key_nonce', 'secret_nonce', 'data_key');
  const blob = sealSecret(organizationKey, binding, vector('plaintext'), random);
  expect(hexOf(blob)).toBe(vectors.get('sealed_blob'));
});

test('sealed integrity key, which opens as its generation alone', () => {
  const organizationKey = { id: vector('organization_key_id'), key: vector('organization_key') };
  const ownedBy = (ownerId: string) => ({ organizationId: 'deployment', ownerId, kind: 'integrity-key' });
  const id = vectors.get('integrity_key_id');
  const random = scripted('data_key_id', 'data_key_nonce', 'secret_nonce', 'data_key');
  const blob = sealSecret(organizationKey, ownedBy(`${id}/2`), vector('integrity_key_plaintext'), random);
  expect(hexOf(blob)).toBe(vectors.get('sealed_integrity_key'));
  const open = (ownerId: string) => openSecret(organizationKey, ownedBy(ownerId), layout.decodeSealedSecret(blob));
  expect(hexOf(open(`${id}/2`))).toBe(vectors.get('integrity_key_plaintext'));
  for (const other of [`${id}/1`, `${id}`]) expect(() => open(other)).toThrow();
});

test('the files and blobs of SPEC.md open through the keyring', async () => {
  await withRing({ 'root.key': vector('ring_file') }, async (folder) => {
    const ring = await RootKeyRing.open(`file:${join(folder, 'root.key')}`, false, systemRandom);
    await using keyring = new LocalKeyring(ring, systemRandom);
    expect(keyring.rootKeyId).toBe(vectors.get('root_key_id'));
    const opened = await keyring.open(vector('wrapped_organization_key'), binding, vector('sealed_blob'));
    expect(hexOf(opened)).toBe(vectors.get('plaintext'));
  });
});

test('the sealed seed of SPEC.md has its address', async () => {
  await withRing({ 'root.key': vector('ring_file') }, async (folder) => {
    const ring = await RootKeyRing.open(`file:${join(folder, 'root.key')}`, false, systemRandom);
    await using keyring = new LocalKeyring(ring, systemRandom);
    const { organizationId, ownerId } = binding;
    const holder = { organizationKey: vector('wrapped_organization_key'), organizationId, ownerId };
    const [account] = await keyring.deriveAccounts(holder, vector('sealed_seed'), [
      { curve: 'CURVE_SECP256K1', path: "m/44'/60'/0'/0/0", addressFormat: 'ADDRESS_FORMAT_ETHEREUM' },
    ]);
    expect(account?.address).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
  });
});

test('the sealed one-time code, client secret and on-ramp secret of SPEC.md open', async () => {
  await withRing({ 'root.key': vector('ring_file') }, async (folder) => {
    const ring = await RootKeyRing.open(`file:${join(folder, 'root.key')}`, false, systemRandom);
    await using keyring = new LocalKeyring(ring, systemRandom);
    const { organizationId, ownerId } = binding;
    const holder = { organizationKey: vector('wrapped_organization_key'), organizationId, ownerId };
    for (const [code, matches] of [
      [textOf('otp_code'), true],
      [textOf('otp_code_normalized'), true],
      ['7KQ011X9B', false],
    ] as const) {
      expect(await keyring.checkOtp(holder, vector('sealed_otp'), { code })).toEqual({ matches });
    }
    const secret = await keyring.lendOauthSecret(holder, vector('sealed_oauth_secret'));
    expect(Buffer.from(secret).toString('utf8')).toBe('client-secret-123');
    const signed = await keyring.signMoonpayQuery(holder, vector('sealed_on_ramp_secret'), textOf('moonpay_query'));
    expect(Buffer.from(signed, 'base64').toString('hex')).toBe(vectors.get('moonpay_signature'));
  });
});

test('the call of SPEC.md has its token', () => {
  const call = {
    keyId: 'vector-key',
    method: 'POST',
    host: 'api.developer.coinbase.com',
    path: '/onramp/v1/token',
    nowMs: 1_767_225_600_999,
  } as const;
  const token = signCoinbaseToken(vector('coinbase_secret'), call, vector('coinbase_nonce'));
  expect(token).toBe(textOf('coinbase_token'));
});

test('the webhook of SPEC.md has its signature', () => {
  const { role, key } = decodeServiceKey(vector('webhook_key_plaintext'));
  expect(role).toBe('webhook-signer');
  expect(hexOf(ed25519PublicKey(key))).toBe(vectors.get('webhook_public_key'));
  const [, , keyId = '', timestampMs, eventId = '', body = ''] = textOf('webhook_message').split('.');
  const webhook = { timestampMs: Number(timestampMs), eventId, body };
  expect(signWebhook(importEd25519Key(key), keyId, webhook)).toBe(vectors.get('webhook_signature'));
});

test('the passphrase of SPEC.md unlocks its ring', async () => {
  const files = { passphrase: vector('passphrase'), 'passphrase.ring': vector('passphrase_ring_file') };
  await withRing(files, async (folder) => {
    const ring = await RootKeyRing.open(`passphrase-file:${join(folder, 'passphrase')}`, false, systemRandom);
    expect(hexOf(ring.get(ring.activeId).key)).toBe(vectors.get('passphrase_root_key'));
    ring.wipe();
  });
});
