// The first day of a small company, told in browsers: one person starts the service, makes it safe, invites two others,
// and from then on nothing happens that two of them did not read and want.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../../../compat/chain/anvil.ts';
import { connectTo } from '../../../compat/chain/deploy.ts';
import { TestClient } from '../../server/test/harness/client.ts';
import { TestServer } from '../../server/test/harness/server.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { mailedLink, printedLink } from './harness/first-run.ts';
import { signInWithKey, signInWithPasskey } from './harness/sign-in.ts';

const CAIP2 = 'eip155:1';
const SUPPLIER = '0x7a9C31E0B2d54FF6a8c3D9017e5B6C2A48D841FE';
const POLICY = 'Tomás pays small bills';

describe.skipIf(isBrowserMissing)('the first day', { timeout: 90_000 }, () => {
  let anvil: Anvil;
  let service: TestServer;
  let browser: Browser;
  let ada: Device;
  let grace: Device;
  let tomas: Device;
  /** The key that the first start wrote to a file. */
  let fileKey: TestClient;
  let walletId: string;
  let address: `0x${string}`;

  beforeAll(async () => {
    [anvil, browser] = await Promise.all([startAnvil({ chainId: 1 }), launchBrowser()]);
    service = await TestServer.start({
      env: { CUSTOS_CHAINS: JSON.stringify({ [CAIP2]: { rpcUrls: [anvil.url], pollMs: 100 } }) },
    });
    fileKey = TestClient.root(service.credentials, service.baseUrl);
    [ada, grace, tomas] = await Promise.all([
      Device.open(browser, service.baseUrl),
      Device.open(browser, service.baseUrl),
      Device.open(browser, service.baseUrl),
    ]);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
    await anvil?.stop();
  });

  const goTo = async ({ page }: Device, name: string): Promise<void> => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  const request = (page: Page) => page.getByRole('region', { name: 'Request' });
  /** Opens a request in the inbox by its whole sentence. */
  const open = async ({ page }: Device, sentence: string): Promise<void> => {
    await page.getByRole('listitem', { name: sentence, exact: true }).click();
    await request(page).getByRole('heading', { level: 2, name: sentence, exact: true }).waitFor();
  };
  /** Approves what is not routine: the sentence that states the consequence is ticked first. */
  const approve = async ({ page }: Device, consequence: string): Promise<void> => {
    await request(page).getByRole('button', { name: 'Approve', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve this request?' });
    await dialog.getByRole('checkbox', { name: consequence, exact: true }).check();
    await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
  };

  test('the link that the start printed signs in, once', async () => {
    const link = printedLink(service);
    await ada.page.goto(link);
    await ada.page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    expect(ada.page.url()).toBe(`${ada.origin}/console/inbox`);
    await grace.page.goto(link);
    await grace.page.getByRole('alert').getByText('This link does not sign in.').waitFor();
    expect(await grace.page.getByRole('alert').textContent()).toContain('This link has been used; it signs in once.');
    expect(await grace.page.getByRole('navigation', { name: 'Main' }).count()).toBe(0);
    await takeShot(grace.page, 'link-used-light');
  });

  test('a passkey takes the place of the key in the file', async () => {
    const { page } = ada;
    await takeShot(page, 'first-steps-light');
    expect(await page.getByRole('button', { name: 'Remove the key and its file' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('button', { name: 'Remove the key and its file' }).click();
    await page.getByText('The file root-credentials.json is gone.').waitFor();
    expect(existsSync(join(service.dataDir, 'root-credentials.json'))).toBe(false);
    expect(await fileKey.query('whoami')).toMatchObject({ status: 401, body: { errorCode: 'PUBLIC_KEY_NOT_FOUND' } });
    await takeShot(page, 'first-steps-done-light');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await signInWithPasskey(ada, fileKey.organizationId);
  });

  test('a wallet with the chains that were chosen', async () => {
    const { page } = ada;
    await goTo(ada, 'Wallets');
    await page.getByRole('button', { name: 'Create wallet' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Treasury');
    await dialog.getByRole('checkbox', { name: /Solana/ }).check();
    await dialog.getByRole('checkbox', { name: /Bitcoin/ }).first().check();
    await dialog.getByRole('button', { name: 'Create wallet' }).click();
    await page.getByRole('heading', { level: 1, name: 'Treasury' }).waitFor();
    for (const path of ["m/44'/60'/0'/0/0", "m/44'/501'/0'/0'"]) await page.getByText(path).first().waitFor();
    walletId = page.url().split('/').at(-1) ?? '';
  });

  test('two others are invited, and come in with what they have', async () => {
    const { page } = ada;
    await goTo(ada, 'People');
    for (const [name, email] of [
      ['Grace Lindqvist', 'grace@meridian.example'],
      ['Tomás Rivera', 'tomas@meridian.example'],
    ] as const) {
      await page.getByRole('button', { name: 'Invite' }).click();
      const dialog = page.getByRole('dialog', { name: 'Invite somebody' });
      await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
      await dialog.getByRole('textbox', { name: 'Email' }).fill(email);
      await dialog.getByRole('button', { name: 'Invite' }).click();
      await dialog.waitFor({ state: 'detached' });
    }

    await grace.page.goto(await mailedLink(service, 'grace@meridian.example'));
    await grace.page.getByRole('button', { name: 'Accept with a passkey' }).click();
    await grace.page.getByRole('heading', { name: 'You have joined' }).waitFor();
    await signInWithPasskey(grace, fileKey.organizationId);

    await tomas.page.goto(await mailedLink(service, 'tomas@meridian.example'));
    await tomas.page.getByRole('button', { name: 'Make a key here' }).click();
    const privateKey = await tomas.page.getByLabel(/^Private key/).inputValue();
    const publicKey = await tomas.page.getByLabel(/^Public key/).inputValue();
    await tomas.page.getByRole('button', { name: 'Accept with this key' }).click();
    await tomas.page.getByRole('heading', { name: 'You have joined' }).waitFor();
    fileKey = fileKey.as({ publicKey, privateKey });
    await signInWithKey(tomas, fileKey);
    await page.getByRole('table', { name: 'Users' }).getByRole('row', { name: /Tomás Rivera/ }).waitFor();
  });
});
