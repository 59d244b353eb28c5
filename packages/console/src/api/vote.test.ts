import { fingerprintOf } from '@custos/sdk';
import { describe, expect, test } from 'vitest';
import { checkRequest } from './vote.ts';

const BODY = '{"type":"ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2","parameters":{"payload":"00"}}';
const approvalOf = (fingerprint: string): string =>
  JSON.stringify({ type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY', parameters: { fingerprint } });

describe('the request behind a fingerprint', () => {
  test('is known by any vote that brought its bytes', async () => {
    const fingerprint = await fingerprintOf(BODY);
    const votes = [{ message: approvalOf(fingerprint) }, { message: BODY }];
    expect(await checkRequest(votes, fingerprint)).toEqual({ state: 'known', body: BODY });
  });

  test('is contradicted by bytes that hash to something else', async () => {
    const fingerprint = await fingerprintOf(BODY);
    const other = BODY.replace('"00"', '"01"');
    expect(await checkRequest([{ message: other }], fingerprint)).toEqual({ state: 'contradicted', body: other });
    expect(await checkRequest([{ message: 'no JSON' }], fingerprint)).toMatchObject({ state: 'contradicted' });
  });

  test('is not checkable with a secret left out, or without its bytes', async () => {
    const fingerprint = await fingerprintOf(BODY);
    const cut = BODY.replace('"00"', '"sha256:…"');
    expect(await checkRequest([{ message: cut, redacted: true }], fingerprint)).toEqual({
      state: 'not-checkable',
      body: cut,
    });
    expect(await checkRequest([{ message: approvalOf(fingerprint) }], fingerprint)).toEqual({
      state: 'not-checkable',
      body: undefined,
    });
    expect(await checkRequest([], fingerprint)).toMatchObject({ state: 'not-checkable' });
  });
});
