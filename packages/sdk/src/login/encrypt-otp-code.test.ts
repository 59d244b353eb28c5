import { createPrivateKey, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { labelled } from '../../../keyring/test/fixtures/labels.ts';
import {
  API_KEY,
  ENC,
  OTP_CIPHERTEXT,
  OTP_PUBLIC_KEY,
  OTP_TARGET,
  OTP_TARGET_SIGNATURE,
  SESSION_SIGNER,
} from '../../test/fixtures/login-vectors.ts';
import { readAgreement } from '../bundle/agreement.ts';
import { open, seal } from '../bundle/hpke.ts';
import { type Bytes, fromHex, toBase64url, toHex, toUtf8 } from '../bytes.ts';
import type { ServiceKey } from '../service-keys.ts';
import { encryptOtpCode, otpDocument } from './encrypt-otp-code.ts';

const bytes = (hex: string): Bytes => fromHex(hex) as Bytes;
const keyOf = (label: string) => readAgreement(toHex(Uint8Array.from(labelled(label))));
const bundleOf = (changes: Record<string, unknown> = {}) =>
  JSON.stringify({
    version: 'v1.0.0',
    data: toHex(toUtf8(`{"targetPublic":"${OTP_TARGET}"}`)),
    dataSignature: OTP_TARGET_SIGNATURE,
    enclaveQuorumPublic: OTP_PUBLIC_KEY,
    ...changes,
  });
const options = { targetBundle: bundleOf(), otpCode: '123456', publicKey: API_KEY.publicKey };
const serviceKey = (role: string, publicKey: string): ServiceKey => ({
  role,
  publicKey,
  encoding: 'uncompressed',
  keyId: 'one',
});

async function opened(encryptedOtpBundle: string): Promise<unknown> {
  const { encappedPublic, ciphertext } = JSON.parse(encryptedOtpBundle);
  const sealed = { enc: bytes(encappedPublic), ciphertext: bytes(ciphertext) };
  return JSON.parse(Buffer.from(await open(await keyOf('vector otp target'), sealed)).toString('utf8'));
}

/** The bundle that the holder of the service's key would sign for another target. */
async function signedBundle(data: string): Promise<string> {
  const { publicKey } = await keyOf('vector otp token signer');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: toBase64url(publicKey.subarray(1, 33)),
    y: toBase64url(publicKey.subarray(33)),
    d: toBase64url(labelled('vector otp token signer')),
  };
  const key = createPrivateKey({ format: 'jwk', key: jwk });
  return bundleOf({
    data: toHex(toUtf8(data)),
    dataSignature: sign('sha256', Buffer.from(data), key).toString('hex'),
  });
}

test('the vector of the public clients', async () => {
  const document = otpDocument('123456', API_KEY.publicKey);
  const sealed = await seal(bytes(OTP_TARGET), document, await keyOf('vector ephemeral'));
  expect([toHex(sealed.enc), toHex(sealed.ciphertext)]).toEqual([ENC, OTP_CIPHERTEXT]);
});

test('a code opens for the target alone, with a pinned key and with published ones', async () => {
  const expected = { otp_code: '123456', public_key: API_KEY.publicKey };
  expect(await opened(await encryptOtpCode({ ...options, otpPublicKey: OTP_PUBLIC_KEY }))).toEqual(expected);
  const serviceKeys = [serviceKey('session-signer', SESSION_SIGNER), serviceKey('otp', OTP_PUBLIC_KEY)];
  expect(await opened(await encryptOtpCode({ ...options, serviceKeys }))).toEqual(expected);
});

test('an uncompressed key is named in its compressed form', async () => {
  const { publicKey } = await readAgreement(API_KEY.privateKey);
  const bundle = await encryptOtpCode({ ...options, publicKey: toHex(publicKey), otpPublicKey: OTP_PUBLIC_KEY });
  expect(await opened(bundle)).toEqual({ otp_code: '123456', public_key: API_KEY.publicKey });
});

describe('bundles that are refused before the code is encrypted', () => {
  test.each([
    ['no JSON', 'form', '{'],
    ['another version', 'version', bundleOf({ version: 'v2' })],
    ['another signer', 'signer', bundleOf({ enclaveQuorumPublic: SESSION_SIGNER })],
    ['other data', 'signature', bundleOf({ data: toHex(toUtf8(`{"targetPublic":"${SESSION_SIGNER}"}`)) })],
    ['no signature', 'form', bundleOf({ dataSignature: undefined })],
  ])('%s', async (_name, check, targetBundle) => {
    const refused = encryptOtpCode({ ...options, targetBundle, otpPublicKey: OTP_PUBLIC_KEY });
    await expect(refused).rejects.toMatchObject({ code: 'BUNDLE_INVALID', check });
  });

  test('one without a key', async () => {
    expect(await opened(await encryptOtpCode({ ...options, otpPublicKey: OTP_PUBLIC_KEY }))).toBeDefined();
    const good = await signedBundle(`{"targetPublic":"${OTP_TARGET}"}`);
    const accepted = encryptOtpCode({ ...options, targetBundle: good, otpPublicKey: OTP_PUBLIC_KEY });
    expect(await opened(await accepted)).toBeDefined();
    for (const data of [
      '{}',
      `{"targetPublic":"02${OTP_TARGET.slice(2, 66)}"}`,
      `{"targetPublic":"04${'11'.repeat(64)}"}`,
    ]) {
      const targetBundle = await signedBundle(data);
      const refused = encryptOtpCode({ ...options, targetBundle, otpPublicKey: OTP_PUBLIC_KEY });
      await expect(refused).rejects.toMatchObject({ check: 'key' });
    }
  });

  test('one of a service that is not trusted', async () => {
    const refused = encryptOtpCode({ ...options, otpPublicKey: SESSION_SIGNER });
    await expect(refused).rejects.toMatchObject({ check: 'signer' });
  });
});

test.each([
  ['no trusted key', {}, 'INVALID_OPTION'],
  ['no key of that role', { serviceKeys: [serviceKey('bundle-signer', OTP_PUBLIC_KEY)] }, 'INVALID_OPTION'],
  ['a compressed key', { otpPublicKey: `02${OTP_PUBLIC_KEY.slice(2, 66)}` }, 'INVALID_KEY'],
  ['no code', { otpPublicKey: OTP_PUBLIC_KEY, otpCode: '' }, 'INVALID_OPTION'],
  ['no key to bind', { otpPublicKey: OTP_PUBLIC_KEY, publicKey: 'zz' }, 'INVALID_KEY'],
])('%s is a mistake of the caller', async (_name, changes, code) => {
  await expect(encryptOtpCode({ ...options, ...changes })).rejects.toMatchObject({ code });
});
