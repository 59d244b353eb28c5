// The fee wrapper over a real Aave v3 market and over vaults on a real Morpho Blue.
import type { Address } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AaveMarket, deployAave } from '../chain/aave.ts';
import { type Anvil, startAnvil } from '../chain/anvil.ts';
import { type ChainClient, connectTo, type Deployed } from '../chain/deploy.ts';
import { deployMorpho, type Morpho } from '../chain/morpho.ts';
import {
  alice,
  bob,
  client,
  deployWrapper,
  deposit,
  operator,
  service,
  termsFor,
  units,
  type Wrapper,
} from './earn-chain.ts';

const YEAR = 365 * 86_400;

let node: Anvil;
let chain: ChainClient;
let aave: AaveMarket;
let morpho: Morpho;

beforeAll(async () => {
  node = await startAnvil({ secondsPerBlock: 1 });
  chain = connectTo(node);
  aave = await deployAave(chain);
  morpho = await deployMorpho(chain, { usdc: aave.usdc.token });
});
afterAll(() => node?.stop());

const held = (owner: { readonly address: Address }) =>
  chain.read<bigint>(aave.usdc.token, 'balanceOf', [owner.address]);

async function worthOf({ wrapper }: Wrapper, owner: { readonly address: Address }): Promise<bigint> {
  return await chain.read(wrapper, 'convertToAssets', [await chain.read(wrapper, 'balanceOf', [owner.address])]);
}

/** A year in which somebody comes and goes; answers with what was earned, of which three tenths are fees. */
async function liveYear(earn: Wrapper): Promise<bigint> {
  const token = aave.usdc.token;
  await deposit(chain, token, earn.wrapper, alice, units(10_000));
  expect(await worthOf(earn, alice)).toBeGreaterThanOrEqual(units(10_000) - 2n);
  await node.increaseTime(YEAR / 2);
  await deposit(chain, token, earn.wrapper, bob, units(5_000));
  await chain.write(bob, earn.wrapper, 'withdraw', [units(1_000), bob.address, bob.address]);
  await chain.write(bob, earn.wrapper, 'redeemAll', [bob.address]);
  expect(await held(bob)).toBeGreaterThanOrEqual(units(5_000) - 3n);
  expect(await held(bob)).toBeLessThan(units(5_000.01));
  await node.increaseTime(YEAR / 2);

  const total = await chain.read<bigint>(earn.wrapper, 'totalAssets');
  const earned = total - units(10_000);
  const kept = (await worthOf(earn, alice)) - units(10_000);
  expect(earned).toBeGreaterThan(0n);
  // Slightly less than seven tenths, since the fees of the first half earn in the second.
  expect(kept * 1_000n).toBeGreaterThan(earned * 690n);
  expect(kept * 1_000n).toBeLessThanOrEqual(earned * 700n);
  for (const payee of [client, service]) {
    await chain.write(payee, earn.splitter, 'releaseAssets', [payee.address, payee.address]);
  }
  // All that was earned is the depositor's or a payee's, two parts to one; the claims come seconds later.
  const fees = earned - kept;
  for (const [payee, parts] of [
    [client, 2n],
    [service, 1n],
  ] as const) {
    const difference = (await held(payee)) - (fees * parts) / 3n;
    expect(difference).toBeGreaterThanOrEqual(-3n);
    expect(difference).toBeLessThan(units(0.001));
  }
  await chain.write(alice, earn.wrapper, 'redeemAll', [alice.address]);
  expect(await held(alice)).toBeGreaterThanOrEqual(units(10_000) + kept);
  // What is left are the fees of the last seconds.
  expect(await chain.read<bigint>(earn.wrapper, 'totalAssets')).toBeLessThan(units(0.001));
  return earned;
}

async function inSnapshot<Result>(work: () => Promise<Result>): Promise<Result> {
  const snapshot = await node.snapshot();
  try {
    return await work();
  } finally {
    await node.revert(snapshot);
  }
}

const wrap = (vault: Deployed, provider: 'EARN_PROVIDER_AAVE' | 'EARN_PROVIDER_MORPHO') =>
  deployWrapper(chain, termsFor(chain, vault.address, { provider }));

describe('over an Aave reserve', () => {
  test('a year earns what the market pays, less the fee', () =>
    inSnapshot(async () => {
      const earned = await liveYear(await wrap(aave.usdc.aToken, 'EARN_PROVIDER_AAVE'));
      // 1.125 % and less, since the deposits themselves lower the rate.
      expect(earned).toBeGreaterThan(units(109));
      expect(earned).toBeLessThan(units(113));
    }));

  test('previews hold at an index that divides nothing evenly', () =>
    inSnapshot(async () => {
      const { wrapper } = await wrap(aave.usdc.aToken, 'EARN_PROVIDER_AAVE');
      await node.increaseTime(YEAR);
      const token = aave.usdc.token;
      await deposit(chain, token, wrapper, alice, 1_000_003n);
      for (const amount of [1n, 2n, 3n, 7_919n, 1_000_003n]) {
        const previewed = await chain.read<bigint>(wrapper, 'previewDeposit', [amount]);
        const before = await chain.read<bigint>(wrapper, 'balanceOf', [bob.address]);
        await deposit(chain, token, wrapper, bob, amount);
        const minted = (await chain.read<bigint>(wrapper, 'balanceOf', [bob.address])) - before;
        // The index grows between the preview and the deposit, by less than a share of the smallest deposit.
        expect(minted).toBeGreaterThanOrEqual(previewed - previewed / 1_000_000n);
        expect(await worthOf({ wrapper, splitter: wrapper }, alice)).toBeGreaterThanOrEqual(1_000_002n);
      }
      await chain.write(bob, wrapper, 'redeemAll', [bob.address]);
      expect(await held(bob)).toBeLessThanOrEqual(1_007_928n + 1n);
      await chain.write(alice, wrapper, 'redeemAll', [alice.address]);
      expect(await held(alice)).toBeGreaterThanOrEqual(1_000_002n);
    }));

  test('the largest number is an amount like any other, not everything', () =>
    inSnapshot(async () => {
      const { wrapper } = await wrap(aave.usdc.aToken, 'EARN_PROVIDER_AAVE');
      // So little that no fee accrues meanwhile, and one holder has all shares.
      await deposit(chain, aave.usdc.token, wrapper, alice, units(2));
      const take = (assets: bigint) => chain.write(alice, wrapper, 'withdraw', [assets, alice.address, alice.address]);
      await take(units(1));
      await expect(take(2n ** 256n - 1n)).rejects.toThrow('PaidOtherThanAsked');
      expect(await held(alice)).toBe(units(1));
      await chain.write(alice, wrapper, 'redeemAll', [alice.address]);
      expect(await held(alice)).toBeGreaterThanOrEqual(units(2) - 1n);
    }));

  test('reports the reserve as it is: liquidity, frozen, paused', () =>
    inSnapshot(async () => {
      const { wrapper } = await wrap(aave.usdc.aToken, 'EARN_PROVIDER_AAVE');
      const token = aave.usdc.token;
      await deposit(chain, token, wrapper, alice, units(400_000));
      const most = (name: string) => chain.read<bigint>(wrapper, name, [alice.address]);
      expect(await most('maxDeposit')).toBe(2n ** 256n - 1n);
      expect(await most('maxWithdraw')).toBeGreaterThan(units(399_999));
      await chain.write(aave.borrower, aave.pool, 'borrow', [token.address, units(800_000), 2n, 0, aave.borrower]);
      const idle = await held(aave.usdc.aToken);
      expect(idle).toBeLessThan(units(100_001));
      expect(await most('maxWithdraw')).toBe(idle);
      const shares = await most('maxRedeem');
      expect(await chain.read<bigint>(wrapper, 'convertToAssets', [shares])).toBeLessThanOrEqual(idle);
      const take = (assets: bigint) => chain.write(alice, wrapper, 'withdraw', [assets, alice.address, alice.address]);
      await expect(take(idle + 1n)).rejects.toThrow();
      await take(units(1));

      const freeze = (frozen: boolean) =>
        chain.write(operator, aave.configurator, 'setReserveFreeze', [token.address, frozen]);
      const pause = (paused: boolean) =>
        chain.write(operator, aave.configurator, 'setReservePause', [token.address, paused]);
      await freeze(true);
      expect(await most('maxDeposit')).toBe(0n);
      await expect(deposit(chain, token, wrapper, bob, units(1))).rejects.toThrow();
      await take(units(1));
      await freeze(false);
      await pause(true);
      expect([await most('maxDeposit'), await most('maxWithdraw'), await most('maxRedeem')]).toEqual([0n, 0n, 0n]);
      await expect(take(units(1))).rejects.toThrow();
      await pause(false);
      await take(units(1));
    }));
});

describe('over vaults on Morpho Blue', () => {
  test('a year in a vault of the first kind', () =>
    inSnapshot(async () => {
      const earn = await wrap(morpho.metaMorpho, 'EARN_PROVIDER_MORPHO');
      expect(await chain.read(earn.wrapper, 'decimals')).toBe(24);
      expect(await liveYear(earn)).toBeGreaterThan(units(900));
    }));

  test('a year in a vault of the second kind, which never says what it would take or give', () =>
    inSnapshot(async () => {
      const earn = await wrap(morpho.vaultV2, 'EARN_PROVIDER_MORPHO');
      expect(await chain.read(morpho.vaultV2, 'maxDeposit', [earn.wrapper.address])).toBe(0n);
      expect(await chain.read(earn.wrapper, 'maxDeposit', [alice.address])).toBe(0n);
      expect(await liveYear(earn)).toBeGreaterThan(units(900));
    }));
});
