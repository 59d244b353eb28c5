// Earn in a real browser: a vault on a local chain with this organization's wrapper around it, deposited into and
// withdrawn from.
import type { Browser, Page } from 'playwright-core';
import { type Hex, parseEther, parseUnits } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../../../compat/chain/anvil.ts';
import { testArtifact } from '../../../compat/chain/artifacts.ts';
import { type ChainClient, connectTo, type Deployed, fundedAccount } from '../../../compat/chain/deploy.ts';
import { poll } from '../../../compat/chain/poll.ts';
import { readConfig } from '../../server/src/config/config.ts';
import { importOperatorKey } from '../../server/src/keyring-admin/import-operator-key.ts';
import { TestClient } from '../../server/test/harness/client.ts';
import { TestServer } from '../../server/test/harness/server.ts';
import { findViolations } from './harness/axe.ts';
import { Device, isBrowserMissing, launchBrowser, takeShot } from './harness/browser.ts';
import { Loading } from './harness/loading.ts';
import { signInWithKey } from './harness/sign-in.ts';

const CAIP2 = 'eip155:1';
const OPERATOR = fundedAccount(3);
const OPERATOR_KEY = Buffer.from(OPERATOR.getHdKey().privateKey ?? []).toString('hex');
const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};

describe.skipIf(isBrowserMissing)('Earn in the console', { timeout: 90_000 }, () => {
  let anvil: Anvil;
  let chain: ChainClient;
  let usdc: Deployed;
  let vault: Deployed;
  let service: TestServer;
  let browser: Browser;
  let device: Device;
  let page: Page;
  let loading: Loading;

  beforeAll(async () => {
    [anvil, browser] = await Promise.all([startAnvil({ chainId: 1 }), launchBrowser()]);
    chain = connectTo(anvil);
    usdc = await chain.deploy(testArtifact('TestToken'), ['USD Coin', 'USDC', 6]);
    vault = await chain.deploy(testArtifact('TestVault'), [usdc.address]);
    const caip19 = `${CAIP2}/erc20:${usdc.address}`;
    const entry = {
      rpcUrls: [anvil.url],
      pollMs: 50,
      operatorAddress: OPERATOR.address,
      vaults: [vault.address],
      assets: [{ caip19, symbol: 'USDC', name: 'USD Coin', decimals: 6 }],
      prices: { [caip19]: '1' },
    };
    service = await TestServer.start({
      env: { CUSTOS_CHAINS: JSON.stringify({ [CAIP2]: entry }), CUSTOS_LOG_LEVEL: 'warn' },
    });
    await importOperatorKey(readConfig(service.environment), {
      caip2: CAIP2,
      readText: async () => Buffer.from(OPERATOR_KEY),
    });
    const root = TestClient.root(service.credentials, service.baseUrl);
    const wallet = async (walletName: string): Promise<Hex> => {
      const { addresses } = await root.run('create_wallet', { walletName, accounts: [ETHEREUM] });
      await anvil.setBalance(addresses[0], parseEther('1'));
      await chain.write(fundedAccount(0), usdc, 'mint', [addresses[0], parseUnits('1000', 6)]);
      return addresses[0];
    };
    const clientFeeWallet = await wallet('Fees');
    await wallet('Savings');
    const { deployRequestId } = await root.run('earn_deploy_wrapper', {
      vaultAddress: vault.address,
      chainCaip2: CAIP2,
      clientFeeBps: '1000',
      clientFeeWallet,
    });
    const { body: deployed } = await poll(
      () => root.query('get_earn_deploy_status', { deployRequestId }),
      ({ body }) => body.status !== 'PENDING',
    );
    expect(deployed.status).toBe('COMPLETED');
    device = await Device.open(browser, service.baseUrl);
    page = device.page;
    loading = new Loading(page);
    await signInWithKey(device, root);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.[Symbol.asyncDispose]();
    await anvil?.stop();
  });

  it('shows vaults with their fees, and deposits after the consequence is ticked', async () => {
    await device.visit('/console/earn');
    const vaults = page.getByRole('table', { name: 'Enabled vaults' });
    await vaults.getByText('10.00 % of the yield').waitFor();
    await page.getByText('No positions').waitFor();
    await page.getByRole('combobox', { name: 'Account' }).click();
    await page.getByRole('option', { name: /Savings/ }).click();
    await vaults.getByRole('button', { name: 'Deposit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('5000');
    await dialog.getByText('The account has 1,000 USDC.').waitFor();
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('250');
    const act = dialog.getByRole('button', { name: 'Deposit 250 USDC' });
    await act.click();
    const consent = dialog.getByRole('group', { name: 'Your consent' });
    const done = dialog.getByText('The deposit is on its way.');
    await consent.or(done).first().waitFor();
    if ((await consent.count()) > 0) {
      await takeShot(page, 'earn-consent-light');
      await consent.getByRole('checkbox').check();
      await act.click();
    }
    await done.waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  it('shows what went in and what it is worth, over time', async () => {
    const positions = page.getByRole('table', { name: 'Positions' });
    await expect
      .poll(
        async () => {
          await page.reload();
          await loading.done();
          await page.getByRole('combobox', { name: 'Account' }).click();
          await page.getByRole('option', { name: /Savings/ }).click();
          await loading.done();
          return await positions.getByRole('row').count();
        },
        { timeout: 30_000, interval: 1000 },
      )
      .toBe(2);
    // A tenth of what is in it comes on top, as yield does.
    await chain.write(fundedAccount(0), usdc, 'mint', [vault.address, parseUnits('25', 6)]);
    await page.reload();
    await page.getByRole('combobox', { name: 'Account' }).click();
    await page.getByRole('option', { name: /Savings/ }).click();
    const plot = page.getByRole('figure', { name: 'Put in and not taken out' });
    await plot.getByText('250 USDC').first().waitFor();
    expect(await plot.textContent()).toMatch(/worth 27[0-9.]+ USDC now, 2[0-9.]+ USDC gained/);
    const moved = page.getByRole('table', { name: /^Deposits and withdrawals/ });
    expect(await moved.getByRole('row').nth(1).textContent()).toMatch(/Deposit.*250 USDC/);
    await loading.done();
    await takeShot(page, 'earn-position-light');
    expect(await findViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 375, height: 812 });
    await takeShot(page, 'earn-position-phone-dark');
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
  });

  it('has no error of its own', () => {
    expect(device.problems).toEqual([]);
  });
});
