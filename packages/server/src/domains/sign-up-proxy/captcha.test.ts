import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { App } from '../../engine/app.ts';
import { requireCaptcha } from './captcha.ts';

const refused = expect.objectContaining({ code: 'INVALID_CAPTCHA' });

/** A verifier that takes the token `person`; or it answers as told, or hangs up. */
async function startVerifier(answer?: { readonly status: number; readonly text: string } | 'nothing') {
  const asked: Record<string, string>[] = [];
  const server = createServer(async (request, response) => {
    if (answer === 'nothing') return void request.socket.destroy();
    const form = Object.fromEntries(new URLSearchParams((await request.toArray()).join('')));
    asked.push(form);
    response.writeHead(answer?.status ?? 200);
    response.end(answer?.text ?? JSON.stringify({ success: form.response === 'person' }));
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/verify`, asked };
}

/** What of a service the captcha needs. */
function serviceWith(captchaUrl: string) {
  const unavailable = vi.fn();
  const app = { config: { captchaSecret: 'hush', captchaUrl }, observe: { unavailable } } as unknown as App;
  return { unavailable, ask: (token: string | string[] | undefined) => requireCaptcha(app, token, '203.0.113.9') };
}

test('a verifier says who is a person', async () => {
  const captcha = await startVerifier();
  const { ask, unavailable } = serviceWith(captcha.url);
  await ask('person');
  await expect(ask('program')).rejects.toEqual(refused);
  expect(captcha.asked).toEqual([
    { secret: 'hush', response: 'person', remoteip: '203.0.113.9' },
    { secret: 'hush', response: 'program', remoteip: '203.0.113.9' },
  ]);
  // What no verifier needs to be asked.
  for (const token of [undefined, '', ['person'], 'p'.repeat(4097)]) await expect(ask(token)).rejects.toEqual(refused);
  expect(captcha.asked).toHaveLength(2);
  expect(unavailable).not.toHaveBeenCalled();
});

describe('a verifier that was reached and did not say yes', () => {
  // Whoever makes it slow us down must not have opened the door by that.
  test.each([
    [429, ''],
    [429, '{"success":true}'],
    [400, '{"success":true}'],
    [401, 'secret?'],
    [403, '<html>'],
    [404, '{}'],
    [499, ''],
    [200, '{"success":false}'],
  ])('%d %s refuses', async (status, text) => {
    const good = serviceWith((await startVerifier({ status: 200, text: '{"success":true}' })).url);
    await good.ask('person');
    const { ask } = serviceWith((await startVerifier({ status, text })).url);
    await expect(ask('person')).rejects.toEqual(refused);
  });
});

describe('a verifier that could not be asked', () => {
  test.each(['nothing', { status: 500, text: '{"success":false}' }, { status: 503, text: 'later' }] as const)(
    '%j keeps nobody out, and the operator is told',
    async (answer) => {
      const { ask, unavailable } = serviceWith((await startVerifier(answer)).url);
      await ask('person');
      expect(unavailable).toHaveBeenCalledOnce();
      expect(unavailable).toHaveBeenCalledWith('captcha', expect.any(Error));
    },
  );
});
