import { describe, expect, test } from 'vitest';
import type { ResolveHost } from '../../outbound/resolve-host.ts';
import { createTargetCheck } from './target.ts';

const PUBLIC = '93.184.215.14';
const PUBLIC_6 = '2606:4700:4700::1111';
const NOT_PUBLIC = 'the address is neither public nor allowed by the operator';
const NO_GOOD_NAME = 'the host needs an address, and each of them must be public or allowed by the operator';
const NOT_HTTPS = 'the URL must be https; plain http is for addresses that the operator allows';

const refusal = (message: string) =>
  expect.objectContaining({ name: 'ApiError', code: 'INVALID_WEBHOOK_URL', httpStatus: 400, message });

function check(url: string, records: readonly string[] = [PUBLIC], allow: readonly string[] = []): Promise<void> {
  return createTargetCheck(allow, { resolveHost: async () => records })(url);
}

describe('the URL itself', () => {
  test.each([
    'https://hooks.test/',
    'https://hooks.test/path?query=1',
    'https://hooks.test:8443/',
    'https://hooks.test./',
    'https://bücher.test/',
    'HTTPS://HOOKS.TEST/',
    'https://1.1.1.1/',
    'https://[2606:4700:4700::1111]/',
    `https://hooks.test/${'a'.repeat(2048 - 'https://hooks.test/'.length)}`,
  ])('%.60s may be registered', async (url) => {
    await expect(check(url)).resolves.toBeUndefined();
  });

  test.each([
    ['hooks.test', 'this is not a URL'],
    ['', 'this is not a URL'],
    ['https://', 'this is not a URL'],
    ['https://999.0.0.1/', 'this is not a URL'],
    ['https://[fe80::1%25eth0]/', 'this is not a URL'],
    ['https://hooks.test:65536/', 'this is not a URL'],
    [`https://hooks.test/${'a'.repeat(2048)}`, 'the URL is longer than 2048 characters'],
    ['ftp://hooks.test/', 'the URL must be https'],
    ['file:///etc/passwd', 'the URL must be https'],
    ['data:text/plain,x', 'the URL must be https'],
    ['http://hooks.test/', NOT_HTTPS],
    ['http://1.1.1.1/', NOT_HTTPS],
    ['https://user@hooks.test/', 'the URL has user information'],
    ['https://user:password@hooks.test/', 'the URL has user information'],
    ['https://:password@hooks.test/', 'the URL has user information'],
    ['https:hooks.test/', 'the URL must begin with https:// and a host'],
    ['https:/hooks.test/', 'the URL must begin with https:// and a host'],
    ['https:///hooks.test/', 'the URL must begin with https:// and a host'],
    ['https://@hooks.test/', 'the URL must begin with https:// and a host'],
    ['https://hooks.test:0/', 'nothing can be sent to port 0'],
    ['https://hooks.test/#part', 'the URL has a fragment, which is never sent'],
    ['https://hooks.test/#', 'the URL has a fragment, which is never sent'],
    ['https://hooks.test/a b', 'the URL has spaces, control characters or backslashes'],
    [' https://hooks.test/', 'the URL has spaces, control characters or backslashes'],
    ['https://ho\noks.test/', 'the URL has spaces, control characters or backslashes'],
    ['https:\\\\hooks.test\\', 'the URL has spaces, control characters or backslashes'],
    ['https://hooks.test:22/', 'the port must be 443 or above 1023'],
    ['https://hooks.test:80/', 'the port must be 443 or above 1023'],
    ['https://1.1.1.1:1023/', 'the port must be 443 or above 1023'],
  ])('%.60s is refused: %s', async (url, message) => {
    await expect(check(url)).rejects.toEqual(refusal(message));
  });
});

describe('the records of the name', () => {
  test('all are public', async () => {
    await expect(check('https://hooks.test/', [PUBLIC, PUBLIC_6])).resolves.toBeUndefined();
  });

  test.each([
    [[]],
    [['10.0.0.1']],
    [['169.254.169.254']],
    [['fd00:ec2::254']],
    [['::ffff:10.0.0.1']],
    [['64:ff9b::a00:1']],
    [['2002:a00:1::']],
    [[PUBLIC, '10.0.0.1']],
    [['127.0.0.1', PUBLIC]],
    [[PUBLIC, PUBLIC_6, 'fe80::1']],
    [['not an address']],
  ])('%j is refused, in words that name nothing of ours', async (records) => {
    await expect(check('https://hooks.test/', records)).rejects.toEqual(refusal(NO_GOOD_NAME));
    await expect(check('https://hooks.test:22/', records)).rejects.toEqual(refusal(NO_GOOD_NAME));
    await expect(check('http://hooks.test/', records)).rejects.toEqual(refusal(NOT_HTTPS));
  });

  test('an error and silence have the same words', async () => {
    const withResolver = (resolveHost: ResolveHost) =>
      createTargetCheck([], { resolveHost, timeoutMs: 20 })('https://hooks.test/');
    await expect(withResolver(() => Promise.reject(new Error('SERVFAIL ns1.internal')))).rejects.toEqual(
      refusal(NO_GOOD_NAME),
    );
    await expect(withResolver(() => new Promise(() => {}))).rejects.toEqual(refusal(NO_GOOD_NAME));
  });

  test('each is asked for anew', async () => {
    const answers = [[PUBLIC], ['10.0.0.1'], [PUBLIC]];
    const checkTarget = createTargetCheck([], { resolveHost: async () => answers.shift()! });
    await checkTarget('https://hooks.test/');
    await expect(checkTarget('https://hooks.test/')).rejects.toEqual(refusal(NO_GOOD_NAME));
    await checkTarget('https://hooks.test/');
  });
});

describe('the operator’s list', () => {
  const allow = ['10.1.0.0/16', '127.0.0.0/8', '::1/128'];

  test.each<[string, readonly string[]]>([
    ['http://hooks.test:80/', ['10.1.2.3']],
    ['https://hooks.test:22/', ['10.1.2.3']],
    ['http://10.1.2.3/', []],
    ['http://localhost:3000/', ['127.0.0.1', '::1']],
    ['https://hooks.test/', ['10.1.2.3', PUBLIC]],
  ])('%s at %j is for those who have it', async (url, records) => {
    await expect(check(url, records, allow)).resolves.toBeUndefined();
    await expect(check(url, records, ['192.168.0.0/16'])).rejects.toMatchObject({ code: 'INVALID_WEBHOOK_URL' });
  });

  test.each<[string, readonly string[], string]>([
    ['http://hooks.test/', ['10.1.2.3', PUBLIC], NOT_HTTPS],
    ['https://hooks.test/', ['10.1.2.3', '10.2.0.1'], NO_GOOD_NAME],
    ['https://10.2.0.1/', [], NOT_PUBLIC],
    ['https://hooks.test:22/', ['10.1.2.3', PUBLIC], 'the port must be 443 or above 1023'],
  ])('it opens nothing else: %s at %j', async (url, records, message) => {
    await expect(check(url, records, allow)).rejects.toEqual(refusal(message));
  });
});
