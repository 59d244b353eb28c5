import { expect, test } from 'vitest';
import { fromHex, toHex } from './bytes.ts';
import { verifyAppProof } from './verify-app-proof.ts';

// protocol/bundles 7.5.
const PROOF = {
  scheme: 'SIGNATURE_SCHEME_EPHEMERAL_KEY_P256',
  publicKey:
    '04220e4c2d8f0a6e0ace66f93421722789771193b219813135860abb76d79a1c591f22052932cd9a652b2896c50e4099889f5362c3193a38c3f7e477a78cbbf667' +
    '0466c79c76c8fe4a2f81d2c35b0b0652d0f5ddf2e07982bb77026dbbd237aeb86f0c9f8b5ec7e688b8c11b8fc6796c25ea70399241b01638eed3d32b295a3b33df',
  proofPayload:
    '{"type":"APP_PROOF_TYPE_ADDRESS_DERIVATION","timestampMs":"1758909116000","addressDerivationProof":' +
    '{"organizationId":"00000000-0000-4000-8000-000000000001","walletId":"00000000-0000-4000-8000-000000000004",' +
    '"derivationPath":"m/44\'/60\'/0\'/0/0","address":"0x9858EfFD232B4033E47d90003D41EC34EcaEda94"}}',
  signature:
    '31eea0a5e85c2dd939d623c029a6cfdb4c717dcd62b9ac121b0a3dee361ed84f' +
    'a3564e5779484ecc7136150dccd3859f6df2f8b817fc8ba22d29ccffab0ceb86',
};

const flipped = (hex: string, bit: number): string => {
  const bytes = fromHex(hex)!;
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return toHex(bytes);
};

test('a proof verifies', async () => {
  expect(await verifyAppProof(PROOF)).toBe(true);
});

test('no flipped bit of the keys, the signature or the payload does', async () => {
  for (let bit = 0; bit < 130 * 8; bit += 1) {
    expect(await verifyAppProof({ ...PROOF, publicKey: flipped(PROOF.publicKey, bit) })).toBe(false);
  }
  for (let bit = 0; bit < 64 * 8; bit += 1) {
    expect(await verifyAppProof({ ...PROOF, signature: flipped(PROOF.signature, bit) })).toBe(false);
  }
  const payload = toHex(Buffer.from(PROOF.proofPayload));
  for (let bit = 0; bit < payload.length * 4; bit += 1) {
    const proofPayload = Buffer.from(flipped(payload, bit), 'hex').toString('latin1');
    expect(await verifyAppProof({ ...PROOF, proofPayload })).toBe(false);
  }
});

test('the first key signs nothing', async () => {
  const swapped = PROOF.publicKey.slice(130) + PROOF.publicKey.slice(0, 130);
  expect(await verifyAppProof({ ...PROOF, publicKey: swapped })).toBe(false);
});

test.each([
  ['no keys', { publicKey: '' }],
  ['one key', { publicKey: PROOF.publicKey.slice(130) }],
  ['keys that are no hex', { publicKey: 'zz'.repeat(130) }],
  ['no signature', { signature: '' }],
  ['a longer signature', { signature: `${PROOF.signature}00` }],
  ['a signature that is no hex', { signature: 'zz'.repeat(64) }],
])('%s', async (_name, change) => {
  expect(await verifyAppProof({ ...PROOF, ...change })).toBe(false);
});

test('another scheme is not judged', async () => {
  const proof = { ...PROOF, scheme: 'SIGNATURE_SCHEME_TK_API_P256' };
  await expect(verifyAppProof(proof)).rejects.toMatchObject({ code: 'UNSUPPORTED_SCHEME' });
});
