import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { toUtf8 } from './bytes.ts';
import { PasskeyStamper } from './passkey-stamper.ts';

const BODY = toUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}');

function browser(answer: () => Promise<unknown>) {
  const asked: PublicKeyCredentialRequestOptions[] = [];
  const get = (options?: CredentialRequestOptions) => {
    asked.push(options?.publicKey as PublicKeyCredentialRequestOptions);
    return answer() as Promise<Credential | null>;
  };
  return { asked, credentials: { get } };
}

const ASSERTION = {
  rawId: Uint8Array.of(0xfb, 0xff).buffer,
  response: {
    authenticatorData: Uint8Array.of(1).buffer,
    clientDataJSON: Uint8Array.of(2).buffer,
    signature: Uint8Array.of(3).buffer,
  },
};

test('asks for a signature over the hex digest of the body', async () => {
  const { asked, credentials } = browser(async () => ASSERTION);
  const stamper = new PasskeyStamper({ rpId: 'app.example', credentialIds: ['-_8'], timeoutMs: 1000, credentials });
  expect(await stamper.stamp(BODY)).toEqual({
    headerName: 'X-Stamp-WebAuthn',
    headerValue: '{"authenticatorData":"AQ","clientDataJson":"Ag","credentialId":"-_8","signature":"Aw"}',
  });
  expect(asked).toEqual([
    {
      challenge: toUtf8(createHash('sha256').update(BODY).digest('hex')),
      rpId: 'app.example',
      userVerification: 'preferred',
      allowCredentials: [{ type: 'public-key', id: Uint8Array.of(0xfb, 0xff) }],
      timeout: 1000,
    },
  ]);
});

test('a refusal of the user is a CustosError that keeps its cause', async () => {
  const cause = new DOMException('not allowed', 'NotAllowedError');
  const { credentials } = browser(() => Promise.reject(cause));
  const stamped = new PasskeyStamper({ rpId: 'app.example', credentials }).stamp(BODY);
  await expect(stamped).rejects.toMatchObject({ name: 'CustosError', code: 'PASSKEY_FAILED', cause });
});

test('no passkey, no browser', async () => {
  const { credentials } = browser(async () => null);
  await expect(new PasskeyStamper({ rpId: 'a', credentials }).stamp(BODY)).rejects.toMatchObject({
    code: 'PASSKEY_FAILED',
  });
  await expect(new PasskeyStamper({ rpId: 'a' }).stamp(BODY)).rejects.toMatchObject({ code: 'PASSKEY_UNAVAILABLE' });
});

test('a signal ends the question to the user with its reason', async () => {
  const reason = new Error('enough');
  const controller = new AbortController();
  const get = ({ signal }: CredentialRequestOptions = {}) =>
    new Promise<Credential | null>((_, reject) => {
      signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      setImmediate(() => controller.abort(reason));
    });
  const stamper = new PasskeyStamper({ rpId: 'app.example', credentials: { get } });
  await expect(stamper.stamp(BODY, { signal: controller.signal })).rejects.toBe(reason);
});
