import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  type FakeNode,
  Refusal,
  type RpcRequest,
  sendJson,
  startFakeNode,
} from '../../../test/harness/json-rpc-node.ts';
import { resultOf } from './answers.ts';
import { createEndpoint } from './endpoint.ts';
import { NodeError } from './node-error.ts';
import { createRpc, type Rpc, type RpcCall, type RpcOptions } from './rpc.ts';

const identity = { method: 'who', problemOf: (result: unknown) => (result === 'ours' ? undefined : 'it is theirs') };

/** A node that answers `echo` with its parameter and `name` with its name. */
const startNode = (name = 'first'): Promise<FakeNode> =>
  startFakeNode({ who: 'ours', name, echo: (value: unknown) => value });

const rpcOf = (nodes: readonly (FakeNode | string)[], options: Partial<RpcOptions> = {}): Rpc =>
  createRpc(
    nodes.map((node) => (typeof node === 'string' ? node : node.url)),
    { identity, retryPauseMs: 0, ...options },
  );

const call = (method: string, ...params: unknown[]): RpcCall<unknown> => ({ method, params, read: resultOf });
const echo = (value: unknown): RpcCall<unknown> => call('echo', value);
const NAME = call('name');

/** A port that nobody listens at. */
const DEAD = 'http://127.0.0.1:1/';

describe('batches', () => {
  test('calls of the same tick travel together, after one question who the node is', async () => {
    const node = await startNode();
    const rpc = rpcOf([node]);
    expect(await Promise.all([rpc.ask(echo(1)), rpc.ask(echo(2)), rpc.ask(NAME)])).toEqual([1, 2, 'first']);
    expect(await rpc.ask(echo(3))).toBe(3);
    expect(node.requests).toEqual(['who', ['echo', 'echo', 'name'], 'echo']);
  });

  test('at most a hundred calls and a mebibyte go into one', async () => {
    const node = await startNode();
    const rpc = rpcOf([node]);
    const many = Array.from({ length: 250 }, (_one, index) => index);
    expect(await Promise.all(many.map((value) => rpc.ask(echo(value))))).toEqual(many);
    expect(node.requests.slice(1).map((methods) => methods.length)).toEqual([100, 100, 50]);
    node.requests.length = 0;
    const long = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(400_000));
    expect(await Promise.all(long.map((value) => rpc.ask(echo(value))))).toEqual(long);
    expect(node.requests.sort()).toEqual(['echo', ['echo', 'echo'], ['echo', 'echo']]);
  });

  test('there are none where the operator does not want them', async () => {
    const node = await startNode();
    const rpc = rpcOf([node], { isBatching: false });
    expect(await Promise.all([rpc.ask(echo(1)), rpc.ask(echo(2))])).toEqual([1, 2]);
    expect(node.requests).toEqual(['who', 'echo', 'echo']);
  });

  test('the answers may come in any order', async () => {
    const node = await startNode();
    const rpc = rpcOf([node]);
    node.misbehave = (response, body) => sendJson(response, Array.isArray(body) ? body.reverse() : body);
    expect(await Promise.all([rpc.ask(echo(1)), rpc.ask(echo(2))])).toEqual([1, 2]);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['an error object', (response) => sendJson(response, { id: null, error: { code: -32600, message: 'no batches' } })],
    [
      'an error that names the size of batches',
      (response) => sendJson(response, { id: null, error: { code: -32005, message: 'exceeds max batch size' } }),
    ],
    ['a status', (response) => response.writeHead(405).end('one at a time')],
  ])('a node that refuses them with %s is asked one by one, and given no more of them', async (_how, refuse) => {
    const node = await startNode();
    const rpc = rpcOf([node]);
    node.misbehave = (response, body, asked) => (Array.isArray(asked) ? refuse(response) : sendJson(response, body));
    const many = Array.from({ length: 20 }, (_one, index) => index);
    expect(await Promise.all(many.map((value) => rpc.ask(echo(value))))).toEqual(many);
    expect(node.requests.filter((methods) => Array.isArray(methods))).toHaveLength(1);
    expect(await Promise.all(many.map((value) => rpc.ask(echo(value))))).toEqual(many);
    expect(node.requests.filter((methods) => Array.isArray(methods))).toHaveLength(1);
  });

  test('a node that is asked too much is not asked one by one', async () => {
    const [busy, idle] = [await startNode('busy'), await startNode('idle')];
    const rpc = rpcOf([busy, idle]);
    const ask = (): Promise<unknown> => Promise.all([rpc.ask(NAME), rpc.ask(NAME)]);
    expect(await ask()).toEqual(['busy', 'busy']);
    busy.requests.length = 0;
    busy.misbehave = (response, body) =>
      sendJson(
        response,
        Array.isArray(body) ? { id: null, error: { code: -32005, message: 'too many requests' } } : body,
      );
    expect(await ask()).toEqual(['idle', 'idle']);
    expect(busy.requests).toEqual([['name', 'name']]);
  });

  test('answers that are too long together are asked for one by one', async () => {
    const node = await startNode();
    const rpc = rpcOf([node]);
    node.answers.set('long', (letter: string) => letter.repeat(9 * 1024 * 1024));
    const [one, other] = await Promise.all([rpc.ask(call('long', 'a')), rpc.ask(call('long', 'b'))]);
    expect([String(one).slice(0, 2), String(other).slice(0, 2)]).toEqual(['aa', 'bb']);
    expect(node.requests).toEqual(['who', ['long', 'long'], 'long', 'long']);
  });

  const lies: [string, (answers: { id: number }[]) => unknown][] = [
    ['the ids of another batch', (answers) => answers.map((one) => ({ ...one, id: one.id + 1000 }))],
    ['one answer twice', ([one]) => [one, one]],
    ['two answers to one call', ([one, two]) => [one, two, { ...one, result: 'liar' }]],
    ['an answer too few', ([one]) => [one]],
    ['an answer too many', (answers) => [...answers, { ...answers[0], id: 9999 }]],
    ['something that is no answer', ([one]) => [one, 'two']],
    ['a result in place of the batch', () => ({ jsonrpc: '2.0', id: 1, result: 'all' })],
    ['text', () => 'all is well'],
  ];
  test.each(lies)('%s: another node is asked', async (_what, lie) => {
    const [liar, honest] = [await startNode('liar'), await startNode('honest')];
    const rpc = rpcOf([liar, honest]);
    const ask = (): Promise<unknown> => Promise.all([rpc.ask(NAME), rpc.ask(NAME)]);
    expect(await ask()).toEqual(['liar', 'liar']);
    liar.misbehave = (response, body) => sendJson(response, Array.isArray(body) ? lie(body) : body);
    expect(await ask()).toContain('honest');
    expect(await ask()).toEqual(['honest', 'honest']);
  });
});

const misdeeds: [string, (response: ServerResponse, body: unknown, asked: RpcRequest | RpcRequest[]) => void][] = [
  ['a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>')],
  ['status 500 with a good body', (response, body) => sendJson(response, body, 500)],
  ['status 503', (response) => response.writeHead(503).end()],
  ['status 429', (response, body) => sendJson(response, body, 429)],
  ['status 401', (response, body) => sendJson(response, body, 401)],
  ['nothing', (response) => response.writeHead(200).end()],
  ['JSON that ends early', (response, body) => response.end(JSON.stringify(body).slice(0, -1))],
  [
    'less than it promised',
    (response, body) => {
      response.writeHead(200, { 'content-length': 10_000 }).write(JSON.stringify(body));
      setImmediate(() => response.destroy());
    },
  ],
  ['a closed connection', (response) => response.destroy()],
  ['more than 16 MiB', (response, body) => sendJson(response, { ...Object(body), more: 'm'.repeat(17 * 1024 * 1024) })],
  ['the id of another call', (response, body) => sendJson(response, { ...Object(body), id: 12_345 })],
  ['its id as text', (response, body) => sendJson(response, { ...Object(body), id: String(Object(body).id) })],
  ['neither a result nor an error', (response, body) => sendJson(response, { id: Object(body).id })],
  ['an error that is no object', (response, body) => sendJson(response, { ...Object(body), error: 'failed' })],
  ['a list', (response, body) => sendJson(response, [body])],
  ['null', (response) => sendJson(response, null)],
];

describe('a node that gives no usable answer', () => {
  test.each(misdeeds)('%s: another one serves', async (_what, misdeed) => {
    const [bad, good] = [await startNode('bad'), await startNode('good')];
    const reports: string[] = [];
    const rpc = rpcOf([bad, good], { report: (host) => reports.push(host) });
    expect(await rpc.ask(NAME)).toBe('bad');
    bad.misbehave = misdeed;
    expect(await rpc.ask(NAME)).toBe('good');
    expect(reports).toEqual([bad.host]);
    expect(good.requests).toEqual(['who', 'name']);
  });

  test('a redirect is not followed', async () => {
    const [bad, good, elsewhere] = [await startNode('bad'), await startNode('good'), await startNode('elsewhere')];
    const rpc = rpcOf([bad, good]);
    expect(await rpc.ask(NAME)).toBe('bad');
    bad.misbehave = (response, body) => response.writeHead(307, { location: elsewhere.url }).end(JSON.stringify(body));
    expect(await rpc.ask(NAME)).toBe('good');
    expect(elsewhere.requests).toEqual([]);
  });

  test('silence: another one serves', async () => {
    const [silent, good] = [await startNode('silent'), await startNode('good')];
    const rpc = rpcOf([silent, good], { timeoutMs: 2000 });
    expect(await rpc.ask(NAME)).toBe('silent');
    silent.misbehave = () => {};
    expect(await rpc.ask(NAME)).toBe('good');
  });

  test('an answer that cannot be true: another one serves', async () => {
    const [liar, honest] = [await startNode('liar'), await startNode('honest')];
    const rpc = rpcOf([liar, honest]);
    const read: RpcCall<unknown>['read'] = (answer) => {
      if (resultOf(answer) === 'liar') throw new NodeError('ill-shaped', 'a lie');
      return resultOf(answer);
    };
    expect(await rpc.ask(NAME)).toBe('liar');
    expect(await rpc.ask({ ...NAME, read })).toBe('honest');
    expect(await rpc.ask(NAME)).toBe('honest');
  });

  test('an error of a call is an answer', async () => {
    const node = await startNode();
    node.answers.set('fail', new Refusal(3, 'execution reverted\u0007\n', '0x01'));
    const rpc = rpcOf([node, await startNode('other')]);
    expect(await rpc.ask({ method: 'fail', params: [], read: (answer) => answer })).toEqual({
      ok: false,
      code: 3,
      message: 'execution reverted',
      data: '0x01',
    });
    node.misbehave = (response, body) => sendJson(response, body, 400);
    expect(await rpc.ask({ method: 'fail', params: [], read: ({ ok }) => ok })).toBe(false);
    expect(await rpc.ask(NAME)).toBe('first');
  });

  test('a defect of ours is no fault of the node', async () => {
    const node = await startNode();
    const reports: string[] = [];
    const rpc = rpcOf([node], { report: (host) => reports.push(host) });
    const read = (): never => {
      throw new TypeError('a defect');
    };
    await expect(rpc.ask({ ...NAME, read })).rejects.toThrow(TypeError);
    expect([reports, node.requests]).toEqual([[], ['who', 'name']]);
  });

  test('when all have failed there is one try more, and then an error with no more of the URL than its host', async () => {
    const [one, other] = [await startNode(), await startNode()];
    for (const node of [one, other]) node.misbehave = (response) => response.writeHead(500).end();
    const url = `http://user:password@${one.host}/v3/secret`;
    const rpc = rpcOf([url, other]);
    const error: unknown = await rpc.ask(NAME).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NodeError);
    expect(error).toMatchObject({ kind: 'unavailable', message: `${one.host}: the answer has the HTTP status 500` });
    expect([one.requests, other.requests]).toEqual([['who', 'who'], ['who']]);
    for (const node of [one, other]) node.misbehave = undefined;
    expect(await rpc.ask(NAME)).toBe('first');
  });

  test('the one try more may be the one that helps', async () => {
    const node = await startNode();
    const rpc = rpcOf([node]);
    expect(await rpc.ask(NAME)).toBe('first');
    node.misbehave = (response) => {
      node.misbehave = undefined;
      response.destroy();
    };
    expect(await rpc.ask(NAME)).toBe('first');
  });
});

describe('which node is asked', () => {
  test('the one that answered last', async () => {
    let nowMs = 0;
    const [first, second] = [await startNode('first'), await startNode('second')];
    const rpc = rpcOf([first, second], { clock: () => nowMs });
    first.misbehave = (response) => response.destroy();
    expect(await rpc.ask(NAME)).toBe('second');
    first.misbehave = undefined;
    nowMs += 3_600_000;
    expect(await rpc.ask(NAME)).toBe('second');
    second.misbehave = (response) => response.destroy();
    expect(await rpc.ask(NAME)).toBe('first');
  });

  test('one that failed rests while others answer', async () => {
    let nowMs = 0;
    const nodes = [await startNode('weak'), await startNode('second'), await startNode('third')] as const;
    const [weak, second, third] = nodes;
    const rpc = rpcOf(nodes, { clock: () => nowMs });
    const breakOff = (response: ServerResponse): void => void response.destroy();
    weak.misbehave = breakOff;
    expect(await rpc.ask(NAME)).toBe('second');
    weak.misbehave = undefined;
    second.misbehave = breakOff;
    nowMs = 999;
    expect(await rpc.ask(NAME)).toBe('third');
    expect(weak.requests).toEqual(['who']);
    third.misbehave = breakOff;
    nowMs = 1000;
    expect(await rpc.ask(NAME)).toBe('weak');
  });

  test('the rest is longer each time, up to half a minute, and over with an answer', async () => {
    let nowMs = 0;
    const signal = new AbortController().signal;
    const options = { identity, timeoutMs: 1000, isBatching: true, clock: () => nowMs, signal, report: () => {} };
    const endpoint = createEndpoint(DEAD, options);
    const failure = new NodeError('unavailable', 'no answer');
    const restMs = (): number => {
      endpoint.failed(failure);
      // All calls of a batch fail together.
      endpoint.failed(failure);
      const rest = endpoint.restsUntilMs() - nowMs;
      nowMs += rest;
      return rest;
    };
    expect(Array.from({ length: 7 }, restMs)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    endpoint.failed(failure);
    endpoint.worked();
    expect(endpoint.restsUntilMs()).toBeLessThanOrEqual(nowMs);
    expect(restMs()).toBe(1000);
  });

  test('a resting one is asked when all others have failed', async () => {
    const [weak, strong] = [await startNode('weak'), await startNode('strong')];
    const rpc = rpcOf([weak, strong], { clock: () => 0 });
    weak.misbehave = (response) => response.destroy();
    expect(await rpc.ask(NAME)).toBe('strong');
    weak.misbehave = undefined;
    strong.misbehave = (response) => response.destroy();
    expect(await rpc.ask(NAME)).toBe('weak');
  });

  test('never one of another chain, and the operator is told, once', async () => {
    let nowMs = 0;
    const [theirs, ours] = [await startNode('theirs'), await startNode('ours')];
    theirs.answers.set('who', 'theirs');
    const reports: string[][] = [];
    const rpc = rpcOf([`http://user:secret@${theirs.host}/key?token=secret`, ours], {
      clock: () => nowMs,
      report: (...report) => reports.push(report),
    });
    for (let round = 0; round < 3; round += 1) {
      expect(await rpc.ask(NAME)).toBe('ours');
      expect(await rpc.offer({ ...NAME, read: (answer) => ({ kind: resultOf(answer) as string }) })).toEqual({
        kind: 'ours',
      });
      await rpc.askEach((ask) => ask(NAME), 1);
      nowMs += 60_000;
    }
    expect(new Set(theirs.requests)).toEqual(new Set(['who']));
    expect(reports).toEqual([[theirs.host, 'it is theirs']]);
    theirs.answers.set('who', 'ours');
    ours.misbehave = (response) => response.destroy();
    expect(await rpc.ask(NAME)).toBe('theirs');
  });

  test('each failure makes the node prove its chain again', async () => {
    const node = await startNode();
    const rpc = rpcOf([node]);
    expect(await rpc.ask(NAME)).toBe('first');
    node.misbehave = (response) => {
      node.misbehave = undefined;
      node.answers.set('who', 'theirs');
      response.destroy();
    };
    await expect(rpc.ask(NAME)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(node.requests).toEqual(['who', 'name', 'name', 'who']);
  });

  test('none at all once the service stops', async () => {
    const node = await startNode();
    const stop = new AbortController();
    const rpc = rpcOf([node], { signal: stop.signal });
    expect(await rpc.ask(NAME)).toBe('first');
    const asked = new Promise<void>((resolve) => {
      node.misbehave = () => resolve();
    });
    const pending = rpc.ask(NAME);
    await asked;
    stop.abort();
    await expect(pending).rejects.toMatchObject({ kind: 'unavailable' });
    const seen = node.requests.length;
    await expect(rpc.ask(NAME)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await rpc.offer({ ...NAME, read: () => ({ kind: 'accepted' }) })).toMatchObject({ kind: 'uncertain' });
    expect(node.requests.length).toBe(seen);
  });
});

describe('something that is handed over', () => {
  const take: RpcCall<{ kind: string }> = {
    method: 'take',
    params: [],
    read: (answer) => {
      if (answer.ok) return { kind: 'accepted' };
      if (answer.code === -32005) throw new NodeError('unavailable', answer.message);
      return { kind: answer.message };
    },
  };
  const ACCEPTS = 'taken';
  const REFUSES = new Refusal(-32000, 'refused');
  const KNOWS = new Refusal(-32000, 'known');
  const CANNOT = new Refusal(-32005, 'later');

  async function offer(...says: unknown[]): Promise<[string, string[][]]> {
    const nodes = await Promise.all(says.map(() => startNode()));
    for (const [index, node] of nodes.entries()) {
      if (says[index] === 'breaks')
        node.misbehave = (response, body, asked) =>
          Object(asked).method === 'take' ? response.destroy() : sendJson(response, body);
      else node.answers.set('take', says[index]);
    }
    const { kind } = await rpcOf(nodes).offer(take);
    return [kind, nodes.map(({ requests }) => requests.filter((method) => method === 'take') as string[])];
  }

  test.each([
    ['one takes it', [ACCEPTS, ACCEPTS], 'accepted', [1, 0]],
    ['one refuses it', [REFUSES, ACCEPTS], 'refused', [1, 0]],
    ['one knows it', [KNOWS, ACCEPTS], 'known', [1, 0]],
    ['one breaks off and the next takes it', ['breaks', ACCEPTS], 'accepted', [1, 1]],
    ['one breaks off and the next knows it', ['breaks', KNOWS], 'known', [1, 1]],
    ['one breaks off and the next refuses it', ['breaks', REFUSES], 'uncertain', [1, 1]],
    ['one breaks off, one refuses it, one takes it', ['breaks', REFUSES, ACCEPTS], 'accepted', [1, 1, 1]],
    ['one cannot now', [CANNOT, ACCEPTS], 'accepted', [1, 1]],
    ['all break off', ['breaks', 'breaks'], 'uncertain', [1, 1]],
  ])('%s', async (_what, says, kind, counts) => {
    const [outcome, taken] = await offer(...says);
    expect([outcome, taken.map(({ length }) => length)]).toEqual([kind, counts]);
  });

  test('a node that cannot be reached was not given it', async () => {
    const node = await startNode();
    node.answers.set('take', REFUSES);
    const reports: string[] = [];
    const rpc = rpcOf([DEAD, node], { report: (host) => reports.push(host) });
    expect(await rpc.offer(take)).toEqual({ kind: 'refused' });
    expect(reports).toEqual(['127.0.0.1:1']);
    expect(await rpcOf([DEAD]).offer(take)).toEqual({
      kind: 'uncertain',
      message: '127.0.0.1:1: there is no answer from the host',
    });
  });
});

test('all are asked, or all but one, and those that do not answer are left out', async () => {
  const nodes = [await startNode('a'), await startNode('b'), await startNode('c')];
  const rpc = rpcOf(nodes);
  const names = (except?: number) => rpc.askEach((ask) => ask(NAME), except);
  expect(await names()).toEqual(['a', 'b', 'c']);
  expect(await names(0)).toEqual(['b', 'c']);
  (nodes[1] as FakeNode).misbehave = (response) => response.destroy();
  expect(await names(0)).toEqual(['c']);
  expect(await names(2)).toEqual(['a']);
  // What one is asked for together is answered by that one.
  const pairs = await rpc.askEach((ask) => Promise.all([ask(NAME), ask(NAME)]));
  expect(pairs).toEqual([
    ['a', 'a'],
    ['c', 'c'],
  ]);
});

describe('an answer whose length the caller decides', () => {
  const logs: RpcCall<unknown> = { ...call('logs'), isOfRange: true };

  test.each([
    'query returned more than 10000 results',
    'Log response size exceeded. You can make requests with up to a 2K block range',
    'eth_getLogs is limited to a 10,000 range',
    'Requested range exceeds maximum RPC range limit',
    'query exceeds max block range 100000',
    'block range is too wide',
    'exceed maximum block range: 50000',
  ])('"%s" is the caller\'s to heed', async (message) => {
    const [node, other] = [await startNode(), await startNode()];
    const reports: string[] = [];
    const rpc = rpcOf([node, other], { report: (host) => reports.push(host) });
    node.answers.set('logs', []);
    expect(await rpc.ask(logs)).toEqual([]);
    node.answers.set('logs', new Refusal(-32005, message));
    await expect(rpc.ask(logs)).rejects.toMatchObject({ kind: 'too-large', message });
    expect([reports, other.requests]).toEqual([[], []]);
  });

  test('as is an answer of more than 16 MiB', async () => {
    const node = await startNode();
    const rpc = rpcOf([node]);
    node.answers.set('logs', 'l'.repeat(17 * 1024 * 1024));
    await expect(rpc.ask(logs)).rejects.toMatchObject({ kind: 'too-large' });
    expect(node.requests).toEqual(['who', 'logs']);
  });

  test("another error is the node's", async () => {
    const [node, other] = [await startNode(), await startNode()];
    node.answers.set('logs', new Refusal(-32005, 'too many requests'));
    other.answers.set('logs', ['log']);
    expect(await rpcOf([node, other]).ask(logs)).toEqual(['log']);
  });
});
