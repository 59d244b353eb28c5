// The fee wrapper and its splitter over a plain vault: to the base unit, against attacks, and against a model.
import fc from 'fast-check';
import { type Address, encodeFunctionData, type Hex, keccak256, toBytes, zeroAddress } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CREATE2_PROXY, wrapperDeployment } from '../../packages/server/src/domains/earn/contract-addresses.ts';
import { type Anvil, startAnvil } from '../chain/anvil.ts';
import { artifact, testArtifact } from '../chain/artifacts.ts';
import { type ChainClient, connectTo, type Deployed } from '../chain/deploy.ts';
import {
  alice,
  bob,
  client,
  deployWrapper,
  deposit,
  mallory,
  operator,
  service,
  termsFor,
  units,
} from './earn-chain.ts';
import { WrapperModel } from './wrapper-model.ts';

let node: Anvil;
let chain: ChainClient;
let snapshot: string;
let token: Deployed;
let vault: Deployed;
let wrapper: Deployed;
let splitter: Deployed;

beforeAll(async () => {
  node = await startAnvil({ secondsPerBlock: 1 });
  chain = connectTo(node);
  token = await chain.deploy(testArtifact('TestToken'), ['USD Coin', 'USDC', 6]);
  vault = await chain.deploy(testArtifact('TestVault'), [token.address]);
  ({ wrapper, splitter } = await deployWrapper(chain, termsFor(chain, vault.address)));
});
afterAll(() => node?.stop());
beforeEach(async () => {
  snapshot = await node.snapshot();
});
afterEach(() => node.revert(snapshot));

type Owner = { readonly address: Address };

const put = (from: Owner, amount: bigint, receiver = from.address) =>
  deposit(chain, token, wrapper, from, amount, receiver);
const earn = (amount: bigint) => chain.write(operator, token, 'mint', [vault.address, amount]);
const lose = (amount: bigint) => chain.write(operator, vault, 'lose', [amount]);
const held = ({ address }: Owner) => chain.read<bigint>(token, 'balanceOf', [address]);
const sharesOf = ({ address }: Owner) => chain.read<bigint>(wrapper, 'balanceOf', [address]);
const worthOf = async (owner: Owner) => chain.read<bigint>(wrapper, 'convertToAssets', [await sharesOf(owner)]);
const redeemAll = (owner: Owner) => chain.write(owner, wrapper, 'redeemAll', [owner.address]);
const claim = (payee: Owner, to = payee.address) => chain.write(payee, splitter, 'releaseAssets', [payee.address, to]);
const releasable = ({ address }: Owner) => chain.read<bigint>(splitter, 'releasable', [wrapper.address, address]);

describe('deployment', () => {
  test('both contracts lie where they were computed, and no second time', async () => {
    expect(await chain.read(wrapper, 'performanceFeeRecipient')).toBe(splitter.address);
    expect(await chain.read(wrapper, 'asset')).toBe(token.address);
    expect(await chain.read(wrapper, 'vault')).toBe(vault.address);
    expect(await chain.read(wrapper, 'totalFeeBps')).toBe(3_000n);
    expect(await chain.read(wrapper, 'decimals')).toBe(12);
    expect(await chain.read(splitter, 'wrapper')).toBe(wrapper.address);
    expect(await chain.read(splitter, 'payees')).toEqual([client.address, service.address]);
    expect(await chain.read(splitter, 'shares', [client.address])).toBe(2_000n);

    const terms = termsFor(chain, vault.address);
    const { data } = wrapperDeployment(terms);
    await expect(
      chain
        .wallet(operator)
        .sendTransactionSync({ to: CREATE2_PROXY, data, gas: 16_000_000n, throwOnReceiptRevert: true }),
    ).rejects.toThrow();
    const others = [
      { organizationId: '01980000-0000-7000-8000-000000000002' },
      { chainId: 1n },
      { vaultAddress: token.address },
      { provider: 'EARN_PROVIDER_AAVE' as const },
      { clientFeeBps: 2_001 },
      { clientFeeWallet: alice.address },
      { serviceFeeBps: 999 },
      { serviceFeeBps: 0 },
      { serviceFeeWallet: alice.address },
    ].map((change) => wrapperDeployment({ ...terms, ...change }).wrapperAddress);
    expect(new Set([...others, wrapper.address]).size).toBe(others.length + 1);
    // Without a fee of the service its wallet has no meaning.
    const free = { ...terms, serviceFeeBps: 0 };
    expect(wrapperDeployment({ ...free, serviceFeeWallet: undefined })).toEqual(wrapperDeployment(free));
    const lower = { ...terms, vaultAddress: terms.vaultAddress.toLowerCase() };
    expect(wrapperDeployment(lower).wrapperAddress).toBe(wrapper.address);
  });

  test('fees above half of the yield and payees that do not fit are refused', async () => {
    const build = (bps: bigint, payees: readonly Address[], shares: readonly bigint[]) =>
      chain.deploy(artifact('EarnWrapper'), [vault.address, bps, payees, shares]);
    const [first, second] = [client.address, service.address];
    await build(5_000n, [first, second], [4_000n, 1_000n]);
    await build(0n, [first], [0n]);
    await expect(build(5_001n, [first, second], [4_001n, 1_000n])).rejects.toThrow('reverted');
    await expect(build(3_000n, [first, second], [2_000n, 1_001n])).rejects.toThrow('reverted');
    await expect(build(3_000n, [first], [2_000n, 1_000n])).rejects.toThrow('reverted');
    await expect(build(3_000n, [zeroAddress], [3_000n])).rejects.toThrow('reverted');
    await expect(build(0n, [], [])).rejects.toThrow('reverted');
  });
});

describe('a full cycle', () => {
  test('100 in, 10 earned: 106.999999 for the depositor, 1.999999 and 0.999999 in fees', async () => {
    await put(alice, units(100));
    expect(await worthOf(alice)).toBe(units(100));
    await earn(units(10));
    // Before any transaction the fee is counted.
    expect(await chain.read(splitter, 'totalReleased', [wrapper.address])).toBe(0n);
    expect(await sharesOf(splitter)).toBe(0n);
    expect(await worthOf(alice)).toBe(106_999_999n);
    const claimable = await chain.read<bigint>(wrapper, 'convertToAssets', [await releasable(client)]);
    expect(claimable).toBe(1_999_999n);

    await claim(client);
    await claim(service, bob.address);
    expect(await held(client)).toBe(1_999_999n);
    expect(await held(bob)).toBe(999_999n);
    // What the claims lost by rounding stays with who is inside.
    expect(await worthOf(alice)).toBe(107_000_001n);
    await redeemAll(alice);
    expect(await held(alice)).toBe(107_000_001n);
    expect(await sharesOf(alice)).toBe(0n);
    // What rounding left belongs to nobody.
    expect(await chain.read<bigint>(wrapper, 'totalAssets')).toBeLessThanOrEqual(3n);
  });

  test('what is previewed is what happens, with fees outstanding', async () => {
    await put(bob, units(333.333333));
    await put(alice, units(100));
    await earn(units(17.123457));
    await chain.write(alice, token, 'mint', [alice.address, units(1_000)]);
    await chain.write(alice, token, 'approve', [wrapper.address, units(1_000)]);
    const step = async (preview: string, action: string, amount: bigint, args: readonly unknown[]) => {
      const expected = await chain.read<bigint>(wrapper, preview, [amount]);
      const before = { shares: await sharesOf(alice), assets: await held(alice) };
      await chain.write(alice, wrapper, action, args);
      const shares = (await sharesOf(alice)) - before.shares;
      const assets = before.assets - (await held(alice));
      return { expected, shares, assets };
    };
    await earn(1_234_567n);
    const deposited = await step('previewDeposit', 'deposit', 7_654_321n, [7_654_321n, alice.address]);
    expect(deposited).toMatchObject({ shares: deposited.expected, assets: 7_654_321n });
    await earn(1_234_567n);
    const minted = await step('previewMint', 'mint', 5_000_000_000_001n, [5_000_000_000_001n, alice.address]);
    expect(minted).toMatchObject({ shares: 5_000_000_000_001n, assets: minted.expected });
    await earn(1_234_567n);
    const withdrawn = await step('previewWithdraw', 'withdraw', 3_333_333n, [3_333_333n, alice.address, alice.address]);
    expect(withdrawn).toMatchObject({ shares: -withdrawn.expected, assets: -3_333_333n });
    await earn(1_234_567n);
    const shares = 1_111_111_111_111n;
    const redeemed = await step('previewRedeem', 'redeem', shares, [shares, alice.address, alice.address]);
    expect(redeemed).toMatchObject({ shares: -shares, assets: -redeemed.expected });
    expect(await chain.read(wrapper, 'maxMint', [alice.address])).toBe(2n ** 256n - 1n);
    expect(await chain.read(wrapper, 'maxDeposit', [alice.address])).toBe(2n ** 256n - 1n);
  });

  test('somebody pays for another, and nobody takes from another without leave', async () => {
    await put(bob, units(50), alice.address);
    expect(await sharesOf(bob)).toBe(0n);
    expect(await worthOf(alice)).toBe(units(50));
    const take = (assets: bigint) => chain.write(bob, wrapper, 'withdraw', [assets, bob.address, alice.address]);
    const redeem = (shares: bigint) => chain.write(bob, wrapper, 'redeem', [shares, bob.address, alice.address]);
    const some = units(1) * 10n ** 6n;
    await expect(take(units(1))).rejects.toThrow('ERC20InsufficientAllowance');
    await expect(redeem(some)).rejects.toThrow('ERC20InsufficientAllowance');
    await chain.write(alice, wrapper, 'approve', [bob.address, 2n * some]);
    await take(units(1));
    await redeem(some);
    await expect(redeem(1n)).rejects.toThrow('ERC20InsufficientAllowance');
    expect(await held(bob)).toBe(units(2));
    await chain.write(alice, wrapper, 'transfer', [bob.address, some]);
    // It redeems what the caller holds at that moment, and nothing is left to redeem then.
    await redeemAll(bob);
    expect(await held(bob)).toBe(units(3));
    await redeemAll(bob);
    expect(await held(bob)).toBe(units(3));
    expect(await worthOf(alice)).toBe(units(47));
  });

  test('shares too few for a base unit are given up, and nothing is deposited for nothing', async () => {
    await put(alice, units(1));
    await chain.write(alice, wrapper, 'transfer', [bob.address, 999_999n]);
    await redeemAll(bob);
    expect(await sharesOf(bob)).toBe(0n);
    expect(await held(bob)).toBe(0n);
    await expect(chain.write(alice, wrapper, 'deposit', [0n, alice.address])).rejects.toThrow('NothingMinted');
    await expect(chain.write(alice, wrapper, 'mint', [0n, alice.address])).rejects.toThrow('NothingMinted');
  });
});

describe('the splitter', () => {
  test('pays a payee alone, only what has accrued, and leaves its deposits alone', async () => {
    await put(alice, units(100));
    await put(client, units(10));
    await expect(claim(client)).rejects.toThrow('NothingToRelease');
    await earn(units(11));
    const forClient = await releasable(client);
    await expect(chain.write(mallory, splitter, 'releaseAssets', [client.address, mallory.address])).rejects.toThrow(
      'NotThePayee',
    );
    await expect(
      chain.write(mallory, splitter, 'release', [wrapper.address, client.address, mallory.address]),
    ).rejects.toThrow('NotThePayee');
    await expect(claim(mallory)).rejects.toThrow('NothingToRelease');
    const own = await sharesOf(client);
    await claim(client);
    expect(await sharesOf(client)).toBe(own);
    expect(await held(client)).toBe(2_199_998n);
    expect(await chain.read(splitter, 'released', [wrapper.address, client.address])).toBe(forClient);
    await expect(claim(client)).rejects.toThrow('NothingToRelease');

    // The other payee's part is as it was, and comes as shares too if it likes.
    await chain.write(service, splitter, 'release', [wrapper.address, service.address, service.address]);
    expect(await worthOf(service)).toBe(1_099_998n);
    await expect(claim(service)).rejects.toThrow('NothingToRelease');
    await earn(units(11));
    await claim(service);
    await claim(client);
    expect(await held(service)).toBeGreaterThan(units(1));
  });

  test('divides any other token that is sent to it', async () => {
    await chain.write(operator, token, 'mint', [splitter.address, 301n]);
    await chain.write(client, splitter, 'release', [token.address, client.address, client.address]);
    await chain.write(service, splitter, 'release', [token.address, service.address, service.address]);
    expect([await held(client), await held(service)]).toEqual([200n, 100n]);
  });
});

describe('losses', () => {
  test('mint no fees, and what makes up for them is free', async () => {
    await put(alice, units(100));
    await earn(units(10));
    await claim(client);
    const before = await releasable(client);
    await lose(units(20));
    expect(await chain.read(wrapper, 'pendingFeeShares')).toBe(0n);
    await chain.write(alice, wrapper, 'accrue');
    const low = await worthOf(alice);
    await earn(units(19));
    await chain.write(alice, wrapper, 'accrue');
    expect(await worthOf(alice)).toBeGreaterThan(low);
    expect(await releasable(client)).toBe(before);
    const toRecover = await chain.read<bigint>(wrapper, 'lossToRecover');
    expect(toRecover).toBeGreaterThan(0n);
    // Once the loss is made up, the rest earns a fee again.
    await earn(units(11));
    expect(await releasable(client)).toBeGreaterThan(before);
    const fee = await chain.read<bigint>(wrapper, 'convertToAssets', [(await releasable(client)) - before]);
    expect(fee).toBeLessThanOrEqual(units(2));
    expect(fee).toBeGreaterThan(units(1.97));
  });

  test('go with who leaves, so that those who stay recover their own part free of fees', async () => {
    await put(alice, units(100));
    await put(bob, units(100));
    await lose(units(20));
    await redeemAll(bob);
    expect(await held(bob)).toBeLessThanOrEqual(units(90));
    expect(await chain.read(wrapper, 'lossToRecover')).toBe(units(10));
    await earn(units(10));
    expect(await chain.read(wrapper, 'pendingFeeShares')).toBe(0n);
    await earn(units(10));
    expect(await chain.read<bigint>(wrapper, 'convertToAssets', [await releasable(client)])).toBe(units(2) - 1n);
    await redeemAll(alice);
    // With the last holder the loss is forgotten.
    await lose(await held(vault));
    expect(await chain.read(wrapper, 'lossToRecover')).toBe(0n);
  });

  test('are forgotten with the last holder', async () => {
    await put(alice, units(100));
    await lose(units(20));
    await chain.write(alice, wrapper, 'accrue');
    expect(await chain.read(wrapper, 'lossToRecover')).toBe(units(20));
    await redeemAll(alice);
    await put(bob, units(100));
    expect(await chain.read(wrapper, 'lossToRecover')).toBe(0n);
  });

  test('count per share: who comes in later changes nothing for who was there, and has the same mark', async () => {
    await put(alice, units(100));
    await lose(units(20));
    await put(bob, units(80));
    const toRecover = await chain.read<bigint>(wrapper, 'lossToRecover');
    expect(toRecover).toBeLessThanOrEqual(units(40));
    expect(toRecover).toBeGreaterThanOrEqual(units(40) - 2n);
    await earn(toRecover);
    expect(await chain.read(wrapper, 'pendingFeeShares')).toBe(0n);
    await earn(units(20));
    await chain.write(alice, wrapper, 'accrue');
    const fees = await worthOf(splitter);
    expect(fees).toBeLessThanOrEqual(units(6));
    expect(fees).toBeGreaterThanOrEqual(units(6) - 2n);
    for (const owner of [alice, bob]) expect(await worthOf(owner)).toBeGreaterThanOrEqual(units(107) - 2n);
  });

  test('of a few base units free no later deposit of fees', async () => {
    const feesAfter = async (first: bigint) => {
      const before = await node.snapshot();
      await put(bob, first);
      await lose(first / 2n);
      await put(alice, units(100));
      await earn(units(10));
      await chain.write(alice, wrapper, 'accrue');
      const fees = await worthOf(splitter);
      await node.revert(before);
      return fees;
    };
    // Half of what a share was worth is a loss, and a tenth more makes up for a part of it only.
    expect(await feesAfter(10_000n)).toBe(0n);
    expect(await feesAfter(9_998n)).toBeGreaterThan(units(2.99));
    expect(await feesAfter(2n)).toBeGreaterThan(units(2.99));
  });

  test('however large keep nobody in', async () => {
    // Few shares that were worth very much, lose it all, and are joined by very many.
    await put(mallory, 1n);
    await chain.write(mallory, wrapper, 'redeem', [999_999n, mallory.address, mallory.address]);
    await deposit(chain, token, vault, mallory, 2n ** 100n, wrapper.address);
    await chain.write(mallory, wrapper, 'accrue');
    await lose(await held(vault));
    await put(alice, 2n ** 152n);
    expect(await chain.read(wrapper, 'lossToRecover')).toBe(2n ** 128n - 1n);
    await lose(units(1));
    await redeemAll(alice);
    expect(await held(alice)).toBeGreaterThan(2n ** 151n);
  });
});

describe('attacks', () => {
  test('who comes in and leaves at once makes nobody forget a loss', async () => {
    const feesAfter = async (attack: () => Promise<unknown>) => {
      const before = await node.snapshot();
      await put(alice, units(100));
      await lose(units(20));
      await attack();
      await earn(units(15));
      await attack();
      await chain.write(alice, wrapper, 'accrue');
      const recovering = await worthOf(splitter);
      await earn(units(15));
      await chain.write(alice, wrapper, 'accrue');
      const recovered = await worthOf(splitter);
      await node.revert(before);
      return { recovering, recovered };
    };
    const undisturbed = await feesAfter(async () => undefined);
    expect(undisturbed.recovering).toBe(0n);
    expect(undisturbed.recovered).toBeGreaterThan(units(2.99));
    const attacked = await feesAfter(async () => {
      await put(mallory, units(1_000_000));
      await redeemAll(mallory);
    });
    expect(attacked).toEqual(undisturbed);
  });

  test('who donates to make one share dear pays for it, and the next depositor loses next to nothing', async () => {
    const attack = async (donation: bigint) => {
      const before = await node.snapshot();
      await put(mallory, 1n);
      await deposit(chain, token, vault, mallory, donation);
      const dear = await chain.read<bigint>(vault, 'balanceOf', [mallory.address]);
      await chain.write(mallory, vault, 'transfer', [wrapper.address, dear]);
      await put(alice, units(500));
      const kept = await worthOf(alice);
      await redeemAll(mallory);
      const regained = await held(mallory);
      await node.revert(before);
      return { kept, lost: donation + 1n - regained };
    };
    const harmless = await attack(1n);
    expect(harmless.kept).toBeGreaterThanOrEqual(units(500) - 2n);
    const grave = await attack(units(10_000));
    expect(grave.kept).toBeGreaterThan(units(499.98));
    expect(grave.lost).toBeGreaterThan(units(4_000));
    // So dear that a deposit would buy no share: refused, not swallowed.
    const swallow = async (donation: bigint) => {
      await put(mallory, 1n);
      await chain.write(mallory, token, 'mint', [mallory.address, donation]);
      await chain.write(mallory, token, 'approve', [vault.address, donation]);
      await chain.write(mallory, vault, 'deposit', [donation, wrapper.address]);
      await put(alice, units(1));
    };
    await expect(swallow(units(100_000_000))).rejects.toThrow('NothingMinted');
  });

  test('a vault whose share somebody has made dear takes no deposit through the wrapper', async () => {
    const attack = async (donation: bigint) => {
      await deposit(chain, token, vault, mallory, 1n);
      await chain.write(operator, token, 'mint', [vault.address, donation]);
      await put(alice, units(15_000));
    };
    const before = await node.snapshot();
    await attack(0n);
    expect(await worthOf(alice)).toBe(units(15_000));
    await node.revert(before);
    await expect(attack(units(10_000))).rejects.toThrow('LostOnDeposit');
  });

  test('a token that keeps a part of transfers is refused', async () => {
    await put(alice, units(10));
    await chain.write(operator, token, 'setTransferFee', [1n]);
    await expect(put(alice, units(10))).rejects.toThrow('AssetTakesFees');
  });

  test('a token that answers nothing and replaces no allowance is one like any other', async () => {
    const dollar = await chain.deploy(testArtifact('TestOldToken'));
    const place = await chain.deploy(testArtifact('TestVault'), [dollar.address]);
    const made = await deployWrapper(chain, termsFor(chain, place.address));
    const heldOf = ({ address }: Owner) => chain.read<bigint>(dollar, 'balanceOf', [address]);
    for (const amount of [60, 40]) await deposit(chain, dollar, made.wrapper, alice, units(amount));
    expect(await chain.read(dollar, 'allowance', [made.wrapper.address, place.address])).toBe(0n);
    await chain.write(operator, dollar, 'mint', [place.address, units(10)]);
    await chain.write(client, made.splitter, 'releaseAssets', [client.address, client.address]);
    expect(await heldOf(client)).toBe(1_999_999n);
    await chain.write(alice, made.wrapper, 'withdraw', [units(50), alice.address, alice.address]);
    await chain.write(alice, made.wrapper, 'redeemAll', [alice.address]);
    expect(await heldOf(alice)).toBeGreaterThanOrEqual(106_999_998n);
  });

  test('what a vault keeps at its door is paid by who comes in, within bounds', async () => {
    await put(bob, units(1_000));
    await chain.write(operator, vault, 'setEntryFee', [5n]);
    const before = await worthOf(bob);
    await put(alice, units(1_000));
    expect(await worthOf(alice)).toBeLessThan(units(999.8));
    expect(await worthOf(bob)).toBeGreaterThanOrEqual(before);
    await chain.write(operator, vault, 'setEntryFee', [50n]);
    await expect(put(alice, units(1_000))).rejects.toThrow('LostOnDeposit');
    // Nobody is kept in by it.
    await redeemAll(alice);
    await redeemAll(bob);
    expect(await held(bob)).toBeGreaterThanOrEqual(units(1_000));
  });

  test('a token and a vault that call back find the wrapper closed', async () => {
    // The hostile contracts hold shares of their own, so that every call below would succeed at another time.
    await put(bob, units(100));
    for (const hostile of [token, vault]) await put(alice, units(10), hostile.address);
    const some = 10n ** 12n;
    const calls = (to: Address): readonly (readonly [string, readonly unknown[]])[] => [
      ['accrue', []],
      ['redeemAll', [mallory.address]],
      ['redeem', [some, mallory.address, to]],
      ['withdraw', [units(1), mallory.address, to]],
      ['deposit', [units(1), mallory.address]],
      ['mint', [some, mallory.address]],
    ];
    const encode = (name: string, args: readonly unknown[]): Hex =>
      encodeFunctionData({ abi: wrapper.abi, functionName: name, args });
    let ready = await node.snapshot();
    for (const hostile of [token, vault]) {
      for (const [name, args] of calls(hostile.address)) {
        await node.revert(ready);
        ready = await node.snapshot();
        await node.impersonate(hostile.address);
        await chain.write(operator, token, 'mint', [hostile.address, units(5)]);
        await chain.write(hostile.address, token, 'approve', [wrapper.address, units(5)]);
        const outside = await node.snapshot();
        await chain.write(hostile.address, wrapper, name, args);
        await node.revert(outside);

        for (const step of [() => put(alice, units(3)), () => redeemAll(bob)]) {
          const total = await chain.read<bigint>(wrapper, 'totalSupply');
          await chain.write(operator, hostile, 'setHook', [wrapper.address, encode(name, args)]);
          await step();
          expect(await chain.read(hostile, 'hookCalled'), name).toBe(true);
          expect(await chain.read(hostile, 'hookSucceeded'), name).toBe(false);
          expect(await chain.read(hostile, 'hookAnswer')).toBe(selector('ReentrancyGuardReentrantCall()'));
          expect(await chain.read<bigint>(wrapper, 'totalSupply')).not.toBe(total);
        }
        expect(await sharesOf(mallory)).toBe(0n);
        expect(await held(bob)).toBeGreaterThanOrEqual(units(100) - 1n);
      }
    }
  });

  test('a vault without liquidity says so, and pays once it has some', async () => {
    await put(alice, units(100));
    await earn(units(10));
    await chain.write(operator, vault, 'setLiquidity', [units(30)]);
    const withVault = { ...wrapper, abi: [...wrapper.abi, ...vault.abi.filter((item) => item.type === 'error')] };
    const take = (assets: bigint) => chain.write(alice, withVault, 'withdraw', [assets, alice.address, alice.address]);
    const max = await chain.read<bigint>(wrapper, 'maxWithdraw', [alice.address]);
    expect(max).toBe(units(30) - 1n);
    const maxShares = await chain.read<bigint>(wrapper, 'maxRedeem', [alice.address]);
    expect(maxShares).toBeLessThan(await sharesOf(alice));
    await expect(take(max + 1n)).rejects.toThrow('ERC4626ExceededMaxWithdraw');
    await take(max);
    await chain.write(operator, vault, 'setLiquidity', [0n]);
    await expect(claim(client)).rejects.toThrow();
    await expect(redeemAll(alice)).rejects.toThrow();
    await chain.write(operator, vault, 'setLiquidity', [units(1_000)]);
    expect(await chain.read(wrapper, 'maxRedeem', [alice.address])).toBe(await sharesOf(alice));
    await claim(client);
    await redeemAll(alice);
    expect(await held(alice)).toBe(units(107));
    expect(await held(client)).toBe(1_999_999n);
  });
});

const selector = (signature: string): string => keccak256(toBytes(signature)).slice(0, 10);

type Step =
  | { readonly do: 'deposit' | 'mint' | 'withdraw' | 'redeem'; readonly who: 0 | 1; readonly amount: number }
  | { readonly do: 'redeemAll'; readonly who: 0 | 1 }
  | { readonly do: 'earn' | 'lose' | 'outside'; readonly amount: number }
  | { readonly do: 'accrue' | 'claim' };

const who = fc.constantFrom(0 as const, 1 as const);
const part = fc.integer({ min: 1, max: 1_000_000 });
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constantFrom('deposit' as const, 'mint' as const), who, amount: part }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constantFrom('withdraw' as const, 'redeem' as const), who, amount: part }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('redeemAll' as const), who }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constantFrom('earn' as const, 'lose' as const, 'outside' as const), amount: part }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('accrue' as const, 'claim' as const) }) },
  ),
  { minLength: 1, maxLength: 12 },
);
const HOLDERS = ['alice', 'bob'] as const;
const FEE_BPS = 3_000n;

/** A step of the model; answers with the call that does the same, and what it should pay out. */
function play(model: WrapperModel, step: Step, paid: (owner: string, assets: bigint) => void): unknown {
  switch (step.do) {
    case 'deposit': {
      const assets = BigInt(step.amount) ** 2n / 7n + 1n;
      const before = copyOf(model);
      if (before.deposit('x', assets) === 0n || isDear(model, assets)) return undefined;
      model.deposit(HOLDERS[step.who], assets);
      paid(HOLDERS[step.who], -assets);
      return assets;
    }
    case 'mint': {
      const shares = BigInt(step.amount) ** 2n * 100_003n;
      const before = copyOf(model);
      const cost = before.mintShares('x', shares);
      if (isDear(model, cost)) return undefined;
      paid(HOLDERS[step.who], -model.mintShares(HOLDERS[step.who], shares));
      return shares;
    }
    case 'withdraw': {
      const assets = (model.convertToAssets(model.sharesOf(HOLDERS[step.who])) * BigInt(step.amount)) / 1_000_001n;
      if (assets === 0n) return undefined;
      model.withdraw(HOLDERS[step.who], assets);
      paid(HOLDERS[step.who], assets);
      return assets;
    }
    case 'redeem':
    case 'redeemAll': {
      const all = model.sharesOf(HOLDERS[step.who]);
      const shares = step.do === 'redeem' ? (all * BigInt(step.amount)) / 1_000_001n : all;
      paid(HOLDERS[step.who], model.redeem(HOLDERS[step.who], shares));
      return shares;
    }
    case 'earn': {
      const assets = (model.vaultAssets * BigInt(step.amount)) / 5_000_000n;
      model.earn(assets);
      return assets;
    }
    case 'lose': {
      const assets = (model.vaultAssets * BigInt(step.amount)) / 5_000_000n;
      model.lose(assets);
      return assets;
    }
    case 'outside': {
      const assets = BigInt(step.amount);
      model.vaultDeposit(assets);
      return assets;
    }
    case 'accrue':
      return model.accrue();
    case 'claim': {
      // Where there is nothing to claim the call is not made, so that nothing is settled by it either.
      const settled = copyOf(model);
      settled.accrue();
      const shares = settled.sharesOf('splitter');
      if (shares === 0n || settled.redeem('splitter', shares) === 0n) return undefined;
      paid('splitter', model.redeem('splitter', shares));
      return shares;
    }
  }
}

/** The wrapper refuses a deposit of which more than a thousandth would be lost to rounding. */
function isDear(model: WrapperModel, assets: bigint): boolean {
  const units = (assets * (model.vaultShares + 1n)) / (model.vaultAssets + 1n);
  const worth = (units * (model.vaultAssets + assets + 1n)) / (model.vaultShares + units + 1n);
  return worth + assets / 1_000n + 2n < assets;
}

function copyOf(model: WrapperModel): WrapperModel {
  const copy = new WrapperModel(model.feeBps);
  Object.assign(copy, { ...model, shares: new Map(model.shares) });
  return copy;
}

describe('any sequence of deposits, withdrawals, yields and losses', () => {
  test('never owes more than there is, nor takes more than its part of the yield', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const model = new WrapperModel(FEE_BPS);
        model.vaultDeposit(1_000_000n);
        let balance = 0n;
        let gained = 0n;
        let before = 0n;
        for (const step of sequence) {
          before = model.totalAssets;
          play(model, step, (_owner, assets) => {
            balance -= assets;
          });
          if (step.do === 'earn' || step.do === 'lose' || step.do === 'outside') gained += model.totalAssets - before;
          const owed = [...model.shares.values()].reduce((sum, shares) => sum + model.convertToAssets(shares), 0n);
          expect(owed).toBeLessThanOrEqual(model.totalAssets);
          expect(model.feeWorth).toBeLessThanOrEqual(model.interest * FEE_BPS);
        }
        // Whoever paid in and took out: together they never have more than went in and was earned.
        for (const owner of [...HOLDERS, 'splitter']) balance -= model.redeem(owner, model.sharesOf(owner));
        expect(-balance).toBeLessThanOrEqual(gained + 2n * BigInt(sequence.length + 3));
        return true;
      }),
      { numRuns: 400 },
    );
  });

  test('who comes in and leaves at once changes nothing in what is to be recovered', () => {
    let losses = 0;
    fc.assert(
      fc.property(steps, part, (sequence, amount) => {
        const model = new WrapperModel(FEE_BPS);
        model.vaultDeposit(1_000_000n);
        for (const step of sequence) play(model, step, () => undefined);
        model.accrue();
        const [loss, supply] = [model.lossToRecover, model.supply];
        if (loss > 0n) losses += 1;
        model.deposit('mallory', BigInt(amount) ** 2n);
        // With the newcomer inside a share has lost as much as before, but for what rounding to base units does.
        const difference = model.lossToRecover * supply - loss * model.supply;
        expect(difference).toBeGreaterThanOrEqual(-model.supply);
        expect(difference).toBeLessThanOrEqual(supply);
        model.redeem('mallory', model.sharesOf('mallory'));
        expect([model.lossToRecover, model.supply]).toEqual([loss, supply]);
      }),
      { numRuns: 400 },
    );
    expect(losses).toBeGreaterThan(20);
  });

  test('without yield nobody takes out more than was put in', () => {
    const quiet = steps.map((sequence) => sequence.filter((step) => step.do !== 'earn' && step.do !== 'outside'));
    fc.assert(
      fc.property(quiet, (sequence) => {
        const model = new WrapperModel(FEE_BPS);
        model.vaultDeposit(999_999n);
        model.earn(123_457n);
        const balances = new Map<string, bigint>();
        const book = (owner: string, assets: bigint) => balances.set(owner, (balances.get(owner) ?? 0n) + assets);
        for (const step of sequence) play(model, step, book);
        for (const owner of [...HOLDERS, 'splitter']) book(owner, model.redeem(owner, model.sharesOf(owner)));
        for (const balance of balances.values()) expect(balance).toBeLessThanOrEqual(2n * BigInt(sequence.length));
        return true;
      }),
      { numRuns: 400 },
    );
  });

  test('the contracts do on the chain what the model says', async () => {
    const terms = termsFor(chain, vault.address, { clientFeeBps: 3_000, serviceFeeBps: 0 });
    ({ wrapper, splitter } = await deployWrapper(chain, terms));
    const owners: Record<string, Owner> = { alice, bob, splitter };
    for (const owner of [alice, bob]) {
      await chain.write(owner, token, 'mint', [owner.address, 10n ** 18n]);
      await chain.write(owner, token, 'approve', [wrapper.address, 10n ** 18n]);
    }
    await deposit(chain, token, vault, mallory, 1_000_000n);
    const act = async (step: Step, amount: bigint): Promise<unknown> => {
      const owner = 'who' in step ? owners[HOLDERS[step.who]]! : client;
      const { address } = owner;
      switch (step.do) {
        case 'deposit':
        case 'mint':
          return await chain.write(owner, wrapper, step.do, [amount, address]);
        case 'withdraw':
        case 'redeem':
          return await chain.write(owner, wrapper, step.do, [amount, address, address]);
        case 'redeemAll':
          return await redeemAll(owner);
        case 'earn':
          return await earn(amount);
        case 'lose':
          return await lose(amount);
        case 'outside':
          return await deposit(chain, token, vault, mallory, amount);
        case 'accrue':
          return await chain.write(owner, wrapper, 'accrue');
        case 'claim':
          return await claim(client);
      }
    };
    let start = await node.snapshot();
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        await node.revert(start);
        start = await node.snapshot();
        const model = new WrapperModel(FEE_BPS);
        model.vaultDeposit(1_000_000n);
        const balances = new Map<string, bigint>();
        for (const step of sequence) {
          const amount = play(model, step, (owner, assets) =>
            balances.set(owner, (balances.get(owner) ?? 0n) + assets),
          );
          if (amount === undefined && step.do !== 'accrue') continue;
          await act(step, amount as bigint);
        }
        const expected = [
          model.totalAssets,
          model.supply,
          model.last,
          model.lossToRecover,
          model.pendingFeeShares(),
          ...['alice', 'bob', 'splitter'].map((name) => model.sharesOf(name)),
          ...['alice', 'bob', 'splitter'].map((name) => model.convertToAssets(model.sharesOf(name))),
          ...HOLDERS.map((name) => 10n ** 18n + (balances.get(name) ?? 0n)),
          balances.get('splitter') ?? 0n,
        ];
        const seen = await Promise.all([
          ...['totalAssets', 'totalSupply', 'lastTotalAssets', 'lossToRecover', 'pendingFeeShares'].map((name) =>
            chain.read<bigint>(wrapper, name),
          ),
          ...[alice, bob, splitter].map(sharesOf),
          ...[alice, bob, splitter].map(worthOf),
          ...[alice, bob, client].map(held),
        ]);
        expect(seen).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });
});
