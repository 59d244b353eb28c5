import { randomUUID } from 'node:crypto';
import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionResult,
  type Hex,
  pad,
  parseAbi,
  toFunctionSelector,
} from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { earnWrapperAbi } from '../../../src/chains/ethereum/contract-artifacts.ts';
import type { EvmLog } from '../../../src/chains/nodes/node.ts';
import type { Send } from '../../../src/chains/send/model.ts';
import { EarnStore } from '../../../src/domains/earn/store.ts';
import { SendStore } from '../../../src/domains/sends/store/sends.ts';
import { type OrganizationId, randomId } from '../../../src/lib/ids.ts';
import { createSubOrganization, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { COMPLETED, outcome } from '../fixtures/access.ts';
import { anAddress, EarnWorld, PLAIN, statusOf, VAULT } from '../fixtures/earn.ts';
import { ethereum, newWallet, solana } from '../fixtures/wallets.ts';

// A withdrawal of everything needs something to withdraw, lifetime totals never begin anew, and a list of positions is
// empty where there are none.

const BALANCE_OF = toFunctionSelector('balanceOf(address)');
const CONVERT = toFunctionSelector('convertToAssets(uint256)');
const word = (value: bigint): Hex =>
  encodeFunctionResult({ abi: parseAbi(['function f() view returns (uint256)']), result: value });

/** What wrappers write when shares become assets. */
const withdrawal = (wrapper: string, owner: string, assets: bigint): EvmLog => ({
  address: wrapper.toLowerCase() as Hex,
  topics: encodeEventTopics({
    abi: earnWrapperAbi,
    eventName: 'Withdraw',
    args: { sender: owner as Hex, receiver: owner as Hex, owner: owner as Hex },
  }) as Hex[],
  data: encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [assets, assets * 10n ** 6n]),
  blockNumber: 1n,
  blockHash: pad('0x01'),
  transactionHash: pad('0x02'),
  logIndex: 0,
});

describe.each(databasesOf(import.meta.url))('Earn on %s', (kind) => {
  let world: EarnWorld;
  let parent: TestClient;
  let wrapper: string;
  /** By holder, in the wrapper; one is worth two units. */
  const shares = new Map<string, bigint>();

  beforeAll(async () => {
    world = await EarnWorld.open(kind);
    parent = world.test.root;
    const [clientFeeWallet] = (await newWallet(parent)).addresses;
    const terms = { vaultAddress: VAULT, chainCaip2: PLAIN, clientFeeBps: '1000', clientFeeWallet };
    const { wrapperAddress, deployRequestId } = await parent.run('earn_deploy_wrapper', terms);
    await statusOf(parent, 'earn_deploy', deployRequestId, 'COMPLETED');
    wrapper = wrapperAddress;
    world.trials.set(wrapper.toLowerCase(), ({ data }) => {
      const argument = `0x${data.slice(-40)}`;
      if (data.startsWith(BALANCE_OF)) return { ok: true, data: word(shares.get(argument) ?? 0n) };
      if (data.startsWith(CONVERT)) return { ok: true, data: word(2n * BigInt(`0x${data.slice(10)}`)) };
      return undefined;
    });
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  async function newSaver(): Promise<{ child: TestClient; wallet: string }> {
    const child = await createSubOrganization(parent, `Org ${randomUUID()}`);
    const [wallet = ''] = (await newWallet(child)).addresses;
    return { child, wallet };
  }
  const use = (signWith: string) => ({ wrapperAddress: wrapper, signWith, chainCaip2: PLAIN });
  async function deposit(client: TestClient, wallet: string, assets: string): Promise<void> {
    const { depositRequestId } = await client.run('earn_deposit', { ...use(wallet), assets });
    await statusOf(client, 'earn_deposit', depositRequestId, 'COMPLETED');
  }
  async function withdraw(client: TestClient, wallet: string, amountValue: string): Promise<Hex> {
    const { withdrawRequestId } = await client.run('earn_withdraw', { ...use(wallet), amountValue });
    return (await statusOf(client, 'earn_withdraw', withdrawRequestId, 'COMPLETED')).withdrawTxHash;
  }
  const positions = (client: TestClient, walletAddress: string, organizationId = client.organizationId) =>
    client.query('list_earn_positions', { walletAddress, organizationId });
  const totals = async (client: TestClient, wallet: string) => {
    const { status, body } = await positions(client, wallet);
    expect(status, JSON.stringify(body)).toBe(200);
    return body.positions.map((one: Record<string, string>) => [one.totalDeposited, one.totalWithdrawn]);
  };

  test('withdrawing everything without a position is refused before anything is signed', async () => {
    const { child, wallet } = await newSaver();
    const ask = () => child.submit('earn_withdraw', { ...use(wallet), amountValue: 'MAX' });
    shares.set(wallet.toLowerCase(), 5n);
    const honest = await ask();
    expect(outcome(honest)).toEqual([200, COMPLETED]);
    const { withdrawRequestId } = honest.body.activity.result.earnWithdrawResult;
    await statusOf(child, 'earn_withdraw', withdrawRequestId, 'COMPLETED');
    const sent = world.sent(PLAIN, wallet).length;
    shares.set(wallet.toLowerCase(), 0n);
    const refused = await ask();
    expect(outcome(refused)).toEqual([400, 'EARN_NOTHING_TO_WITHDRAW']);
    expect(refused.body.message).toContain('get_earn_deposit_status');
    const { activities } = (await child.query('list_activities', { filterByType: ['ACTIVITY_TYPE_EARN_WITHDRAW'] }))
      .body;
    expect(activities).toHaveLength(1);
    expect(world.sent(PLAIN, wallet)).toHaveLength(sent);
    // A node that does not answer is no reason to sign.
    world.chain(PLAIN).isDown = true;
    const away = await ask();
    world.chain(PLAIN).isDown = false;
    expect(outcome(away)).toEqual([503, 'RPC_CALL_ERROR']);
  });

  test('lifetime totals go on after everything was taken out, by what the receipt shows', async () => {
    const { child, wallet } = await newSaver();
    const chain = world.chain(PLAIN);
    shares.set(wallet.toLowerCase(), 500n);
    await deposit(child, wallet, '1000');
    await withdraw(child, wallet, '300');
    expect(await totals(child, wallet)).toEqual([['1000', '300']]);
    // Of other owners and of other contracts nothing counts.
    chain.logs.set(wrapper.toLowerCase(), [
      withdrawal(wrapper, anAddress(), 9n),
      withdrawal(anAddress(), wallet, 9n),
      withdrawal(wrapper, wallet, 777n),
    ]);
    const hash = await withdraw(child, wallet, 'MAX');
    expect(await totals(child, wallet)).toEqual([['1000', '1077']]);
    // Without its block there is nothing to add, and with another one it is there once.
    chain.isMiningAtOnce = false;
    chain.reorganise(1, true);
    await expect.poll(() => totals(child, wallet), { timeout: 20_000 }).toEqual([['1000', '300']]);
    chain.isMiningAtOnce = true;
    chain.mine();
    await expect.poll(() => totals(child, wallet), { timeout: 20_000 }).toEqual([['1000', '1077']]);
    chain.logs.clear();
    await deposit(child, wallet, '500');
    expect(await totals(child, wallet)).toEqual([['1500', '1077']]);
    // One that an older version noted without its amount is read from the chain.
    const noted = await noteWithdrawal(child, wallet, hash);
    chain.logs.set(wrapper.toLowerCase(), [withdrawal(wrapper, wallet, 777n)]);
    expect(await totals(child, wallet)).toEqual([['1500', '1854']]);
    chain.logs.clear();
    await world.test.app.storage.write((store) => store(SendStore).delete(noted));
    await noteWithdrawal(child, wallet, `0x${'77'.repeat(32)}`);
    expect(await totals(child, wallet)).toEqual([['1500', '']]);
  });

  async function noteWithdrawal(client: TestClient, wallet: string, txHash: string): Promise<Send> {
    const organizationId = client.organizationId as OrganizationId;
    const walletAddress = wallet.toLowerCase();
    const place = { organizationId, caip2: PLAIN, createdAtMs: 1 };
    const send: Send = {
      ...place,
      id: randomId(),
      activityId: randomId(),
      sender: walletAddress,
      lane: anAddress(),
      purpose: 'earn-withdraw',
      request: { kind: 'ethereum', calls: [] },
      afterId: undefined,
      state: 'INCLUDED',
      nonce: undefined,
      attempts: [],
      txHash,
      block: { number: 1, hash: pad('0x01'), timestamp: 1, fee: '1' },
      error: undefined,
      isOpen: false,
      updatedAtMs: 1,
    };
    const request = { wrapperAddress: wrapper.toLowerCase(), walletAddress, amount: 'MAX', sendId: send.id };
    await world.test.app.storage.write(async (store) => {
      await store(SendStore).insert(send);
      await store(EarnStore).insertRequest({ ...place, ...request, id: randomId(), kind: 'withdraw' });
    });
    return send;
  }

  test('an address without positions has an empty list, and a parent sees those of its children', async () => {
    const { child, wallet } = await newSaver();
    const stranger = await newSaver();
    const [empty = '', other = ''] = (await newWallet(child, [ethereum(1), solana()])).addresses;
    shares.set(wallet.toLowerCase(), 600n);
    await deposit(child, wallet, '1000');
    const seen = (await positions(child, wallet)).body;
    expect(seen.positions).toMatchObject([{ currentValue: '1200', totalDeposited: '1000', totalWithdrawn: '0' }]);
    expect((await positions(parent, wallet)).body).toEqual(seen);
    expect((await positions(parent, wallet, child.organizationId)).body).toEqual(seen);
    for (const [client, address] of [
      [child, empty],
      [child, other],
      [child, anAddress()],
      [parent, anAddress()],
      // The parent's wrapper is theirs too; the other's wallet is not.
      [stranger.child, wallet],
    ] as const) {
      expect([address, await positions(client, address)]).toEqual([
        address,
        expect.objectContaining({ status: 200, body: expect.objectContaining({ positions: [] }) }),
      ]);
    }
    const foreign = await positions(stranger.child, wallet, child.organizationId);
    expect(foreign.status).toBe(401);
    for (const wrong of ['0x12', 'no address', '']) {
      expect(outcome(await positions(child, wrong))).toEqual([400, 'REQUEST_INVALID']);
    }
  });
});
