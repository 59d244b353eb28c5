import { expect, test } from 'vitest';
import { fetchServiceKeys } from './service-keys.ts';

const KEY = { role: 'bundle-signer', publicKey: '04ab', encoding: 'uncompressed', keyId: 'one' };

function service(answer: () => Response) {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
    sent.push({ url: String(url), init: init as RequestInit });
    return answer();
  };
  return { sent, fetch: fetch as typeof globalThis.fetch };
}

test('asks the service itself, without credentials, and follows nobody', async () => {
  const { sent, fetch } = service(() => Response.json({ keys: [{ ...KEY, more: true }] }));
  expect(await fetchServiceKeys('http://service.test/', { fetch })).toEqual([KEY]);
  expect(sent).toEqual([
    {
      url: 'http://service.test/public/v1/discovery/keys',
      init: { headers: { Accept: 'application/json' }, redirect: 'manual', signal: expect.any(AbortSignal) },
    },
  ]);
});

test.each([
  ['no object', null],
  ['no keys', {}],
  ['keys that are no list', { keys: {} }],
  ['a key that is none', { keys: [KEY, null] }],
  ['a key without a role', { keys: [{ ...KEY, role: undefined }] }],
  ['a public key that is no text', { keys: [{ ...KEY, publicKey: 4 }] }],
  ['a key without an id', { keys: [{ ...KEY, keyId: undefined }] }],
  ['an unknown encoding', { keys: [{ ...KEY, encoding: 'hybrid' }] }],
])('%s is refused', async (_name, answer) => {
  const { fetch } = service(() => Response.json(answer));
  await expect(fetchServiceKeys('http://service.test', { fetch })).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' });
});

test('errors are those of every other call', async () => {
  const { fetch } = service(
    () => new Response('{"code":14,"message":"later","details":[],"errorCode":"UNAVAILABLE"}', { status: 503 }),
  );
  const refused = fetchServiceKeys('http://service.test', { fetch });
  await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', httpStatus: 503 });
  await expect(fetchServiceKeys('service.test')).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  const away = (() => Promise.reject(new TypeError('refused'))) as typeof globalThis.fetch;
  await expect(fetchServiceKeys('http://service.test', { fetch: away })).rejects.toMatchObject({
    code: 'NETWORK_ERROR',
  });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(fetchServiceKeys('http://service.test', { fetch, signal })).rejects.toThrow('enough');
});
