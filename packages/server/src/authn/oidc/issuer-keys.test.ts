import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  ec,
  expectRefusal,
  Issuer,
  makeKey,
  makeToken,
  makeVerifier,
  START_MS,
  toJwk,
} from '../../../test/harness/oidc-issuer.ts';
import { createGuardedFetch, type GuardedFetch } from '../../outbound/guarded-fetch.ts';

const LOOPBACK = ['127.0.0.1/32'];
const DISCOVERY_PATH = '/.well-known/openid-configuration';
/** The same for whatever an issuer answers, or does not. */
const UNUSABLE_ISSUER = /^the issuer's keys could not be fetched: [^<"\d]+$/;

describe('documents', () => {
  test('the discovery document must be for exactly this issuer', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    await makeVerifier().verifier.verify(issuer.token());

    const others = ['https://issuer.test', `${issuer.url}/`, issuer.url.toUpperCase(), undefined, null, [issuer.url]];
    for (const other of others) {
      issuer.discovery.issuer = other;
      await expectRefusal(makeVerifier().verifier, issuer.token(), UNUSABLE_ISSUER);
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
      await expectRefusal(makeVerifier().verifier, issuer.token(), UNUSABLE_ISSUER);
    }
    for (const url of ['file:///etc/passwd', 'keys', `http://user:password@127.0.0.1:${port}/keys`]) {
      issuer.discovery.jwks_uri = url;
      await expectRefusal(makeVerifier().verifier, issuer.token(), UNUSABLE_ISSUER);
    }
  });

  test('an issuer on a private address is only reached where the operator allows it', async () => {
    const issuer = await Issuer.start(toJwk(ec));

    await makeVerifier().verifier.verify(issuer.token());
    const { verifier } = makeVerifier(createGuardedFetch(['10.0.0.0/8']));
    await expectRefusal(verifier, issuer.token(), UNUSABLE_ISSUER);
    expect(issuer.asked.discovery).toBe(1);
  });

  const goodDocument = ({ headers }: IncomingMessage): string => {
    const issuer = `http://${headers.host}`;
    return JSON.stringify({ issuer, jwks_uri: `${issuer}/keys`, keys: [toJwk(ec)] });
  };
  const UNUSABLE: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    'a redirect': (request, response) => {
      const location = `http://${request.headers.host}/elsewhere`;
      response.writeHead(302, { location }).end(goodDocument(request));
    },
    'an error': (request, response) => response.writeHead(500).end(goodDocument(request)),
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
        await expectRefusal(makeVerifier().verifier, issuer.token(), UNUSABLE_ISSUER);
      }
    },
  );

  test('documents are bounded to 64 and 256 KiB', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    issuer.discovery.filler = 'a'.repeat(63 * 1024);
    issuer.keys.push({ kty: 'RSA', filler: 'a'.repeat(255 * 1024) });
    await makeVerifier().verifier.verify(issuer.token());

    issuer.keys.push({ filler: 'a'.repeat(1024) });
    await expectRefusal(makeVerifier().verifier, issuer.token(), UNUSABLE_ISSUER);
    issuer.discovery.filler = 'a'.repeat(64 * 1024);
    await expectRefusal(makeVerifier().verifier, issuer.token(), UNUSABLE_ISSUER);
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
    await expectRefusal(makeVerifier(impatient).verifier, issuer.token(), UNUSABLE_ISSUER);
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
    await expectRefusal(verifier, issuer.token(ec, 'ES256', {}, { kid: 'new' }), UNUSABLE_ISSUER);
    expect(await verifier.verify(issuer.token())).toMatchObject({ subject: 'alice' });
  });

  test('a failure is remembered for five seconds', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { verifier, time } = makeVerifier();
    issuer.instead[DISCOVERY_PATH] = (_request, response) => response.writeHead(503).end();

    await expectRefusal(verifier, issuer.token(), UNUSABLE_ISSUER);
    issuer.instead = {};
    time.nowMs += 4999;
    await expectRefusal(verifier, issuer.token(), UNUSABLE_ISSUER);
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
    for (let index = 0; index < 1100; index += 1) await expect(ask(`bad${index}`)).rejects.toThrow(UNUSABLE_ISSUER);
    expect(await isAskedFor('first')).toBe(false);
    for (let index = 0; index < 999; index += 1) await ask(`good${index}`);
    expect(await isAskedFor('first')).toBe(false);
    await ask('good999');
    expect(await isAskedFor('good0')).toBe(true);
    expect(await isAskedFor('first')).toBe(false);
  });
});
