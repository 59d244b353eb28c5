import { secp256k1 } from '@noble/curves/secp256k1.js';
import { expect } from 'vitest';
import { newImportTarget, readSigned } from '../../../../test/harness/bundles.ts';
import type { TestClient } from '../../../../test/harness/client.ts';
import { type ActivityCase, nothing } from '../../../../test/operations/every-case.ts';

export const isKeyOf = (publicKey: string) => (key: Buffer) =>
  Buffer.from(secp256k1.getPublicKey(key)).toString('hex') === publicKey;

/** A signed bundle with a one-time key for this user. */
const aTargetFor = ({ organizationId, userId }: TestClient) =>
  expect.toSatisfy((bundle: string) => {
    const document = readSigned(bundle);
    const isPoint = /^04[0-9a-f]{128}$/.test(document.targetPublic ?? '');
    return isPoint && document.organizationId === organizationId && document.userId === userId;
  }, 'an import bundle for this user');

export const initImport = (kind: 'wallet' | 'private_key', name: string): ActivityCase => ({
  isForProposer: true,
  intentKey: `initImport${name}Intent`,
  resultKey: `initImport${name}Result`,
  // An open target shows only in an import, and the cases of those make one.
  arrange: async ({ root }) => ({
    parameters: { userId: root.userId },
    result: { importBundle: aTargetFor(root) },
    holds: nothing,
    absent: nothing,
  }),
  foreign: async (_world, other) => {
    expect(await newImportTarget(other.root, kind)).toMatch(/^04/);
    return { parameters: { userId: other.root.userId }, status: 403, code: 'REQUEST_NOT_AUTHORIZED' };
  },
});
