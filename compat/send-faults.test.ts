// What happens to sends when nodes and processes fail: nothing is sent twice, and no status is lost.
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { type Address, type Hex, keccak256, parseEther } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DATABASES, databasesOf } from '../packages/server/test/harness/databases.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { type Anvil, startAnvil } from './chain/anvil.ts';
import { type ChainClient, connectTo, fundedAccount } from './chain/deploy.ts';
import { poll } from './chain/poll.ts';
import { TroubledNode } from './chain/troubled-node.ts';
import { connect, fresh } from './sdk.ts';

const CHAIN = 'eip155:31337' as never;
const TO = fundedAccount(9).address;
/** Makes every request another one: the same one twice is the same activity. */
let serial = 0;

describe.each(DATABASES)('with %s', (database) => {
  // What nodes do, and what is done about it, is the same on the other database.
  const testHere = databasesOf(import.meta.url).includes(database) ? test : undefined;

  let anvil: Anvil;
  let chain: ChainClient;
  let node: TroubledNode;
  let service: TestServer;
  /** A second process on the same database, where it takes one. */
  let other: TestServer | undefined;

  beforeAll(async () => {
    anvil = await startAnvil();
    chain = connectTo(anvil);
    node = await TroubledNode.start(anvil.url);
    const chains = { 'eip155:31337': { rpcUrls: [node.url], pollMs: 100 } };
    const env = { CUSTOS_CHAINS: JSON.stringify(chains), CUSTOS_LOG_LEVEL: 'error' };
    service = await TestServer.start({ database, env });
    if (service.databaseUrl !== undefined) {
      other = await TestServer.start({
        dataDir: service.dataDir,
        env: { ...env, CUSTOS_DATABASE_URL: service.databaseUrl },
      });
    }
  });

  afterAll(async () => {
    await other?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
    await node?.[Symbol.asyncDispose]();
    await anvil?.stop();
  });

  /** A client of a process that lives. */
  const client = (): TurnkeyApiClient => connect(service.baseUrl, service.credentials);

  async function newWallet(): Promise<Address> {
    const account = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0" } as const;
    const { addresses } = await client().createWallet({
      walletName: fresh('wallet'),
      accounts: [{ ...account, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' }],
    });
    const [address] = addresses as [Address];
    await anvil.setBalance(address, parseEther('1'));
    return address;
  }

  const send = async (from: Address): Promise<string> => {
    serial += 1;
    const wish = { caip2: CHAIN, from, calls: [{ to: TO, value: String(serial) }] };
    return (await client().ethSendTransaction(wish)).sendTransactionStatusId;
  };
  const statusOf = (sendTransactionStatusId: string) => client().getSendTransactionStatus({ sendTransactionStatusId });
  const included = (id: string) =>
    poll(
      () => statusOf(id),
      ({ txStatus }) => txStatus === 'INCLUDED',
    );
  const countOf = (address: Address): Promise<number> => chain.reader.getTransactionCount({ address });

  /** Kills every process at once, and starts them again on the same data. */
  async function crash(): Promise<void> {
    await Promise.all([service.kill(), other?.kill()]);
    await service.start();
    await other?.start();
  }

  testHere?.each(['lost', 'silent'] as const)('killed with a transaction on its way to a node, %s', async (trouble) => {
    const from = await newWallet();
    const before = node.handed.length;
    node.trouble = trouble;
    const id = await send(from);
    await node.handedOver(before + 1);
    await crash();
    expect(await countOf(from)).toBe(trouble === 'silent' ? 1 : 0);
    node.trouble = 'none';
    const status = await included(id);
    expect(await countOf(from)).toBe(1);
    const hashes = new Set(node.handed.slice(before).map((raw) => keccak256(raw as Hex)));
    expect([...hashes]).toEqual([status.eth?.txHash]);
    // The lane goes on where it was.
    const next = await included(await send(from));
    expect((await chain.reader.getTransaction({ hash: next.eth?.txHash as Hex })).nonce).toBe(1);
  });

  test('killed again and again while many are under way', async () => {
    const from = await newWallet();
    const ids: string[] = [];
    const before = node.handed.length;
    for (let round = 0; round < 3; round += 1) {
      ids.push(...(await Promise.all(Array.from({ length: 8 }, () => send(from)))));
      await node.handedOver(before + 2 + 8 * round);
      await crash();
    }
    for (const id of ids) await included(id);
    expect(await countOf(from)).toBe(24);
    const statuses = await Promise.all(ids.map(statusOf));
    expect(new Set(statuses.map(({ eth }) => eth?.txHash)).size).toBe(24);
  });

  testHere?.('a node that is down delays what is accepted meanwhile, and does not hinder accepting', async () => {
    const from = await newWallet();
    node.trouble = 'down';
    const id = await send(from);
    expect((await statusOf(id)).txStatus).toBe('INITIALIZED');
    const asked = client().getNonces({ address: from, caip2: CHAIN, nonce: true });
    await expect(asked).rejects.toMatchObject({ message: expect.stringContaining('no usable answer') });
    node.trouble = 'none';
    await included(id);
    expect(await countOf(from)).toBe(1);
  });

  testHere?.('two blocks are reorganised away: the same transaction lands again', async () => {
    const from = await newWallet();
    const id = await send(from);
    const first = await included(id);
    await anvil.mine();
    await anvil.request('anvil_reorg', [2, []]);
    expect(await countOf(from)).toBe(0);
    await poll(
      async () => {
        await anvil.mine();
        return await countOf(from);
      },
      (count) => count === 1,
    );
    const again = await included(id);
    expect(again.eth?.txHash).toBe(first.eth?.txHash);
  });

  testHere?.('a receipt that is a lie is not believed', async () => {
    const from = await newWallet();
    await anvil.request('evm_setAutomine', [false]);
    try {
      let lies = 0;
      const block = await chain.reader.getBlock();
      node.lie = ({ method, params }, result) => {
        if (method !== 'eth_getTransactionReceipt' || result !== null) return result;
        lies += 1;
        const nothing = { logs: [], logsBloom: `0x${'00'.repeat(256)}`, type: '0x2', contractAddress: null };
        const sums = {
          gasUsed: '0x5208',
          cumulativeGasUsed: '0x5208',
          effectiveGasPrice: '0x1',
          transactionIndex: '0x0',
        };
        const where = { blockHash: block.hash, blockNumber: `0x${block.number.toString(16)}` };
        return { transactionHash: params[0], from, to: TO, status: '0x1', ...where, ...nothing, ...sums };
      };
      const id = await send(from);
      await poll(
        () => statusOf(id),
        ({ txStatus }) => txStatus === 'BROADCASTING',
      );
      await poll(
        async () => lies,
        (count) => count > 5,
      );
      expect((await statusOf(id)).txStatus).toBe('BROADCASTING');
      await anvil.mine();
      await included(id);
    } finally {
      node.lie = undefined;
      await anvil.request('evm_setAutomine', [true]);
    }
  });
});
