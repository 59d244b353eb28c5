import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { SmsContent } from '../message.ts';
import type { Delivery } from './sender.ts';
import { SmsSender } from './sms.ts';

const NEVER = new AbortController().signal;
const DELIVERY: Delivery<SmsContent> = {
  organizationId: 'organization' as OrganizationId,
  id: 'id',
  createdAtMs: 0,
  content: { channel: 'sms', to: '+15005550006', text: 'Code & 100 % 😀 = 1' },
};

async function provider(answer: RequestListener) {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/2010-04-01/Accounts/AC1/Messages.json`;
  return {
    url,
    sender: new SmsSender({ url, user: 'AC1', password: 'tökén:x', from: '+15005550000' }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

test('a message is a form with basic authentication', async () => {
  const seen: unknown[] = [];
  await using at = await provider(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await bodyOf(request)));
    seen.push([request.method, request.url, request.headers.authorization, form]);
    expect(request.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/);
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"sid":"SM1",\n"status":"queued"}');
  });
  expect(await at.sender.send(DELIVERY, NEVER)).toEqual({
    kind: 'sent',
    response: '201 {"sid":"SM1", "status":"queued"}',
  });
  const { to, text } = DELIVERY.content;
  expect(seen).toEqual([
    [
      'POST',
      '/2010-04-01/Accounts/AC1/Messages.json',
      `Basic ${Buffer.from('AC1:tökén:x').toString('base64')}`,
      { From: '+15005550000', To: to, Body: text },
    ],
  ]);
});

test.each([
  [400, 'refused'],
  [422, 'refused'],
  [401, 'deferred'],
  [404, 'deferred'],
  [429, 'deferred'],
  [500, 'deferred'],
  [503, 'deferred'],
  [204, 'sent'],
])('the status %i means that the message is %s', async (status, kind) => {
  await using at = await provider((_request, response) => response.writeHead(status).end());
  expect((await at.sender.send(DELIVERY, NEVER)).kind).toBe(kind);
});

test('nobody else is told: a redirection is not followed', async () => {
  const told: string[] = [];
  await using elsewhere = await provider((request, response) => {
    told.push(request.url ?? '');
    response.writeHead(201).end();
  });
  await using at = await provider((_request, response) => response.writeHead(307, { location: elsewhere.url }).end());
  expect((await elsewhere.sender.send(DELIVERY, NEVER)).kind).toBe('sent');
  expect(await at.sender.send(DELIVERY, NEVER)).toMatchObject({ kind: 'deferred', diagnostic: '307' });
  expect(told).toHaveLength(1);
});

test('an endless answer is not read to its end, and one that breaks off has answered', async () => {
  await using endless = await provider((_request, response) => {
    response.writeHead(201);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1024)));
      response.once('drain', more);
    };
    more();
  });
  const answer = await endless.sender.send(DELIVERY, NEVER);
  expect(answer).toMatchObject({ kind: 'sent' });
  expect(answer.response).toMatch(/^201 x{496}$/);
  await using broken = await provider((_request, response) => {
    response.writeHead(201, { 'content-length': '100' });
    response.write('half', () => response.destroy());
  });
  expect(await broken.sender.send(DELIVERY, NEVER)).toMatchObject({ kind: 'sent' });
});

test('who does not answer is left when the time is over, and who is not there is tried later', async () => {
  const abort = new AbortController();
  const silent = await provider(() => abort.abort());
  expect(await silent.sender.send(DELIVERY, abort.signal)).toEqual({ kind: 'deferred', diagnostic: 'ETIMEDOUT' });
  await silent[Symbol.asyncDispose]();
  expect(await silent.sender.send(DELIVERY, NEVER)).toEqual({ kind: 'deferred', diagnostic: 'ECONNREFUSED' });
});
