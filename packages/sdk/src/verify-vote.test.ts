import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { generateApiKey } from './api-key.ts';
import { ApiKeyStamper } from './api-key-stamper.ts';
import { toUtf8 } from './bytes.ts';
import { fingerprintOf } from './fingerprint.ts';
import { verifyVote } from './verify-vote.ts';

const BODY = '{"organizationId":"00000000-0000-4000-8000-000000000001"}';
const selection = 'VOTE_SELECTION_APPROVED' as const;

async function apiKeyVote(message: string) {
  const { headerValue } = await new ApiKeyStamper(await generateApiKey()).stamp(toUtf8(message));
  const stamp = JSON.parse(Buffer.from(headerValue, 'base64url').toString('utf8')) as Record<
    'publicKey' | 'signature' | 'scheme',
    string
  >;
  return { ...stamp, message, selection };
}

describe('API keys', () => {
  test('a vote verifies, and nothing else by its name does', async () => {
    const vote = await apiKeyVote(BODY);
    expect(await verifyVote(vote)).toBe(true);
    expect(await verifyVote({ ...vote, message: `${BODY} ` })).toBe(false);
    expect(await verifyVote({ ...vote, publicKey: (await generateApiKey()).publicKey })).toBe(false);
    expect(await verifyVote({ ...vote, signature: 'no hex' })).toBe(false);
    expect(await verifyVote({ ...vote, signature: '30' })).toBe(false);
  });

  test('with its activity, the message must be that vote', async () => {
    const activity = { fingerprint: await fingerprintOf(BODY) };
    const proposal = await apiKeyVote(BODY);
    expect(await verifyVote(proposal, activity)).toBe(true);
    expect(await verifyVote({ ...proposal, selection: 'VOTE_SELECTION_REJECTED' }, activity)).toBe(false);
    expect(await verifyVote(proposal, { fingerprint: await fingerprintOf('other') })).toBe(false);
    const approval = await apiKeyVote(
      JSON.stringify({ type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY', parameters: { fingerprint: activity.fingerprint } }),
    );
    expect(await verifyVote(approval, activity)).toBe(true);
    expect(await verifyVote({ ...approval, selection: 'VOTE_SELECTION_REJECTED' }, activity)).toBe(false);
    expect(await verifyVote(approval, { fingerprint: await fingerprintOf('other') })).toBe(false);
    expect(await verifyVote(await apiKeyVote('no JSON'), activity)).toBe(false);
  });
});

test('a vote of which the service kept only the digest is neither valid nor invalid', async () => {
  const vote = await apiKeyVote(BODY);
  const omitted = { ...vote, message: JSON.stringify({ omittedBody: { bytes: 5316, sha256: '9f'.repeat(32) } }) };
  const activity = { fingerprint: await fingerprintOf(BODY) };
  for (const about of [undefined, activity]) {
    await expect(verifyVote(omitted, about)).rejects.toMatchObject({ code: 'VOTE_BODY_OMITTED' });
  }
  // With the bytes that its sender has it is verified as any other.
  expect(await verifyVote({ ...omitted, message: BODY }, activity)).toBe(true);
  // A request cannot pass for one.
  const request = await apiKeyVote('{"type":"T","omittedBody":{}}');
  expect(await verifyVote(request)).toBe(true);
});

describe('passkeys', () => {
  // A fixed assertion over BODY for the domain app.example.
  const vector = {
    message: BODY,
    selection,
    scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN',
    publicKey: [
      'a5010203262001215820',
      Buffer.from('Uq917NmrdMaUsOaCLto0pkVAXL_SB47wu4zDFdun3Eo', 'base64url').toString('hex'),
      '225820',
      Buffer.from('2kLGXc70ZrvY_Fg2lIIrNlKTJ0sz618zOCrYTYfeBZw', 'base64url').toString('hex'),
    ].join(''),
    signature: 'MEQCIDIYrLXo0giyNZGzKSIs2rZG-6a8qqwIy0TlvFjTpKQRAiB7F8twaoUm6X1s-6t3VpcU0TsrHlSQj3hESAS_GXZW_g',
    webauthn: {
      credentialId: '6kHtPPqRTKaLms_L0xFKpw',
      authenticatorData: 'VtmCAS3hjt8Iz1fY2UtegalxmdPrFPI7fCt1xcdfVG0FAAAAAQ',
      clientDataJson:
        'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiWkRKa05XTXpOemt5TUdKbVpHVTJPR000WWpnMFpEVXlOekl4WWpjM05qUmhP' +
        'VGxtWkRnNE1EVTJabVE0TkdFNU4yUTJZVEppTURKbVlXSmhZamN3TkEiLCJvcmlnaW4iOiJodHRwczovL2FwcC5leGFtcGxlIiwiY3Jvc3NP' +
        'cmlnaW4iOmZhbHNlfQ',
    },
  };

  test('a vote verifies', async () => {
    expect(await verifyVote(vector)).toBe(true);
    expect(await verifyVote(vector, { fingerprint: await fingerprintOf(BODY) })).toBe(true);
  });

  test('changed evidence does not', async () => {
    const { webauthn } = vector;
    expect(await verifyVote({ ...vector, message: `${BODY} ` })).toBe(false);
    expect(await verifyVote({ ...vector, signature: 'MEQC' })).toBe(false);
    const { webauthn: _evidence, ...bare } = vector;
    expect(await verifyVote(bare)).toBe(false);
    const absent = Buffer.from(webauthn.authenticatorData, 'base64url');
    absent[32] = 0;
    const changed = { ...webauthn, authenticatorData: absent.toString('base64url') };
    expect(await verifyVote({ ...vector, webauthn: changed })).toBe(false);
    const created = Buffer.from(webauthn.clientDataJson, 'base64url').toString('utf8').replace('.get', '.create');
    const registration = { ...webauthn, clientDataJson: Buffer.from(created).toString('base64url') };
    expect(await verifyVote({ ...vector, webauthn: registration })).toBe(false);
  });

  test('an RSA passkey verifies too', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
    const cose = Buffer.concat([
      Buffer.from('a401030339010020590100', 'hex'),
      Buffer.from(n, 'base64url'),
      Buffer.from('2143', 'hex'),
      Buffer.from(e, 'base64url'),
    ]);
    const authenticatorData = Buffer.from(vector.webauthn.authenticatorData, 'base64url');
    const clientData = Buffer.from(vector.webauthn.clientDataJson, 'base64url');
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]);
    const signature = sign('sha256', signed, privateKey);
    const vote = { ...vector, publicKey: cose.toString('hex'), signature: signature.toString('base64url') };
    expect(await verifyVote(vote)).toBe(true);
    signature[0] = (signature[0] ?? 0) ^ 1;
    expect(await verifyVote({ ...vote, signature: signature.toString('base64url') })).toBe(false);
  });

  test.each(['', 'a0', 'a1', 'ff', 'a101', 'a1015f', 'a50102032620012158', 'a5010203262001215820'])(
    'a key that is not one is not called a wrong signature: %s',
    async (publicKey) => {
      await expect(verifyVote({ ...vector, publicKey })).rejects.toMatchObject({ code: 'UNSUPPORTED_SCHEME' });
    },
  );
});

test('schemes that WebCrypto cannot check are an error, not a no', async () => {
  const vote = { ...(await apiKeyVote(BODY)), scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1' };
  await expect(verifyVote(vote)).rejects.toMatchObject({ code: 'UNSUPPORTED_SCHEME' });
});
