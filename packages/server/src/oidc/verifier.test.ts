import { constants, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { createGuardedFetch, type GuardedFetch } from '../outbound/guarded-fetch.ts';
import { addIssuerRoutes, type OwnIssuer } from './own-issuer.ts';
import { createOidcVerifier, type OidcVerifier } from './verifier.ts';

const START_MS = 1_800_000_000_000;
const LOOPBACK = ['127.0.0.1/32'];

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

type Header = Readonly<Record<string, unknown>>;

const makeKey = {
  rsa: (modulusLength = 2048): SigningKey => ({ kid: randomUUID(), ...generateKeyPairSync('rsa', { modulusLength }) }),
  ec: (namedCurve = 'P-256'): SigningKey => ({ kid: randomUUID(), ...generateKeyPairSync('ec', { namedCurve }) }),
  ed25519: (): SigningKey => ({ kid: randomUUID(), ...generateKeyPairSync('ed25519') }),
};

const rsa = makeKey.rsa();
const ec = makeKey.ec();

const toJwk = ({ kid, publicKey }: SigningKey, more: object = {}): object => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  use: 'sig',
  ...more,
});

function signJws(alg: string, data: string, { privateKey }: SigningKey): Buffer {
  const bytes = Buffer.from(data);
  if (alg === 'EdDSA') return sign(null, bytes, privateKey);
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return sign(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  if (alg.startsWith('RS')) return sign(hash, bytes, privateKey);
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
  return sign(hash, bytes, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function makeToken(key: SigningKey, alg: string, claims: object, header: Header = {}): string {
  const signed = `${encode({ alg, kid: key.kid, ...header })}.${encode(claims)}`;
  return `${signed}.${signJws(alg, signed, key).toString('base64url')}`;
}

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** An issuer on loopback whose documents a test may change while it runs. */
class Issuer {
  url = '';
  keys: object[] = [];
  discovery: Record<string, unknown> = {};
  cacheControl: string | undefined;
  /** In place of the usual answer to a path. */
  instead: Partial<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {};
  readonly asked = { discovery: 0, keys: 0 };

  static async start(...keys: object[]): Promise<Issuer> {
    const issuer = new Issuer();
    const server = createServer((request, response) => issuer.#answer(request, response));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    issuer.keys = keys;
    issuer.discovery = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` };
    return issuer;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    if (path === '/keys') this.asked.keys += 1;
    if (path === '/.well-known/openid-configuration') this.asked.discovery += 1;
    const instead = this.instead[path];
    if (instead !== undefined) {
      instead(request, response);
      return;
    }
    if (this.cacheControl !== undefined) response.setHeader('cache-control', this.cacheControl);
    if (path === '/keys') response.end(JSON.stringify({ keys: this.keys }));
    else if (path === '/.well-known/openid-configuration') response.end(JSON.stringify(this.discovery));
    else response.writeHead(404).end();
  }

  claims(more: object = {}): object {
    const now = START_MS / 1000;
    return { iss: this.url, sub: 'alice', aud: 'client', iat: now, exp: now + 86_400, ...more };
  }

  token(key: SigningKey = ec, alg = 'ES256', more: object = {}, header: Header = {}): string {
    return makeToken(key, alg, this.claims(more), header);
  }
}

const DISCOVERY_PATH = '/.well-known/openid-configuration';

function makeVerifier(fetch: GuardedFetch = createGuardedFetch(LOOPBACK)) {
  const time = { nowMs: START_MS };
  return { time, verifier: createOidcVerifier({ fetch, clock: () => time.nowMs }) };
}

const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'INVALID_OIDC_TOKEN', message: expect.stringMatching(message) });

async function expectRefusal(verifier: OidcVerifier, token: string, message: RegExp): Promise<void> {
  await expect(verifier.verify(token)).rejects.toEqual(refused(message));
}

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

describe('documents', () => {
  test('the discovery document must be for exactly this issuer', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    await makeVerifier().verifier.verify(issuer.token());

    const others = ['https://issuer.test', `${issuer.url}/`, issuer.url.toUpperCase(), undefined, null, [issuer.url]];
    for (const other of others) {
      issuer.discovery.issuer = other;
      await expectRefusal(makeVerifier().verifier, issuer.token(), /not for the iss/);
    }
  });

  test('an issuer may end in a slash and have a path', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    for (const path of ['/', '/realms/one', '/realms/two/']) {
      const iss = `${issuer.url}${path}`;
      issuer.instead[`${path.replace(/\/$/, '')}${DISCOVERY_PATH}`] = (_request, response) =>
        response.end(JSON.stringify({ issuer: iss, jwks_uri: `${issuer.url}/keys` }));
      expect(await makeVerifier().verifier.verify(issuer.token(ec, 'ES256', { iss }))).toMatchObject({ issuer: iss });
    }
  });

  test('the key set may be on another host', async () => {
    const keys = await Issuer.start(toJwk(ec));
    const issuer = await Issuer.start();
    issuer.discovery.jwks_uri = `${keys.url}/keys`;

    expect(await makeVerifier().verifier.verify(issuer.token())).toMatchObject({ issuer: issuer.url });
    expect(keys.asked).toEqual({ discovery: 0, keys: 1 });
  });

  test('but not at an address that the issuer itself could not be at', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    await makeVerifier().verifier.verify(issuer.token());

    const port = new URL(issuer.url).port;
    for (const url of [
      `http://127.0.0.2:${port}/keys`,
      'https://10.0.0.1/keys',
      'http://169.254.169.254/latest/meta-data',
      'https://[::ffff:10.0.0.1]/keys',
      `http://[::1]:${port}/keys`,
      'http://1.1.1.1/keys',
    ]) {
      issuer.discovery.jwks_uri = url;
      await expectRefusal(makeVerifier().verifier, issuer.token(), /key set is at no address that may be reached/);
    }
    for (const url of ['file:///etc/passwd', 'keys', `http://user:password@127.0.0.1:${port}/keys`]) {
      issuer.discovery.jwks_uri = url;
      await expectRefusal(makeVerifier().verifier, issuer.token(), /key set has no usable https URL/);
    }
  });

  test('an issuer on a private address is only reached where the operator allows it', async () => {
    const issuer = await Issuer.start(toJwk(ec));

    await makeVerifier().verifier.verify(issuer.token());
    const { verifier } = makeVerifier(createGuardedFetch(['10.0.0.0/8']));
    await expectRefusal(verifier, issuer.token(), /discovery document is at no address that may be reached/);
    expect(issuer.asked.discovery).toBe(1);
  });

  const UNUSABLE: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    'a redirect': (request, response) => {
      response.writeHead(302, { location: `http://${request.headers.host}/elsewhere` }).end();
    },
    'an error': (_request, response) => response.writeHead(500).end('{}'),
    'no JSON': (_request, response) => response.end('<html>'),
    'an unexpected value': (_request, response) => response.end('null'),
    'another value': (_request, response) => response.end('["keys"]'),
    'a huge document': (_request, response) => response.end(JSON.stringify({ filler: 'a'.repeat(256 * 1024) })),
    nothing: (request) => request.socket.destroy(),
  };

  test.each(Object.entries(UNUSABLE))(
    '%s refuses the token and repeats nothing of the answer',
    async (_what, instead) => {
      for (const path of [DISCOVERY_PATH, '/keys']) {
        const issuer = await Issuer.start(toJwk(ec));
        issuer.instead['/elsewhere'] = () => {
          throw new Error('followed');
        };
        await makeVerifier().verifier.verify(issuer.token());
        issuer.instead[path] = instead;
        await expectRefusal(
          makeVerifier().verifier,
          issuer.token(),
          /^the issuer's (discovery document|key set) [^<"]+$/,
        );
      }
    },
  );

  test('documents are bounded to 64 and 256 KiB', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    issuer.discovery.filler = 'a'.repeat(63 * 1024);
    issuer.keys.push({ kty: 'RSA', filler: 'a'.repeat(255 * 1024) });
    await makeVerifier().verifier.verify(issuer.token());

    issuer.keys.push({ filler: 'a'.repeat(1024) });
    await expectRefusal(makeVerifier().verifier, issuer.token(), /key set is too large/);
    issuer.discovery.filler = 'a'.repeat(64 * 1024);
    await expectRefusal(makeVerifier().verifier, issuer.token(), /discovery document is too large/);
  });

  test('a slow issuer is not waited for', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const guarded = createGuardedFetch(LOOPBACK);
    const timeouts: number[] = [];
    const impatient: GuardedFetch = (url, options) => {
      timeouts.push(options.timeoutMs);
      return guarded(url, { ...options, timeoutMs: 50 });
    };
    await makeVerifier().verifier.verify(issuer.token());

    issuer.instead['/keys'] = () => {};
    await expectRefusal(makeVerifier(impatient).verifier, issuer.token(), /key set could not be fetched in time/);
    expect(timeouts).toEqual([5000, 5000]);
  });
});

describe('memory', () => {
  test('documents are fetched once, by however many at once', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier } = makeVerifier();

    await Promise.all(Array.from({ length: 20 }, () => verifier.verify(issuer.token())));
    await verifier.verify(issuer.token());
    expect(issuer.asked).toEqual({ discovery: 1, keys: 1 });
  });

  test.each([
    ['nothing', undefined, 3600],
    ['an hour and a half', 'public, max-age=5400', 5400],
    ['too little', 'max-age=1', 60],
    ['too much', 'max-age=604800', 6 * 3600],
    ['no-store', 'no-store', 60],
    ['nonsense', 'max-age=soon', 3600],
  ])('an issuer that says %s about it', async (_what, cacheControl, seconds) => {
    const issuer = await Issuer.start(toJwk(ec));
    issuer.cacheControl = cacheControl;
    const { verifier, time } = makeVerifier();

    await verifier.verify(issuer.token());
    time.nowMs += seconds * 1000 - 1;
    await verifier.verify(issuer.token());
    expect(issuer.asked).toEqual({ discovery: 1, keys: 1 });
    time.nowMs += 1;
    await verifier.verify(issuer.token());
    expect(issuer.asked).toEqual({ discovery: 2, keys: 2 });
  });

  test('a new key is found when a token names it, and a removed one is gone with it', async () => {
    const next = makeKey.ec();
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier } = makeVerifier();
    await verifier.verify(issuer.token());

    issuer.keys = [toJwk(next)];
    expect(await verifier.verify(issuer.token())).toMatchObject({ subject: 'alice' });
    expect(await verifier.verify(issuer.token(next))).toMatchObject({ subject: 'alice' });
    await expectRefusal(verifier, issuer.token(), /does not have/);
    expect(issuer.asked).toEqual({ discovery: 1, keys: 2 });
  });

  test('a flood of unknown names asks the issuer once in 30 seconds', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier, time } = makeVerifier();
    await verifier.verify(issuer.token());
    const flood = () =>
      Promise.allSettled(
        Array.from({ length: 20 }, () => verifier.verify(issuer.token(ec, 'ES256', {}, { kid: randomUUID() }))),
      );

    expect((await flood()).every(({ status }) => status === 'rejected')).toBe(true);
    await flood();
    expect(issuer.asked.keys).toBe(2);
    time.nowMs += 29_999;
    await flood();
    expect(issuer.asked.keys).toBe(2);
    time.nowMs += 1;
    await flood();
    expect(issuer.asked.keys).toBe(3);
    await verifier.verify(issuer.token());
  });

  test('keys that are known stay good when asking again fails', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier } = makeVerifier();
    await verifier.verify(issuer.token());

    issuer.instead['/keys'] = (_request, response) => response.writeHead(503).end();
    await expectRefusal(verifier, issuer.token(ec, 'ES256', {}, { kid: 'new' }), /key set was not served/);
    expect(await verifier.verify(issuer.token())).toMatchObject({ subject: 'alice' });
  });

  test('a failure is remembered for five seconds', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier, time } = makeVerifier();
    issuer.instead[DISCOVERY_PATH] = (_request, response) => response.writeHead(503).end();

    await expectRefusal(verifier, issuer.token(), /was not served/);
    issuer.instead = {};
    time.nowMs += 4999;
    await expectRefusal(verifier, issuer.token(), /was not served/);
    expect(issuer.asked.discovery).toBe(1);
    time.nowMs += 1;
    expect(await verifier.verify(issuer.token())).toMatchObject({ subject: 'alice' });
  });

  test('a thousand issuers are remembered, and those that fail displace none', async () => {
    const asked: string[] = [];
    const { verifier } = makeVerifier(async (url) => {
      asked.push(url);
      const { origin, hostname } = new URL(url);
      return {
        status: hostname.startsWith('bad') ? 404 : 200,
        headers: {},
        body: Buffer.from(JSON.stringify({ issuer: origin, jwks_uri: `${origin}/keys`, keys: [toJwk(ec)] })),
        isInsideAllowList: false,
      };
    });
    const exp = START_MS / 1000 + 60;
    const ask = (host: string) =>
      verifier.verify(makeToken(ec, 'ES256', { iss: `https://${host}.test`, sub: 'alice', aud: 'client', exp }));
    const isAskedFor = async (host: string): Promise<boolean> => {
      asked.length = 0;
      await ask(host);
      return asked.length > 0;
    };

    await ask('first');
    for (let index = 0; index < 1100; index += 1) await expect(ask(`bad${index}`)).rejects.toThrow(/not served/);
    expect(await isAskedFor('first')).toBe(false);
    for (let index = 0; index < 999; index += 1) await ask(`good${index}`);
    expect(await isAskedFor('first')).toBe(false);
    await ask('good999');
    expect(await isAskedFor('good0')).toBe(true);
    expect(await isAskedFor('first')).toBe(false);
  });
});

describe('our own issuer', () => {
  const publicKey = Buffer.concat([
    Buffer.from([4]),
    ...['x', 'y'].map((member) =>
      Buffer.from(String(ec.publicKey.export({ format: 'jwk' })[member as 'x']), 'base64url'),
    ),
  ]).toString('hex');
  const own: OwnIssuer = { issuer: 'http://127.0.0.1:1', keys: [{ keyId: ec.kid, publicKey }] };
  const claims = { iss: own.issuer, sub: 'x:1', aud: 'client', exp: START_MS / 1000 + 60 };
  const nobody: GuardedFetch = () => Promise.reject(new Error('nobody should be asked'));
  const local = createOidcVerifier({ fetch: nobody, clock: () => START_MS, own: () => own });

  test('its tokens are verified without asking', async () => {
    expect(await local.verify(makeToken(ec, 'ES256', claims))).toMatchObject({ issuer: own.issuer, subject: 'x:1' });
  });

  test('a token that our public key signed as a secret is refused', async () => {
    await local.verify(makeToken(ec, 'ES256', claims));
    for (const secret of [
      publicKey,
      Buffer.from(publicKey, 'hex'),
      ec.publicKey.export({ type: 'spki', format: 'pem' }),
    ]) {
      const signed = `${encode({ alg: 'HS256', kid: ec.kid })}.${encode(claims)}`;
      const signature = createHmac('sha256', secret).update(signed).digest('base64url');
      await expectRefusal(local, `${signed}.${signature}`, /not accepted/);
    }
  });

  test('so is one of another key, however it calls itself', async () => {
    const mallory = makeKey.ec();
    await expectRefusal(local, makeToken(mallory, 'ES256', claims), /does not have/);
    await expectRefusal(local, makeToken(mallory, 'ES256', claims, { kid: ec.kid }), /does not verify/);
    await expectRefusal(local, makeToken(rsa, 'RS256', claims, { kid: ec.kid }), /does not have/);
  });

  test('others verify them from what we publish', async () => {
    const server = fastify();
    try {
      let issuer = '';
      addIssuerRoutes(server, () => ({ ...own, issuer }));
      issuer = await server.listen({ host: '127.0.0.1', port: 0 });
      const token = makeToken(ec, 'ES256', { ...claims, iss: issuer });

      expect(await makeVerifier().verifier.verify(token)).toMatchObject({ issuer, subject: 'x:1' });
    } finally {
      await server.close();
    }
  });
});
