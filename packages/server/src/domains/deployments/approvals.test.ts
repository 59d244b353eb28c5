import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import { randomId } from '../../lib/ids.ts';
import { verifyApprovals } from './approvals.ts';
import type { OperatorSet } from './model.ts';

const MANIFEST = '{"a":"ä"}';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' });
const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
const operator = {
  id: randomId<'tvc-operator'>(),
  name: 'Operator',
  signPublicKey: p256.Point.fromBytes(point).toHex(true),
  encryptPublicKey: undefined,
  keySource: 'EXTERNAL_KEY',
  createdAtMs: 0,
} as const;
const set: OperatorSet = { id: randomId(), name: 'Set', threshold: 1, operators: [operator], createdAtMs: 0 };

const verify = (...signatures: string[]) =>
  verifyApprovals(
    { manifest: MANIFEST },
    set,
    signatures.map((signature) => ({ operatorId: operator.id, signature })),
  );

test('a signature by another library is taken, with a low and a high s, raw and in DER', async () => {
  const digest = createHash('sha256').update(MANIFEST).digest();
  const made = p256.sign(digest, Buffer.from(d, 'base64url'), { prehash: false, lowS: false, format: 'recovered' });
  const low = p256.Signature.fromBytes(made, 'recovered');
  const mirrored = new p256.Signature(low.r, p256.Point.Fn.ORDER - low.s);
  for (const signature of [low, mirrored]) {
    const raw = Buffer.from(signature.toBytes('compact'));
    for (const bytes of [raw, Buffer.from(signature.toBytes('der'))]) {
      expect(await verify(bytes.toString('hex'))).toEqual([{ operatorId: operator.id, signature: expect.anything() }]);
      const [{ signature: kept } = { signature: Buffer.alloc(0) }] = await verify(bytes.toString('hex'));
      // One spelling of both.
      expect(Buffer.from(kept).equals(raw)).toBe(true);
    }
  }
});

test('DER that is as long as r and s is read as either', async () => {
  // What begins like DER and is 64 bytes long can still be r and s.
  let raw: Buffer;
  do raw = sign('sha256', Buffer.from(MANIFEST), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  while (raw[0] !== 0x30);
  expect(await verify(raw.toString('hex'))).toHaveLength(1);
  // DER of two short integers is no signature of this manifest, and not r and s either.
  const integer = Buffer.concat([Buffer.of(2, 29, 1), Buffer.alloc(28, 7)]);
  const short = Buffer.concat([Buffer.of(0x30, 62), integer, integer]);
  expect(short).toHaveLength(64);
  await expect(verify(short.toString('hex'))).rejects.toThrow(/must be a signature of the manifest/);
});

test('one bad approval of many is named', async () => {
  const good = sign('sha256', Buffer.from(MANIFEST), privateKey).toString('hex');
  const bad = sign('sha256', Buffer.from(`${MANIFEST} `), privateKey).toString('hex');
  expect(await verify(good, good)).toHaveLength(2);
  const refusal = await verify(good, good, bad).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ApiError);
  expect((refusal as ApiError).violations).toMatchObject([{ field: 'parameters.approvals.2.signature' }]);
});
