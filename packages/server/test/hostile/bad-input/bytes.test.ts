import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/engine/define.ts';
import type { ErrorCode } from '../../../src/lib/errors.ts';
import { LIMITS } from '../../../src/lib/limits.ts';
import { operations, pathOf } from '../../../src/registry.ts';
import { attestedStamp, newEmail, newVerification } from '../../fixtures/outside.ts';
import { newPasskey } from '../../fixtures/passkey.ts';
import { createSubOrganization, createUser, newKeyPair, stampFor, type TestClient } from '../../harness/client.ts';
import { times } from '../../harness/effort.ts';
import { caseFor } from '../../operations/all-cases.ts';
import { expectRefusal, flawOfAnswer, flawOfRefusal } from '../answers.ts';
import { versionsOf } from '../schema.ts';
import { abandon, exchange, exchangeAndEnd, exchangeSeveral, inParallel, type RawAnswer } from '../wire.ts';
import { World } from '../world.ts';
import { bodyOf, expectUnharmed, pruned, timestampMs } from './support.ts';

const WHOAMI = '/public/v1/query/whoami';

const RENAME = '/public/v1/submit/update_user_name';

describe('wrong bytes', () => {
  let world: World;
  let pid: number;
  let root: TestClient;

  beforeAll(async () => {
    world = await World.open('sqlite');
    pid = world.server.pid;
    root = world.parent.root;
  });
  afterEach(() => expectUnharmed(world, pid));
  afterAll(() => world?.[Symbol.asyncDispose]());

  const whoamiBody = () => JSON.stringify({ organizationId: root.organizationId });
  const renameBody = (extra = '') =>
    `{"type":"ACTIVITY_TYPE_UPDATE_USER_NAME","timestampMs":"${timestampMs()}","organizationId":"${root.organizationId}","parameters":{"userId":"${root.userId}","userName":"renamed"}${extra}}`;

  /** The head of a request, with a stamp for the body unless other headers are given. */
  function head(body: string | Uint8Array, headers: readonly string[] = [], line = `POST ${WHOAMI} HTTP/1.1`): string {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const own = headers.map((header) => header.slice(0, header.indexOf(':')).toLowerCase());
    const standard = [
      'Host: localhost',
      'Content-Type: application/json',
      `Content-Length: ${bytes.length}`,
      `X-Stamp: ${stampFor(bytes, root.key)}`,
    ].filter((header) => !own.includes(header.slice(0, header.indexOf(':')).toLowerCase()));
    return `${[line, ...standard, ...headers.filter((header) => !header.endsWith(': -'))].join('\r\n')}\r\n\r\n`;
  }

  const ask = (body: string | Uint8Array, headers: readonly string[] = [], line?: string): Promise<RawAnswer[]> =>
    exchange(world.server.baseUrl, head(body, headers, line), body);

  async function expectRawRefusal(answers: Promise<RawAnswer[]>, errorCode?: ErrorCode): Promise<void> {
    const [answer, ...more] = await answers;
    expect(more).toEqual([]);
    expect(answer, 'no answer at all').toBeDefined();
    expectRefusal(answer as RawAnswer, errorCode);
    expect(answer?.headers['content-type']).toBe('application/json; charset=utf-8');
  }

  async function expectNoChange(work: () => Promise<unknown>): Promise<void> {
    const watch = await world.watch();
    await work();
    expect(await watch.changes()).toEqual([]);
  }

  const nested = (depth: number, open: string, close: string) => `${open.repeat(depth)}${close.repeat(depth)}`;
  const utf8 = (text: string) => Buffer.from(text, 'utf8');
  const without = (text: string, start: number, length: number, ...bytes: number[]) =>
    Buffer.concat([utf8(text).subarray(0, start), Buffer.from(bytes), utf8(text).subarray(start + length)]);

  test('the body that the others are made of is accepted', async () => {
    expect((await ask(whoamiBody()))[0]?.status).toBe(200);
    expect((await ask(renameBody(), [], `POST ${RENAME} HTTP/1.1`))[0]?.status).toBe(200);
    expect((await ask(renameBody(`,"more":${nested(31, '[', ']')}`), [], `POST ${RENAME} HTTP/1.1`))[0]?.status).toBe(
      200,
    );
  });

  test.each<[string, (body: string) => string | Uint8Array]>([
    ['an empty body', () => ''],
    ['white space', () => ' \n\t'],
    ['a list', (body) => `[${body}]`],
    ['a string', (body) => JSON.stringify(body)],
    ['a number', () => '1'],
    ['null', () => 'null'],
    ['two values', (body) => `${body}${body}`],
    ['a trailing comma', (body) => body.replace(/\}$/, ',}')],
    ['a comment', (body) => `${body}// comment`],
    ['single quotes', (body) => body.replaceAll('"', "'")],
    ['a duplicate key', (body) => body.replace('{', '{"organizationId":"x",')],
    ['a duplicate key spelled otherwise', (body) => body.replace('{', '{"\\u006frganizationId":"x",')],
    ['a nested duplicate key', (body) => body.replace(/\}$/, ',"more":{"a":1,"b":[{"c":1,"c":2}]}}')],
    ['a duplicate __proto__', (body) => body.replace(/\}$/, ',"__proto__":1,"__proto__":2}')],
    ['an escaped lone surrogate', (body) => body.replace(/\}$/, ',"more":"\\ud800"}')],
    ['an escaped lone low surrogate', (body) => body.replace(/\}$/, ',"more":"\\udc00\\ud800"}')],
    ['a lone surrogate in a key', (body) => body.replace(/\}$/, ',"\\ud83d":1}')],
    [
      'a lone surrogate as bytes',
      (body) => without(body.replace(/\}$/, ',"more":"x"}'), body.length + 8, 1, 0xed, 0xa0, 0x80),
    ],
    ['a byte-order mark', (body) => `\ufeff${body}`],
    ['UTF-16', (body) => Buffer.from(body, 'utf16le')],
    ['a byte that is no UTF-8', (body) => without(body, 2, 1, 0xff)],
    ['an overlong slash', (body) => without(body, 2, 1, 0xc0, 0xaf)],
    ['a character cut short', (body) => Buffer.concat([utf8(body), Buffer.of(0xe2, 0x82)])],
    ['a raw control character', (body) => body.replace(/\}$/, ',"more":"a\u0001"}')],
    ['a raw zero', (body) => `${body}\u0000`],
    ['depth 33 in lists', (body) => body.replace(/\}$/, `,"more":${nested(32, '[', ']')}}`)],
    ['depth 33 in objects', (body) => body.replace(/\}$/, `,"more":${'{"a":'.repeat(32)}1${'}'.repeat(32)}}`)],
    ['30,000 brackets', (body) => body.replace(/\}$/, `,"more":${nested(30_000, '[', ']')}}`)],
    ['60,000 opening brackets', () => '['.repeat(60_000)],
    ['10,000 opening braces', () => '{"a":'.repeat(10_000)],
    ['a number out of range', (body) => body.replace(/\}$/, ',"more":1e400}')],
    ['a number with a leading zero', (body) => body.replace(/\}$/, ',"more":01}')],
    ['NaN', (body) => body.replace(/\}$/, ',"more":NaN}')],
    ['half a body', (body) => body.slice(0, body.length / 2)],
    ['noise', () => randomBytes(1000)],
  ])('%s is refused', async (_name, spoil) => {
    await expectNoChange(async () => {
      await expectRawRefusal(ask(spoil(whoamiBody())), 'REQUEST_INVALID');
      await expectRawRefusal(ask(spoil(renameBody()), [], `POST ${RENAME} HTTP/1.1`), 'REQUEST_INVALID');
    });
  });

  test('a body up to the limit is read, a longer one is not', async () => {
    const padded = (length: number) => {
      const body = whoamiBody().replace(/\}$/, ',"more":""}');
      return body.replace('"more":"', `"more":"${'x'.repeat(length - body.length)}`);
    };
    expect((await ask(padded(LIMITS.defaultBodyBytes)))[0]?.status).toBe(200);
    await expectRawRefusal(ask(padded(LIMITS.defaultBodyBytes + 1)), 'BODY_TOO_LARGE');
    // The answer must arrive although the client is still sending.
    for (let round = 0; round < 5; round += 1) await expectRawRefusal(ask(padded(10_000_000)), 'BODY_TOO_LARGE');
    const chunk = Buffer.from('x'.repeat(65_536));
    const chunks = Array.from({ length: 160 }, () => Buffer.concat([utf8('10000\r\n'), chunk, utf8('\r\n')]));
    const chunked = head('', ['Transfer-Encoding: chunked', 'Content-Length: -']);
    await expectRawRefusal(exchange(world.server.baseUrl, chunked, ...chunks, '0\r\n\r\n'), 'BODY_TOO_LARGE');
  });

  test.each<[string, string, ErrorCode]>([
    ['plain text', 'text/plain', 'UNSUPPORTED_MEDIA_TYPE'],
    ['a form', 'application/x-www-form-urlencoded', 'UNSUPPORTED_MEDIA_TYPE'],
    ['a multipart form', 'multipart/form-data; boundary=x', 'UNSUPPORTED_MEDIA_TYPE'],
    ['a longer word', 'application/jsonp', 'UNSUPPORTED_MEDIA_TYPE'],
    ['two types', 'application/json, text/plain', 'UNSUPPORTED_MEDIA_TYPE'],
    ['half a type', 'application', 'UNSUPPORTED_MEDIA_TYPE'],
    ['a semicolon', ';', 'UNSUPPORTED_MEDIA_TYPE'],
  ])('the content type %s is refused', async (_name, type, errorCode) => {
    await expectRawRefusal(ask(whoamiBody(), [`Content-Type: ${type}`]), errorCode);
  });

  test.each(['gzip', 'deflate', 'br', 'gzip, identity', 'x'])(
    'the content encoding %s is refused',
    async (encoding) => {
      const body = encoding === 'gzip' ? gzipSync(whoamiBody()) : whoamiBody();
      await expectRawRefusal(ask(body, [`Content-Encoding: ${encoding}`]), 'UNSUPPORTED_MEDIA_TYPE');
    },
  );

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset=x',
    'application/json ;a=b',
  ])('the content type %s is accepted', async (type) => {
    expect((await ask(whoamiBody(), [`Content-Type: ${type}`]))[0]?.status).toBe(200);
  });

  test('headers have bounds', async () => {
    const valid = () => stampFor(utf8(whoamiBody()), root.key);
    expect((await ask(whoamiBody(), [`X-Client-Version: ${'x'.repeat(8000)}`]))[0]?.status).toBe(200);
    await expectRawRefusal(ask(whoamiBody(), [`X-Stamp: ${valid()}${'A'.repeat(8192)}`]), 'HEADER_TOO_LARGE');
    await expectRawRefusal(ask(whoamiBody(), [`X-Session: ${'A'.repeat(8193)}`, 'X-Stamp: -']), 'HEADER_TOO_LARGE');
    await expectRawRefusal(ask(whoamiBody(), [`X-Other: ${'x'.repeat(16 * 1024)}`]), 'HEADER_TOO_LARGE');
    await expectRawRefusal(ask(whoamiBody(), [`${'x'.repeat(16 * 1024)}: 1`]), 'HEADER_TOO_LARGE');
    await expectRawRefusal(
      ask(
        whoamiBody(),
        Array.from({ length: 4000 }, (_x, index) => `a${index}: 1`),
      ),
      'HEADER_TOO_LARGE',
    );
    expect(
      (
        await ask(
          whoamiBody(),
          Array.from({ length: 1000 }, (_x, index) => `a${index}: 1`),
        )
      )[0]?.status,
    ).toBe(200);
  });

  test('authentication headers are given once', async () => {
    const stamp = stampFor(utf8(whoamiBody()), root.key);
    await expectRawRefusal(ask(whoamiBody(), [`X-Stamp: ${stamp}`, `x-stamp: ${stamp}`]), 'REQUEST_INVALID');
    await expectRawRefusal(ask(whoamiBody(), [`X-Stamp: ${stamp}`, 'X-Session: token']), 'REQUEST_INVALID');
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp: -']), 'SIGNATURE_MISSING');
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp:']), 'SIGNATURE_INVALID');
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp-Attested: x', 'X-Stamp: -']), 'SIGNATURE_INVALID');
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp-Attested: x']), 'REQUEST_INVALID');
  });

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'LOCK', 'SEARCH', 'M-SEARCH', 'QUERY'])(
    '%s is not POST',
    async (method) => {
      await expectNoChange(() =>
        expectRawRefusal(ask(whoamiBody(), [], `${method} ${WHOAMI} HTTP/1.1`), 'METHOD_NOT_ALLOWED'),
      );
    },
  );

  test('HEAD is answered without a body', async () => {
    const answer = await fetch(`${world.server.baseUrl}${WHOAMI}`, { method: 'HEAD' });
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 405, text: '' });
  });

  test.each([
    '/',
    '//public/v1/query/whoami',
    '/public/v1/query/whoami/',
    '/public/v1/query/',
    '/public/v1/query/nothing',
    '/public/v1/query/constructor',
    '/public/v1/query/__proto__',
    '/public/v1/query/whoami%00',
    '/public/v1/query/whoami%2f',
    '/public/v1/query/who\u00e9mi',
    '/public/v1/query/%',
    '/public/v1/query/%zz',
    '/public/v1/query/%c0%af',
    '/public/v1/query/../query/nothing',
    '/public/v1/query/..%2f..%2f..%2fetc%2fpasswd',
    '/public/v1/submit/whoami',
    '/PUBLIC/V1/QUERY/WHOAMI',
    '*',
    `/${'x'.repeat(8000)}`,
    '/public/v1/query/whoami;a=b',
    '/public/v1/query/whoami\\',
    'http://[::bad/public/v1/query/whoami',
  ])('nothing is at %s', async (path) => {
    await expectRawRefusal(ask(whoamiBody(), [], `POST ${path} HTTP/1.1`));
  });

  test.each(['/public/v1/query/who%61mi', '/public/v1/query/whoami?x=1#y', `http://elsewhere${WHOAMI}`])(
    '%s is the same path in other words or no path',
    async (path) => {
      const [answer] = await ask(whoamiBody(), [], `POST ${path} HTTP/1.1`);
      expect(flawOfAnswer(answer as RawAnswer)).toBeUndefined();
    },
  );

  test('HTTP/1.0 and older is answered', async () => {
    const [answer] = await ask(whoamiBody(), [], `POST ${WHOAMI}`);
    expect(flawOfAnswer(answer as RawAnswer)).toBeUndefined();
    expect((await ask(whoamiBody(), ['Host: -'], `POST ${WHOAMI} HTTP/1.0`))[0]?.status).toBe(200);
    await expectRawRefusal(ask(whoamiBody(), ['X-Stamp: -'], `POST ${WHOAMI} HTTP/1.0`), 'SIGNATURE_MISSING');
  });

  test.each<[string, (body: string) => readonly (string | Uint8Array)[]]>([
    ['no host', (body) => [head(body, ['Host: -']), body]],
    ['two lengths', (body) => [head(body, [`Content-Length: ${body.length}`, 'Content-Length: 1']), body]],
    [
      'a length and chunks',
      (body) => [head(body, [`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked']), body],
    ],
    ['a negative length', (body) => [head(body, ['Content-Length: -1']), body]],
    ['a length in words', (body) => [head(body, ['Content-Length: ten']), body]],
    ['a length beyond all numbers', (body) => [head(body, [`Content-Length: ${'9'.repeat(30)}`]), body]],
    ['a body shorter than its length', (body) => [head(body, [`Content-Length: ${body.length + 10}`]), body]],
    [
      'chunks that are none',
      (body) => [head(body, ['Content-Length: -', 'Transfer-Encoding: chunked']), 'zz\r\n', body],
    ],
    [
      'chunks without an end',
      (body) => [head(body, ['Content-Length: -', 'Transfer-Encoding: chunked']), '5\r\nabcde\r\n'],
    ],
    [
      'an unknown transfer coding',
      (body) => [head(body, ['Content-Length: -', 'Transfer-Encoding: gzip, chunked']), '0\r\n\r\n'],
    ],
    ['an unknown version', (body) => [head(body, [], `POST ${WHOAMI} HTTP/9.9`), body]],
    ['a method in small letters', (body) => [head(body, [], `post ${WHOAMI} HTTP/1.1`), body]],
    ['a space before the colon', (body) => [head(body, ['X-Odd : 1']), body]],
    ['a header without a name', (body) => [head(body, [': 1']), body]],
    ['a folded header', (body) => [head(body, ['X-Odd: 1\r\n folded']), body]],
    ['a zero in a header', (body) => [head(body, ['X-Odd: a\u0000b']), body]],
    ['bare line feeds', (body) => [head(body).replaceAll('\r\n', '\n'), body]],
    ['half a head', (body) => [head(body).slice(0, 60)]],
    ['the preface of HTTP/2', () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']],
    ['a TLS hello', () => [Buffer.from('16030100a5010000a10303', 'hex'), randomBytes(160)]],
    ['noise', () => [Buffer.concat([Buffer.of(0xff), randomBytes(500)])]],
  ])('%s gets the documented refusal', async (name, pieces) => {
    expect((await ask(whoamiBody()))[0]?.status).toBe(200);
    await expectNoChange(async () => {
      const isUnfinished = / shorter |without an end|half a /.test(name);
      const [answer, ...more] = await (isUnfinished ? exchangeAndEnd : exchange)(
        world.server.baseUrl,
        ...pieces(whoamiBody()),
      );
      expect(more).toEqual([]);
      expect(flawOfRefusal(answer ?? { status: 0, body: undefined })).toBeUndefined();
    });
  });

  test('an expectation that nobody knows is answered', async () => {
    const [answer] = await ask(whoamiBody(), ['Expect: the unexpected']);
    expect(flawOfAnswer(answer ?? { status: 0, body: undefined })).toBeUndefined();
  });

  test('CONNECT and upgrades lead nowhere', async () => {
    for (const request of [
      'CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere\r\n\r\n',
      head('', ['Connection: Upgrade', 'Upgrade: websocket'], `GET ${WHOAMI} HTTP/1.1`),
      head('', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']),
    ]) {
      for (const answer of await exchange(world.server.baseUrl, request)) {
        expect(flawOfRefusal(answer)).toBeUndefined();
      }
    }
  });

  test('requests in one piece are answered in order, garbage after them ends the connection', async () => {
    const body = whoamiBody();
    const one = `${head(body)}${body}`;
    const answers = await exchangeSeveral(world.server.baseUrl, 3, one, one, one);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const garbage of ['\u0001\u0002garbage\r\n\r\n', 'GET\r\n\r\n', `${head('{', ['Content-Length: -1'])}`]) {
      const mixed = await exchange(world.server.baseUrl, one, garbage);
      for (const answer of mixed) expect(flawOfAnswer(answer)).toBeUndefined();
      // Garbage does not take the answer of the request before it.
      expect(mixed[0]?.status).toBe(200);
    }
  });

  test('connections that are dropped half way harm nobody', async () => {
    const body = renameBody();
    const whole = `${head(body, [], `POST ${RENAME} HTTP/1.1`)}${body}`;
    await expectNoChange(async () => {
      for (const length of [
        1,
        20,
        100,
        whole.length - body.length,
        whole.length - body.length + 10,
        whole.length - 1,
      ]) {
        await abandon(world.server.baseUrl, whole.slice(0, length));
      }
    });
    expect((await exchange(world.server.baseUrl, whole))[0]?.status).toBe(200);
  });

  test('stamps of any shape are refused', async () => {
    const stamp = (fields: unknown) => Buffer.from(JSON.stringify(fields)).toString('base64url');
    const { publicKey } = root.key;
    const schemes = ['P256', 'SECP256K1', 'SECP256K1_EIP191', 'ED25519'].map(
      (name) => `SIGNATURE_SCHEME_TK_API_${name}`,
    );
    const keys = [
      '',
      '00',
      '00'.repeat(32),
      'ff'.repeat(32),
      '00'.repeat(33),
      `02${'ff'.repeat(32)}`,
      `04${'11'.repeat(64)}`,
      publicKey,
      'zz',
      'a'.repeat(5000),
    ];
    const signatures = [
      '',
      '00',
      '00'.repeat(64),
      'ff'.repeat(64),
      '3006020101020101',
      '3006020100020100',
      '30',
      `30${'ff'.repeat(70)}`,
    ];
    const values = [
      ...schemes.flatMap((scheme) =>
        keys.flatMap((key) => signatures.map((signature) => stamp({ publicKey: key, scheme, signature }))),
      ),
      stamp(null),
      stamp([]),
      stamp('x'),
      stamp({}),
      stamp({ publicKey: {}, scheme: [], signature: 1 }),
      stamp({ publicKey, scheme: '__proto__', signature: '00' }),
      stamp({ publicKey, scheme: 'constructor', signature: '00' }),
      '{',
      '====',
      '\u00ff',
      Buffer.from('['.repeat(3000)).toString('base64url'),
    ];
    const flaws: string[] = [];
    await expectNoChange(() =>
      inParallel(values, async (value) => {
        const [answer] = await ask(whoamiBody(), [`X-Stamp: ${value}`]);
        const flaw = flawOfRefusal(answer ?? { status: 0, body: undefined });
        if (flaw !== undefined) flaws.push(`${value.slice(0, 200)}: ${flaw}`);
      }),
    );
    expect(flaws).toEqual([]);
  });

  describe('random', () => {
    interface Valid {
      readonly operation: Operation;
      readonly client: TestClient;
      readonly body: Record<string, unknown>;
    }
    const valid: Valid[] = [];

    beforeAll(async () => {
      for (const operation of operations) {
        for (const version of versionsOf(operation)) {
          const own = await caseFor(operation.name, world.parent, version.type);
          valid.push({ operation, client: own.client, body: bodyOf(version, own, pruned(version, own)) });
        }
      }
    });

    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const anyKey = fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'type', 'organizationId', 'userId', 'length'),
      text,
    );
    const anyValue = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      text,
      fc.constantFrom(null, [], {}, '', 0, -1, 2 ** 53, true),
    );
    const edit = fc.record({
      where: fc.nat(),
      how: fc.constantFrom('replace', 'replace', 'remove', 'add', 'repeat', 'swap'),
      key: anyKey,
      value: anyValue,
    });
    const splice = fc.record({ at: fc.nat(), remove: fc.nat({ max: 3 }), bytes: fc.uint8Array({ maxLength: 4 }) });
    const attempt = fc.record({
      which: fc.nat(),
      edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
      splice: fc.option(splice, { freq: 4 }),
    });
    type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never;

    /** Every place of a value, as the object or list that holds it and the key there. */
    function places(value: unknown): { holder: Record<string, unknown>; key: string }[] {
      if (typeof value !== 'object' || value === null) return [];
      return Object.keys(value).flatMap((key) => [
        { holder: value as Record<string, unknown>, key },
        ...places((value as Record<string, unknown>)[key]),
      ]);
    }

    function apply(body: Record<string, unknown>, { where, how, key, value }: Edit): void {
      const all = places(body);
      const place = all[where % all.length];
      if (place === undefined) return;
      const { holder } = place;
      const define = (name: string, content: unknown) =>
        Object.defineProperty(holder, name, { value: content, enumerable: true, writable: true, configurable: true });
      switch (how) {
        case 'replace':
          return void define(place.key, value);
        case 'remove':
          return void (Array.isArray(holder) ? holder.splice(Number(place.key), 1) : delete holder[place.key]);
        case 'add':
          return void (Array.isArray(holder) ? holder.push(value) : define(key, value));
        case 'repeat':
          return void (Array.isArray(holder) ? holder.push(holder[Number(place.key)]) : define(key, holder[place.key]));
        case 'swap':
          return void define(place.key, structuredClone(all[(where * 7 + 3) % all.length]?.holder));
      }
    }

    test('bodies that were valid once are always answered', async () => {
      let sent = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(attempt, { minLength: 24, maxLength: 24 }), async (attempts) => {
          await inParallel(attempts, async ({ which, edits, splice: cut }) => {
            const { operation, client, body } = valid[which % valid.length] as Valid;
            const copy: Record<string, unknown> = structuredClone(body);
            if (operation.kind !== 'query') copy.timestampMs = timestampMs();
            for (const one of edits) apply(copy, one);
            const printed = JSON.stringify(copy);
            const at = cut === null ? 0 : cut.at % printed.length;
            const bytes = cut === null ? utf8(printed) : without(printed, at, cut.remove, ...cut.bytes);
            sent += 1;
            const flaw = flawOfAnswer(await client.sendStamped(pathOf(operation), bytes));
            if (flaw !== undefined)
              throw new Error(`${operation.name} ${bytes.toString('latin1').slice(0, 1000)}: ${flaw}`);
          });
        }),
        { numRuns: times(110) },
      );
      expect(sent).toBeGreaterThan(2000);
    });

    test('registrations of passkeys with random bytes are always answered', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(splice, { minLength: 1, maxLength: 3 }),
          fc.constantFrom('attestationObject', 'clientDataJson'),
          async (cuts, member) => {
            const { registration } = newPasskey(`random ${timestampMs()}`);
            const { attestation } = registration;
            let bytes = Buffer.from(attestation[member], 'base64url');
            for (const { at, remove, bytes: added } of cuts) {
              const start = at % bytes.length;
              bytes = Buffer.concat([bytes.subarray(0, start), added, bytes.subarray(start + remove)]);
            }
            const changed = { ...registration, attestation: { ...attestation, [member]: bytes.toString('base64url') } };
            const answer = await root.submit('create_authenticators', {
              userId: root.userId,
              authenticators: [changed],
            });
            expect(flawOfAnswer(answer)).toBeUndefined();
          },
        ),
        { numRuns: times(250) },
      );
    });

    test('headers of random bytes are always answered', async () => {
      const name = fc.constantFrom(
        'X-Stamp',
        'X-Stamp-WebAuthn',
        'X-Stamp-Attested',
        'X-Session',
        'Content-Type',
        'Content-Encoding',
        'Host',
        'Connection',
        'X-Odd',
      );
      const header = fc.tuple(name, fc.uint8Array({ maxLength: 120 }));
      await fc.assert(
        fc.asyncProperty(fc.array(header, { minLength: 1, maxLength: 4 }), async (headers) => {
          const body = whoamiBody();
          const lines = headers.flatMap(([key, value]) => [utf8(`${key}: `), value, utf8('\r\n')]);
          const start = `POST ${WHOAMI} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n`;
          const answers = await exchange(
            world.server.baseUrl,
            Buffer.concat([utf8(start), ...lines, utf8('\r\n')]),
            body,
          );
          expect(answers.length).toBeGreaterThan(0);
          for (const answer of answers) expect(flawOfRefusal(answer)).toBeUndefined();
        }),
        { numRuns: times(400) },
      );
    });

    test('attested stamps of random fields are always refused', async () => {
      // Random bodies may have changed what the others can do.
      const sub = await createSubOrganization(root, 'Attested');
      const email = newEmail();
      await createUser(sub, 'Attested', { userEmail: email });
      const key = newKeyPair();
      const token = await newVerification(sub, key, email);
      const line = 'POST /public/v1/submit/stamp_login HTTP/1.1';
      const login = () => sub.submitBody('stamp_login', { publicKey: newKeyPair().publicKey });
      const first = login();
      const good = attestedStamp(utf8(first), key, token);
      expect((await ask(first, [`X-Stamp-Attested: ${good}`, 'X-Stamp: -'], line))[0]?.status).toBe(200);
      const { publicKey, scheme, signature } = JSON.parse(Buffer.from(good, 'base64url').toString());
      const part = fc.oneof(
        fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
        fc.json({ maxDepth: 1 }),
      );
      const stamp = fc.record({
        publicKeyAttestation: fc.oneof(fc.constant(token), part),
        scheme: fc.oneof(fc.constant(scheme), part),
        publicKey: fc.oneof(fc.constant(publicKey), part),
        signature: fc.oneof(fc.constant(signature), part),
      });
      await expectNoChange(() =>
        fc.assert(
          fc.asyncProperty(stamp, async (fields) => {
            const value = Buffer.from(JSON.stringify(fields)).toString('base64url');
            const [answer] = await ask(login(), [`X-Stamp-Attested: ${value}`, 'X-Stamp: -'], line);
            expect(flawOfRefusal(answer ?? { status: 0, body: undefined })).toBeUndefined();
            expect(answer?.status).toBe(401);
          }),
          { numRuns: times(200) },
        ),
      );
    });

    test('passkey stamps of random fields are always refused', async () => {
      const { credentialId } = world.parent.passkey;
      const part = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('base64url'));
      const stamp = fc.record({
        credentialId: fc.oneof(fc.constant(credentialId), part),
        authenticatorData: part,
        clientDataJson: fc.oneof(
          part,
          fc.json().map((json) => Buffer.from(json).toString('base64url')),
        ),
        signature: part,
      });
      await expectNoChange(() =>
        fc.assert(
          fc.asyncProperty(stamp, async (value) => {
            const [answer] = await ask(whoamiBody(), [`X-Stamp-WebAuthn: ${JSON.stringify(value)}`, 'X-Stamp: -']);
            expect(flawOfRefusal(answer ?? { status: 0, body: undefined })).toBeUndefined();
            expect(answer?.status).toBe(401);
          }),
          { numRuns: times(300) },
        ),
      );
    });
  });
});
