import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from './ask.ts';

const server = createServer((_request, _response) => {});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test.each(['GET', 'POST'] as const)('a provider that does not answer a %s is not waited for', async (method) => {
  const question = { provider: 'FIAT_ON_RAMP_PROVIDER_MOONPAY', url, subject: 'the question', method } as const;
  await expect(ask({ ...question, timeoutMs: 30 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'MoonPay cannot be reached',
    retryAfterSeconds: 1,
  });
});
