import { invalid } from '../derive/check.ts';
import type { CoinbaseCall } from '../keyring.ts';
import { membersOf } from './shape.ts';

// What a secret of an on-ramp provider is used for, whatever came in its place. The bounds are narrow, because what
// they let through is signed: the secret of one call must not be good for another.

const SEARCH_LENGTH_MAX = 16 * 1024;
const KEY_ID_LENGTH_MAX = 256;
const HOST_LENGTH_MAX = 255;
const PATH_LENGTH_MAX = 512;

/** The query of a URL as URL.search has it: ASCII in which everything else is escaped. */
const SEARCH = /^\?[!$-;=?-~]+$/;
const KEY_ID = /^[\x20-\x7e]+$/;
const HOST = /^(?:[a-z0-9_][a-z0-9._-]*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/;
/** The two calls of an on-ramp, behind whatever the operator's address has before them. */
const PATHS = {
  POST: /^(?:\/[\w.~-]+)*\/onramp\/v1\/token$/,
  GET: /^(?:\/[\w.~-]+)*\/onramp\/v1\/buy\/user\/[\w-]{1,64}\/transactions$/,
} as const;

export function checkSearch(search: unknown): string {
  if (typeof search !== 'string' || search.length > SEARCH_LENGTH_MAX || !SEARCH.test(search)) {
    throw invalid(`the query must begin with ? and have at most ${SEARCH_LENGTH_MAX} characters of a URL`);
  }
  return search;
}

/** A checked copy. */
export function checkCoinbaseCall(call: unknown): CoinbaseCall {
  const { keyId, method, host, path, nowMs } = membersOf<CoinbaseCall>(call, 'the call');
  if (method !== 'GET' && method !== 'POST') throw invalid('method must be GET or POST');
  if (!Number.isSafeInteger(nowMs) || (nowMs as number) < 0) {
    throw invalid('nowMs must be a whole number and not negative');
  }
  return {
    keyId: checkPattern(keyId, 'keyId', KEY_ID, KEY_ID_LENGTH_MAX),
    method,
    host: checkPattern(host, 'host', HOST, HOST_LENGTH_MAX),
    path: checkPattern(path, 'path', PATHS[method], PATH_LENGTH_MAX),
    nowMs: nowMs as number,
  };
}

function checkPattern(text: unknown, name: string, pattern: RegExp, lengthMax: number): string {
  if (typeof text !== 'string' || text.length > lengthMax || !pattern.test(text)) {
    throw invalid(`${name} is not one of a call to an on-ramp`);
  }
  return text;
}
