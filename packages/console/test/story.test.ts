// The first day of a small company, told in browsers: one person starts the service, makes it safe, invites two others,
// and from then on nothing happens that two of them did not read and want.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { getAddress, parseEther } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Anvil, startAnvil } from '../../../compat/chain/anvil.ts';
import { connectTo } from '../../../compat/chain/deploy.ts';
import { TestClient } from '../../server/test/harness/client.ts';
import { TestServer } from '../../server/test/harness/server.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { mailedLink, printedLink } from './harness/first-run.ts';
import { signInWithKey, signInWithPasskey } from './harness/sign-in.ts';

const CAIP2 = 'eip155:1';
const SUPPLIER = getAddress('0x7a9c31e0b2d54ff6a8c3d9017e5b6c2a48d841fe');
const SEND = 'Send 0.5\u00a0ETH from Treasury on Ethereum to 0x7a9C31…d841fe, never paid from here.';
const FIRST_PAYMENT = 'This address has not been paid from here before. I have compared it with a source that I trust.';
const EXPORT =
  "Hand out the words of Treasury to the key of Ada Okafor's request: whoever opens them owns all 3 accounts for ever.";
const OWNED_FOR_EVER =
  'Whoever opens this owns the whole wallet for ever, and nothing here can stop them. I want that.';
const REMOVE = 'Remove the key and its file';
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
  /** The key that Tomás made, which a program of his uses too. */
  let tomasKey: TestClient;
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
    // Behind the name may stand how many wait.
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: new RegExp(`^${name}\\b`) })
      .click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  const request = (page: Page) => page.getByRole('region', { name: 'Request', exact: true });
  /** Opens a request in the inbox by its whole sentence. */
  const open = async ({ page }: Device, sentence: string): Promise<void> => {
    await page.getByRole('listitem', { name: sentence, exact: true }).click();
    await request(page).getByRole('heading', { level: 2, name: sentence, exact: true }).waitFor();
  };
  /** Ticks the sentence that states the consequence, without which the button is off. */
  const agree = async (dialog: Locator, consequence: string, act: string): Promise<void> => {
    const button = dialog.getByRole('button', { name: act, exact: true });
    const box = dialog.getByRole('checkbox', { name: consequence, exact: true });
    await box.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await box.check();
    await button.click();
  };
  /** Approves what is not routine: the sentence that states the consequence is ticked first. */
  const approve = async ({ page }: Device, consequence: string): Promise<void> => {
    await request(page).getByRole('button', { name: 'Approve', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Approve this request?' });
    await agree(dialog, consequence, 'Approve');
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
    expect(await page.getByRole('button', { name: REMOVE }).count()).toBe(0);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('button', { name: REMOVE }).click();
    const dialog = page.getByRole('dialog', { name: `${REMOVE}?` });
    await agree(dialog, 'What this user can still log in with is enough, or should end. I want that.', REMOVE);
    await page.getByText('The file root-credentials.json is gone.').waitFor();
    expect(existsSync(join(service.dataDir, 'root-credentials.json'))).toBe(false);
    expect(await fileKey.query('whoami')).toMatchObject({ status: 401, body: { errorCode: 'PUBLIC_KEY_NOT_FOUND' } });
    await takeShot(page, 'first-steps-done-light');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await signInWithPasskey(ada, fileKey.organizationId);
  });

  test('the root user gets the name of a person', async () => {
    const { page } = ada;
    await goTo(ada, 'People');
    await page
      .getByRole('table', { name: 'Users' })
      .getByRole('button', { name: /Root user/ })
      .click();
    await page.getByRole('dialog', { name: 'Root user' }).getByRole('button', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog', { name: /^Rename/ });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Ada Okafor');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('dialog', { name: 'Ada Okafor' }).getByRole('button', { name: 'Close' }).last().click();
    await page
      .getByRole('paragraph')
      .filter({ hasText: /^Ada Okafor$/ })
      .waitFor();
  });

  test('a wallet with the chains that were chosen', async () => {
    const { page } = ada;
    await goTo(ada, 'Wallets');
    await page.getByRole('button', { name: 'Create wallet' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Treasury');
    await dialog.getByRole('checkbox', { name: /Solana/ }).check();
    await dialog
      .getByRole('checkbox', { name: /Bitcoin/ })
      .first()
      .check();
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
      await agree(
        dialog,
        'Whoever opens the mail becomes a user here. I know that these addresses are theirs.',
        'Invite',
      );
      await dialog.waitFor({ state: 'detached' });
    }

    await grace.page.goto(await mailedLink(service, 'grace@meridian.example'));
    await grace.page.getByRole('button', { name: 'Accept with a passkey' }).click();
    await grace.page.getByRole('heading', { name: 'You have joined' }).waitFor();
    await grace.page.getByRole('link', { name: 'Sign in to the console' }).click();
    const organizationField = grace.page.getByRole('textbox', { name: 'Organization ID' });
    await organizationField.waitFor();
    expect(await organizationField.inputValue()).toBe(fileKey.organizationId);
    await grace.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await grace.page.getByRole('navigation', { name: 'Main' }).waitFor();

    await tomas.page.goto(await mailedLink(service, 'tomas@meridian.example'));
    await tomas.page.getByRole('button', { name: 'Make a key here' }).click();
    const privateKey = await tomas.page.getByLabel(/^Private key/).inputValue();
    const publicKey = await tomas.page.getByLabel(/^Public key/).inputValue();
    await tomas.page.getByRole('button', { name: 'Accept with this key' }).click();
    await tomas.page.getByRole('heading', { name: 'You have joined' }).waitFor();
    tomasKey = fileKey.as({ publicKey, privateKey });
    await signInWithKey(tomas, tomasKey);
    await page
      .getByRole('table', { name: 'Users' })
      .getByRole('row', { name: /Tomás Rivera/ })
      .waitFor();
  });

  test('a denial says why, in words', async () => {
    const { page } = ada;
    const { userId } = (await tomasKey.query('whoami')).body;
    ({ address } = (await tomasKey.query('list_wallet_accounts', { walletId })).body.accounts[0]);
    await anvil.setBalance(address, parseEther('3'));
    await goTo(ada, 'Policies');
    await page.getByRole('button', { name: 'New policy' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill(POLICY);
    const type = async (field: string, text: string): Promise<void> => {
      await page.getByRole('textbox', { name: new RegExp(`^${field} `) }).click();
      await page.keyboard.insertText(text);
    };
    await type(
      'Condition',
      `activity.kind == 'ETH_SEND_TRANSACTION' && wallet.id == '${walletId}' && eth.tx.value <= 10000000000000000`,
    );
    await type('Consensus', `approvers.any(user, user.id == '${userId}')`);
    await page.getByRole('region', { name: 'Summary' }).getByText('0.01\u00a0ETH').waitFor();
    await page.getByRole('button', { name: 'Propose policy' }).click();
    await agree(
      page.getByRole('dialog', { name: 'Propose policy?' }),
      'I have read its condition and its consensus and want to allow this.',
      'Propose policy',
    );
    await page.getByRole('heading', { level: 1, name: POLICY }).waitFor();

    const tried = await tomasKey.submit('eth_send_transaction', {
      caip2: CAIP2,
      from: address,
      calls: [{ to: SUPPLIER, value: String(parseEther('0.02')) }],
    });
    expect(tried.status).toBe(403);
    await goTo(tomas, 'Activities');
    await tomas.page.getByRole('row', { name: /Send 0\.02.ETH from Treasury/ }).click();
    await tomas.page.getByRole('heading', { name: 'Why it was denied' }).waitFor();
    await tomas.page
      .getByText(
        `No policy allows it. The nearest is ${POLICY}: Amount 0.02\u00a0ETH is above the limit of 0.01\u00a0ETH.`,
      )
      .waitFor();
    await tomas.page.getByText(`What would pass: an amount of at most 0.01\u00a0ETH, by ${POLICY}`).waitFor();
    await takeShot(tomas.page, 'denied-light');
  });

  test('the quorum becomes two of three', async () => {
    const { page } = ada;
    await goTo(ada, 'People');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the root quorum' });
    await dialog.getByRole('checkbox', { name: 'Grace Lindqvist' }).check();
    await dialog.getByRole('checkbox', { name: 'Tomás Rivera' }).check();
    await dialog.getByRole('textbox', { name: 'How many must agree' }).fill('2');
    await agree(dialog, '2 of these 3 people can do everything. I want that.', 'Change the quorum');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('img', { name: /^2 of 3, root quorum: / }).waitFor();
    await takeShot(page, 'quorum-light');
  });

  test('what one proposes another reads, approves, and sees on the chain', async () => {
    const { page } = grace;
    await grace.visit(`/console/wallets/${walletId}`);
    const form = page.getByRole('form', { name: 'Send' });
    await form.getByLabel('To', { exact: true }).fill(SUPPLIER);
    await form.getByLabel('Amount').fill('0.5');
    await form.getByText('Waits for one more.').waitFor();
    await form.getByRole('button', { name: 'Ask to send 0.5 ETH' }).click();
    await agree(page.getByRole('dialog', { name: 'Ask to send 0.5 ETH?' }), FIRST_PAYMENT, 'Ask to send 0.5 ETH');
    await form.getByText('Waits for approval.').waitFor();

    await goTo(grace, 'Sends');
    await page.getByText('Nothing was sent yet').waitFor();

    await goTo(tomas, 'Inbox');
    await open(tomas, SEND);
    const sheet = request(tomas.page);
    await sheet.getByText('Look closely: first payment to this address.').waitFor();
    await sheet.getByRole('region', { name: 'From', exact: true }).getByRole('img', { name: address }).waitFor();
    await sheet.getByRole('region', { name: 'To', exact: true }).getByRole('img', { name: SUPPLIER }).waitFor();
    await sheet.getByText('signature verified here').waitFor();
    await takeShot(tomas.page, 'send-request-light');
    await approve(tomas, FIRST_PAYMENT);
    await tomas.page.getByText('You approved, and it is done.').waitFor();

    // Told by the feed: nobody touches the page.
    await page.getByRole('row', { name: /^Send 0\.5.ETH from Treasury .* in block \d+/ }).waitFor();
    await takeShot(page, 'sends-story-light');
    expect(await connectTo(anvil).reader.getBalance({ address: SUPPLIER })).toBe(parseEther('0.5'));
  });

  test('an export that two want is opened by one, and leaves nothing behind', async () => {
    const { page } = ada;
    await ada.visit(`/console/wallets/${walletId}`);
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await agree(dialog, OWNED_FOR_EVER, 'Export');
    await dialog.getByText('Waits for approval. Keep this tab open.').waitFor();

    await goTo(grace, 'Inbox');
    await open(grace, EXPORT);
    await takeShot(grace.page, 'export-request-light');
    await approve(grace, OWNED_FOR_EVER);

    await dialog.getByRole('button', { name: 'Reveal' }).waitFor();
    const before = await page.content();
    await dialog.getByRole('button', { name: 'Reveal' }).click();
    const list = dialog.getByRole('list', { name: 'Words, in their order' });
    await list.waitFor();
    const words = await list.getByRole('listitem').allTextContents();
    expect(mnemonicToAccount(words.join(' ')).address).toBe(address);
    // Some of them are ordinary words, which the page may have without any export.
    const secret = words.filter((word) => !before.includes(word));
    expect(secret.length).toBeGreaterThan(words.length / 2);
    await dialog.getByRole('button', { name: 'Hide' }).click();
    const hidden = 'Hidden again, and gone from this page.';
    await dialog.getByText(hidden).waitFor();
    const after = (await page.content()).replace(hidden, '');
    expect(secret.filter((word) => after.includes(word))).toEqual([]);
    await dialog.getByRole('button', { name: 'Close and forget' }).click();
    await page.getByText('exported', { exact: true }).waitFor();
  });

  test('nothing went wrong unseen', () => {
    for (const device of [ada, grace, tomas]) expect(device.problems).toEqual([]);
  });
});
