import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  ec,
  encode,
  expectRefusal,
  Issuer,
  makeKey,
  makeToken,
  makeVerifier,
  rsa,
  START_MS,
  toJwk,
} from '../../../test/harness/oidc-issuer.ts';

describe('algorithms', () => {
  test.each([
    ['RS256', rsa],
    ['RS384', rsa],
    ['RS512', rsa],
    ['PS256', rsa],
    ['PS384', rsa],
    ['PS512', rsa],
    ['ES256', ec],
    ['ES384', makeKey.ec('P-384')],
    ['ES512', makeKey.ec('P-521')],
    ['EdDSA', makeKey.ed25519()],
  ])('%s', async (alg, key) => {
    const issuer = await Issuer.start(toJwk(key));
    const { verifier } = makeVerifier();

    expect(await verifier.verify(issuer.token(key, alg))).toMatchObject({ issuer: issuer.url, subject: 'alice' });
    const [header, , signature] = issuer.token(key, alg).split('.');
    const forged = `${header}.${encode(issuer.claims({ sub: 'mallory' }))}.${signature}`;
    await expectRefusal(verifier, forged, /does not verify/);
  });

  test('a token that nobody signed', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier } = makeVerifier();
    const [, claims, signature] = issuer.token().split('.');

    await verifier.verify(issuer.token());
    for (const alg of ['none', 'None', 'NONE', '', null, undefined, ['none']]) {
      const header = encode({ alg, kid: ec.kid });
      await expectRefusal(verifier, `${header}.${claims}.${signature}`, /not accepted/);
      await expectRefusal(verifier, `${header}.${claims}.`, /three parts/);
    }
  });

  test('a public key is not a shared secret', async () => {
    const issuer = await Issuer.start(toJwk(rsa));
    const { verifier } = makeVerifier();
    await verifier.verify(issuer.token(rsa, 'RS256'));

    const secrets = [
      rsa.publicKey.export({ type: 'spki', format: 'pem' }),
      rsa.publicKey.export({ type: 'spki', format: 'der' }),
      JSON.stringify(toJwk(rsa)),
      String(rsa.publicKey.export({ format: 'jwk' }).n),
    ];
    for (const secret of secrets) {
      const signed = `${encode({ alg: 'HS256', kid: rsa.kid })}.${encode(issuer.claims())}`;
      const signature = createHmac('sha256', secret).update(signed).digest('base64url');
      await expectRefusal(verifier, `${signed}.${signature}`, /not accepted/);
    }
  });

  test('a secret in the key set is no key', async () => {
    const secret = Buffer.from('0123456789abcdef0123456789abcdef');
    const issuer = await Issuer.start(toJwk(ec), { kty: 'oct', kid: 'shared', k: secret.toString('base64url') });
    const { verifier } = makeVerifier();
    await verifier.verify(issuer.token());

    const signed = `${encode({ alg: 'HS256', kid: 'shared' })}.${encode(issuer.claims())}`;
    const signature = createHmac('sha256', secret).update(signed).digest('base64url');
    await expectRefusal(verifier, `${signed}.${signature}`, /not accepted/);
  });

  test('a key verifies what it is for and nothing else', async () => {
    const issuer = await Issuer.start(toJwk(rsa, { alg: 'RS256' }));
    const { verifier } = makeVerifier();
    await verifier.verify(issuer.token(rsa, 'RS256'));

    await expectRefusal(verifier, issuer.token(rsa, 'PS256'), /does not have/);
    await expectRefusal(verifier, issuer.token(ec, 'ES256', {}, { kid: rsa.kid }), /does not have/);
  });

  test.each([
    ['for encryption', { use: 'enc' }],
    ['for signing only', { use: undefined, key_ops: ['sign'] }],
    ['of another algorithm', { alg: 'ECDH-ES' }],
    ['off its curve', { x: Buffer.alloc(32, 1).toString('base64url') }],
    ['of another curve', { crv: 'P-384' }],
    ['without a coordinate', { y: undefined }],
    ['with a name that is no text', { kid: 7 }],
  ])('a key %s does not verify', async (_what, change) => {
    const good = await Issuer.start(toJwk(ec, { use: undefined, key_ops: ['verify'] }));
    const bad = await Issuer.start(toJwk(ec, change));
    const { verifier } = makeVerifier();

    await verifier.verify(good.token());
    await expectRefusal(verifier, bad.token(), /does not have|does not verify/);
  });

  test('an RSA key must be of a sound size', async () => {
    const small = makeKey.rsa(1024);
    const huge = { ...toJwk(rsa), kid: 'huge', n: Buffer.alloc(1025, 0xff).toString('base64url') };
    const slow = { ...toJwk(rsa), kid: 'slow', e: Buffer.alloc(256, 0xff).toString('base64url') };
    const padded = { ...toJwk(small), kid: 'padded', n: Buffer.alloc(256).toString('base64url') };
    const issuer = await Issuer.start(toJwk(rsa), toJwk(small), huge, slow, padded);
    const { verifier } = makeVerifier();

    await verifier.verify(issuer.token(rsa, 'RS256'));
    await expectRefusal(verifier, issuer.token(small, 'RS256'), /does not have/);
    for (const kid of ['huge', 'slow', 'padded']) {
      await expectRefusal(verifier, issuer.token(rsa, 'RS256', {}, { kid }), /does not have/);
    }
  });

  test('a published private key verifies like its public half', async () => {
    const issuer = await Issuer.start({ ...ec.privateKey.export({ format: 'jwk' }), kid: ec.kid });
    expect(await makeVerifier().verifier.verify(issuer.token())).toMatchObject({ subject: 'alice' });
  });
});

describe('header', () => {
  test('a token may leave its key unnamed, and names may repeat', async () => {
    const other = makeKey.ec();
    const issuer = await Issuer.start(toJwk(rsa), toJwk(other, { kid: ec.kid }), toJwk(ec));
    const { verifier } = makeVerifier();

    expect(await verifier.verify(issuer.token(ec, 'ES256', {}, { kid: undefined }))).toMatchObject({
      subject: 'alice',
    });
    expect(await verifier.verify(issuer.token())).toMatchObject({ subject: 'alice' });
    expect(await verifier.verify(issuer.token(other, 'ES256', {}, { kid: ec.kid }))).toMatchObject({
      subject: 'alice',
    });
    await expectRefusal(verifier, issuer.token(makeKey.ec(), 'ES256', {}, { kid: undefined }), /does not verify/);
  });

  test.each([
    ['an extension', { crit: ['exp'] }, /crit/],
    ['an empty list of extensions', { crit: [] }, /crit/],
    ['an unencoded payload', { b64: false, crit: ['b64'] }, /crit/],
    ['an access token', { typ: 'at+jwt' }, /typ/],
    ['a logout token', { typ: 'logout+jwt' }, /typ/],
    ['a type that is no text', { typ: 7 }, /typ/],
    ['a name that is no text', { kid: 7 }, /kid/],
  ])('%s is refused', async (_what, header, message) => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier } = makeVerifier();

    await verifier.verify(issuer.token(ec, 'ES256', {}, { typ: 'JWT' }));
    await expectRefusal(verifier, issuer.token(ec, 'ES256', {}, header), message);
  });

  test('a key that the token brings along is not used', async () => {
    const mallory = makeKey.ec();
    const issuer = await Issuer.start(toJwk(ec));
    const host = await Issuer.start(toJwk(mallory));
    const { verifier } = makeVerifier();
    const header = { jwk: toJwk(mallory), jku: `${host.url}/keys`, x5u: `${host.url}/keys` };

    await verifier.verify(issuer.token(ec, 'ES256', {}, header));
    await expectRefusal(verifier, issuer.token(mallory, 'ES256', {}, header), /does not have/);
    await expectRefusal(verifier, issuer.token(mallory, 'ES256', {}, { ...header, kid: ec.kid }), /does not verify/);
    expect(host.asked.keys).toBe(0);
  });
});

describe('text', () => {
  test('what is no compact JWT is refused before anybody is asked', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier } = makeVerifier();
    const token = issuer.token();
    const [header = '', claims = '', signature = ''] = token.split('.');
    const nonCanonical = encode({ alg: 'ES256', kid: ec.kid, a: 1 });

    for (const text of [
      '',
      'a',
      `${header}.${claims}`,
      `${token}.${signature}`,
      `${header}.${claims}.`,
      ` ${token}`,
      `${token}\n`,
      `${token}=`,
      JSON.stringify({ protected: header, payload: claims, signature }),
      `${header}.${encode([issuer.claims()])}.${signature}`,
      `${header}.${encode(null)}.${signature}`,
      `${header}.${Buffer.from('{"iss":').toString('base64url')}.${signature}`,
      `${header}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64url')}.${signature}`,
      `${encode('ES256')}.${claims}.${signature}`,
      `${nonCanonical}A.${claims}.${signature}`,
    ]) {
      await expectRefusal(verifier, text, /three parts|cannot be read/);
    }
    expect(issuer.asked).toEqual({ discovery: 0, keys: 0 });
    await verifier.verify(token);
  });

  test('the length is bounded', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier } = makeVerifier();

    await verifier.verify(issuer.token(ec, 'ES256', { filler: 'a'.repeat(11_500) }));
    await expectRefusal(verifier, issuer.token(ec, 'ES256', { filler: 'a'.repeat(12_500) }), /longer than/);
  });

  test('one token has one id, however its signature is spelt', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier } = makeVerifier();
    const token = issuer.token();
    const [header, claims, signature = ''] = token.split('.');
    const raw = Buffer.from(signature, 'base64url');
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    const s = order - BigInt(`0x${raw.subarray(32).toString('hex')}`);
    const mirrored = Buffer.concat([raw.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
    const respelt = `${header}.${claims}.${mirrored.toString('base64url')}`;

    const { tokenId } = await verifier.verify(token);
    expect(respelt).not.toBe(token);
    expect((await verifier.verify(respelt)).tokenId).toBe(tokenId);
    expect((await verifier.verify(issuer.token(ec, 'ES256', { sub: 'bob' }))).tokenId).not.toBe(tokenId);
  });
});

describe('claims', () => {
  test.each([
    ['expired', { exp: START_MS / 1000 }, /expired/],
    ['issued in the future', { iat: START_MS / 1000 + 61 }, /future/],
    ['not valid yet', { nbf: START_MS / 1000 + 61 }, /not valid yet/],
    ['without an end', { exp: undefined }, /exp/],
    ['for several audiences', { aud: ['client', 'other'] }, /audiences/],
    ['for nobody', { aud: [] }, /aud/],
    ['about nobody', { sub: '' }, /sub/],
    ['from nobody', { iss: undefined }, /iss/],
  ])('a token %s is refused', async (_what, claims, message) => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier } = makeVerifier();

    await verifier.verify(issuer.token());
    await expectRefusal(verifier, issuer.token(ec, 'ES256', claims), message);
  });

  test('a token that was good becomes too old', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier, time } = makeVerifier();
    const token = issuer.token(ec, 'ES256', { exp: START_MS / 1000 + 30 });

    expect(await verifier.verify(token)).toMatchObject({ expiresAtMs: START_MS + 30_000 });
    time.nowMs += 30_000;
    await expectRefusal(verifier, token, /expired/);
  });

  test('an issuer cannot speak for another', async () => {
    const mallory = makeKey.ec();
    const victim = await Issuer.start(toJwk(ec));
    const attacker = await Issuer.start(toJwk(mallory));
    const { verifier } = makeVerifier();

    await verifier.verify(attacker.token(mallory));
    await expectRefusal(verifier, attacker.token(mallory, 'ES256', { iss: victim.url }), /does not have/);
    await expectRefusal(
      verifier,
      attacker.token(mallory, 'ES256', { iss: victim.url }, { kid: ec.kid }),
      /does not verify/,
    );
  });

  test('an issuer that is known under two names is one', async () => {
    const documents: Record<string, object> = {
      'https://accounts.google.com/.well-known/openid-configuration': {
        issuer: 'https://accounts.google.com',
        jwks_uri: 'https://keys.test/certs',
      },
      'https://keys.test/certs': { keys: [toJwk(rsa)] },
    };
    const { verifier } = makeVerifier(async (url) => ({
      status: documents[url] === undefined ? 404 : 200,
      headers: {},
      body: Buffer.from(JSON.stringify(documents[url] ?? {})),
      isInsideAllowList: false,
    }));
    const now = START_MS / 1000;

    for (const iss of ['accounts.google.com', 'https://accounts.google.com']) {
      const token = makeToken(rsa, 'RS256', { iss, sub: '1', aud: 'client', exp: now + 60 });
      expect(await verifier.verify(token)).toMatchObject({ issuer: 'https://accounts.google.com' });
    }
  });
});
