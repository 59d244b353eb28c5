// The page that opens recovery kits, in Chromium and from a file, without a network.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { armor, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import vectors from '../packages/keyring/src/address/vectors.json' with { type: 'json' };
import { isBrowserMissing, launchBrowser } from './browser.ts';

const PAGE = fileURLToPath(new URL('../packages/cli/dist/recovery.html', import.meta.url));
const PHRASE = `${'abandon '.repeat(11)}about`;
const ETHEREUM = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';

const account = (address = ETHEREUM) => ({
  name: 'Main',
  curve: 'CURVE_SECP256K1',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  address,
});

const kitOf = (wallets: readonly unknown[], privateKeys: readonly unknown[] = []) => ({
  format: 'custos-recovery-kit',
  version: 1,
  madeAt: '2026-11-19T12:30:00.000Z',
  organization: { id: '01', name: 'Northwind <b>GmbH</b> \u202e' },
  recipients: [],
  wallets,
  privateKeys,
});

const WALLET = { id: '02', name: 'Treasury', mnemonic: PHRASE, language: 'english', accounts: [account()] };
const KEY = {
  id: '03',
  name: 'Hot key',
  curve: 'CURVE_ED25519',
  privateKey: '0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d',
  addresses: [],
};

describe.skipIf(isBrowserMissing)('the page for recovery kits, from a file', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let folder: string;
  let identity: string;
  const requests: string[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    browser = await launchBrowser();
    folder = mkdtempSync(join(tmpdir(), 'custos-page-'));
    identity = await generateX25519Identity();
    writeFileSync(join(folder, 'key.txt'), `# created: today\n${identity}\n`);
  });

  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    await context?.close();
    context = await browser.newContext({ offline: true });
    page = await context.newPage();
    requests.length = 0;
    problems.length = 0;
    page.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.goto(pathToFileURL(PAGE).href);
  });

  async function write(name: string, kit: unknown, isText = false): Promise<string> {
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(identity));
    const encrypted = await encrypter.encrypt(JSON.stringify(kit));
    const path = join(folder, name);
    writeFileSync(path, isText ? armor.encode(encrypted) : encrypted);
    return path;
  }

  async function open(kit: string, typed?: string): Promise<void> {
    await page.getByLabel('The kit', { exact: true }).setInputFiles(kit);
    if (typed === undefined)
      await page.getByLabel('The identity', { exact: true }).setInputFiles(join(folder, 'key.txt'));
    else await page.getByLabel('Secret line').fill(typed);
    await page.getByRole('button', { name: 'Open the kit' }).click();
  }

  const html = () => page.evaluate(() => document.documentElement.outerHTML);

  test('opens a kit, and shows secrets only while they are asked for', async () => {
    await open(await write('kit.age', kitOf([{ ...WALLET, passphrase: undefined }], [KEY])));
    await page.getByRole('heading', { level: 1, name: 'Northwind <b>GmbH</b> [U+202E]' }).waitFor();
    await page.getByText('The address was computed again, and is the same.').waitFor();
    const body = (await page.locator('body').textContent()) ?? '';
    expect(body.replaceAll(/\s/g, '')).toContain(ETHEREUM);
    expect(await html()).not.toContain('abandon');
    expect(await html()).not.toContain(KEY.privateKey);

    const show = page.getByRole('button', { name: 'Show the words of Treasury' });
    await show.click();
    expect(
      await page
        .getByRole('region', { name: 'Wallet Treasury' })
        .getByRole('listitem')
        .filter({ hasText: 'abandon' })
        .count(),
    ).toBe(11);
    await show.click();
    expect(await html()).not.toContain('abandon');
    await page.getByRole('button', { name: 'Private key' }).click();
    // The key of these words at this path, as everybody knows it.
    expect(await html()).toContain('0x1ab42cc412b618bdea3a599e3c9bae199ebf030895b039e9db1e30dafb12b727');
    await page.getByRole('button', { name: 'Show the key Hot key' }).click();
    expect(await html()).toContain(KEY.privateKey);

    await page.getByRole('button', { name: 'Close the kit' }).click();
    expect(await html()).not.toContain(KEY.privateKey);
    expect(await html()).not.toContain(identity);
    expect([requests.filter((url) => !url.startsWith('file:')), problems]).toEqual([[], []]);
  });

  test('opens one by a line that was typed or pasted with its comments, from text or from what age decrypted', async () => {
    const text = await write('kit.txt', kitOf([WALLET]), true);
    await open(text, `# created: today # public key: age1 ${identity.toLowerCase()}`);
    await page.getByRole('region', { name: 'Wallet Treasury' }).waitFor();
    await page.getByRole('button', { name: 'Close the kit' }).click();
    const plain = join(folder, 'plain.json');
    writeFileSync(plain, JSON.stringify(kitOf([WALLET])));
    await page.getByLabel('The kit', { exact: true }).setInputFiles(plain);
    await page.getByRole('button', { name: 'Open the kit' }).click();
    await page.getByRole('region', { name: 'Wallet Treasury' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('computes every address format in the browser', async () => {
    const wallets = vectors.map(({ mnemonic, passphrase, curve, path, addressFormat, address }, index) => ({
      ...WALLET,
      name: `Wallet ${index}`,
      mnemonic,
      passphrase,
      accounts: [{ curve, path, addressFormat, address }],
    }));
    await open(await write('all.age', kitOf(wallets)));
    await page.getByText(`All ${vectors.length} addresses were computed again, and are the same.`).waitFor();
    await page.getByLabel('Search').fill(vectors[0]?.address ?? '');
    expect(await page.getByRole('region').count()).toBe(1);
  });

  test('marks an address that is another', async () => {
    await open(
      await write(
        'wrong.age',
        kitOf([{ ...WALLET, accounts: [account('0x0000000000000000000000000000000000000001')] }]),
      ),
    );
    await page.getByText('One address is not what the words and keys lead to.').waitFor();
    await page.getByText('Differs', { exact: true }).waitFor();
    expect(((await page.locator('body').textContent()) ?? '').replaceAll(/\s/g, '')).toContain(ETHEREUM);
    expect(await page.getByRole('button', { name: 'Copy the address 0x0000' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: `Copy the address ${ETHEREUM}` }).count()).toBe(1);
  });

  test('says of no address that it was verified where it was not', async () => {
    const strange = { ...account('xyz'), addressFormat: 'ADDRESS_FORMAT_OF_TOMORROW' };
    await open(await write('later.age', kitOf([{ ...WALLET, accounts: [account(), strange] }])));
    await page.getByText('1 of 2 addresses was computed again, and is the same.').waitFor();
    expect(await page.locator('.note.allow').count()).toBe(0);
    expect(await page.getByText('Verified', { exact: true }).count()).toBe(1);
    await page.getByText('Not verified', { exact: true }).waitFor();
  });

  test('shows and prints a passphrase as it has to be typed, with every space', async () => {
    await open(await write('spaces.age', kitOf([{ ...WALLET, passphrase: 'correct  horse\u00a0 ', accounts: [] }])));
    await page.getByRole('button', { name: 'Show the words of Treasury' }).click();
    await page.getByText('16 characters, 3 spaces among them').waitFor();
    const shown = page.locator('.line code');
    expect(await shown.textContent()).toBe('correct  horse[U+00A0] ');
    expect(await shown.evaluate((code) => getComputedStyle(code).whiteSpace)).toBe('break-spaces');
    await page.emulateMedia({ media: 'print' });
    const printed = await page.evaluate(() => {
      const seen: string[] = [];
      globalThis.print = () => {
        const code = document.querySelector('.sheet code');
        if (code !== null) seen.push(code.textContent ?? '', getComputedStyle(code).whiteSpace);
        dispatchEvent(new Event('afterprint'));
      };
      for (const name of ['Print with words and keys', 'Print the words and keys'])
        [...document.querySelectorAll('button')].find(({ textContent }) => textContent === name)?.click();
      return seen;
    });
    expect(printed).toEqual(['correct  horse[U+00A0] ', 'break-spaces']);
  });

  test('says what is wrong, and stays where it is', async () => {
    const tell = async (kit: string, typed?: string): Promise<string> => {
      await open(kit, typed);
      const alert = page.getByRole('alert');
      await alert.getByText('The kit was not opened.').waitFor();
      return (await alert.textContent()) ?? '';
    };
    const kit = await write('kit.age', kitOf([WALLET]));
    expect(await tell(kit, 'age1qqqq')).toContain('this is a recipient, which only encrypts');
    expect(await tell(kit, identity.slice(0, -1))).toContain('has a mistake in it');
    expect(await tell(kit, await generateX25519Identity())).toContain('the kit is for others');
    expect(await tell(join(folder, 'key.txt'), identity)).toContain('is not encrypted with age');
    expect(problems).toEqual([]);
  });

  test('sends nothing: its policy forbids what a script in it could try', async () => {
    const online = await browser.newContext();
    try {
      const second = await online.newPage();
      await second.goto(pathToFileURL(PAGE).href);
      const tried = await second.evaluate(async () => {
        const outcome = (work: () => Promise<unknown>) =>
          work().then(
            () => 'sent',
            () => 'refused',
          );
        const image = () =>
          new Promise((resolve, reject) => {
            const element = new Image();
            element.onload = resolve;
            element.onerror = reject;
            element.src = 'http://127.0.0.1:9/x.png';
          });
        const script = document.createElement('script');
        script.textContent = 'globalThis.wasRun = true';
        document.body.append(script);
        return {
          fetch: await outcome(() => fetch('http://127.0.0.1:9/')),
          image: await outcome(image),
          inline: 'wasRun' in globalThis,
        };
      });
      expect(tried).toEqual({ fetch: 'refused', image: 'refused', inline: false });
    } finally {
      await online.close();
    }
  });

  test('works by keyboard, on a phone and in print', async () => {
    await open(await write('kit.age', kitOf([WALLET], [KEY])));
    await page.getByRole('region', { name: 'Wallet Treasury' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    // What is printed is there while it is printed, and then gone.
    await page.evaluate(() => {
      globalThis.print = () => {
        document.title = document.querySelector('.sheet')?.textContent ?? '';
        dispatchEvent(new Event('afterprint'));
      };
    });
    await page.getByRole('button', { name: 'Print addresses' }).click();
    expect(await page.title()).toContain(ETHEREUM);
    expect(await page.title()).not.toContain('abandon');
    await page.getByRole('button', { name: 'Print with words and keys' }).click();
    expect(await page.title()).not.toContain('abandon');
    await page.getByText('A printer keeps copies').waitFor();
    await page.getByRole('button', { name: 'Print the words and keys' }).click();
    expect(await page.title()).toContain('abandonabandon');
    expect(await page.title()).toContain(KEY.privateKey);
    expect(await page.locator('.sheet').count()).toBe(0);
  });
});
